"""What `leaf_grad` grades: which tensors are leaves, which keep their gradient, memory."""

import numpy as np

from autodrill.cases import Suite, memory_of

suite = Suite()


@suite.scenario(
    "Tensor.is_leaf",
    says={
        "leaf": "a tensor that was made by hand is a leaf",
        "constant": "a constant is a leaf: the graph ends there",
        "of constants": "an operation on constants is not recorded, so its result is a leaf",
        "result": "the result of a recorded operation is not a leaf",
        "of both": "the result of a recorded operation is not a leaf",
        "retained": "retain_grad() does not make a leaf of a result",
    },
)
def leaves(lib, x):
    t, c = lib.Tensor(x, requires_grad=True), lib.Tensor(x)
    y = t * t
    y.retain_grad()
    return {
        "leaf": t.is_leaf,
        "constant": c.is_leaf,
        "of constants": (c * c).is_leaf,
        "result": (t * t).is_leaf,
        "of both": (t * c).is_leaf,
        "view": t.reshape(-1).is_leaf,
        "retained": y.is_leaf,
    }


_DROPPED = "backward fills .grad of leaves only: a result keeps None"


@suite.scenario(
    "_keeps_grad",
    "Tensor.is_leaf",
    says={"middle.grad": _DROPPED, "root.grad": _DROPPED},
)
def leaves_only(lib, x, y):
    t, u = lib.Tensor(x, requires_grad=True), lib.Tensor(y, requires_grad=True)
    middle = t * u
    root = (middle + t) * middle
    is_leaf = [t.is_leaf, middle.is_leaf]
    root.backward(np.full(x.shape, 2.0))
    return {
        "x.grad": t.grad,
        "y.grad": u.grad,
        "middle.grad": middle.grad,
        "root.grad": root.grad,
        "is_leaf": is_leaf,
    }


@suite.scenario(
    "_keeps_grad",
    "Tensor.is_leaf",
    says={"x.grad": "a leaf can be the root too", "constant.grad": "a constant keeps .grad None"},
)
def leaf_is_the_root(lib, x):
    t, constant = lib.Tensor(x, requires_grad=True), lib.Tensor(x)
    t.backward(np.full(x.shape, 2.0))
    (t * constant).backward(np.full(x.shape, 3.0))
    return {"x.grad": t.grad, "constant.grad": constant.grad, "is_leaf": t.is_leaf}


_RETAINED = "after retain_grad() backward fills .grad of this tensor too, with all that arrives"


@suite.scenario(
    "Tensor.retain_grad",
    "_keeps_grad",
    says={"middle.grad": _RETAINED, "root.grad": _RETAINED, "other.grad": _DROPPED},
)
def retained(lib, x, y):
    """The middle one is used twice: its gradient is whole only after both have delivered."""
    t, u = lib.Tensor(x, requires_grad=True), lib.Tensor(y, requires_grad=True)
    middle, other = t * u, t + u
    root = (middle + other) * middle
    middle.retain_grad()
    root.retain_grad()
    root.backward(np.full(x.shape, 2.0))
    return {
        "x.grad": t.grad,
        "y.grad": u.grad,
        "middle.grad": middle.grad,
        "root.grad": root.grad,
        "other.grad": other.grad,
    }


@suite.scenario(
    "Tensor.retain_grad",
    "_keeps_grad",
    says={"x.grad": "on a leaf retain_grad() changes nothing", "middle.grad": _RETAINED},
)
def retained_again(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    middle = t * t
    t.retain_grad()
    for _ in range(2):
        middle.retain_grad()
    (middle * 3.0).backward(np.full(x.shape, 2.0))
    return {"x.grad": t.grad, "middle.grad": middle.grad}


@suite.scenario(
    "Tensor.retain_grad",
    "_keeps_grad",
    says={
        "before": "retain_grad() asks for what is still to come, and fills nothing by itself",
        "middle.grad": "a second backward adds to a gradient that is kept",
    },
)
def retained_adds_up(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    middle = t * t
    middle.retain_grad()
    before = middle.grad is None
    (middle * 3.0).backward(np.full(x.shape, 2.0), retain_graph=True)
    (middle * t).backward(np.full(x.shape, 0.5))
    return {"before": before, "middle.grad": middle.grad, "x.grad": t.grad}


@suite.scenario(
    "Tensor.retain_grad",
    raises="RuntimeError",
    says={"raises": "retain_grad() of a constant must raise RuntimeError: none will come"},
)
def retained_constant(lib, x):
    lib.Tensor(x).retain_grad()
    return {}


@suite.scenario(
    "Tensor.retain_grad",
    raises="RuntimeError",
    says={"raises": "retain_grad() of a constant must raise RuntimeError: none will come"},
)
def retained_result_of_constants(lib, x):
    (lib.Tensor(x) * lib.Tensor(x)).retain_grad()
    return {}


@suite.scenario(
    "_keeps_grad",
    "Tensor.retain_grad",
    measures={
        "everywhere": "gradients kept by one step of the spirals MLP, everywhere",
        "leaves": "the same, of leaves only",
    },
    says={"keeps less": "backward keeps gradients of more than the leaves"},
    limit_s=60.0,
)
def leaf_grad_memory(lib, *, full=False):
    """To keep them everywhere is asked for here by retain_grad() on every tensor.

    The graph is retained, so that it goes on holding the tensors that hold the gradients.
    """

    def step(*, everywhere):
        x, y = lib.make_spirals(n_per_class=1000 if full else 100)
        model = lib.MLP([2, 64, 64, 3], np.random.default_rng(0))
        loss = lib.cross_entropy(model(x), y)
        for node in _graph(loss) if everywhere else ():
            node.retain_grad()
        return memory_of(lambda: loss.backward(retain_graph=True)).kept

    everywhere, leaves = step(everywhere=True), step(everywhere=False)
    return {"everywhere": everywhere, "leaves": leaves, "keeps less": leaves < 0.5 * everywhere}


def _graph(root):
    """List the tensors that `root` was computed from and that require a gradient."""
    found, stack = {}, [root]
    while stack:
        node = stack.pop()
        if node.requires_grad and id(node) not in found:
            found[id(node)] = node
            stack += node._parents
    return list(found.values())
