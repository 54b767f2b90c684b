"""The graders of lab01: 37 tests.

Each line `grade("name", "shapes", …)` runs one computation of scenarios.py at those shapes,
and once more with all sizes equal, because square shapes hide other mistakes than oblong
ones. The upstream is random. Forward and gradients are compared with the reference to 1e-9.

Run them with `autodrill check`, or with plain `pytest` from the folder above this one.
"""

import pytest

from autodrill.cases import dims

# ---------------------------------------------------------------- 1 unbroadcast

UNBROADCASTS = {
    "3,4 to 3,4": ("n=3 m=4", "n m"),
    "3,4 to 4": ("n=3 m=4", "m"),
    "3,4 to 1,4": ("n=3 m=4", "1 m"),
    "3,4 to 3,1": ("n=3 m=4", "n 1"),
    "2,3,4 to 4": ("b=2 n=3 m=4", "m"),
    "2,3,4 to 3,1": ("b=2 n=3 m=4", "n 1"),
}


@pytest.mark.parametrize("name", UNBROADCASTS)
def test_unbroadcast_matches_sum(grade, name):
    shapes, shape = UNBROADCASTS[name]
    grade("unbroadcast", shapes, shape=dims(shape))
    if name == "2,3,4 to 3,1":
        grade("unbroadcast", "b=2 n=3 m=4", shape=dims("1 n m"))
        grade("unbroadcast", "b=2 n=3 m=4", shape=dims("b 1 1"))
        grade("unbroadcast", "b=2 n=3 m=4", shape=dims("1 m"))
        grade("unbroadcast", "c=2 b=3 n=4 m=2", shape=dims("b 1 m"))
    if name == "3,4 to 4":
        grade("unbroadcast", "n=3 m=2", shape=dims("m"))
        grade("unbroadcast", "n=3 m=4", shape=dims("1"))
        grade("unbroadcast", "n=3 m=4", shape=())
    if name == "3,4 to 3,1":
        grade("unbroadcast", "n=3 m=4", shape=dims("1 1"))


# ---------------------------------------------------------------- 2 backward


def test_node_used_twice_accumulates(grade):
    grade("square_by_product", "")
    grade("square_by_product", "n=3 m=2")
    grade("doubled", "n=3 m=2")
    for op in ("add", "mul"):
        grade(op, "n=3 m=2, n m")
        grade(op, "n=3 m=2, m")
        grade(op, "n=3 1, n m=2")
    grade("every_tensor_is_filled", "n=3")
    grade("two_backwards", "n=3")
    grade("same_graph_twice", "n=3, n, n")
    grade("gradients_are_kept_apart", "n=3")
    grade("gradients_are_arrays_of_their_own", "n=3")
    grade("inner_gradients_are_arrays_of_their_own", "n=3")


def test_diamond_graph(grade):
    grade("product_plus_itself", "n=2")
    grade("itself_plus_product", "n=2")
    grade("diamond", "n=2 m=3")
    grade("uneven_paths", "n=2")
    grade("sum_and_again", "n=2, n")
    grade("diamond_shared_inside", "n=2 m=3, n m")
    grade("doubled_many_times", "n=2")
    grade("equal_leaves", "n=2")


def test_constants_get_no_grad(grade):
    grade("constants", "n=2 m=3")
    grade("constant_handed_a_gradient", "n=2")
    grade("sum_of_constants", "n=2")
    grade("add_array", "m=3")
    grade("mul_array", "m=3")


def test_backward_on_nonscalar_needs_grad(grade):
    grade("scalar_root", "")
    grade("given_upstream", "n=2 m=3, n m")
    grade("nonscalar_root", "n=3")
    grade("nonscalar_root", "n=2 m=2")


def test_deep_graph_does_not_hit_recursion_limit(grade):
    grade("deep_graph", length=5000)


# ---------------------------------------------------------------- 3 elementwise

BROADCASTS = {
    "3,4 and 3,4": "n=3 m=4, n m",
    "3,4 and 4": "n=3 m=4, m",
    "3,1 and 1,4": "n=3 1, 1 m=4",
    "2,3,4 and 3,4": "b=2 n=3 m=4, n m",
}


