"""What `jvp` grades: the rules, one by one and composed, several inputs, backward within."""

import numpy as np

from autodrill.cases import Suite

suite = Suite()

_VALUE = "the value is that of the function, whatever the tangent is"
_TANGENT = "the tangent is wrong"


def _says(tangent=_TANGENT):
    return {"y": _VALUE, "tangent": tangent}


@suite.scenario("_tangent_of", "jvp", "_array", says=_says(), domains={"b": "nonzero"})
def jvp_of_arithmetic(lib, a, b, da, db, *, op):
    import operator

    y, tangent = lib.jvp(getattr(operator, op), (a, b), (da, db))
    return {"y": y, "tangent": tangent}


@suite.scenario("_tangent_of", "jvp", "_array", says=_says(), domains={"x": "nonzero"})
def jvp_with_a_constant(lib, x, v, *, op, on_the_left):
    """Of the two operands one is a constant: it does not move."""
    import operator

    f = getattr(operator, op)
    y, tangent = lib.jvp(lambda t: f(3.0, t) if on_the_left else f(t, 3.0), (x,), (v,))
    return {"y": y, "tangent": tangent}


@suite.scenario("_tangent_of", "jvp", "_array", says=_says(), domains={"x": "nonzero"})
def jvp_of_a_power(lib, x, v, *, exponent):
    y, tangent = lib.jvp(lambda t: t**exponent, (x,), (v,))
    return {"y": y, "tangent": tangent}


@suite.scenario("_tangent_of", "jvp", "_array", says=_says(), domains={"x": "signs"})
def jvp_of_a_power_at_zero(lib, x, v, *, exponent):
    y, tangent = lib.jvp(lambda t: t**exponent, (x,), (v,))
    return {"y": y, "tangent": tangent}


@suite.scenario("_tangent_of", "jvp", "_array", says=_says())
def jvp_of_matmul(lib, a, b, da, db):
    y, tangent = lib.jvp(lambda a, b: a @ b, (a, b), (da, db))
    return {"y": y, "tangent": tangent}


@suite.scenario("_tangent_of", "jvp", "_array", says=_says(), domains={"x": "positive"})
def jvp_of_a_function(lib, x, v, *, name):
    y, tangent = lib.jvp(lambda t: getattr(t, name)(), (x,), (v,))
    return {"y": y, "tangent": tangent}


@suite.scenario("_tangent_of", "jvp", "_array", says=_says(), domains={"x": "nonzero"})
def jvp_of_relu(lib, x, v):
    y, tangent = lib.jvp(lambda t: t.relu(), (x,), (v,))
    return {"y": y, "tangent": tangent}


_KINK = "relu passes the tangent on where x > 0, and at exactly 0 it does not, as in backward"


@suite.scenario("_tangent_of", "jvp", "_array", says=_says(_KINK), domains={"x": "signs"})
def jvp_of_relu_at_zero(lib, x, v):
    y, tangent = lib.jvp(lambda t: t.relu(), (x,), (v,))
    return {"y": y, "tangent": tangent}


@suite.scenario(
    "_tangent_of",
    "jvp",
    "_array",
    raises="TypeError",
    says={"raises": "an operation that has no rule must raise TypeError, not lose its tangent"},
)
def jvp_without_a_rule(lib, x):
    lib.jvp(lambda t: lib.Tensor(np.arctan(t.data)), (x,), (x,))
    return {}


_LINEAR = "what is linear does to the tangent what it does to the value"


@suite.scenario("Dual.mapped", "jvp", "_array", says=_says(_LINEAR))
def jvp_of_sum(lib, x, v, *, axis=None, keepdims=False):
    y, tangent = lib.jvp(lambda t: t.sum(axis=axis, keepdims=keepdims), (x,), (v,))
    return {"y": y, "tangent": tangent}


