"""What `double_backward` grades: `grad(y, xs)`, and that its answers can be differentiated.

In a case the first gradient is the result, so a wrong *second* derivative is what is reported as
a wrong gradient, beside finite differences of the first one. `u` is the upstream of the first
backward, and a tensor like the others.
"""

import numpy as np

from autodrill.cases import Suite

suite = Suite()

GRAD = ("_grad_of_tensor",)
WALK = ("_gradients_in_tensors", "_grad_of_tensor", "_vjp_in_tensors", "_sum_to")
RULES = ("_vjp_in_tensors", "_grad_of_tensor", "_gradients_in_tensors", "_sum_to")
SUMS = ("_sum_to", "_vjp_in_tensors", "_grad_of_tensor", "_gradients_in_tensors")
PUT = ("_put", "_vjp_in_tensors", "_grad_of_tensor", "_gradients_in_tensors", "_sum_to")

# ---------------------------------------------------------------- grad(y, xs)


@suite.scenario(*GRAD, what="gradient")
def grad_of_tensor(lib, x, w, upstream):
    t, u = lib.Tensor(x, requires_grad=True), lib.Tensor(w, requires_grad=True)
    dx, dw = lib.grad((t @ u).tanh(), [t, u], upstream)
    return {"dx": dx.data, "dw": dw.data}


