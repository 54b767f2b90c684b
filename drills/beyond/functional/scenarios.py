"""What `functional` grades: gradients as functions of functions, and nothing left behind."""

import numpy as np

from autodrill.cases import Suite

suite = Suite()

# ---------------------------------------------------------------- vjp


@suite.scenario("vjp", what="gradient")
def vjp_of_one_input(lib, x, upstream):
    value, pullback = lib.vjp(lambda t: t * t.exp(), x)
    dx = pullback(upstream)[0]
    return {"value": value, "dx": dx}


@suite.scenario("vjp", what="gradient")
def vjp_of_a_product(lib, a, b, upstream):
    value, pullback = lib.vjp(lambda a, b: (a @ b).tanh(), a, b)
    da, db = pullback(upstream)
    return {"value": value, "da": da, "db": db}


@suite.scenario("vjp", what="gradient")
def vjp_of_three_inputs(lib, x, y, z, upstream):
    value, pullback = lib.vjp(lambda x, y, z: x * y + z * z, x, y, z)
    dx, dy, dz = pullback(upstream)
    return {"value": value, "dx": dx, "dy": dy, "dz": dz}


@suite.scenario(
    "vjp",
    what="gradient",
    says=dict.fromkeys(
        ("dx", "dy"), "one tensor, given twice, is two inputs: each has a gradient of its own"
    ),
)
def vjp_of_one_tensor_twice(lib, x, upstream):
    t = lib.Tensor(x, requires_grad=True)
    _, pullback = lib.vjp(lambda a, b: a * b.exp(), t, t)
    dx, dy = pullback(upstream)
    return {"dx": dx, "dy": dy}


@suite.scenario(
    "vjp",
    what="gradient",
    says={"dx": "every input has a gradient, whether or not its `requires_grad` says so outside"},
)
def vjp_of_a_constant_tensor(lib, x, upstream):
    _, pullback = lib.vjp(lambda t: t * t, lib.Tensor(x))
    (dx,) = pullback(upstream)
    return {"dx": dx}


@suite.scenario(
    "vjp",
    what="gradient",
    says={"dx": "the input is the tensor that was given, not what that was computed from"},
)
def vjp_of_a_result(lib, x, upstream):
    t = lib.Tensor(x, requires_grad=True)
    _, pullback = lib.vjp(lambda a: a * a, t * 3.0)
    (dx,) = pullback(upstream)
    return {"dx": dx, "t.grad": t.grad}


_UNUSED = "an input that the value does not depend on has a gradient of zeros, of its shape"


@suite.scenario("vjp", what="gradient", says={"is an array": _UNUSED, "dy": _UNUSED})
def vjp_of_an_unused_input(lib, x, y, upstream):
    _, pullback = lib.vjp(lambda x, y: x * 2.0, x, y)
    dx, dy = pullback(upstream)
    return {"dx": dx, "is an array": isinstance(dy, np.ndarray), "dy": dy}


@suite.scenario("vjp", what="gradient", says={"dx": _UNUSED})
def vjp_of_a_constant_function(lib, x, upstream):
    value, pullback = lib.vjp(lambda t: lib.Tensor(t.data * 2.0), x)
    (dx,) = pullback(upstream)
    return {"value": value, "dx": dx}


@suite.scenario("vjp", what="gradient")
def vjp_of_lists(lib):
    value, pullback = lib.vjp(lambda t: t * t, [1, 2, 3])
    (dx,) = pullback([1, 10, 100])
    return {"value": value, "dx": dx}


@suite.scenario(
    "vjp", what="gradient", says={"dx": "the upstream may be a Tensor, or what makes one"}
)
def vjp_takes_a_tensor_as_upstream(lib, x, upstream):
    _, pullback = lib.vjp(lambda t: t * t, x)
    (dx,) = pullback(lib.Tensor(upstream))
    return {"dx": dx}


_AGAIN = "pullback may be called again: each call starts from nothing"


@suite.scenario("vjp", what="gradient", says={"second": _AGAIN, "first": _AGAIN})
def vjp_pulled_back_twice(lib, x, upstream):
    _, pullback = lib.vjp(lambda t: t * t.exp(), x)
    (first,) = pullback(upstream)
    (second,) = pullback(2.0 * upstream)
    return {"first": first, "second": second}