@pytest.mark.parametrize("name", BROADCASTS)
def test_add_mul_div_broadcasting(grade, name):
    shapes = BROADCASTS[name]
    swapped = ", ".join(reversed(_with_sizes(shapes)))
    for op in ("add", "mul", "div"):
        grade(op, shapes)
        grade(op, swapped)
    if name == "3,4 and 3,4":
        grade("div_by_array", "m=3")


def test_unary_ops(grade):
    for exponent in (2, 3, -1):
        grade("pow", "n=3 m=4", exponent=exponent)
    for exponent in (0.5, -1.5, 1, 2.0):
        grade("pow_positive", "n=3 m=4", exponent=exponent)
    for op in ("exp", "log", "relu", "tanh"):
        grade(op, "n=3 m=4")
        grade(op, "b=2 n=1 m=3")
    grade("relu_at_zero", "n=3")
    grade("relu_and_input", "n=3 m=4")
    grade("exp_used_twice", "n=3")
    grade("chain", "n=3 m=4, m")


# ---------------------------------------------------------------- 4 matmul

MATMULS = {
    "3,4 @ 4,5": "n=3 m=4, m p=5",
    "2,3,4 @ 4,5": "b=2 n=3 m=4, m p=5",
    "2,3,4 @ 2,4,5": "b=2 n=3 m=4, b m p=5",
    "2,1,3,4 @ 5,4,2": "b=2 1 n=3 m=4, c=5 m p=2",
}


@pytest.mark.parametrize("name", MATMULS)
def test_matmul(grade, name):
    grade("matmul", MATMULS[name])
    if name == "3,4 @ 4,5":
        grade("matmul", "n=1 m=4, m p=1")
        grade("matmul_by_itself", "n=3 n")
        grade("matmul_by_array", "n=2 3")
    if name == "2,3,4 @ 4,5":
        grade("matmul", "n=3 m=4, b=2 m p=5")
        grade("matmul", "b=2 n=3 m=4, 1 m p=5")


# ---------------------------------------------------------------- 5 shape

SUMS = {
    "all": (None, False),
    "axis 0": (0, False),
    "axis 1, kept": (1, True),
    "axis -1": (-1, False),
    "axes 0 and 2": ((0, 2), False),
}


@pytest.mark.parametrize("name", SUMS)
def test_sum_and_mean(grade, name):
    axis, keepdims = SUMS[name]
    shapes = "b=2 n=3 m=4" if name == "axes 0 and 2" else "n=3 m=4"
    for op in ("sum", "mean"):
        grade(op, shapes, axis=axis, keepdims=keepdims)
        grade(op, "b=2 n=3 m=4", axis=axis, keepdims=keepdims)
        grade(op, "b=2 n=3 m=4", axis=axis, keepdims=not keepdims)
    grade("sum_scaled", "b=2 n=3 m=4", axis=axis)
    if name == "all":
        grade("sum_default", "n=3 m=4")
        grade("sum_then_more", "n=3 m=2")


def test_shape_ops(grade):
    grade("reshape", "n=3 m=4", shape=dims("m n"))
    grade("reshape", "n=2 m=3 p=4", shape=dims("p n m"))
    grade("reshape", "n=2 m=3", shape=(-1,))
    grade("reshape_of_product", "n=2 m=3, m", shape=dims("m n"))
    grade("transpose_all", "n=3 m=4")
    grade("transpose_all", "b=2 n=3 m=4")
    grade("transposed", "n=3 m=4")
    grade("transpose", "n=3 m=4", axes=(1, 0))
    grade("transpose", "b=2 n=3 m=4", axes=(2, 0, 1))
    grade("transpose", "b=2 n=3 m=4", axes=(1, 2, 0))
    grade("transpose", "b=2 n=3 m=4", axes=(0, 2, 1))
    grade("transpose", "a=2 b=3 n=4 m=5", axes=(3, 0, 2, 1))
    grade("transpose_then_matmul", "b=2 n=3 m=4, n p=2", axes=(2, 0, 1))


