"""What lab01 grades: each function is one computation, run on the learner's engine,
on the reference, on torch and on every variant of the reference with a bug in it.

A case takes tensors and returns a tensor; its forward and all gradients are compared. A
scenario takes arrays and returns named values. `lib` is the engine.
"""

import numpy as np

from autodrill.cases import Suite

suite = Suite()

# ---------------------------------------------------------------- unbroadcast


@suite.scenario("unbroadcast", what="gradient", says={"result": "the sums are wrong"})
def unbroadcast(lib, grad, *, shape):
    return {"result": lib.unbroadcast(grad, shape)}


# ---------------------------------------------------------------- the graph


@suite.case("Tensor.__add__")
def add(lib, a, b):
    return a + b


@suite.case("Tensor.__mul__")
def mul(lib, a, b):
    return a * b


@suite.case("Tensor.__add__")
def add_array(lib, x):
    return x + np.array([[1.0], [2.0]])


@suite.case("Tensor.__mul__")
def mul_array(lib, x):
    return x * np.array([[1.0], [2.0]])


@suite.case("Tensor.backward", "Tensor.__mul__")
def square_by_product(lib, x):
    return x * x


@suite.case("Tensor.backward", "Tensor.__add__")
def doubled(lib, x):
    return x + x


@suite.case("Tensor.backward", "Tensor.__add__", "Tensor.__mul__")
def product_plus_itself(lib, x):
    return x * x + x


@suite.case("Tensor.backward", "Tensor.__add__", "Tensor.__mul__")
def itself_plus_product(lib, x):
    return x + x * x


@suite.case("Tensor.backward", "Tensor.__add__", "Tensor.__mul__")
def diamond(lib, x):
    left = x * 3.0
    right = x * x
    return left * right


@suite.case("Tensor.backward", "Tensor.__add__", "Tensor.__mul__")
def diamond_shared_inside(lib, x, y):
    s = x + y
    left = s * x
    right = left * s
    return right + left * s


@suite.case("Tensor.backward", "Tensor.__add__", "Tensor.__mul__")
def uneven_paths(lib, x):
    """One path to the root is short, the other long: a plain visit runs a node too early."""
    a = x * 2.0
    b = a * x
    c = b * a
    return a + c


@suite.case("Tensor.backward", "Tensor.__add__")
def sum_and_again(lib, x, y):
    """Both sums hand one and the same array to their parents: adding in place spoils y's."""
    return (x + y) + x


@suite.case("Tensor.backward", "Tensor.__add__")
def doubled_many_times(lib, x):
    y = x
    for _ in range(8):
        y = y + y
    return y


@suite.scenario(
    "Tensor.backward",
    "Tensor.__add__",
    says={
        "a.grad": "two leaves with equal values are two tensors: each gets its own gradient",
        "b.grad": "two leaves with equal values are two tensors: each gets its own gradient",
    },
)
def equal_leaves(lib, x):
    a = lib.Tensor(x, requires_grad=True)
    b = lib.Tensor(x, requires_grad=True)
    ((a * b) + a).backward(np.ones_like(x))
    return {"a.grad": a.grad, "b.grad": b.grad}


_ADDS = "a second backward adds to .grad; it does not replace it"


@suite.scenario("Tensor.backward", says={"x.grad": _ADDS, "y.grad": _ADDS})
def two_backwards(lib, x):
    """Two losses over shared leaves: the gradients add up."""
    t = lib.Tensor(x, requires_grad=True)
    u = lib.Tensor(x + 1.0, requires_grad=True)
    (t * u).backward(2.0 * np.ones_like(x))
    (t + u).backward(3.0 * np.ones_like(x))
    return {"x.grad": t.grad, "y.grad": u.grad}


_KEPT = "this gradient changed when another tensor's backward ran: two tensors share one array"


@suite.scenario("Tensor.backward", "Tensor.__add__", says={"y.grad": _KEPT, "upstream": _KEPT})
def gradients_are_kept_apart(lib, x):
    """x + y hands one upstream to both; a later backward into x must leave y's gradient alone."""
    t = lib.Tensor(x, requires_grad=True)
    u = lib.Tensor(x, requires_grad=True)
    upstream = np.array(x)
    (t + u).backward(upstream)
    (t * 2.0).backward(np.ones_like(x))
    return {"x.grad": t.grad, "y.grad": u.grad, "upstream": upstream}