@suite.scenario("Dual.mapped", "jvp", "_array", says=_says(_LINEAR))
def jvp_of_transpose(lib, x, v, *, axes):
    y, tangent = lib.jvp(lambda t: t.transpose(*axes), (x,), (v,))
    return {"y": y, "tangent": tangent}


@suite.scenario("Dual.mapped", "jvp", "_array", says=_says(_LINEAR))
def jvp_of_reshape(lib, x, v):
    y, tangent = lib.jvp(lambda t: t.reshape(-1), (x,), (v,))
    return {"y": y, "tangent": tangent}


@suite.scenario("Dual.mapped", "jvp", "_array", says=_says(_LINEAR))
def jvp_of_getitem(lib, x, v):
    """The index reads an entry twice, another never, and turns the order round."""
    y, tangent = lib.jvp(lambda t: t[[0, -1, 0]], (x,), (v,))
    return {"y": y, "tangent": tangent}


@suite.scenario("_tangent_of", "Dual.mapped", "jvp", "_array", says=_says())
def jvp_of_logsumexp(lib, x, v, *, axis=-1):
    y, tangent = lib.jvp(lambda t: t.logsumexp(axis=axis), (x,), (v,))
    return {"y": y, "tangent": tangent}


@suite.scenario("_tangent_of", "jvp", "_array", says=_says())
def jvp_of_one_used_several_times(lib, x, v):
    y, tangent = lib.jvp(lambda t: t * t * t - t.tanh() * t, (x,), (v,))
    return {"y": y, "tangent": tangent}


_EACH = "the tangents of all inputs count: their contributions add up"


@suite.scenario("jvp", "_tangent_of", "_array", says=_says(_EACH))
def jvp_of_three_inputs(lib, a, b, c, da, db, dc):
    y, tangent = lib.jvp(lambda a, b, c: a * b + c.tanh() * b, (a, b, c), (da, db, dc))
    return {"y": y, "tangent": tangent}


@suite.scenario(
    "jvp",
    "_tangent_of",
    "_array",
    says={"runs": "the function runs once for a direction, whatever number of inputs there is"},
)
def jvp_runs_once(lib, a, b, da, db):
    runs = []

    def f(a, b):
        runs.append(1)
        return a * b

    y, tangent = lib.jvp(f, (a, b), (da, db))
    return {"runs": len(runs), "y": y, "tangent": tangent}


_STILL = "what does not depend on the inputs does not move: its tangent is zeros"


@suite.scenario("jvp", "_array", says=_says(_STILL))
def jvp_of_a_constant(lib, x, v):
    y, tangent = lib.jvp(lambda t: lib.Tensor(x) * 2.0, (x,), (v,))
    return {"y": y, "tangent": tangent}


@suite.scenario("jvp", "_array", says=_says("the tangent of an input is the one that is given"))
def jvp_of_the_identity(lib, x, v):
    y, tangent = lib.jvp(lambda t: t, (x,), (v,))
    return {"y": y, "tangent": tangent}


_OWN = "jvp returns arrays of its own: to write to one must not change what was given"


@suite.scenario("jvp", "_array", says={"x": _OWN, "v": _OWN})
def jvp_returns_new_arrays(lib, x, v):
    y, tangent = lib.jvp(lambda t: t, (x,), (v,))
    y += 1.0
    tangent += 1.0
    return {"x": x, "v": v}


@suite.scenario(
    "_array",
    "jvp",
    "_tangent_of",
    says=_says("a tensor that is made of another's array carries on the tangent"),
)
def jvp_through_a_new_tensor(lib, x, v):
    y, tangent = lib.jvp(lambda t: lib.Tensor(t.data) * 2.0, (x,), (v,))
    return {"y": y, "tangent": tangent}


@suite.scenario(
    "_array",
    "jvp",
    "_tangent_of",
    says={"int": "all else becomes float64 as before", "same": "a float64 array is not copied"},
)
def arrays_are_what_they_were(lib, x):
    y, _ = lib.jvp(lambda t: t * 2.0, (x,), (x,))
    return {"y": y, "int": lib.Tensor([1, 2, 3]).data, "same": lib.Tensor(x).data is x}


