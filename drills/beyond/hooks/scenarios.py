"""What `hooks` grades: what a hook sees, when, how often, and what its answer does."""

import numpy as np

from autodrill.cases import Suite

suite = Suite()


_ONCE = "a hook is called once in a backward, not once for each consumer"
_WHOLE = "a hook is given the whole gradient: what all consumers have delivered, added up"


@suite.scenario("_through_hooks", "Tensor.register_hook", says={"times": _ONCE, "seen": _WHOLE})
def hook_on_a_tensor_used_twice(lib, x, upstream):
    t, seen = lib.Tensor(x, requires_grad=True), []
    middle = t * 2.0
    middle.register_hook(seen.append)
    (middle * middle + middle).backward(upstream)
    return {"times": len(seen), "seen": sum(seen), "x.grad": t.grad}


@suite.scenario("_through_hooks", "Tensor.register_hook", says={"times": _ONCE, "seen": _WHOLE})
def hook_on_a_leaf_used_twice(lib, x, upstream):
    t, seen = lib.Tensor(x, requires_grad=True), []
    t.register_hook(seen.append)
    (t * t + t).backward(upstream)
    return {"times": len(seen), "seen": sum(seen), "x.grad": t.grad}


@suite.scenario(
    "_through_hooks",
    "Tensor.register_hook",
    says={"times": _ONCE, "seen": "a hook on the root is given what backward() was given"},
)
def hook_on_the_root(lib, x, upstream):
    t, seen = lib.Tensor(x, requires_grad=True), []
    root = t * 3.0
    root.register_hook(seen.append)
    root.backward(upstream)
    return {"times": len(seen), "seen": sum(seen), "x.grad": t.grad}


@suite.scenario(
    "_through_hooks",
    "Tensor.register_hook",
    says={"times": "a hook stays: it is called in every backward", "x.grad": _WHOLE},
)
def hook_in_every_backward(lib, x):
    t, seen = lib.Tensor(x, requires_grad=True), []
    t.register_hook(seen.append)
    (t * t).backward(np.full(x.shape, 2.0))
    (t * 3.0).backward(np.full(x.shape, 0.5))
    return {"times": len(seen), "x.grad": t.grad}


_REPLACED = "what a hook returns takes the place of the gradient, in what flows on too"


@suite.scenario("_through_hooks", "Tensor.register_hook", says={"x.grad": _REPLACED})
def hook_replaces(lib, x, y, upstream):
    """Only what goes through the middle is replaced, not what reaches x beside it."""
    t, u = lib.Tensor(x, requires_grad=True), lib.Tensor(y, requires_grad=True)
    middle = t * u
    middle.register_hook(lambda g: 10.0 * g + 1.0)
    (middle * t + t).backward(upstream)
    return {"x.grad": t.grad, "y.grad": u.grad}


@suite.scenario(
    "_through_hooks",
    "Tensor.register_hook",
    says={"x.grad": "what a hook on a leaf returns is what is added to .grad"},
)
def hook_replaces_on_a_leaf(lib, x, upstream):
    t = lib.Tensor(x, requires_grad=True)
    t.register_hook(lambda g: 10.0 * g + 1.0)
    (t * t).backward(upstream)
    (t * 2.0).backward(upstream)
    return {"x.grad": t.grad}


@suite.scenario(
    "_through_hooks",
    "Tensor.register_hook",
    says={"x.grad": "a hook may return an array of zeros: that is not None"},
)
def hook_stops_the_gradient(lib, x, upstream):
    t = lib.Tensor(x, requires_grad=True)
    middle = t * 2.0
    middle.register_hook(lambda g: 0.0 * g)
    (middle + t * 3.0).backward(upstream)
    return {"x.grad": t.grad}


@suite.scenario(
    "_through_hooks", "Tensor.register_hook", says={"times": _ONCE, "x.grad": _REPLACED}
)
def hook_that_counts(lib, x, upstream):
    """It returns something, so that whoever calls it twice to see whether it does is found."""
    t, calls = lib.Tensor(x, requires_grad=True), []

    def double(g):
        calls.append(1)
        return 2.0 * g

    t.register_hook(double)
    (t * t).backward(upstream)
    return {"times": len(calls), "x.grad": t.grad}