_OWN = "changing one tensor's gradient changes this one: each has to be an array of its own"


@suite.scenario(
    "Tensor.backward",
    "Tensor.__add__",
    says=dict.fromkeys(("y.grad", "sum.grad", "upstream"), _OWN),
)
def gradients_are_arrays_of_their_own(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    u = lib.Tensor(x, requires_grad=True)
    total, upstream = t + u, np.array(x)
    total.backward(upstream)
    t.grad += 1.0
    return {"y.grad": u.grad, "sum.grad": total.grad, "upstream": upstream}


@suite.scenario(
    "Tensor.backward",
    "Tensor.__add__",
    "Tensor.__mul__",
    says=dict.fromkeys(("y.grad", "sum.grad"), _OWN),
)
def inner_gradients_are_arrays_of_their_own(lib, x):
    """Between the root and the leaves too: a sum hands its parents what it was handed."""
    t = lib.Tensor(x, requires_grad=True)
    u = lib.Tensor(x, requires_grad=True)
    total = t + u
    (total * 2.0).backward(np.array(x))
    t.grad += 1.0
    return {"y.grad": u.grad, "sum.grad": total.grad}


_EVERY = "backward fills .grad of every tensor that requires one: the root and those between too"


@suite.scenario(
    "Tensor.backward", "Tensor.__mul__", says={"root.grad": _EVERY, "middle.grad": _EVERY}
)
def every_tensor_is_filled(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    middle = t * 2.0
    root = middle * 3.0
    root.backward(np.full(x.shape, 0.5))
    filled = root.grad if root.requires_grad else None  # of a constant root nothing is asked
    return {"root.grad": filled, "middle.grad": middle.grad, "x.grad": t.grad}


_CONSTANT = "a tensor made with requires_grad=False keeps .grad None"
_REQUIRES = "a result requires a gradient exactly when one of its parents does"


@suite.scenario(
    "Tensor.backward",
    "Tensor.__mul__",
    "Tensor.__add__",
    says={
        "constant.grad": _CONSTANT,
        "other.grad": _CONSTANT,
        "requires_grad": _REQUIRES,
        "constant requires_grad": _REQUIRES,
    },
)
def constants(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    constant = lib.Tensor(x + 1.0)
    other = lib.Tensor(x * 2.0)
    both = constant * other
    out = other * t + t * constant + both
    out.backward(np.full(x.shape, 2.0))
    return {
        "x.grad": t.grad,
        "constant.grad": constant.grad,
        "other.grad": other.grad,
        "requires_grad": bool(out.requires_grad),
        "constant requires_grad": bool(both.requires_grad),
    }


@suite.scenario(
    "Tensor.backward",
    says={
        "constant.grad": _CONSTANT,
        "other.grad": "None from a VJP says that no gradient flows into that parent",
    },
)
def constant_handed_a_gradient(lib, x):
    """A VJP may give a constant a gradient, which goes nowhere, and any parent None."""
    t, constant = lib.Tensor(x, requires_grad=True), lib.Tensor(x + 1.0)
    other = lib.Tensor(x, requires_grad=True)
    a, b, parents = t.data, constant.data, (t, constant, other)
    out = lib.Tensor(a * b, requires_grad=True, _parents=parents, _op="by hand")
    out._vjp = lambda g: (g * b, g * a, None)
    out.backward(np.full(x.shape, 2.0))
    return {"constant.grad": constant.grad, "other.grad": other.grad, "x.grad": t.grad}


@suite.scenario(
    "Tensor.__add__",
    says={"requires_grad": "a sum of constants is a constant: it does not require a gradient"},
)
def sum_of_constants(lib, x):
    return {"requires_grad": bool((lib.Tensor(x) + lib.Tensor(x)).requires_grad)}


@suite.scenario(
    "Tensor.backward",
    raises="RuntimeError",
    says={"raises": "backward() of a non-scalar without a gradient must raise RuntimeError"},
)
def nonscalar_root(lib, x):
    (lib.Tensor(x, requires_grad=True) * 2.0).backward()
    return {}


@suite.scenario("Tensor.backward", says={"x.grad": "a scalar root starts from a gradient of 1"})
def scalar_root(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    (t * t).backward()
    return {"x.grad": t.grad}


@suite.scenario("Tensor.backward", says={"x.grad": "the given gradient is where backward starts"})
def given_upstream(lib, x, upstream):
    t = lib.Tensor(x, requires_grad=True)
    (t * 3.0).backward(upstream)
    return {"x.grad": t.grad}


@suite.scenario(
    "Tensor.backward",
    says={"x.grad": "the gradient through a long chain is wrong"},
    example="""
from {module} import Tensor
x, a, b = Tensor(1., requires_grad=True), Tensor(1.0001), Tensor(0.5)
y = x
for _ in range({length} // 2):
    y = y * a + b

y.backward()
""",
)
def deep_graph(lib, *, length):
    x, a, b = lib.Tensor(1.0, requires_grad=True), lib.Tensor(1.0001), lib.Tensor(0.5)
    y = x
    for _ in range(length // 2):
        y = y * a + b
    y.backward()
    return {"x.grad": x.grad, "y": y.data}


# ---------------------------------------------------------------- elementwise


@suite.case("Tensor.__truediv__", b="nonzero")
def div(lib, a, b):
    return a / b


@suite.case("Tensor.__truediv__")
def div_by_array(lib, x):
    return x / np.array([[2.0], [4.0]])


@suite.case("Tensor.__pow__", x="nonzero")
def pow(lib, x, *, exponent):
    return x**exponent


@suite.case("Tensor.__pow__", x="positive")
def pow_positive(lib, x, *, exponent):
    return x**exponent


@suite.case("Tensor.exp")
def exp(lib, x):
    return x.exp()


@suite.case("Tensor.log", x="positive")
def log(lib, x):
    return x.log()


@suite.case("Tensor.relu", x="nonzero")
def relu(lib, x):
    return x.relu()


@suite.case("Tensor.tanh")
def tanh(lib, x):
    return x.tanh()


@suite.case("Tensor.relu", x="signs")
def relu_at_zero(lib, x):
    return x.relu()


@suite.case("Tensor.relu", "Tensor.__add__")
def relu_and_input(lib, x):
    """The input is used once more: relu must not have written into it."""
    return x.relu() + x


@suite.case("Tensor.exp", "Tensor.__add__")
def exp_used_twice(lib, x):
    return x.exp() * x + x.exp()


@suite.case("Tensor.__truediv__", "Tensor.exp", "Tensor.tanh", b="nonzero")
def chain(lib, a, b):
    return (a.tanh() * b).exp() / b


# ---------------------------------------------------------------- matmul


@suite.case("Tensor.__matmul__")
def matmul(lib, A, B):
    return A @ B


@suite.case("Tensor.__matmul__")
def matmul_by_array(lib, A):
    return A @ np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])


@suite.case("Tensor.__matmul__")
def matmul_by_itself(lib, A):
    return A @ A


# ---------------------------------------------------------------- sums, shapes, indexing


@suite.case("Tensor.sum")
def sum(lib, x, *, axis=None, keepdims=False):
    return x.sum(axis=axis, keepdims=keepdims)


@suite.case("Tensor.sum")
def sum_default(lib, x):
    return x.sum()


@suite.case("Tensor.sum", "Tensor.__mul__")
def sum_scaled(lib, x, *, axis=None):
    return x * x.sum(axis=axis, keepdims=True)


@suite.scenario("Tensor.sum", says={"x.grad": "a second backward through sum() is wrong"})
def sum_then_more(lib, x):
    """What sum hands back has to be an array that a later backward can add to."""
    t = lib.Tensor(x, requires_grad=True)
    t.sum().backward()
    t.grad += 1.0
    (t.sum() * 2.0).backward()
    return {"x.grad": t.grad}


@suite.case("Tensor.mean", "Tensor.sum")
def mean(lib, x, *, axis=None, keepdims=False):
    return x.mean(axis=axis, keepdims=keepdims)


@suite.case("Tensor.reshape")
def reshape(lib, x, *, shape):
    return x.reshape(*shape)


@suite.case("Tensor.reshape", "Tensor.__mul__")
def reshape_of_product(lib, x, y, *, shape):
    return (x * y).reshape(*shape)


@suite.case("Tensor.transpose")
def transpose(lib, x, *, axes):
    return x.transpose(*axes)


@suite.case("Tensor.transpose")
def transpose_all(lib, x):
    return x.transpose()


@suite.case("Tensor.T", "Tensor.transpose")
def transposed(lib, x):
    return x.T


@suite.case("Tensor.transpose", "Tensor.__matmul__")
def transpose_then_matmul(lib, x, y, *, axes):
    return x.transpose(*axes) @ y


@suite.case("Tensor.__getitem__")
def getitem(lib, x, *, index):
    return x[index]


@suite.scenario(
    "Tensor.__getitem__", what="gradient", says={"x.grad": "a second backward is wrong"}
)
def getitem_then_twice_backward(lib, x):
    """What the first pass scattered must not be there when the second one scatters."""
    t = lib.Tensor(x, requires_grad=True)
    picked = t[[0, 0, 1]]
    picked.backward(np.array([1.0, 2.0, 3.0]))
    picked.backward(np.array([4.0, 5.0, 6.0]))
    return {"x.grad": t.grad}


@suite.case("Tensor.__getitem__", "Tensor.__mul__")
def getitem_twice(lib, x, *, index):
    return x[index] * x[index]


@suite.case("Tensor.logsumexp")
def logsumexp(lib, x, *, axis=-1, keepdims=False):
    return x.logsumexp(axis=axis, keepdims=keepdims)


@suite.case("Tensor.logsumexp", "Tensor.__mul__")
def logsumexp_and_input(lib, x):
    """The input is used once more: logsumexp must not have written into it."""
    return x.logsumexp(axis=-1, keepdims=True) * x


@suite.case("Tensor.logsumexp")
def logsumexp_default(lib, x):
    return x.logsumexp()


@suite.case("Tensor.logsumexp")
def logsumexp_shifted(lib, x, *, by):
    return (x + by).logsumexp(axis=-1)


@suite.case("Tensor.logsumexp")
def logsumexp_rows_apart(lib, x, *, gap):
    """The maximum of the whole array is no help to a row far below it."""
    return (x * np.ones((2, 1)) + np.array([[0.0], [gap]])).logsumexp(axis=-1)


@suite.case("Tensor.__sub__")
def sub(lib, a, b):
    return a - b


@suite.case("Tensor.__neg__")
def neg(lib, x):
    return -x


# ---------------------------------------------------------------- training


@suite.case("log_softmax")
def log_softmax(lib, x, *, axis=-1):
    return lib.log_softmax(x, axis=axis)


@suite.case("log_softmax")
def log_softmax_shifted(lib, x, *, by):
    return lib.log_softmax(x + by)


@suite.case("log_softmax")
def log_softmax_scaled(lib, x, *, by):
    """Entries of one row far apart: the logarithm of a softmax that has become 0 is -inf."""
    return lib.log_softmax(x * by)


@suite.case("log_softmax")
def log_softmax_rows_apart(lib, x, *, gap):
    return lib.log_softmax(x + np.array([[0.0], [gap]]))


@suite.scenario("log_softmax", what="forward", says={"totals": "exp of each row has to sum to 1"})
def log_softmax_totals(lib, x):
    out = lib.log_softmax(lib.Tensor(x))
    return {"totals": np.exp(out.data).sum(axis=-1)}


@suite.case("cross_entropy")
def cross_entropy(lib, logits, *, targets):
    return lib.cross_entropy(logits, np.array(targets))


@suite.case("cross_entropy")
def cross_entropy_scaled(lib, logits, *, targets, by):
    return lib.cross_entropy(logits * by, np.array(targets))


_RESTORED = "x has to be left as it was: put each entry back after moving it"


@suite.scenario(
    "numerical_gradient",
    what="gradient",
    tolerance=1e-8,
    says={"gradient": "the central differences are wrong", "x afterwards": _RESTORED},
    example="""
import numpy as np
from {module} import numerical_gradient
numerical_gradient(lambda v: np.prod(v) + np.sum(v**3), x)
x
""",
)
def numerical_gradient(lib, x):
    """A product ties the entries together: one that was not put back spoils the next.

    The cubes have a second derivative, which a one-sided difference gets wrong.
    """

    def f(v):
        v = v.data if isinstance(v, lib.Tensor) else v
        return float(np.prod(v) + np.sum(v**3))

    return {"gradient": np.asarray(lib.numerical_gradient(f, x)), "x afterwards": x}


@suite.scenario(
    "numerical_gradient",
    what="gradient",
    tolerance=1e-8,
    says={"gradient": "eps is the step to either side; a large one has an error of its own"},
)
def numerical_gradient_of_a_large_step(lib, x, *, eps):
    def f(v):
        v = v.data if isinstance(v, lib.Tensor) else v
        return float(np.sum(v**3))

    return {"gradient": np.asarray(lib.numerical_gradient(f, x, eps=eps))}


_STEP = "the parameter has to become data - lr * grad"
_CLEARED = "the gradient has to be None after the step"


@suite.scenario(
    "sgd_step",
    what="training",
    says={"w": _STEP, "b": _STEP, "w.grad": _CLEARED, "b.grad": _CLEARED},
)
def sgd_step(lib, w, b):
    parameters = [lib.Tensor(w, requires_grad=True), lib.Tensor(b, requires_grad=True)]
    (parameters[0] * parameters[0] + parameters[1]).backward(np.full(w.shape, 0.5))
    lib.sgd_step(parameters, 0.1)
    return {
        "w": parameters[0].data,
        "b": parameters[1].data,
        "w.grad": parameters[0].grad,
        "b.grad": parameters[1].grad,
    }


@suite.scenario(
    "sgd_step",
    what="training",
    says={"w": "two steps have to subtract two different gradients", "w.grad": _CLEARED},
)
def sgd_twice(lib, w):
    """Without clearing, the second step would use the sum of both gradients."""
    parameter = lib.Tensor(w, requires_grad=True)
    for _ in range(2):
        (parameter * parameter).backward(np.ones_like(w))
        lib.sgd_step([parameter], 0.1)
    return {"w": parameter.data, "w.grad": parameter.grad}


_LAYERS = [(2, 64), (64, 64), (64, 3)]


def _spirals(rng):
    """Return 60 points in three classes and the weights of a small network, for a short run."""
    angles = np.linspace(0.0, 4.0, 20)
    turns = [angles + 2.0 * np.pi * k / 3.0 for k in range(3)]
    points = [np.stack([np.cos(t), np.sin(t)], axis=1) * angles[:, None] / 4.0 for t in turns]
    weights = [rng.uniform(-1.0, 1.0, size) * np.sqrt(6.0 / size[0]) for size in _LAYERS]
    return np.concatenate(points), np.repeat(np.arange(3), 20), weights


@suite.scenario(
    what="training",
    says={
        f"{kind} {i}": "five training steps do not give the reference's parameters: "
        "the loss, its gradient or the step is off"
        for kind in ("weight", "bias")
        for i in range(3)
    },
)
def five_steps(lib):
    """Train for five steps with the learner's operations, from given weights."""
    points, classes, weights = _spirals(np.random.default_rng(0))
    layers = [
        (lib.Tensor(w, requires_grad=True), lib.Tensor(np.zeros(w.shape[1]), requires_grad=True))
        for w in weights
    ]
    for _ in range(5):
        h = lib.Tensor(points)
        for i, (w, b) in enumerate(layers):
            h = h @ w + b
            h = h.relu() if i < 2 else h
        lib.cross_entropy(h, classes).backward()
        lib.sgd_step([one for layer in layers for one in layer], 0.5)
    values = {f"weight {i}": w.data for i, (w, _) in enumerate(layers)}
    return values | {f"bias {i}": b.data for i, (_, b) in enumerate(layers)}


def _judge_training(values):
    """Judge what the trained parameters give, computed here, not what is claimed of them."""
    loss, accuracy, steps = (values[name] for name in ("loss", "accuracy", "steps"))
    parameters, data = values["parameters"], values["data"]
    shapes = [shape for m, n in _LAYERS for shape in ((m, n), (n,))]
    if [getattr(one, "shape", None) for one in parameters] == shapes:
        loss, accuracy = _evaluate(*data, parameters)
    complaints = []
    if not isinstance(steps, int) or steps < 600:
        complaints.append(("steps", f"sgd_step was called {steps} times in training, not 600"))
    for name, value, sentence, passes in (
        ("accuracy", accuracy, "the accuracy is {:.1%}; at least 97% is due", lambda v: v >= 0.97),
        ("loss", loss, "the loss is {:.3f}; less than 0.1 is due", lambda v: v < 0.1),
    ):
        if not isinstance(value, float) or np.isnan(value):
            complaints.append((name, f"train_spirals returned {value!r} as {name}"))
        elif not passes(value):
            complaints.append((name, sentence.format(value)))
    return complaints


@suite.scenario(what="training", judge=_judge_training, limit_s=120.0)
def spirals(lib):
    """Run the learner's `train_spirals`, and hand over what it trained."""
    step, seen, steps = lib.sgd_step, [], 0

    def counted(params, lr):
        nonlocal steps
        steps += 1
        seen[:] = params = list(params)
        return step(params, lr)

    lib.sgd_step = counted
    try:
        loss, accuracy = (float(one) for one in lib.train_spirals())
    finally:
        lib.sgd_step = step
    points, classes = (getattr(one, "data", one) for one in lib.make_spirals())
    return {
        "loss": loss,
        "accuracy": accuracy,
        "steps": steps,
        "parameters": [one.data for one in seen],
        "data": [np.asarray(points, dtype=float), np.asarray(classes, dtype=int)],
    }


def _evaluate(points, classes, parameters):
    """Return the loss and the accuracy of a trained network, computed with NumPy alone."""
    h = points
    for i in range(0, 6, 2):
        h = h @ parameters[i] + parameters[i + 1]
        h = np.maximum(h, 0.0) if i < 4 else h
    h = h - h.max(axis=1, keepdims=True)
    logs = h - np.log(np.exp(h).sum(axis=1, keepdims=True))
    loss = -logs[np.arange(len(classes)), classes].mean()
    return float(loss), float((h.argmax(axis=1) == classes).mean())


# ---------------------------------------------------------------- strict


@suite.case("Tensor.__rsub__", "Tensor.__sub__")
def number_minus(lib, x):
    return 1.0 - x


@suite.case("Tensor.__rtruediv__", "Tensor.__truediv__", x="nonzero")
def number_over(lib, x):
    return 2.0 / x


@suite.case("Tensor.__radd__", "Tensor.__add__")
def array_plus(lib, x):
    return np.array([[1.0], [2.0]]) + x


@suite.case("Tensor.__rsub__", "Tensor.__sub__")
def array_minus(lib, x):
    return np.array([[1.0], [2.0]]) - x


@suite.case("Tensor.__rmul__", "Tensor.__mul__")
def array_times(lib, x):
    return np.array([[1.0], [2.0]]) * x


@suite.case("Tensor.__rtruediv__", "Tensor.__truediv__", x="nonzero")
def array_over(lib, x):
    return np.array([[1.0], [2.0]]) / x


@suite.case("Tensor.__pow__", x="signs")
def pow_at_zero(lib, x, *, exponent):
    return x**exponent


@suite.case("Tensor.reshape")
def reshape_by_tuple(lib, x, *, shape):
    return x.reshape(shape)


@suite.case("Tensor.transpose")
def transpose_by_tuple(lib, x, *, axes):
    return x.transpose(axes)


@suite.scenario(
    "Tensor.sum", what="forward", says={"y": "an empty tuple of axes sums over nothing"}
)
def sum_over_nothing(lib, x):
    """Not a case: torch takes an empty tuple for all axes."""
    t = lib.Tensor(x, requires_grad=True)
    y = t.sum(axis=())
    y.backward(np.full(x.shape, 2.0))
    return {"y": y.data, "x.grad": t.grad}


@suite.scenario(
    "Tensor.__getitem__",
    what="forward",
    says=dict.fromkeys(("y", "x.grad"), "a slice may go backwards"),
)
def getitem_backwards(lib, x):
    """Not a case: torch has no negative steps."""
    t = lib.Tensor(x, requires_grad=True)
    y = t[::-2]
    y.backward(np.arange(1.0, y.data.size + 1).reshape(y.shape))
    return {"y": y.data, "x.grad": t.grad}


_INDEX = "a Tensor of whole numbers is an index as an array is"


@suite.scenario("Tensor.__getitem__", what="forward", says={"y": _INDEX, "x.grad": _INDEX})
def getitem_by_tensor(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    y = t[lib.Tensor([0, 2, 2])]
    y.backward(np.arange(1.0, x[[0, 2, 2]].size + 1).reshape(y.shape))
    return {"y": y.data, "x.grad": t.grad}


@suite.scenario("Tensor.__getitem__", what="forward", says={"y": _INDEX, "x.grad": _INDEX})
def getitem_by_two_tensors(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    y = t[lib.Tensor([0, 2, 2]), lib.Tensor([1, 0, 0])]
    y.backward(np.array([1.0, 2.0, 3.0]))
    return {"y": y.data, "x.grad": t.grad}


_INFINITE = "a row of -inf has the logsumexp -inf, and no gradient flows into it"


@suite.scenario("Tensor.logsumexp", what="forward", says={"y": _INFINITE, "x.grad": _INFINITE})
def logsumexp_of_minus_infinity(lib):
    t = lib.Tensor([[-np.inf, -np.inf], [-np.inf, 1.0], [0.0, 2.0]], requires_grad=True)
    y = t.logsumexp(axis=-1)
    y.backward(np.array([1.0, 2.0, 3.0]))
    return {"y": y.data, "x.grad": t.grad}


@suite.case("cross_entropy")
def cross_entropy_of_list(lib, logits, *, targets):
    return lib.cross_entropy(logits, targets)


_DOUBLE = "whatever dtype comes in, data and gradients are float64"


@suite.scenario(
    "Tensor.backward",
    "Tensor.__add__",
    "Tensor.__mul__",
    says=dict.fromkeys(("data", "y", "x.grad"), _DOUBLE),
)
def data_of_another_dtype(lib, x, *, dtype):
    t = lib.Tensor(x.astype(dtype), requires_grad=True)
    y = t * t + t
    y.backward(np.ones(x.shape, dtype=dtype))
    return {"data": t.data, "y": y.data, "x.grad": t.grad}


@suite.scenario("Tensor.__pow__", says={"y": _DOUBLE, "x.grad": _DOUBLE})
def power_of_integers(lib):
    """NumPy refuses integers to negative integer powers; float64 data has no such trouble."""
    t = lib.Tensor([1, 2, 4], requires_grad=True)
    y = t**-1
    y.backward(np.array([1.0, 2.0, 3.0]))
    return {"y": y.data, "x.grad": t.grad}


@suite.scenario("Tensor.backward", says={"x.grad": "the upstream may be a list of numbers"})
def upstream_as_list(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    (t * 3.0).backward(np.arange(x.size).reshape(x.shape).tolist())
    return {"x.grad": t.grad}


_TWICE = "a second backward on the same graph adds the same gradients once more, no more, no less"


@suite.scenario(
    "Tensor.backward",
    says=dict.fromkeys(("x.grad", "y.grad", "middle.grad", "root.grad"), _TWICE),
)
def same_graph_twice(lib, x, y, upstream):
    t, u = lib.Tensor(x, requires_grad=True), lib.Tensor(y, requires_grad=True)
    middle = t * u
    root = (middle + t) * middle
    root.backward(upstream)
    root.backward(upstream)
    return {"x.grad": t.grad, "y.grad": u.grad, "middle.grad": middle.grad, "root.grad": root.grad}


_UNUSED = "what does not lead to the root takes no part"


@suite.scenario("Tensor.backward", says={"x.grad": _UNUSED, "unused.grad": _UNUSED})
def unused_branch(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    middle = t * 2.0
    unused = middle * t + t
    (middle * 3.0).backward(np.full(x.shape, 0.5))
    return {"x.grad": t.grad, "unused.grad": unused.grad}


@suite.scenario("Tensor.backward", says={"constant.grad": _CONSTANT})
def constant_used_twice(lib, x):
    t, constant = lib.Tensor(x, requires_grad=True), lib.Tensor(x + 1.0)
    (t * constant + constant * constant + constant).backward(np.full(x.shape, 0.5))
    return {"x.grad": t.grad, "constant.grad": constant.grad}


@suite.scenario("Tensor.backward", says={"grad": _CONSTANT})
def constant_root(lib):
    """To refuse such a root, as torch does, is right too; the stub's error is passed on."""
    constant = lib.Tensor(2.0)
    try:
        constant.backward()
    except NotImplementedError:
        raise
    except RuntimeError:
        pass
    return {"grad": constant.grad}


_ON_CONSTANTS = {
    "c / c": lambda c: c / c,
    "c ** 2": lambda c: c**2,
    "c.exp()": lambda c: c.exp(),
    "c.log()": lambda c: c.log(),
    "c.relu()": lambda c: c.relu(),
    "c.tanh()": lambda c: c.tanh(),
    "c @ c": lambda c: c @ c,
    "c.sum()": lambda c: c.sum(),
    "c.reshape(4)": lambda c: c.reshape(4),
    "c.transpose()": lambda c: c.transpose(),
    "c[0]": lambda c: c[0],
    "c.logsumexp()": lambda c: c.logsumexp(),
}


@suite.scenario(
    "Tensor._make",
    says={name: f"`{name}` of a constant requires a gradient" for name in _ON_CONSTANTS},
)
def constants_stay_constants(lib):
    c = lib.Tensor([[1.0, 2.0], [3.0, 4.0]])
    return {name: bool(make(c).requires_grad) for name, make in _ON_CONSTANTS.items()}


@suite.scenario(what="gradient")
def no_gradient_is_shared(lib, x):
    """Each of these hands its upstream on as it is, or a view of it."""
    leaves = [lib.Tensor(x, requires_grad=True) for _ in range(6)]
    a, b, c, d, e, f = leaves
    results = {
        "sum of two": a + b,
        "reshaped": c.reshape(-1),
        "transposed": d.transpose(),
        "picked": e[...],
        "summed": f.sum(axis=0),
    }
    for out in results.values():
        out.backward(np.ones(out.shape))
    grads = {f"{name}.grad": out.grad for name, out in results.items()}
    return grads | {f"{name}.grad": leaf.grad for name, leaf in zip("abcdef", leaves, strict=True)}


@suite.scenario(
    "Tensor.backward",
    "Tensor.__add__",
    says={"x.grad": "x is doubled 40 times: its gradient is 2**40"},
    limit_s=3.0,
)
def doubled_forty_times(lib):
    """There are 2**40 paths and 40 nodes: only a visit per node comes to an end."""
    x = y = lib.Tensor(1.0, requires_grad=True)
    for _ in range(40):
        y = y + y
    y.backward()
    return {"x.grad": x.grad}


@suite.scenario(
    "numerical_gradient",
    what="gradient",
    says={"restored": _RESTORED},
    example="""
import numpy as np
from {module} import numerical_gradient
x = np.array([1e-9, 0.1])
numerical_gradient(lambda v: v.sum(), x)
x
""",
)
def numerical_gradient_restores_exactly(lib):
    """To take eps away again is not enough: 1e-9 + eps - eps is another number."""

    def f(v):
        return float(np.sum(v.data if isinstance(v, lib.Tensor) else v))

    x = np.array([1e-9, 0.1, 1.0 / 3.0])
    lib.numerical_gradient(f, x)
    return {"restored": x.tolist() == [1e-9, 0.1, 1.0 / 3.0]}


_HELD = "a gradient that somebody holds has to stay as it was: sgd_step must not change the array"
_LENT = "the array that the parameter was made of belongs to the caller: it has to stay as it was"


@suite.scenario("sgd_step", what="training", says={"held": _HELD, "lent": _LENT, "w": _STEP})
def sgd_leaves_arrays_alone(lib, w):
    parameter = lib.Tensor(w, requires_grad=True)
    (parameter * parameter).backward(np.ones_like(w))
    held = parameter.grad
    lib.sgd_step([parameter], 0.1)
    return {"held": held, "lent": w, "w": parameter.data}


@suite.scenario(
    "sgd_step",
    what="training",
    says=dict.fromkeys(("w", "w.grad"), "a parameter without a gradient stays as it is"),
)
def sgd_passes_over(lib, w):
    parameter = lib.Tensor(w, requires_grad=True)
    lib.sgd_step([parameter], 0.1)
    return {"w": np.array(parameter.data), "w.grad": parameter.grad}
