"""What `max` grades: see the scenarios of lab01 for what a case and a scenario are."""

import numpy as np

from autodrill.cases import Suite

suite = Suite()


@suite.case("Tensor.max")
def max(lib, x, *, axis=None, keepdims=False):
    return x.max(axis=axis, keepdims=keepdims)


@suite.case("Tensor.max")
def max_default(lib, x):
    return x.max()


@suite.case("Tensor.max", "Tensor.__mul__")
def max_scaled(lib, x, *, axis=None):
    return x * x.max(axis=axis, keepdims=True)


_FIRST = "of several entries that tie for the largest, the first gets the gradient, whole"


@suite.scenario(
    "Tensor.max", what="gradient", domains={"x": "signs"}, says=dict.fromkeys(["x.grad"], _FIRST)
)
def max_of_ties(lib, x, *, axis=None, keepdims=False):
    """Not a case: torch shares a tie out, and there is no difference to take at one."""
    t = lib.Tensor(x, requires_grad=True)
    y = t.max(axis=axis, keepdims=keepdims)
    y.backward(np.arange(1.0, y.data.size + 1.0).reshape(y.shape))
    return {"y": y.data, "x.grad": t.grad}


@suite.scenario("Tensor.max", what="gradient", says={"x.grad": _FIRST})
def max_of_equals(lib, *, shape, axis=None):
    t = lib.Tensor(np.full(shape, 2.0), requires_grad=True)
    y = t.max(axis=axis)
    y.backward(np.arange(1.0, y.data.size + 1.0).reshape(y.shape))
    return {"y": y.data, "x.grad": t.grad}


@suite.scenario(
    "Tensor.max",
    what="gradient",
    says={"x.grad": "an entry that is smaller, by however little, is not the largest"},
)
def max_of_near_ties(lib, x, *, axis=None):
    """Entries that differ in the last digits only."""
    t = lib.Tensor(1.0 + 1e-12 * x, requires_grad=True)
    y = t.max(axis=axis)
    y.backward(np.arange(1.0, y.data.size + 1.0).reshape(y.shape))
    return {"x.grad": t.grad}


@suite.scenario(
    "Tensor.max",
    says={"requires_grad": "the maximum of a constant is a constant"},
)
def max_of_constant(lib, x):
    return {"requires_grad": bool(lib.Tensor(x).max().requires_grad)}


_INFINITE = "a slice of -inf has the maximum -inf, and its first entry gets the gradient"


@suite.scenario("Tensor.max", what="gradient", says={"y": _INFINITE, "x.grad": _INFINITE})
def max_of_minus_infinity(lib):
    t = lib.Tensor([[-np.inf, -np.inf], [-np.inf, 1.0]], requires_grad=True)
    y = t.max(axis=1)
    y.backward(np.array([2.0, 3.0]))
    return {"y": y.data, "x.grad": t.grad}
