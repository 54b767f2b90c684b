"""The graders of the edge cases of retype: what an engine does beyond the 18 tests.

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
        for op in ("sum", "mean"):
            grade(op, "b=2 n=3 m=4", axis=axis, keepdims=False)
            grade(op, "b=2 n=3 m=4", axis=axis, keepdims=True)
    for axis in (-2, -3):
        grade("softmax", "b=2 n=3 m=4", axis=axis)
        grade("log_softmax", "b=2 n=3 m=4", axis=axis)
    for axes in ((-1, 0, 1), (1, -1, 0), (-2, -1, -3)):
        grade("transpose", "b=2 n=3 m=4", axes=axes)


def test_an_empty_tuple_of_axes_reduces_nothing(grade):
    grade("sum_over_nothing", "n=2 m=3, n m")
    grade("mean_over_nothing", "n=2 m=3, n m")


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
    for op in ("exp", "log", "relu", "sigmoid", "tanh", "sum", "mean"):
        grade(op, "")
    grade("pow", "", exponent=3)
    grade("reshape", "", shape=(1, 1))
    grade("reshape_by_tuple", "1 1", shape=())
    for op in ("softmax", "log_softmax"):
        grade(op, "1")
        grade(op, "n=3 1")


def test_every_operation_takes_an_empty_array(grade):
    grade("fresh", "0 n=3")
    grade("unbroadcast", "0 m=3", shape=dims("m"))
    grade("unbroadcast", "0 m=3", shape=dims("1 m"))
    for op in ("add", "mul", "div"):
        grade(op, "0 m=3, m")
        grade(op, "n=2 1, 0")
    for op in ("exp", "log", "relu", "sigmoid", "tanh", "sum", "transpose_all"):
        grade(op, "0 m=3")
    grade("pow", "0", exponent=2)
    for axis in (0, 1):
        grade("sum", "0 m=3", axis=axis)
    grade("mean", "0 m=3", axis=1)
    grade("matmul", "0 m=3, m p=2")
    grade("matmul", "n=2 0, 0 p=3")
    grade("matmul", "0 n=2 m=3, m p=2")
    grade("reshape", "0 m=3", shape=dims("m 0"))
    grade("softmax", "0 m=3")
    grade("log_softmax", "0 m=3")


# ---------------------------------------------------------------- values


def test_integers_and_float32_become_float64(grade):
    for dtype in ("int64", "float32", "bool"):
        grade("fresh", "n=2 m=3", dtype=dtype)
    for dtype in ("int64", "float32"):
        grade("data_of_another_dtype", "n=3", dtype=dtype)
    grade("power_of_integers")


def test_a_number_or_an_array_may_stand_on_the_left(grade):
    for op in ("number_plus", "number_minus", "number_times", "number_over"):
        grade(op, "n=2 m=3")
    for op in ("array_plus", "array_minus", "array_times", "array_over"):
        grade(op, "m=3")
        grade(op, "2 m=3")


def test_relu_at_exactly_zero_passes_nothing_on(grade):
    grade("relu_at_zero", "n=5")
    grade("relu_at_zero", "")


def test_powers_hold_at_zero_and_below(grade):
    for exponent in (0, 0.0, 1, 2, 3):
        grade("pow_at_zero", "n=5", exponent=exponent)
    for exponent in (0, -2, -3):
        grade("pow", "n=5", exponent=exponent)


def test_cross_entropy_takes_a_list_of_classes(grade):
    grade("cross_entropy_of_list", "3 4", targets=[3, 0, 3])


def test_softmax_and_its_logarithm_are_one_operation_each(grade):
    grade("softmax_is_one_operation", "n=2 m=3")
    grade("log_softmax_is_one_operation", "n=2 m=3")


# ---------------------------------------------------------------- the graph


def test_a_second_backward_on_one_graph_doubles_exactly(grade):
    grade("same_graph_twice")
    grade("two_losses_over_one_node")


def test_an_unused_branch_changes_nothing(grade):
    grade("unused_branch")


def test_a_constant_may_be_used_twice(grade):
    grade("constant_used_twice", "m=3")


def test_leaves_with_equal_values_are_kept_apart(grade):
    grade("order_of_equal_tensors", "")
    grade("backward_through_equal_tensors", "")


def test_a_leaf_may_be_the_root(grade):
    for shape in ("", "1", "1 1"):
        grade("leaf_as_root", shape)
    grade("refused_root", "0 n=2")


def test_doubling_forty_times_takes_no_time(grade):
    grade("doubled_many_times", "", times=40)


# ---------------------------------------------------------------- memory


def test_no_gradient_shares_memory_with_another(grade):
    grade("leaf_does_nothing", "n=2")
    grade("used_twice", "1")
    grade("backward_through_arrays", "n=2 m=3")
    for op in ("add", "mul"):
        grade(f"{op}_adds", "n=3, n")
    grade("matmul_adds", "n=3 n, n n")
    for op in ("sum", "mean", "reshape", "transpose_all", "relu", "softmax", "log_softmax"):
        grade(f"{op}_adds", "n=2 m=3")


def test_the_callers_arrays_stay_as_they_were(grade):
    for op in ("exp", "log", "relu", "sigmoid", "tanh", "softmax", "log_softmax"):
        grade(op, "n=2 m=3")
    grade("mlp_training")
