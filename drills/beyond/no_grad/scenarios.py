"""What `no_grad` grades: blocks, nested and broken off, the decorator, `detach`, memory."""

import numpy as np

from autodrill.cases import Suite, memory_of

suite = Suite()

_OFF = "within no_grad() no operation is recorded: its result does not require a gradient"
_ON = "after the block operations are recorded as before"
_INSIDE = "the inner block has ended and the outer one has not: nothing is recorded yet"


@suite.scenario("no_grad", "_is_recording", says={"inside": _OFF, "after": _ON})
def no_grad_block(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    before = bool((t * t).requires_grad)
    with lib.no_grad():
        y = t * t
    after = bool((t * t).requires_grad)
    return {"before": before, "inside": bool(y.requires_grad), "y": y.data, "after": after}


@suite.scenario(
    "_is_recording",
    "no_grad",
    says={
        "parents": "within no_grad() a result holds on to no parents",
        "has a vjp": "within no_grad() a result has no VJP",
    },
)
def no_grad_keeps_no_graph(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    with lib.no_grad():
        y = (t * t).exp()
    return {"parents": len(y._parents), "has a vjp": y._vjp is not None}


@suite.scenario(
    "no_grad",
    "_is_recording",
    says={"x.grad": "what was computed within no_grad() is a constant to backward"},
)
def no_grad_result_is_a_constant(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    with lib.no_grad():
        c = t * t
    (t * c).backward(np.full(x.shape, 2.0))
    return {"x.grad": t.grad}


@suite.scenario(
    "no_grad",
    "_is_recording",
    says={"x.grad": "no_grad() stops the recording; what was recorded before can still run back"},
)
def backward_within_no_grad(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    y = t * t
    with lib.no_grad():
        y.backward(np.full(x.shape, 2.0))
    return {"x.grad": t.grad}


@suite.scenario(
    "no_grad",
    "_is_recording",
    says={"between": _INSIDE, "innermost": _OFF, "after": _ON},
)
def no_grad_nested(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    with lib.no_grad():
        with lib.no_grad():
            innermost = bool((t * t).requires_grad)
        between = bool((t * t).requires_grad)
    after = bool((t * t).requires_grad)
    return {"innermost": innermost, "between": between, "after": after}


@suite.scenario(
    "no_grad",
    "_is_recording",
    says={
        "passed on": "no_grad() must not swallow the exception that leaves its block",
        "after": "a block that an exception leaves has to restore what was before, too",
    },
)
def no_grad_left_by_an_exception(lib, x):
    t, passed_on = lib.Tensor(x, requires_grad=True), False
    try:
        with lib.no_grad():
            raise LookupError
    except LookupError:
        passed_on = True
    return {"passed on": passed_on, "after": bool((t * t).requires_grad)}


@suite.scenario("no_grad", "_is_recording", says={"between": _INSIDE, "after": _ON})
def no_grad_inner_left_by_an_exception(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    with lib.no_grad():
        try:
            with lib.no_grad():
                raise LookupError
        except LookupError:
            pass
        between = bool((t * t).requires_grad)
    return {"between": between, "after": bool((t * t).requires_grad)}


_DEFINED = "to decorate a function must change nothing until it is called"


@suite.scenario(
    "no_grad",
    "_is_recording",
    says={
        "defined": _DEFINED,
        "first": "a decorated function runs without recording",
        "second": "a decorated function runs without recording, the second time as well",
        "y": "a decorated function still returns its result",
        "after": _ON,
    },
)
def no_grad_decorator(lib, x):
    t = lib.Tensor(x, requires_grad=True)

    @lib.no_grad()
    def square(t, shift=0.0):
        return t * t + shift

    defined = bool((t * t).requires_grad)
    first, second = square(t), square(t, shift=1.0)
    return {
        "defined": defined,
        "first": bool(getattr(first, "requires_grad", False)),
        "second": bool(getattr(second, "requires_grad", False)),
        "y": getattr(second, "data", None),
        "after": bool((t * t).requires_grad),
    }


@suite.scenario("no_grad", "_is_recording", says={"x.grad": "the function calls itself"})
def no_grad_decorator_of_a_recursion(lib, x):
    @lib.no_grad()
    def power(t, n):
        return t if n == 1 else t * power(t, n - 1)

    t = lib.Tensor(x, requires_grad=True)
    cube = power(t, 3)
    (t * cube).backward(np.ones_like(x))
    return {"x.grad": t.grad}


@suite.scenario(
    "no_grad",
    "_is_recording",
    says={
        "requires_grad": "a leaf that is made within no_grad() requires a gradient if it says so"
    },
)
def leaf_made_within_no_grad(lib, x):
    with lib.no_grad():
        t = lib.Tensor(x, requires_grad=True)
    (t * t).backward(np.ones_like(x))
    return {"requires_grad": bool(t.requires_grad), "x.grad": t.grad}


@suite.scenario(
    "no_grad",
    "_is_recording",
    measures={
        "recorded": "kept by a forward that is recorded",
        "unrecorded": "kept by the same within no_grad()",
    },
    says={
        "keeps less": "a forward within no_grad() keeps too much: it has to keep its result only"
    },
    limit_s=60.0,
)
def no_grad_memory(lib, *, full=False):
    """Layers of relu(h W): with a graph, every layer's arrays live on."""
    rng = np.random.default_rng(0)
    layers, n = (200, 300) if full else (20, 100)
    start = lib.Tensor(rng.standard_normal((n, 64)))
    weights = [
        lib.Tensor(rng.standard_normal((64, 64)) / 8.0, requires_grad=True) for _ in range(layers)
    ]

    def forward():
        h = start
        for w in weights:
            h = (h @ w).relu()
        return h

    def quietly():
        with lib.no_grad():
            return forward()

    recorded, unrecorded = memory_of(forward).kept, memory_of(quietly).kept
    return {
        "recorded": recorded,
        "unrecorded": unrecorded,
        "keeps less": unrecorded < 0.25 * recorded,
    }


_CONSTANT = "a detached tensor is a constant: it does not require a gradient"


@suite.scenario(
    "Tensor.detach",
    says={
        "d": "a detached tensor has the same values",
        "requires_grad": _CONSTANT,
        "parents": "a detached tensor holds on to no parents",
        "x.grad": "no gradient flows back through what is detached",
    },
)
def detach(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    d = (t * t).detach()
    (t * d).backward(np.full(x.shape, 2.0))
    return {
        "d": d.data,
        "requires_grad": bool(d.requires_grad),
        "parents": len(d._parents),
        "x.grad": t.grad,
    }


@suite.scenario(
    "Tensor.detach",
    says={
        "requires_grad": "detach() returns another tensor, and leaves this one as it was",
        "x.grad": "detach() must not cut the tensor that it was called on",
    },
)
def detach_leaves_the_original(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    y = t * t
    y.detach()
    t.detach()
    y.backward(np.full(x.shape, 2.0))
    return {"requires_grad": bool(t.requires_grad and y.requires_grad), "x.grad": t.grad}


@suite.scenario(
    "Tensor.detach",
    says={"shared": "a detached tensor shares the array: nothing is copied"},
)
def detach_shares_the_array(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    return {"shared": bool(np.shares_memory(t.detach().data, t.data))}