@suite.scenario(
    "vjp", says={"times": "the function is called once; the graph serves all pullbacks"}
)
def vjp_calls_the_function_once(lib, x, upstream):
    calls = []

    def square(t):
        calls.append(1)
        return t * t

    _, pullback = lib.vjp(square, x)
    pullback(upstream)
    pullback(upstream)
    return {"times": len(calls)}


_LEFT = "nothing may be left in `.grad`, and what was there has to stay"


@suite.scenario("vjp", says=dict.fromkeys(("x.grad", "w.grad", "leaf.grad"), _LEFT))
def vjp_leaves_no_grad(lib, x, w, upstream):
    """The function holds a tensor of its own, that requires a gradient too."""
    held = lib.Tensor(w, requires_grad=True)
    held.grad = np.full(w.shape, 7.0)
    t, given = lib.Tensor(x, requires_grad=True), []

    def scaled(a):
        given.append(a)
        return a * held

    _, pullback = lib.vjp(scaled, t)
    (dx,) = pullback(upstream)
    return {"dx": dx, "x.grad": t.grad, "w.grad": held.grad, "leaf.grad": given[0].grad}


@suite.scenario(
    "vjp",
    says=dict.fromkeys(("dx", "value", "upstream"), "each has to be an array of its own"),
)
def vjp_of_the_identity(lib, x, upstream):
    value, pullback = lib.vjp(lambda t: t, x)
    (dx,) = pullback(upstream)
    dx += 1.0
    return {"value": value, "dx": dx, "upstream": upstream}


@suite.scenario(
    "vjp",
    what="gradient",
    says={"dx": "the value must be a copy: to change it may not reach into the graph"},
)
def vjp_value_changed_by_the_caller(lib, x, upstream):
    value, pullback = lib.vjp(lambda t: t.exp(), x)
    value *= 0.0
    (dx,) = pullback(upstream)
    return {"dx": dx}


@suite.scenario(
    "vjp",
    raises="RuntimeError",
    says={"raises": "pullback must raise RuntimeError where the upstream has another shape"},
)
def vjp_of_another_upstream(lib, x):
    _, pullback = lib.vjp(lambda t: t * t, x)
    pullback(1.0)
    return {}


_NO_TENSOR = "a function that does not return a Tensor must raise TypeError: nothing flows back"


@suite.scenario("vjp", raises="TypeError", says={"raises": _NO_TENSOR})
def vjp_of_an_array_function(lib, x):
    lib.vjp(lambda t: t.data * 2.0, x)
    return {}


# ---------------------------------------------------------------- value_and_grad


@suite.scenario("value_and_grad", "vjp", what="gradient")
def value_and_grad(lib, x):
    value, dx = lib.value_and_grad(lambda t: (t * t).sum())(x)
    return {"value": float(value), "dx": dx}


_REST = "the other arguments are handed on as they come, and no gradient is asked of them"


@suite.scenario("value_and_grad", "vjp", what="gradient", says={"kinds": _REST})
def value_and_grad_with_more_arguments(lib, w, x):
    kinds = []

    def loss(w, x, power):
        kinds.append(isinstance(x, np.ndarray) and power == 2)
        return ((x @ w) ** power).sum()

    value, dw = lib.value_and_grad(loss)(w, x, 2)
    return {"value": float(value), "dw": dw, "kinds": kinds}


@suite.scenario(
    "value_and_grad",
    "vjp",
    says={"times": "the value and the gradient come from one call of the function"},
)
def value_and_grad_calls_once(lib, x):
    calls = []

    def total(t):
        calls.append(1)
        return (t * t).sum()

    both = lib.value_and_grad(total)
    before = len(calls)
    both(x)
    return {"before": before, "times": len(calls)}


_SCALAR = "a function whose result is not of shape () has no gradient: raise RuntimeError"


@suite.scenario("value_and_grad", "vjp", raises="RuntimeError", says={"raises": _SCALAR})
def value_and_grad_of_many_values(lib, x):
    lib.value_and_grad(lambda t: t * t)(x)
    return {}