def test_getitem_scatter_adds_repeated_indices(grade):
    for index in ([0, 0, 2], [1, 1, 1]):
        grade("getitem", "n=4", index=index)
        grade("getitem", "n=4 m=3", index=index)
    grade("getitem", "n=4 m=3", index=([0, 0, 2], [1, 1, 2]))
    grade("getitem", "n=4 m=3", index=1)
    grade("getitem", "n=4 m=3", index=(slice(None), [2, 0, 2]))
    grade("getitem", "n=4 m=3", index=(slice(0, 2), slice(1, 3)))
    grade("getitem_twice", "n=4", index=[0, 0, 1])
    grade("getitem_then_twice_backward", "n=3")


LOGSUMEXPS = {"axis -1": (-1, False), "axis 0, kept": (0, True), "axis 1": (1, False)}


@pytest.mark.parametrize("name", LOGSUMEXPS)
def test_logsumexp(grade, name):
    axis, keepdims = LOGSUMEXPS[name]
    grade("logsumexp", "n=3 m=4", axis=axis, keepdims=keepdims)
    grade("logsumexp", "b=2 n=3 m=4", axis=axis, keepdims=keepdims)
    grade("logsumexp", "b=2 n=3 m=4", axis=axis, keepdims=not keepdims)
    grade("logsumexp_default", "n=3 m=4")


def test_logsumexp_is_stable(grade):
    grade("logsumexp_and_input", "n=3 m=4")
    grade("logsumexp_shifted", "n=3 m=4", by=1000.0)
    grade("logsumexp_shifted", "n=3 m=4", by=-1000.0)
    grade("logsumexp_rows_apart", "m=3", gap=2000.0)


def test_forward_matches_numpy(grade):
    grade("add", "n=3 m=4, m")
    grade("sub", "n=3 m=4, m")
    grade("mul", "n=3 1, m=4")
    grade("div", "n=3 m=4, n 1")
    grade("neg", "n=3")
    grade("pow", "n=3 m=4", exponent=2)
    grade("matmul", "n=3 m=4, m p=2")
    grade("sum", "b=2 n=3 m=4", axis=1)
    grade("mean", "b=2 n=3 m=4", axis=(0, 1))
    grade("reshape", "n=4 m=3", shape=dims("m n"))
    grade("transpose", "b=2 n=3 m=4", axes=(1, 0, 2))
    grade("getitem", "n=4 m=3", index=(slice(1, None), 0))
    for op in ("exp", "log", "relu", "tanh", "logsumexp_default"):
        grade(op, "n=3 m=4")


# ---------------------------------------------------------------- 6 training


def test_log_softmax_rows_normalize(grade):
    grade("log_softmax_totals", "n=3 m=4")
    grade("log_softmax", "n=3 m=4")
    grade("log_softmax", "n=3 m=4", axis=0)
    grade("log_softmax", "b=2 n=3 m=4")
    grade("log_softmax_shifted", "n=3 m=4", by=1000.0)
    grade("log_softmax_scaled", "n=3 m=4", by=500.0)
    grade("log_softmax_rows_apart", "2 m=3", gap=2000.0)


def test_cross_entropy_value_and_grad(grade):
    grade("cross_entropy", "4 c=3", targets=[0, 2, 1, 2])
    grade("cross_entropy", "5 c=4", targets=[0, 0, 1, 0, 2])
    grade("cross_entropy", "3 c=3", targets=[2, 1, 1])
    grade("cross_entropy", "1 c=3", targets=[1])
    grade("cross_entropy_scaled", "3 c=3", targets=[2, 1, 0], by=500.0)


def test_numerical_gradient_helper(grade):
    grade("numerical_gradient", "n=3")
    grade("numerical_gradient", "n=2 m=3")
    grade("numerical_gradient_of_a_large_step", "n=2", eps=0.01)


def test_sgd_step_updates_and_clears(grade):
    grade("sgd_step", "n=3 m=2, m")
    grade("sgd_twice", "n=3")


def test_mlp_learns_spirals(grade):
    grade("five_steps")
    grade("spirals")


def _with_sizes(shapes):
    """Write the size of each dimension at every mention, so that the inputs can be swapped."""
    sizes = dict(word.split("=") for word in shapes.replace(",", " ").split() if "=" in word)
    return [
        " ".join(
            word if "=" in word or word not in sizes else f"{word}={sizes[word]}"
            for word in part.split()
        )
        for part in shapes.split(",")
    ]
