"""What `checkpoint` grades: gradients, parameters that are used, runs, what is kept, memory."""

import numpy as np

from autodrill.cases import Suite, memory_of

suite = Suite()


@suite.case("checkpoint")
def checkpoint_of_one(lib, x):
    return lib.checkpoint(lambda t: (t * t).tanh() * t, x)


@suite.case("checkpoint")
def checkpoint_of_two(lib, a, b):
    return lib.checkpoint(lambda t, u: (t @ u).tanh() * 2.0, a, b)


@suite.case("checkpoint")
def checkpoint_within_a_graph(lib, x):
    """What goes in was computed, and is used beside it; what comes out is used twice."""
    h = x * 2.0
    y = lib.checkpoint(lambda t: t * t + t, h)
    return y * h + y


@suite.case("checkpoint")
def checkpoint_given_one_twice(lib, x):
    return lib.checkpoint(lambda t, u: t * t * u, x, x)


@suite.case("checkpoint")
def checkpoints_in_a_row(lib, x):
    h = x
    for _ in range(3):
        h = lib.checkpoint(lambda t: (t * t).tanh() + t, h)
    return h


@suite.case("checkpoint")
def checkpoint_within_a_checkpoint(lib, x):
    def inner(t):
        return t * t

    return lib.checkpoint(lambda t: lib.checkpoint(inner, t) * t, x)


@suite.case("checkpoint")
def checkpoint_changes_the_shape(lib, x):
    return lib.checkpoint(lambda t: (t * t).sum(axis=0), x)


_USED = "a parameter that the function uses without being given it gets its gradient too"


@suite.scenario("checkpoint", what="gradient", says={"w.grad": _USED, "x.grad": _USED})
def checkpoint_uses_a_parameter(lib, x, w, upstream):
    """The parameter is used outside as well: there is one gradient, from both."""
    t, weight = lib.Tensor(x, requires_grad=True), lib.Tensor(w, requires_grad=True)
    y = lib.checkpoint(lambda h: (h @ weight).tanh() @ weight, t)
    (y @ weight).backward(upstream)
    return {"y": y.data, "x.grad": t.grad, "w.grad": weight.grad}


_FIRST = (
    "where the input is a constant, as for the first layers of a network, "
    "the parameters that the function uses still get their gradient"
)


@suite.scenario("checkpoint", what="gradient", says={"w.grad": _FIRST, "requires_grad": _FIRST})
def checkpoint_of_a_constant(lib, x, w, upstream):
    t, weight = lib.Tensor(x), lib.Tensor(w, requires_grad=True)
    y = lib.checkpoint(lambda h: (h @ weight).tanh(), t)
    y.backward(upstream)
    return {"requires_grad": bool(y.requires_grad), "w.grad": weight.grad, "x.grad": t.grad}


@suite.scenario(
    "checkpoint",
    what="gradient",
    says={"w.grad": "a parameter that two checkpoints use gets the sum of both"},
)
def checkpoints_share_a_parameter(lib, x, w, upstream):
    t, weight = lib.Tensor(x, requires_grad=True), lib.Tensor(w, requires_grad=True)
    h = lib.checkpoint(lambda h: (h @ weight).tanh(), t)
    h = lib.checkpoint(lambda h: (h @ weight).tanh(), h)
    h.backward(upstream)
    return {"x.grad": t.grad, "w.grad": weight.grad}


@suite.scenario(
    "checkpoint",
    what="gradient",
    says={"x.grad": "an input that the function also uses from outside gets both gradients"},
)
def checkpoint_uses_its_own_input(lib, x, upstream):
    t = lib.Tensor(x, requires_grad=True)
    lib.checkpoint(lambda h: h * h * t, t).backward(upstream)
    return {"x.grad": t.grad}


_NONE = "a constant gets no gradient, and an input that the function does not use gets none"


@suite.scenario("checkpoint", what="gradient", says={"c.grad": _NONE, "unused.grad": _NONE})
def checkpoint_of_constants_and_others(lib, x, upstream):
    t, c = lib.Tensor(x, requires_grad=True), lib.Tensor(x)
    unused = lib.Tensor(x, requires_grad=True)
    lib.checkpoint(lambda c, h, u: c * h * h, c, t, unused).backward(upstream)
    return {"x.grad": t.grad, "c.grad": c.grad, "unused.grad": unused.grad}