# ---------------------------------------------------------------- grad


@suite.scenario("_grad_of_function", "value_and_grad", "vjp", what="gradient")
def grad_of_a_function(lib, x):
    gradient = lib.grad(lambda t: (t * t.exp()).sum())
    return {"dx": gradient(x), "again": gradient(x + 1.0)}


@suite.scenario("_grad_of_function", "value_and_grad", "vjp", what="gradient", says={"dw": _REST})
def grad_with_more_arguments(lib, w, x):
    dw = lib.grad(lambda w, x, scale: (scale * (x @ w)).tanh().sum())(w, x, 0.5)
    return {"dw": dw}


@suite.scenario(
    "_grad_of_function",
    "value_and_grad",
    "vjp",
    says=dict.fromkeys(("x.grad", "w.grad"), _LEFT),
)
def grad_leaves_no_grad(lib, x, w):
    t, held = lib.Tensor(x, requires_grad=True), lib.Tensor(w, requires_grad=True)
    dx = lib.grad(lambda a: (a * held * held).sum())(t)
    return {"dx": dx, "x.grad": t.grad, "w.grad": held.grad}


@suite.scenario(
    "_grad_of_function", "value_and_grad", "vjp", raises="RuntimeError", says={"raises": _SCALAR}
)
def grad_of_many_values(lib, x):
    lib.grad(lambda t: t * t)(x)
    return {}


@suite.scenario(
    "_grad_of_function", "value_and_grad", "vjp", raises="TypeError", says={"raises": _NO_TENSOR}
)
def grad_of_a_gradient(lib, x):
    """The inner gradient is an array: to differentiate it again has to fail, not to give 0."""
    lib.grad(lib.grad(lambda t: (t * t * t).sum()))(x)
    return {}


# ---------------------------------------------------------------- jacobian

_ORDER = "the axes of the result come first, then those of the input"


@suite.scenario("jacobian", "vjp", what="gradient", says={"jacobian": _ORDER})
def jacobian_of_a_product(lib, w, x):
    return {"jacobian": lib.jacobian(lambda t: (lib.Tensor(w) @ t).tanh(), x)}


@suite.scenario("jacobian", "vjp", what="gradient")
def jacobian_of_powers(lib, x):
    """On entries that stand apart it is a diagonal: every other entry is 0."""
    return {"jacobian": lib.jacobian(lambda t: t * t * t, x)}


@suite.scenario("jacobian", "vjp", what="gradient", says={"jacobian": _ORDER})
def jacobian_of_sums(lib, x):
    return {"jacobian": lib.jacobian(lambda t: (t * t).sum(axis=0), x)}


@suite.scenario("jacobian", "vjp", what="gradient")
def jacobian_of_a_total(lib, x):
    return {"jacobian": lib.jacobian(lambda t: (t * t).sum(), x)}


@suite.scenario("jacobian", "vjp", what="gradient", says={"jacobian": _ORDER})
def jacobian_of_an_outer_product(lib, x):
    return {"jacobian": lib.jacobian(lambda t: t.reshape(-1, 1) * t.exp(), x)}


@suite.scenario("jacobian", "vjp", what="gradient")
def jacobian_of_a_constant(lib, x):
    return {"jacobian": lib.jacobian(lambda t: lib.Tensor([1.0, 2.0]), x)}


@suite.scenario(
    "jacobian",
    "vjp",
    says={"times": "the function is called once: the graph serves every row", "x.grad": _LEFT},
)
def jacobian_calls_once(lib, x):
    t, calls = lib.Tensor(x, requires_grad=True), []

    def squares(a):
        calls.append(1)
        return a * a

    lib.jacobian(squares, t)
    return {"times": len(calls), "x.grad": t.grad}


@suite.scenario("jacobian", "vjp", what="gradient")
def jacobian_of_nothing(lib, x):
    return {"jacobian": lib.jacobian(lambda t: t[:0], x)}


@suite.scenario("jacobian", "vjp", what="gradient")
def jacobian_of_a_list(lib):
    return {"jacobian": lib.jacobian(lambda t: t * t, [1, 2])}
