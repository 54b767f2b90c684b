"""What `free_graph` grades: the gradients, a second backward, what stays, when it goes, memory."""

import numpy as np

from autodrill.cases import Suite, memory_of

suite = Suite()

_EQUAL = "to free a graph must not change a gradient: a node goes after it ran, never before"


@suite.scenario("_release", what="gradient", says={"x.grad": _EQUAL, "y.grad": _EQUAL})
def freed_diamond(lib, x, y, upstream):
    """The middle one has two consumers, and both leaves have several."""
    t, u = lib.Tensor(x, requires_grad=True), lib.Tensor(y, requires_grad=True)
    middle = t * u
    ((middle + t) * middle + u).backward(upstream)
    return {"x.grad": t.grad, "y.grad": u.grad}


@suite.scenario("_release", what="gradient", says={"x.grad": _EQUAL})
def freed_chain(lib, x, w, upstream):
    t, weight = lib.Tensor(x, requires_grad=True), lib.Tensor(w, requires_grad=True)
    h = t
    for _ in range(3):
        h = (h @ weight).tanh()
    h.backward(upstream, retain_graph=False)
    return {"x.grad": t.grad, "w.grad": weight.grad}


_LEAF = "a leaf holds nothing to free: it must go on working in the next graph"


@suite.scenario("_release", says={"x.grad": _LEAF, "requires_grad": _LEAF})
def freed_graph_leaves_its_leaves(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    for _ in range(3):
        (t * t).backward(np.full(x.shape, 2.0))
    t.backward(np.full(x.shape, 0.5))
    return {"x.grad": t.grad, "requires_grad": bool(t.requires_grad)}


_VALUE = "the graph is freed, not the value: people go on reading it"
_ASKED = "a tensor whose graph was freed still requires a gradient, or nobody would notice"


@suite.scenario("_release", says={"y": _VALUE, "middle": _VALUE, "requires_grad": _ASKED})
def freed_graph_leaves_the_values(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    middle = t * t
    y = middle * 3.0
    y.backward(np.ones_like(x))
    return {
        "y": y.data,
        "middle": middle.data,
        "requires_grad": [bool(middle.requires_grad), bool(y.requires_grad)],
    }


_RAISES = "a second backward through a graph that was freed must raise RuntimeError"
_SAYS = "the error has to say why: name `retain_graph`, which would have kept the graph"
_UNTOUCHED = "a backward that is refused leaves .grad of the leaves as it was"


@suite.scenario(
    "_release", says={"raised": _RAISES, "names retain_graph": _SAYS, "x.grad": _UNTOUCHED}
)
def second_backward(lib, x):
    t, message = lib.Tensor(x, requires_grad=True), None
    y = t * t
    y.backward(np.full(x.shape, 2.0))
    try:
        y.backward(np.full(x.shape, 2.0))
    except RuntimeError as error:
        message = str(error)
    return {
        "raised": message is not None,
        "names retain_graph": "retain_graph" in (message or ""),
        "x.grad": t.grad,
    }


@suite.scenario(
    "_release",
    says={"raised": "retain_graph=False, said aloud, is the same as the default: " + _RAISES},
)
def second_backward_when_told_to_free(lib, x):
    t, raised = lib.Tensor(x, requires_grad=True), False
    y = (t * t) * t
    y.backward(np.full(x.shape, 2.0), retain_graph=False)
    try:
        y.backward(np.full(x.shape, 2.0), retain_graph=True)
    except RuntimeError:
        raised = True
    return {"raised": raised, "x.grad": t.grad}


@suite.scenario(
    "_release",
    says={
        "raised": "another root that shares a freed node must be refused too: " + _RAISES,
        "x.grad": _UNTOUCHED,
    },
)
def second_backward_from_another_root(lib, x):
    t, raised = lib.Tensor(x, requires_grad=True), False
    shared = t * t
    one, other = shared * 2.0, shared * 3.0
    one.backward(np.ones_like(x))
    try:
        other.backward(np.ones_like(x))
    except RuntimeError:
        raised = True
    return {"raised": raised, "x.grad": t.grad}


@suite.scenario("_release", says={"raised": _RAISES})
def second_backward_from_within(lib, x):
    t, raised = lib.Tensor(x, requires_grad=True), False
    middle = t + t
    (middle * middle).backward(np.ones_like(x))
    try:
        middle.backward(np.ones_like(x))
    except RuntimeError:
        raised = True
    return {"raised": raised, "x.grad": t.grad}


@suite.scenario("_release", says={"raised": "to go on from a freed tensor: " + _RAISES})
def backward_of_what_was_made_of_a_freed_tensor(lib, x):
    t, raised = lib.Tensor(x, requires_grad=True), False
    y = t * t
    y.backward(np.ones_like(x))
    try:
        (y * 2.0).backward(np.ones_like(x))
    except RuntimeError:
        raised = True
    return {"raised": raised, "x.grad": t.grad}


_KEPT = "with retain_graph=True the graph stays: each backward adds the same again"


@suite.scenario(
    "_release",
    says={
        "refused": _KEPT,
        "x.grad": _KEPT,
        "raised": "the graph was retained twice and then freed: the backward after that must raise",
    },
)
def retained_graph(lib, x):
    t, refused, raised = lib.Tensor(x, requires_grad=True), False, False
    y = t * t * t
    try:
        y.backward(np.full(x.shape, 2.0), retain_graph=True)
        y.backward(np.full(x.shape, 2.0), True)
        y.backward(np.full(x.shape, 0.5))
    except RuntimeError:
        refused = True
    try:
        y.backward(np.full(x.shape, 0.5))
    except RuntimeError:
        raised = True
    return {"refused": refused, "x.grad": t.grad, "raised": raised}


_LATE = "a node is freed as soon as it ran: its array still lives when the nodes below it run"


@suite.scenario(
    "_release",
    says={"held": _LATE, "after": "the root still holds on to what it was computed from"},
)
def freed_as_it_ran(lib, x, *, op):
    """A node near the leaf looks whether the array of one near the root is still there."""
    import gc
    import weakref

    t, held = lib.Tensor(x, requires_grad=True), []

    def look(g):
        gc.collect()
        held.append(late() is not None)
        return (g,)

    early = lib.Tensor._make(1.0 * x, (t,), look, "look")
    h = early * 2.0 * 3.0
    h = h + h if op == "add" else h * h
    late = weakref.ref(h.data)
    h = h + 1.0 if op == "add" else h * h
    h.backward(np.ones_like(x))
    gc.collect()
    return {"held": held, "after": late() is not None, "x.grad": t.grad}


@suite.scenario("_release", says={"held": "with retain_graph=True nothing of the graph is freed"})
def held_while_retained(lib, x):
    import weakref

    t = lib.Tensor(x, requires_grad=True)
    h = t * t
    held = weakref.ref(h.data)
    h = h * h
    h.backward(np.ones_like(x), retain_graph=True)
    return {"held": held() is not None, "x.grad": t.grad}


@suite.scenario(
    "_release",
    measures={
        "retained": "peak of a chain of matmuls, graph retained",
        "freed": "the same, each node freed as it ran",
    },
    says={
        "needs less": "the peak is as high as with the whole graph: free a node as soon as it ran, "
        "so that the gradients of the layers below take the place of its array"
    },
    limit_s=60.0,
)
def free_graph_memory(lib, *, full=False):
    """Layers of h W, all square: an activation is as large as the gradient of a weight."""
    rng = np.random.default_rng(0)
    layers, n = (200, 128) if full else (40, 64)
    start = lib.Tensor(rng.standard_normal((n, n)))
    weights = [
        lib.Tensor(rng.standard_normal((n, n)) / np.sqrt(n), requires_grad=True)
        for _ in range(layers)
    ]

    def step(*, retain_graph):
        h = start
        for w in weights:
            h = h @ w
        h.sum().backward(retain_graph=retain_graph)

    peaks = []
    for retain_graph in (True, False):
        peaks.append(memory_of(lambda retain=retain_graph: step(retain_graph=retain)).peak)
        for w in weights:
            w.grad = None
    retained, freed = peaks
    return {"retained": retained, "freed": freed, "needs less": freed < 0.75 * retained}
