"""The graders of the edge cases of lab01: what an engine does beyond the 37 tests.

Run them with `autodrill check --strict`. Here it also counts as a failure when an input was
changed in place, when two gradients share memory, and when one can't be written to.
"""

from autodrill.cases import dims

# ---------------------------------------------------------------- shapes


def test_a_vector_may_stand_on_either_side_of_matmul(grade):
    grade("matmul", "m=3, m")
    grade("matmul", "n=2 m=3, m")
    grade("matmul", "m=3, m p=2")
    grade("matmul", "b=2 n=3 m=4, m")
    grade("matmul", "m=4, b=2 m p=3")
    grade("matmul_by_itself", "n=3")


def test_axes_may_be_negative_or_a_tuple(grade):
    for axis in (-2, (0,), (-1,), (0, -1), (-2, 0)):
        for op in ("sum", "mean", "logsumexp"):
            grade(op, "b=2 n=3 m=4", axis=axis, keepdims=False)
            grade(op, "b=2 n=3 m=4", axis=axis, keepdims=True)
    grade("log_softmax", "b=2 n=3 m=4", axis=-2)
    for axes in ((-1, 0, 1), (1, -1, 0), (-2, -1, -3)):
        grade("transpose", "b=2 n=3 m=4", axes=axes)


def test_an_empty_tuple_of_axes_sums_over_nothing(grade):
    grade("sum_over_nothing", "n=2 m=3")


def test_reshape_and_transpose_take_one_tuple(grade):
    grade("reshape_by_tuple", "n=2 m=3", shape=dims("m n"))
    grade("reshape_by_tuple", "n=2 m=3", shape=(-1,))
    grade("transpose_by_tuple", "n=2 m=3", axes=(1, 0))
    grade("transpose_by_tuple", "b=2 n=3 m=4", axes=(2, 0, 1))
    grade("transpose_by_tuple", "b=2 n=3 m=4", axes=(-1, 0, 1))


def test_every_operation_takes_a_single_number(grade):
    for op in ("add", "mul", "div"):
        grade(op, ", ")
        grade(op, ", n=3")
    for op in ("exp", "log", "relu", "tanh", "sum", "mean"):
        grade(op, "")
    grade("pow", "", exponent=3)
    grade("reshape", "", shape=(1, 1))
    grade("reshape_by_tuple", "1 1", shape=())
    grade("getitem", "", index=(Ellipsis, None))
    grade("getitem", "n=3", index=-1)
    grade("numerical_gradient", "")


def test_every_operation_takes_an_empty_array(grade):
    grade("unbroadcast", "0 m=3", shape=dims("m"))
    grade("unbroadcast", "0 m=3", shape=dims("1 m"))
    for op in ("add", "mul", "div"):
        grade(op, "0 m=3, m")
        grade(op, "n=2 1, 0")
    for op in ("exp", "log", "relu", "tanh", "sum", "transpose_all"):
        grade(op, "0 m=3")
    grade("pow", "0", exponent=2)
    for axis in (0, 1):
        grade("sum", "0 m=3", axis=axis)
    grade("matmul", "0 m=3, m p=2")
    grade("matmul", "n=2 0, 0 p=3")
    grade("matmul", "0 n=2 m=3, m p=2")
    grade("reshape", "0 m=3", shape=dims("m 0"))
    grade("getitem", "n=3 m=2", index=slice(0, 0))
    grade("logsumexp", "0 m=3")
    grade("log_softmax", "0 m=3")


# ---------------------------------------------------------------- values


def test_integers_and_float32_become_float64(grade):
    for dtype in ("int64", "float32", "float64"):
        grade("data_of_another_dtype", "n=3", dtype=dtype)
    grade("power_of_integers")
    grade("upstream_as_list", "n=3")
    grade("upstream_as_list", "n=2 m=3")


def test_a_number_or_an_array_may_stand_on_the_left(grade):
    for op in ("number_minus", "number_over"):
        grade(op, "n=2 m=3")
    for op in ("array_plus", "array_minus", "array_times", "array_over"):
        grade(op, "m=3")
        grade(op, "2 m=3")


def test_an_index_may_be_of_any_kind(grade):
    kinds = (
        slice(None, None, 2),
        (Ellipsis, 1),
        (slice(1, 3), None, slice(None, 2)),
        (None, Ellipsis, None),
        [-1, 0, -1],
        [True, False, True, True],
        (slice(None), [True, False, True]),
        ([0, 3, 0], slice(None)),
        ([[0, 1], [1, 0]], [[2, 2], [2, 0]]),
        (),
    )
    for index in kinds:
        grade("getitem", "4 3", index=index)
    grade("getitem", "4 3 2", index=(slice(1, 3), Ellipsis, [1, 1, 0]))
    grade("getitem_backwards", "n=4 m=2")
    grade("getitem_by_tensor", "n=4")
    grade("getitem_by_tensor", "n=3 m=2")
    grade("getitem_by_two_tensors", "n=3 m=2")


def test_relu_at_exactly_zero_passes_nothing_on(grade):
    grade("relu_at_zero", "n=5")
    grade("relu_at_zero", "")


def test_powers_hold_at_zero_and_below(grade):
    for exponent in (0, 0.0, 1, 2, 3):
        grade("pow_at_zero", "n=5", exponent=exponent)
    for exponent in (0, -2, -3):
        grade("pow", "n=5", exponent=exponent)


def test_logsumexp_of_minus_infinity_is_minus_infinity(grade):
    grade("logsumexp_of_minus_infinity")


def test_cross_entropy_takes_a_list_of_classes(grade):
    grade("cross_entropy_of_list", "3 4", targets=[3, 0, 3])


# ---------------------------------------------------------------- the graph


def test_a_second_backward_on_one_graph_doubles_exactly(grade):
    grade("same_graph_twice", "n=3, n, n")


def test_an_unused_branch_changes_nothing(grade):
    grade("unused_branch", "n=3")


def test_a_constant_used_twice_stays_without_a_gradient(grade):
    grade("constant_used_twice", "n=3")
    grade("constant_root")
    grade("constants_stay_constants")


def test_leaves_with_equal_values_are_kept_apart(grade):
    grade("equal_leaves", "n=3")
    grade("equal_leaves", "")


def test_a_root_has_one_element_in_any_shape(grade):
    for shape in ("1", "1 1"):
        grade("scalar_root", shape)
    grade("nonscalar_root", "0")


def test_doubling_forty_times_takes_no_time(grade):
    grade("doubled_forty_times")


# ---------------------------------------------------------------- memory


def test_no_gradient_shares_memory_with_another(grade):
    grade("no_gradient_is_shared", "n=2 m=3")
    grade("gradients_are_arrays_of_their_own", "n=3")
    grade("inner_gradients_are_arrays_of_their_own", "n=3")
    for op in ("add", "mul", "div"):
        grade(op, "n=3, n")


def test_the_callers_arrays_stay_as_they_were(grade):
    grade("numerical_gradient", "n=2 m=3")
    grade("numerical_gradient_restores_exactly")
    for op in ("exp", "log", "relu", "tanh", "sum", "logsumexp_default", "log_softmax"):
        grade(op, "n=2 m=3")
    grade("sgd_leaves_arrays_alone", "n=3")
    grade("sgd_passes_over", "n=3")