@suite.scenario("jvp", "_tangent_of", "Dual.mapped", "_array", says=_says())
def jvp_of_tensors_and_lists(lib, x, v):
    y, tangent = lib.jvp(
        lambda a, b: a * b[0] + b[1], (lib.Tensor(x), [1, 2]), (lib.Tensor(v), [3, 4])
    )
    return {"y": y, "tangent": tangent}


@suite.scenario("jvp", "_tangent_of", "Dual.mapped", "_array", says=_says())
def jvp_of_a_network(lib, x, w1, w2, v1, v2):
    """Along a direction in the space of all weights, through the loss of two layers."""

    def loss(w1, w2):
        logits = (lib.Tensor(x) @ w1).relu() @ w2
        return lib.cross_entropy(logits, np.arange(len(x)) % 2)

    y, tangent = lib.jvp(loss, (w1, w2), (v1, v2))
    return {"y": y, "tangent": tangent}


_HESSIAN = "of a gradient, the tangent is the Hessian times the direction"
_GRADIENT = "the value of the gradient is the one that backward gives"


def _over(tangent=_HESSIAN):
    return {"gradient": _GRADIENT, "H v": tangent}


@suite.scenario("jvp", "_tangent_of", "Dual.mapped", "_array", says=_over())
def hessian_vector_product(lib, x, w, v):
    """Forward over reverse, of L(w) = sum(relu(X w)^2)."""

    def gradient(w):
        ((lib.Tensor(x) @ w).relu() ** 2).sum().backward()
        return w.grad

    g, hv = lib.jvp(gradient, (w,), (v,))
    return {"gradient": g, "H v": hv}


@suite.scenario(
    "jvp", "_tangent_of", "Dual.mapped", "_array", says=_over(), domains={"x": "positive"}
)
def hessian_vector_product_of(lib, x, v, *, name):
    """Each function's VJP with tangents in it."""

    def gradient(t):
        {
            "mul": lambda: t * t * t,
            "div": lambda: 2.0 / t + t / (t + 1.0),
            "pow": lambda: t**3 + t**0.5,
            "exp": t.exp,
            "log": t.log,
            "tanh": t.tanh,
            "matmul": lambda: (t.T @ t) @ t.T,
            "shapes": lambda: t.T.reshape(-1) ** 3,
            "getitem": lambda: t[[0, -1, 0]] ** 3,
            "broadcast": lambda: (t * t.sum(axis=0)) ** 2,
            "logsumexp": lambda: t.logsumexp(axis=0) ** 2,
        }[name]().sum().backward()
        return t.grad

    g, hv = lib.jvp(gradient, (x,), (v,))
    return {"gradient": g, "H v": hv}


@suite.scenario("jvp", "_tangent_of", "_array", says=_over(), what="gradient")
def backward_after_jvp(lib, x, v):
    """What is not given to jvp works as ever, before, within and after."""
    t = lib.Tensor(x, requires_grad=True)
    y, tangent = lib.jvp(lambda u: u * x, (x,), (v,))
    (t * t).backward(np.full(x.shape, 2.0))
    return {"y": y, "tangent": tangent, "x.grad": t.grad}


_SHAPES = "a tangent of another shape than its input must raise ValueError"
_LENGTHS = "jvp needs one tangent for each input: anything else must raise ValueError"


@suite.scenario("jvp", "_array", raises="ValueError", says={"raises": _SHAPES})
def jvp_with_a_tangent_of_another_shape(lib, x):
    lib.jvp(lambda t: t, (x,), (np.ones(1),))
    return {}


@suite.scenario("jvp", "_array", raises="ValueError", says={"raises": _LENGTHS})
def jvp_with_too_few_tangents(lib, x):
    lib.jvp(lambda t, u=1.0: t, (x, x), (x,))
    return {}
