"""The graders of retype: 18 tests.

Each line `grade("name", "shapes", …)` runs one computation of scenarios.py at those shapes,
and once more with all sizes equal, because square shapes hide other mistakes than oblong
ones. The upstream is random. Forward and gradients are compared with the reference to 1e-9.

Run them with `autodrill check`, or with plain `pytest` from the folder above this one.
"""

from autodrill.cases import dims

# ---------------------------------------------------------------- 1 unbroadcast


def test_unbroadcast_sums_over_broadcast_axes(grade):
    grade("unbroadcast", "n=3 m=4", shape=dims("n m"))
    grade("unbroadcast", "n=3 m=4", shape=dims("m"))
    grade("unbroadcast", "n=3 m=4", shape=dims("1 m"))
    grade("unbroadcast", "n=3 m=4", shape=dims("n 1"))
    grade("unbroadcast", "n=3 m=4", shape=dims("1 1"))
    grade("unbroadcast", "n=3 m=4", shape=dims("1"))
    grade("unbroadcast", "n=3 m=4", shape=())
    grade("unbroadcast", "b=2 n=3 m=4", shape=dims("m"))
    grade("unbroadcast", "b=2 n=3 m=4", shape=dims("n 1"))
    grade("unbroadcast", "b=2 n=3 m=4", shape=dims("1 m"))
    grade("unbroadcast", "b=2 n=3 m=4", shape=dims("1 n m"))
    grade("unbroadcast", "b=2 n=3 m=4", shape=dims("b 1 1"))
    grade("unbroadcast", "c=2 b=3 n=4 m=2", shape=dims("b 1 m"))


# ---------------------------------------------------------------- 2 core


def test_gradient_accumulates_when_tensor_used_twice(grade):
    for dtype in ("float64", "int64", "float32"):
        grade("fresh", "n=2 m=3", dtype=dtype)
        grade("fresh", "", dtype=dtype)
    grade("fresh_from_list", "n=2 m=3")
    grade("fresh_from_list", "")
    grade("keeps_what_was_given", "n=2")
    grade("leaf_does_nothing", "n=2")
    for children in ("a, b", "b, a"):
        grade("order_of_diamond", "", children=children)
    for shape in ("", "1", "1 1"):
        grade("used_twice", shape)
        grade("two_losses", shape)
    for shape in ("n=2", "n=2 m=3", "1 n=2", "0"):
        grade("refused_root", shape)


def test_diamond_graph_topological_order(grade):
    grade("order_of_equal_tensors", "")
    grade("order_of_any_graph", "", graphs=12)
    grade("order_of_long_chain", length=5000)
    for children in ("a, b", "b, a"):
        grade("diamond", "", children=children)
    grade("backward_through_equal_tensors", "")
    grade("backward_through_any_graph", "", graphs=12)
    grade("backward_through_arrays", "n=2 m=3")
    grade("doubled_many_times", "", times=16)
    grade("backward_through_long_chain", length=5000)


# ---------------------------------------------------------------- 3 arithmetic

BROADCASTS = (
    "n=3 m=4, n m",
    "n=3 m=4, m",
    "m=4, n=3 m",
    "n=3 1, 1 m=4",
    "n=3 1, n m=4",
    "b=2 n=3 m=4, n m",
    "b=2 n=3 m=4, b 1 m",
    ", n=3 m=4",
)


def test_op_add_and_mul_broadcast(grade):
    for op, by_itself in (("add", "doubled"), ("mul", "squared")):
        for shapes in BROADCASTS:
            grade(op, shapes)
        grade(by_itself, "n=3 m=4")
        grade(f"{op}_constant", "n=3 m=4")
        grade(f"{op}_array", "m=3")
        grade(f"{op}_adds", "n=2 m=3, n m")
    grade("sum_and_again", "n=2, n")
    grade("neg", "n=3 m=4")
    grade("sub", "n=3 m=4, n m")
    grade("sub", "n=3 1, 1 m=4")


def test_op_pow_and_div(grade):
    for exponent in (2, 3, -1):
        grade("pow", "n=3 m=4", exponent=exponent)
    for exponent in (0.5, -1.5, 1, 2.0):
        grade("pow_positive", "n=3 m=4", exponent=exponent)
    grade("pow_adds", "n=3")
    for shapes in ("n=3 m=4, n m", "n=3 m=4, m", "n=3 1, 1 m=4", ", n=3 m=4"):
        grade("div", shapes)


def test_op_matmul_2d(grade):
    grade("matmul", "n=3 m=4, m p=5")
    grade("matmul", "n=1 m=4, m p=1")
    grade("matmul_by_itself", "n=3 n")
    grade("matmul_array", "n=2 3")
    grade("matmul_adds", "n=2 n, n n")


def test_batched_matmul_with_broadcast_matches_torch(grade):
    grade("matmul", "b=2 n=3 m=4, b m p=5")
    grade("matmul", "b=2 n=3 m=4, m p=5")
    grade("matmul", "n=3 m=4, b=2 m p=5")
    grade("matmul", "b=2 1 n=3 m=4, c=5 m p=2")
    grade("matmul", "1 n=3 m=4, b=2 m p=5")
    grade("matmul", "b=2 n=3 m=4, 1 m p=5")