@suite.scenario(
    "checkpoint",
    says={
        "requires_grad": "of constants alone the result is a constant",
        "x.grad": "a function may return a constant: then its inputs get nothing from it",
    },
)
def checkpoint_gives_a_constant(lib, x):
    t, c = lib.Tensor(x, requires_grad=True), lib.Tensor(x)
    y = lib.checkpoint(lambda h: c * 2.0, t)
    (y * t).backward(np.ones_like(x))
    return {
        "requires_grad": bool(lib.checkpoint(lambda h: h * h, c).requires_grad),
        "of arrays": lib.checkpoint(lambda h, k: h * k, x, 2.0).data,
        "x.grad": t.grad,
    }


@suite.scenario(
    "checkpoint",
    says={
        "forward": "the function runs once in the forward",
        "backward": "the function runs once more in backward, and not more often than that",
        "again": "the function runs once more in each backward",
        "x.grad": "each backward adds the same gradient again",
    },
)
def checkpoint_counts_runs(lib, x):
    t, runs = lib.Tensor(x, requires_grad=True), []

    def f(h):
        runs.append(1)
        return h * h

    y = lib.checkpoint(f, t)
    forward = len(runs)
    y.backward(np.full(x.shape, 2.0), retain_graph=True)
    backward = len(runs)
    y.backward(np.full(x.shape, 0.5))
    return {"forward": forward, "backward": backward, "again": len(runs), "x.grad": t.grad}


@suite.scenario(
    "checkpoint",
    says={
        "kept": "after the forward nothing of what the function computed within is kept",
        "kept after backward": "what the second run computed goes when its gradient was taken",
    },
)
def checkpoint_keeps_nothing_within(lib, x):
    import gc
    import weakref

    t, within = lib.Tensor(x, requires_grad=True), []

    def f(h):
        middle = h * h
        within.append(weakref.ref(middle.data))
        return middle * h

    def kept():
        gc.collect()
        return sum(one() is not None for one in within)

    y = lib.checkpoint(f, t)
    before = kept()
    y.backward(np.full(x.shape, 2.0), retain_graph=True)
    return {"kept": before, "kept after backward": kept(), "x.grad": t.grad}


@suite.scenario(
    "checkpoint",
    says={"x.grad": "nothing arrives in .grad before backward has run"},
)
def checkpoint_before_backward(lib, x):
    t, weight = lib.Tensor(x, requires_grad=True), lib.Tensor(x, requires_grad=True)
    lib.checkpoint(lambda h: h * weight, t)
    return {"x.grad": t.grad, "w.grad": weight.grad}


@suite.scenario(
    "checkpoint",
    measures={
        "whole": "peak of a step through L layers",
        "checkpointed": "the same in sqrt(L) segments",
    },
    says={
        "needs less": "the peak is too high: of a segment only its input may be kept, "
        "and the inside of one segment at a time"
    },
    limit_s=60.0,
)
def checkpoint_memory(lib, *, full=False):
    """Layers of relu(h W): what they compute is large, and what they learn is small."""
    rng = np.random.default_rng(0)
    length, n = (20, 512) if full else (8, 256)
    start = lib.Tensor(rng.standard_normal((n, 16)))
    weights = [
        lib.Tensor(rng.standard_normal((16, 16)) / 3.0, requires_grad=True)
        for _ in range(length * length)
    ]

    def through(h, some):
        for w in some:
            h = (h @ w).relu()
        return h

    def whole():
        through(start, weights).sum().backward()

    def in_segments():
        h = start
        for i in range(0, length * length, length):
            h = lib.checkpoint(lambda h, i=i: through(h, weights[i : i + length]), h)
        h.sum().backward()

    peaks = []
    for step in (whole, in_segments):
        peaks.append(memory_of(step).peak)
        for w in weights:
            w.grad = None
    before, after = peaks
    return {"whole": before, "checkpointed": after, "needs less": after < 0.45 * before}