_ORDER = (
    "hooks run in the order in which they were registered, each on what the one before returned"
)


@suite.scenario(
    "_through_hooks",
    "Tensor.register_hook",
    says={"x.grad": _ORDER, "seen": "a hook is given what the one before it has returned"},
)
def hooks_in_order(lib, x, upstream):
    t, seen = lib.Tensor(x, requires_grad=True), []
    t.register_hook(lambda g: g + 1.0)
    t.register_hook(seen.append)
    t.register_hook(lambda g: 2.0 * g)
    (t * t).backward(upstream)
    return {"seen": sum(seen), "x.grad": t.grad}


@suite.scenario(
    "Tensor.register_hook",
    "_through_hooks",
    says={"x.grad": "a function that is registered twice is called twice"},
)
def hook_registered_twice(lib, x, upstream):
    def double(g):
        return 2.0 * g

    t = lib.Tensor(x, requires_grad=True)
    t.register_hook(double)
    t.register_hook(double)
    (t * t).backward(upstream)
    return {"x.grad": t.grad}


_REMOVED = "a hook that was removed is not called any more, and the others still are"


@suite.scenario(
    "Handle.remove",
    "Tensor.register_hook",
    "_through_hooks",
    says={"x.grad": _REMOVED, "removed": _REMOVED, "stays": _REMOVED},
)
def hook_removed(lib, x, upstream):
    t, removed, stays = lib.Tensor(x, requires_grad=True), [], []
    t.register_hook(lambda g: 2.0 * g)
    handle = t.register_hook(removed.append)
    t.register_hook(stays.append)
    (t * t).backward(upstream)
    handle.remove()
    (t * t).backward(upstream)
    return {"removed": len(removed), "stays": len(stays), "x.grad": t.grad}


@suite.scenario(
    "Handle.remove",
    "Tensor.register_hook",
    "_through_hooks",
    says={"x.grad": "remove() takes away one registration; a second call does nothing more"},
)
def hook_removed_twice(lib, x, upstream):
    def double(g):
        return 2.0 * g

    t = lib.Tensor(x, requires_grad=True)
    handle = t.register_hook(double)
    t.register_hook(double)
    handle.remove()
    handle.remove()
    (t * t).backward(upstream)
    return {"x.grad": t.grad}


@suite.scenario(
    "_through_hooks",
    "Handle.remove",
    "Tensor.register_hook",
    says={"times": "a hook may remove itself while it runs; the next one still runs"},
)
def hook_removes_itself(lib, x, upstream):
    t, seen = lib.Tensor(x, requires_grad=True), []

    def once(g):
        handle.remove()

    handle = t.register_hook(once)
    t.register_hook(seen.append)
    (t * t).backward(upstream)
    return {"times": len(seen), "x.grad": t.grad}


@suite.scenario(
    "Tensor.register_hook",
    raises="RuntimeError",
    says={"raises": "register_hook() on a constant must raise RuntimeError: none will come"},
)
def hook_on_a_constant(lib, x):
    lib.Tensor(x).register_hook(lambda g: None)
    return {}


@suite.scenario(
    "_through_hooks",
    "Tensor.register_hook",
    raises="RuntimeError",
    says={"raises": "a hook that returns another shape must raise RuntimeError"},
)
def hook_returns_another_shape(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    t.register_hook(lambda g: g[:1])
    (t * t).backward(np.ones_like(x))
    return {}


@suite.scenario(
    "_through_hooks",
    "Tensor.register_hook",
    says={"held": "a hook may return an array that somebody holds: .grad has to be one of its own"},
)
def hook_returns_an_array_that_is_held(lib, x):
    t, held = lib.Tensor(x, requires_grad=True), np.array(x)
    t.register_hook(lambda g: held)
    (t * t).backward(np.ones_like(x))
    t.grad += 1.0
    return {"held": held, "x.grad": t.grad}


@suite.scenario(
    "_through_hooks",
    "Tensor.register_hook",
    says={"x.grad": "whatever a hook returns, the gradient is an array of float64"},
)
def hook_returns_a_list(lib):
    t = lib.Tensor([1.0, 2.0, 3.0], requires_grad=True)
    t.register_hook(lambda g: [4, 5, 6])
    (t * t).backward([1.0, 1.0, 1.0])
    return {"x.grad": t.grad}