# ---------------------------------------------------------------- 4 elementwise


AXES = ((None, False), (0, False), (1, True), (-1, False), ((0, 1), False), (None, True))
AXES_OF_THREE = ((1, False), (-2, True), ((0, 2), False), ((0, 2), True), ((1, 2), False))


def test_op_sum_mean_axes(grade):
    for op in ("sum", "mean"):
        grade(f"{op}_default", "n=3 m=4")
        for axis, keepdims in AXES:
            grade(op, "n=3 m=4", axis=axis, keepdims=keepdims)
        for axis, keepdims in AXES_OF_THREE:
            grade(op, "b=2 n=3 m=4", axis=axis, keepdims=keepdims)
        grade(f"{op}_adds", "n=2 m=3")
    grade("sum_twice", "n=2 m=3, m, n")


def test_op_exp_log(grade):
    for op in ("exp", "log"):
        grade(op, "n=3 m=4")
        grade(op, "b=2 n=1 m=3")
        grade(f"{op}_adds", "n=3")


def test_op_relu(grade):
    grade("relu", "n=3 m=4")
    grade("relu", "b=2 n=1 m=3")
    grade("relu_at_zero", "n=3")
    grade("relu_adds", "n=3")


def test_op_sigmoid_tanh(grade):
    for op in ("sigmoid", "tanh"):
        grade(op, "n=3 m=4")
        grade(op, "b=2 n=1 m=3")
        grade(f"{op}_adds", "n=3")


# ---------------------------------------------------------------- 5 softmax

# Far above and below zero, rows far apart, and entries of one row far apart.
OFFSETS = (1000.0, -1000.0, [[0.0], [2000.0]], [0.0, -800.0, 800.0])


def test_op_softmax(grade):
    grade("softmax_default", "n=3 m=4")
    for axis in (-1, 0):
        grade("softmax", "n=3 m=4", axis=axis)
    for axis in (-1, 0, 1):
        grade("softmax", "b=2 n=3 m=4", axis=axis)
    grade("softmax_adds", "n=2 m=3")
    for offset in OFFSETS:
        grade("softmax_of_large", "2 3, 2 3", offset=offset)


def test_op_log_softmax(grade):
    grade("log_softmax_default", "n=3 m=4")
    for axis in (-1, 0):
        grade("log_softmax", "n=3 m=4", axis=axis)
    for axis in (-1, 0, 1):
        grade("log_softmax", "b=2 n=3 m=4", axis=axis)
    grade("log_softmax_adds", "n=2 m=3")
    for offset in OFFSETS:
        grade("log_softmax_of_large", "2 3, 2 3", offset=offset)


def test_op_reshape_transpose(grade):
    grade("reshape", "n=3 m=4", shape=dims("m n"))
    grade("reshape", "n=2 m=3 p=4", shape=dims("p n m"))
    grade("reshape", "n=2 m=3", shape=(-1,))
    grade("reshape", "n=2 m=3", shape=(1, 1, -1))
    grade("reshape_adds", "n=2 m=3")
    grade("transpose_all", "n=3 m=4")
    grade("transpose_all", "b=2 n=3 m=4")
    grade("transposed", "n=3 m=4")
    grade("transpose", "n=3 m=4", axes=(1, 0))
    for axes in ((2, 0, 1), (1, 2, 0), (0, 2, 1)):
        grade("transpose", "b=2 n=3 m=4", axes=axes)
    grade("transpose", "a=2 b=3 n=4 m=5", axes=(3, 0, 2, 1))
    grade("transpose_all_adds", "n=2 m=3")


# ---------------------------------------------------------------- 6 cross_entropy


def test_cross_entropy_helper_matches_torch(grade):
    grade("cross_entropy", "4 3", targets=[0, 2, 1, 2])
    grade("cross_entropy", "5 4", targets=[0, 0, 1, 0, 2])
    grade("cross_entropy", "3 3", targets=[2, 1, 1])
    grade("cross_entropy", "1 3", targets=[1])
    grade("cross_entropy_of_large", "3 3", targets=[2, 1, 0], by=500.0)


# ---------------------------------------------------------------- 7 the whole


def test_softmax_logsoftmax_reshape_transpose_mean_match_torch(grade):
    grade("shapes_and_softmax", "b=2 n=3 m=4")
    grade("shapes_and_log_softmax", "b=2 n=3 m=4")
    grade("shapes_and_softmax_backward")


def test_random_elementwise_graph_matches_torch(grade):
    for op in ("number_plus", "number_minus", "number_times", "number_over"):
        grade(op, "n=3 m=2")
    for seed in range(8):
        grade("random_graph", "n=3 m=4, m", seed=seed)
        grade("random_graph_backward", seed=seed)


def test_two_layer_mlp_matches_torch(grade):
    grade("two_layer_mlp", "4 d=2, d h=5, h, h 3, 3", targets=[0, 2, 1, 2])
    grade("mlp_training")
