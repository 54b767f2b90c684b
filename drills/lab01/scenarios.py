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
def doubled_many_times(lib, x):
    y = x
    for _ in range(16):
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


_CONSTANT = "a tensor made with requires_grad=False keeps .grad None"


@suite.scenario(
    "Tensor.backward",
    "Tensor.__mul__",
    "Tensor.__add__",
    says={
        "constant.grad": _CONSTANT,
        "other.grad": _CONSTANT,
        "requires_grad": "a result requires a gradient exactly when one of its parents does",
        "constant requires_grad": "a result requires a gradient exactly when one of its parents does",
    },
)
def constants(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    constant = lib.Tensor(x + 1.0)
    other = lib.Tensor(x * 2.0)
    both = constant * other
    out = t * constant + both
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
x = Tensor(1., requires_grad=True)
y = x
for _ in range(5000):
    y = y + 1.
y.backward()
""",
)
def deep_graph(lib, *, length):
    x = lib.Tensor(1.0, requires_grad=True)
    y = x
    for _ in range(length):
        y = y + 0.5
    y.backward()
    return {"x.grad": x.grad, "y": y.data}


@suite.scenario("Tensor.backward", says={"x.grad": "the gradient through a long chain is wrong"})
def deep_product(lib, *, length):
    x = lib.Tensor(1.0, requires_grad=True)
    y = x
    for _ in range(length):
        y = y * 1.0001
    y.backward()
    return {"x.grad": x.grad}


# ---------------------------------------------------------------- elementwise


@suite.case("Tensor.__truediv__", b="nonzero")
def div(lib, a, b):
    return a / b


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
def matmul_by_itself(lib, A):
    return A @ A


# ---------------------------------------------------------------- sums, shapes, indexing


@suite.case("Tensor.sum")
def sum(lib, x, *, axis=None, keepdims=False):
    return x.sum(axis=axis, keepdims=keepdims)


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


@suite.case("Tensor.__getitem__", "Tensor.__mul__")
def getitem_twice(lib, x, *, index):
    return x[index] * x[index]


@suite.case("Tensor.logsumexp")
def logsumexp(lib, x, *, axis=-1, keepdims=False):
    return x.logsumexp(axis=axis, keepdims=keepdims)


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
    """Judge the numbers that come from the trained parameters, not the ones that are claimed."""
    complaints = []
    steps, accuracy, loss = values["steps"], values["accuracy"], values["loss"]
    if not isinstance(steps, int) or steps < 600:
        complaints.append(("steps", f"sgd_step was called {steps} times in training, not 600"))
    for name, sentence, passes in (
        ("accuracy", "the accuracy is {:.1%}; at least 97% is due", lambda v: v >= 0.97),
        ("loss", "the loss is {:.3f}; less than 0.1 is due", lambda v: v < 0.1),
    ):
        value = accuracy if name == "accuracy" else loss
        if not isinstance(value, float) or np.isnan(value):
            complaints.append((name, f"train_spirals returned {value!r} as {name}"))
        elif not passes(value):
            complaints.append((name, sentence.format(value)))
    return complaints


@suite.scenario(what="training", judge=_judge_training, limit_s=120.0)
def spirals(lib):
    """Run the learner's `train_spirals`, and compute loss and accuracy from what it trained."""
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
    arrays = [np.asarray(one.data) for one in seen]
    if [one.shape for one in arrays] == [s for m, n in _LAYERS for s in ((m, n), (n,))]:
        loss, accuracy = _evaluate(lib, arrays)
    return {"loss": loss, "accuracy": accuracy, "steps": steps}


def _evaluate(lib, arrays):
    """Return the loss and the accuracy of a trained network, computed with NumPy alone."""
    points, classes = (np.asarray(getattr(one, "data", one)) for one in lib.make_spirals())
    classes = classes.astype(int)
    h = np.array(points, dtype=float)
    for i in range(0, 6, 2):
        h = h @ arrays[i] + arrays[i + 1]
        h = np.maximum(h, 0.0) if i < 4 else h
    h = h - h.max(axis=1, keepdims=True)
    logs = h - np.log(np.exp(h).sum(axis=1, keepdims=True))
    loss = -logs[np.arange(len(classes)), classes].mean()
    return float(loss), float((h.argmax(axis=1) == classes).mean())