@suite.scenario(*GRAD, what="gradient")
def grad_of_tensor_default(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    return {"dx": lib.grad((t * t).sum(), [t])[0].data}


@suite.scenario(*GRAD, what="gradient", says={"dx": "a Tensor alone is a sequence of one"})
def grad_of_tensor_alone(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    (dx,) = lib.grad((t * t).sum(), t)
    return {"dx": dx.data}


_ORDER = "the gradients come in the order of `xs`, and those of results are given too"


@suite.scenario(*GRAD, what="gradient", says=dict.fromkeys(("dx", "dm", "dy"), _ORDER))
def grad_with_respect_to_results(lib, x, upstream, *, create_graph=False):
    t = lib.Tensor(x, requires_grad=True)
    middle = t * t
    y = middle * t
    dm, dy, dx = lib.grad(y, [middle, y, t], grad=upstream, create_graph=create_graph)
    return {"dm": dm.data, "dy": dy.data, "dx": dx.data}


_UNUSED = "what the tensor does not depend on has a gradient of zeros, a Tensor of its shape"


@suite.scenario(*GRAD, what="gradient", says={"is a Tensor": _UNUSED, "dz": _UNUSED})
def grad_of_the_unused(lib, x, z, *, create_graph=False):
    t, unused = lib.Tensor(x, requires_grad=True), lib.Tensor(z, requires_grad=True)
    dx, dz = lib.grad((t * t).sum(), [t, unused], create_graph=create_graph)
    is_tensor = isinstance(dz, lib.Tensor)
    return {"dx": dx.data, "is a Tensor": is_tensor, "dz": getattr(dz, "data", None)}


_CONSTANT = "without create_graph the gradients are constants: they have no graph"
_RECORDED = "with create_graph the gradients are recorded: they require a gradient themselves"


@suite.scenario(*GRAD, says={"constant": _CONSTANT, "parents": _CONSTANT, "recorded": _RECORDED})
def grad_records_where_it_is_told(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    y = (t * t).sum()
    constant, recorded = lib.grad(y, [t])[0], lib.grad(y, [t], create_graph=True)[0]
    return {
        "constant": bool(constant.requires_grad),
        "parents": len(constant._parents),
        "recorded": bool(recorded.requires_grad),
    }


_LEFT = "grad() returns the gradients; nothing may be left in `.grad`, and what was there stays"


@suite.scenario(*GRAD, says=dict.fromkeys(("x.grad", "w.grad"), _LEFT))
def grad_of_tensor_leaves_no_grad(lib, x, w, *, create_graph=False):
    t, other = lib.Tensor(x, requires_grad=True), lib.Tensor(w, requires_grad=True)
    other.grad = np.full(w.shape, 7.0)
    y = (t * other * other).sum()
    (dx,) = lib.grad(y, [t], create_graph=create_graph)
    return {"dx": dx.data, "x.grad": t.grad, "w.grad": other.grad}


@suite.scenario(
    *GRAD,
    raises="RuntimeError",
    says={"raises": "a tensor with many entries needs an upstream: raise RuntimeError"},
)
def grad_of_many_entries(lib, x, *, create_graph=False):
    t = lib.Tensor(x, requires_grad=True)
    lib.grad(t * t, [t], create_graph=create_graph)
    return {}


@suite.scenario(
    *GRAD,
    raises="RuntimeError",
    says={"raises": "an upstream must have the shape of the tensor: raise RuntimeError"},
)
def grad_of_another_upstream(lib, x, *, create_graph=False):
    t = lib.Tensor(x, requires_grad=True)
    lib.grad(t * t, [t], grad=1.0, create_graph=create_graph)
    return {}


# ---------------------------------------------------------------- second derivatives


@suite.case(*RULES)
def second_of_add(lib, a, b, u, *, of=0):
    s = a + b
    return lib.grad(s * s, [a, b], grad=u, create_graph=True)[of]


@suite.case(*RULES)
def second_of_mul(lib, a, b, u, *, of=0):
    return lib.grad(a * b * a * b, [a, b], grad=u, create_graph=True)[of]


@suite.case(*RULES, b="nonzero")
def second_of_div(lib, a, b, u, *, of=0):
    q = a / b
    return lib.grad(q * a, [a, b], grad=u, create_graph=True)[of]


@suite.case(*RULES, x="positive")
def second_of_pow(lib, x, u, *, exponent):
    return lib.grad(x**exponent * x, [x], grad=u, create_graph=True)[0]


@suite.scenario(*RULES, what="gradient", domains={"x": "signs"})
def derivatives_of_pow_at_zero(lib, x, u, *, exponent):
    """The first entry is 0, where x^-1 is no number."""
    t = lib.Tensor(x, requires_grad=True)
    (first,) = lib.grad(t**exponent, [t], grad=u, create_graph=True)
    (second,) = lib.grad(first.sum(), [t], create_graph=True)
    return {"first": first.data, "second": second.data}


@suite.case(*RULES)
def second_of_exp(lib, x, u):
    return lib.grad(x.exp(), [x], grad=u, create_graph=True)[0]


@suite.case(*RULES, x="positive")
def second_of_log(lib, x, u):
    return lib.grad(x.log(), [x], grad=u, create_graph=True)[0]


@suite.case(*RULES)
def second_of_tanh(lib, x, u):
    return lib.grad(x.tanh(), [x], grad=u, create_graph=True)[0]


@suite.case(*RULES, x="nonzero")
def second_of_relu(lib, x, u):
    return lib.grad(x.relu() * x, [x], grad=u, create_graph=True)[0]


@suite.case(*SUMS)
def second_of_broadcast(lib, a, b, u, *, of=0):
    return lib.grad((a * b).exp(), [a, b], grad=u, create_graph=True)[of]


@suite.case(*SUMS, b="nonzero")
def second_of_broadcast_div(lib, a, b, u, *, of=0):
    return lib.grad(a / b * a, [a, b], grad=u, create_graph=True)[of]


@suite.case(*RULES)
def second_of_matmul(lib, a, b, u, *, of=0):
    return lib.grad((a @ b).tanh(), [a, b], grad=u, create_graph=True)[of]


@suite.case(*RULES)
def second_of_matmul_alone(lib, a, b, u):
    """The gradient of a product is a product: da depends on b, and not on a."""
    da, db = lib.grad(a @ b, [a, b], grad=u, create_graph=True)
    return (da * da).sum() + (db * db * db).sum()


@suite.case(*RULES)
def second_of_sum(lib, x, u, *, axis=None, keepdims=False):
    s = x.sum(axis=axis, keepdims=keepdims)
    return lib.grad(s * s, [x], grad=u, create_graph=True)[0]


@suite.case(*RULES)
def second_of_mean(lib, x, u, *, axis=None, keepdims=False):
    return lib.grad((x * x * x).mean(axis, keepdims), [x], grad=u, create_graph=True)[0]


@suite.case(*RULES)
def second_of_logsumexp(lib, x, u, *, axis=-1, keepdims=False):
    return lib.grad(x.logsumexp(axis, keepdims), [x], grad=u, create_graph=True)[0]


@suite.case(*RULES)
def second_of_reshape(lib, x, u, *, shape):
    return lib.grad(x.exp().reshape(shape), [x], grad=u, create_graph=True)[0]


@suite.case(*RULES)
def second_of_transpose(lib, x, u, *, axes=()):
    return lib.grad(x.exp().transpose(*axes), [x], grad=u, create_graph=True)[0]


@suite.case(*PUT)
def second_of_index(lib, x, u):
    y = x[np.array([0, 2, 0]), np.array([1, 0, 1])]
    return lib.grad(y * y * y, [x], grad=u, create_graph=True)[0]


@suite.case(*PUT)
def second_of_slice(lib, x, u):
    return lib.grad(x[1:, ::2].exp(), [x], grad=u, create_graph=True)[0]


@suite.case(*PUT)
def second_of_rows(lib, x, u):
    return lib.grad((x[[2, 0, 2]] * 2.0).tanh(), [x], grad=u, create_graph=True)[0]


# ---------------------------------------------------------------- tensors that are used twice


@suite.case(*WALK)
def second_of_diamond(lib, x, u):
    left, right = x * 3.0, x * x
    return lib.grad(left * right + right, [x], grad=u, create_graph=True)[0]


@suite.case(*WALK)
def second_of_uneven_paths(lib, x, u):
    """One path to the root is short, the other long: a plain visit runs a node too early."""
    a = x * x
    b = a.exp() * x
    return lib.grad(a + b * a, [x], grad=u, create_graph=True)[0]


@suite.case(*WALK)
def second_of_doubled(lib, x, u):
    y = x * x
    for _ in range(8):
        y = y + y
    return lib.grad(y * x, [x], grad=u, create_graph=True)[0]


@suite.case(*WALK)
def second_beside_constants(lib, x, u):
    """Constants take part, and no gradient flows into them."""
    c = lib.Tensor(np.array([[2.0], [3.0]]))
    return lib.grad((x * c).exp() + c * 2.0, [x], grad=u, create_graph=True)[0]


@suite.scenario(
    *WALK,
    says={"x.grad": "a deep graph must not exhaust Python's stack"},
    example="""
from {module} import Tensor, grad
x = Tensor(1.01, requires_grad=True)
y = x * x
for _ in range({length}):
    y = y.relu()

grad(y * y, [x], create_graph=True)[0].backward()
""",
)
def second_of_a_deep_graph(lib, *, length=1200):
    x = lib.Tensor(1.01, requires_grad=True)
    y = x * x
    for _ in range(length):
        y = y.relu()
    (dx,) = lib.grad(y * y, [x], create_graph=True)
    dx.backward()
    return {"dx": dx.data, "x.grad": x.grad}


# ---------------------------------------------------------------- higher derivatives


@suite.case(*RULES)
def third_of_a_power(lib, x):
    y = (x**5).sum()
    first = lib.grad(y, [x], create_graph=True)[0]
    return lib.grad(first.sum(), [x], create_graph=True)[0]


@suite.case(*RULES)
def third_of_functions(lib, x, *, of):
    y = {"tanh": x.tanh(), "exp": (x * x).exp(), "logsumexp": x.logsumexp()}[of]
    first = lib.grad(y.sum(), [x], create_graph=True)[0]
    return lib.grad((first * first).sum(), [x], create_graph=True)[0]


@suite.case(*RULES)
def third_of_a_product(lib, a, b):
    first = lib.grad((a @ b).tanh().sum(), [a], create_graph=True)[0]
    return lib.grad((first * first).sum(), [b], create_graph=True)[0]


@suite.case(*PUT)
def third_of_an_index(lib, x):
    """The gradient of an index writes; the gradient of that reads, and it is differentiated."""
    y = x[[2, 0, 2]]
    first = lib.grad((y * y * y).sum(), [x], create_graph=True)[0]
    return lib.grad((first * first).sum(), [x], create_graph=True)[0]


# ---------------------------------------------------------------- what it is for


@suite.scenario(*RULES, *PUT[:1], what="gradient")
def hessian_vector_of_a_network(lib, x, w, v, p, q):
    """A network's loss along the directions p and q of its weights."""
    targets = np.arange(x.shape[0]) % v.shape[1]
    a, b = lib.Tensor(w, requires_grad=True), lib.Tensor(v, requires_grad=True)
    loss = lib.cross_entropy((lib.Tensor(x) @ a).tanh() @ b, targets)
    da, db = lib.grad(loss, [a, b], create_graph=True)
    ha, hb = lib.grad((da * p).sum() + (db * q).sum(), [a, b])
    return {"da": da.data, "H(p, q) of w": ha.data, "H(p, q) of v": hb.data}


@suite.scenario(*RULES, what="gradient")
def hessian_vector_of_relu_squares(lib, x, w, v):
    t, direction = lib.Tensor(w, requires_grad=True), lib.Tensor(v)
    loss = (lib.Tensor(x) @ t).relu() ** 2
    (dw,) = lib.grad(loss.sum(), [t], create_graph=True)
    (hv,) = lib.grad(dw, [t], grad=direction)
    return {"dw": dw.data, "H v": hv.data}


@suite.case(*RULES)
def gradient_penalty(lib, w, x):
    """A loss that has a gradient in it, as some are trained with."""
    loss = ((x @ w).tanh() ** 2).sum()
    (dx,) = lib.grad(loss, [x], create_graph=True)
    return loss + (dx * dx).sum()


@suite.case(*RULES)
def forward_by_two_backwards(lib, x, v):
    """The VJP is linear in its upstream: its own VJP is the JVP."""
    u = lib.Tensor(np.zeros(x.shape), requires_grad=True)
    (dx,) = lib.grad(x.tanh() * x, [x], grad=u, create_graph=True)
    return lib.grad(dx, [u], grad=v, create_graph=True)[0]


# ---------------------------------------------------------------- edge cases


@suite.scenario(*RULES, what="gradient")
def second_of_minus_infinity(lib, x):
    """Not a case: torch gives nan for a slice of -inf, which has no maximum to subtract."""
    t = lib.Tensor(x, requires_grad=True)
    low = np.array([[-np.inf, -np.inf, -np.inf], [0.0, -np.inf, 0.0]])
    (dx,) = lib.grad((t + low).logsumexp(), [t], grad=[2.0, 3.0], create_graph=True)
    dx.backward(np.arange(6.0).reshape(2, 3))
    return {"dx": dx.data, "x.grad": t.grad}


@suite.scenario(*RULES, what="gradient")
def second_of_large_entries(lib, x, u):
    t = lib.Tensor(x, requires_grad=True)
    (dx,) = lib.grad((t + 1000.0).logsumexp(), [t], grad=u, create_graph=True)
    dx.backward(np.arange(1.0, x.size + 1.0).reshape(x.shape))
    return {"dx": dx.data, "x.grad": t.grad}


@suite.scenario(
    *RULES,
    raises="RuntimeError",
    says={"raises": "an operation without a rule has no second derivative: raise RuntimeError"},
)
def second_of_an_unknown_operation(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    y = lib.Tensor._make(2.0 * x, (t,), lambda g: (2.0 * g,), "twice")
    lib.grad(y.sum(), [t], create_graph=True)
    return {}


@suite.scenario(
    *GRAD,
    what="gradient",
    says={"dx": "without create_graph any operation will do: it has its VJP"},
)
def first_of_an_unknown_operation(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    y = lib.Tensor._make(2.0 * x, (t,), lambda g: (2.0 * g,), "twice")
    return {"dx": lib.grad(y.sum(), [t])[0].data}


@suite.scenario(*GRAD, what="gradient", says={"dx": "the gradient has to be an array of its own"})
def grad_of_itself(lib, x, upstream):
    t = lib.Tensor(x, requires_grad=True)
    (dx,) = lib.grad(t, [t], grad=upstream)
    return {"dx": dx.data, "upstream": upstream, "x": t.data}


@suite.scenario(*GRAD, what="gradient", says={"dx": _UNUSED})
def grad_of_a_constant(lib, x, *, create_graph=False):
    t = lib.Tensor(x, requires_grad=True)
    (dx,) = lib.grad(lib.Tensor(3.0) * 2.0, [t], create_graph=create_graph)
    return {"dx": dx.data}


@suite.scenario(*GRAD, what="gradient", says={"dc": _UNUSED})
def grad_of_a_constant_operand(lib, x, *, create_graph=False):
    t, c = lib.Tensor(x, requires_grad=True), lib.Tensor(2.0 * x)
    (dc,) = lib.grad((t * c).sum(), [c], create_graph=create_graph)
    return {"dc": dc.data}


@suite.scenario(*GRAD, what="gradient")
def grad_of_the_root(lib, x, *, create_graph=False):
    t = lib.Tensor(x, requires_grad=True)
    y = (t * t).sum()
    (dy,) = lib.grad(y, [y], create_graph=create_graph)
    return {"dy": dy.data}


@suite.scenario(*GRAD, what="gradient")
def grad_twice_over_one_graph(lib, x, *, create_graph=False):
    t = lib.Tensor(x, requires_grad=True)
    y = (t * t.exp()).sum()
    first = lib.grad(y, [t], create_graph=create_graph)[0]
    second = lib.grad(y, [t], create_graph=create_graph)[0]
    return {"first": first.data, "second": second.data}
