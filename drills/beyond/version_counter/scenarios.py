"""What `version_counter` grades: changes in place, how they are counted, and what notices them.

Tensors are made of copies, because a change in place writes to the array that it is given.
"""

import numpy as np

from autodrill.cases import Suite

suite = Suite()

_RETURNS = "an operation in place returns the tensor itself"
_SAME_ARRAY = "an operation in place writes to the tensor's own array; here it has made a new one"
_ONE_MORE = "each change in place adds 1 to _version"


@suite.scenario(
    "Tensor.add_",
    "Tensor._version",
    says={"itself": _RETURNS, "same array": _SAME_ARRAY, "version": _ONE_MORE},
)
def add_in_place(lib, x, y):
    t = lib.Tensor(x.copy())
    array = t.data
    itself = t.add_(y) is t
    return {
        "itself": itself,
        "same array": t.data is array,
        "data": t.data,
        "version": t._version,
    }


@suite.scenario(
    "Tensor.mul_",
    "Tensor._version",
    says={"itself": _RETURNS, "same array": _SAME_ARRAY, "version": _ONE_MORE},
)
def mul_in_place(lib, x, y):
    t = lib.Tensor(x.copy())
    array = t.data
    itself = t.mul_(lib.Tensor(y)) is t
    return {
        "itself": itself,
        "same array": t.data is array,
        "data": t.data,
        "version": t._version,
    }


@suite.scenario(
    "Tensor.__setitem__",
    "Tensor._version",
    says={"same array": _SAME_ARRAY, "version": _ONE_MORE},
)
def set_in_place(lib, x, y):
    t = lib.Tensor(x.copy())
    array = t.data
    t[0] = y
    t[:, 1:] = lib.Tensor(2.0)
    t[[0, 1], [0, 0]] = 3.0
    return {"same array": t.data is array, "data": t.data, "version": t._version}


@suite.scenario(
    "Tensor._version",
    "Tensor.add_",
    "Tensor.mul_",
    "Tensor.__setitem__",
    says={
        "versions": _ONE_MORE,
        "of a result": "a result has an array of its own, and starts at 0",
        "other": "a tensor that was not changed stays at 0",
    },
)
def versions_of_one(lib, x):
    t, other = lib.Tensor(x.copy()), lib.Tensor(x.copy())
    versions = [t._version]
    t.add_(1.0)
    versions.append(t._version)
    t.mul_(2.0)
    versions.append(t._version)
    t[0] = 5.0
    versions.append(t._version)
    t.add_(other).mul_(other)
    versions.append(t._version)
    return {
        "versions": versions,
        "of a result": [(t + 1.0)._version, t.exp()._version, (t * other)._version],
        "other": other._version,
        "data": t.data,
    }


_VIEW = "a view shares its memory and so its counter with what it is a view of, both ways"


@suite.scenario(
    "Tensor._version",
    "Tensor.add_",
    "Tensor.mul_",
    "Tensor.__setitem__",
    says={
        "changed by the base": _VIEW,
        "changed by a view": _VIEW,
        "copy": "a copy has a counter of its own",
        "row": _SAME_ARRAY,
    },
)
def views_count_together(lib, x):
    t = lib.Tensor(x.copy())
    row, turned, flat, copy = t[0], t.T, t.reshape(-1), t[[0, 1]]
    t.add_(1.0)
    by_base = [one._version for one in (t, row, turned, flat, row.reshape(-1))]
    row.mul_(2.0)
    turned.add_(3.0)
    flat[1:] = 4.0
    by_view = [one._version for one in (t, row, turned, flat)]
    return {
        "changed by the base": by_base,
        "changed by a view": by_view,
        "copy": copy._version,
        "row": row.data.copy(),
        "base": t.data.copy(),
    }


_CHANGED = "the VJP reads a value that was changed since: backward has to raise RuntimeError"


@suite.scenario(
    "_check_versions",
    "Tensor.add_",
    domains={"x": "nonzero", "y": "nonzero"},
    says={"raised": _CHANGED},
)
def saved_constant_changed(lib, x, y, *, op, left):
    """The VJP of a product, a quotient or a matmul reads the constant."""
    t, c = lib.Tensor(x, requires_grad=True), lib.Tensor(y.copy())
    out = getattr(t, op)(c) if left else getattr(c, op)(t)
    c.add_(1.0)
    raised = False
    try:
        out.backward(np.ones(out.shape))
    except RuntimeError:
        raised = True
    return {"raised": raised}


@suite.scenario("_check_versions", "Tensor.mul_", says={"raised": _CHANGED})
def saved_constant_multiplied(lib, x, y):
    t, c = lib.Tensor(x, requires_grad=True), lib.Tensor(y.copy())
    out = t * c
    c.mul_(2.0)
    raised = False
    try:
        out.backward(np.ones(out.shape))
    except RuntimeError:
        raised = True
    return {"raised": raised}


@suite.scenario("_check_versions", "Tensor.__setitem__", says={"raised": _CHANGED})
def saved_constant_written_to(lib, x, y):
    t, c = lib.Tensor(x, requires_grad=True), lib.Tensor(y.copy())
    out = t * c
    c[0] = 2.0
    raised = False
    try:
        out.backward(np.ones(out.shape))
    except RuntimeError:
        raised = True
    return {"raised": raised}


@suite.scenario("_check_versions", "Tensor.add_", says={"raised": _CHANGED})
def saved_through_a_view(lib, x, y, *, changed):
    """The product reads the base and the view is changed, or the other way round."""
    t, c = lib.Tensor(x, requires_grad=True), lib.Tensor(y.copy())
    view = c.T
    out = t.T * view if changed == "base" else t * c
    (c if changed == "base" else view).add_(1.0)
    raised = False
    try:
        out.backward(np.ones(out.shape))
    except RuntimeError:
        raised = True
    return {"raised": raised}


_RESULT = "the VJP reads the result, and that was changed since: backward has to raise RuntimeError"


@suite.scenario("_check_versions", "Tensor.add_", says={"raised": _RESULT})
def saved_result_changed(lib, x, *, op):
    t = lib.Tensor(x, requires_grad=True)
    out = getattr(t, op)()
    out.add_(1.0)
    raised = False
    try:
        out.backward(np.ones(out.shape))
    except RuntimeError:
        raised = True
    return {"raised": raised}


@suite.scenario("_check_versions", "Tensor.add_", says={"raised": _CHANGED})
def saved_operand_changed(lib, x, *, op):
    """The logarithm, a power and a square read what they were given, here a result."""
    t = lib.Tensor(np.abs(x) + 1.0, requires_grad=True)
    h = t * 2.0
    out = {"log": h.log, "pow": lambda: h**3, "square": lambda: h * h}[op]()
    h.add_(1.0)
    raised = False
    try:
        out.backward(np.ones(out.shape))
    except RuntimeError:
        raised = True
    return {"raised": raised}


@suite.scenario(
    "_check_versions",
    "Tensor.add_",
    says={"raised": "the versions count, not the values: a change that was undone is two changes"},
)
def saved_value_changed_and_restored(lib, x, y):
    t, c = lib.Tensor(x, requires_grad=True), lib.Tensor(np.round(y))
    out = t * c
    c.add_(1.0)
    c.add_(-1.0)
    raised = False
    try:
        out.backward(np.ones(out.shape))
    except RuntimeError:
        raised = True
    return {"raised": raised}


@suite.scenario(
    "_check_versions",
    "Tensor.add_",
    says={"raised": "every node has to be looked at, not the one alone that backward starts from"},
)
def saved_value_changed_deep_in_the_graph(lib, x, y):
    t, c = lib.Tensor(x, requires_grad=True), lib.Tensor(y.copy())
    out = ((t * c).exp() + t).sum()
    c.add_(1.0)
    raised = False
    try:
        out.backward()
    except RuntimeError:
        raised = True
    return {"raised": raised}


@suite.scenario(
    "_check_versions",
    "Tensor.add_",
    says={
        "first": "what counts is the version at which a value was saved: it was changed since",
        "second": "it was saved after the change, and not changed since",
        "both": "one of the two values that were saved was changed since",
    },
)
def saved_before_and_after_a_change(lib, x, y):
    t, c, raised = lib.Tensor(x, requires_grad=True), lib.Tensor(y.copy()), []
    first = t * c
    c.add_(1.0)
    second = t * c
    for out in (first, second, first + second):
        try:
            out.backward(np.ones(x.shape), retain_graph=True)
            raised.append(False)
        except RuntimeError:
            raised.append(True)
    return dict(zip(("first", "second", "both"), raised, strict=True))


@suite.scenario(
    "_check_versions",
    "Tensor.add_",
    says={
        "raised": "a value is looked at whenever backward runs: it was changed between two of them",
    },
)
def saved_value_changed_between_two_backwards(lib, x, y, upstream):
    t, c = lib.Tensor(x, requires_grad=True), lib.Tensor(y.copy())
    out = t * c
    out.backward(upstream, retain_graph=True)
    after_first = t.grad.copy()
    c.add_(1.0)
    raised = False
    try:
        out.backward(upstream, retain_graph=True)
    except RuntimeError:
        raised = True
    return {"x.grad": after_first, "raised": raised}


_UNREAD = "the VJP does not read what was changed: backward has to go through"


@suite.scenario("_check_versions", "Tensor.add_", says={"x.grad": _UNREAD})
def unread_constant_changed(lib, x, y, upstream):
    """A sum reads nothing, though the constant is one of its parents."""
    t, c = lib.Tensor(x, requires_grad=True), lib.Tensor(y.copy())
    out = (t + c) * 3.0
    c.add_(1.0)
    out.backward(upstream)
    return {"x.grad": t.grad, "c": c.data}


@suite.scenario(
    "_check_versions",
    "Tensor.add_",
    domains={"x": "nonzero", "y": "nonzero"},
    says={"x.grad": _UNREAD},
)
def unread_operand_changed(lib, x, y, upstream, *, op):
    """Of a product with a constant the VJP reads the constant alone; exp reads its result."""
    t, c = lib.Tensor(x, requires_grad=True), lib.Tensor(y)
    h = t * 2.0
    out = {
        "mul": lambda: h * c,
        "div": lambda: h / c,
        "add": lambda: h + c,
        "exp": h.exp,
        "tanh": h.tanh,
        "sum": lambda: h + h.sum(),
        "reshape": lambda: (h.reshape(-1) + 0.0).reshape(*x.shape),
        "transpose": lambda: h.T.T + 0.0,
        "getitem": lambda: h[np.arange(len(x))],
    }[op]()
    h.add_(1.0)
    out.backward(upstream)
    return {"x.grad": t.grad}


@suite.scenario(
    "_check_versions",
    "Tensor.add_",
    domains={"x": "nonzero", "y": "nonzero"},
    says={"x.grad": _UNREAD},
)
def unread_result_changed(lib, x, y, upstream, *, op):
    """A product, a quotient and a power read their operands, and a sum reads nothing."""
    t, c = lib.Tensor(x, requires_grad=True), lib.Tensor(y)
    out = {
        "mul": lambda: t * c,
        "div": lambda: t / c,
        "add": lambda: t + c,
        "pow": lambda: t**2,
        "log": (t * t).log,
    }[op]()
    out.add_(1.0)
    out.backward(upstream)
    return {"x.grad": t.grad, "y": out.data}


@suite.scenario(
    "_check_versions",
    "Tensor.add_",
    "Tensor.mul_",
    "Tensor.__setitem__",
    says={"x.grad": "it was changed before it was used: what was saved is the new value"},
)
def changed_before_it_was_used(lib, x, y, upstream):
    t, c = lib.Tensor(x, requires_grad=True), lib.Tensor(y.copy())
    c.add_(1.0)
    c.mul_(2.0)
    c[0] = 3.0
    (t * c).backward(upstream)
    return {"x.grad": t.grad}


@suite.scenario(
    "_check_versions",
    "Tensor.add_",
    says={"x.grad": "what was changed is not behind this root: backward has to go through"},
)
def changed_behind_another_root(lib, x, y, upstream):
    t, c = lib.Tensor(x, requires_grad=True), lib.Tensor(y.copy())
    middle = t * 2.0
    beside = middle * c
    c.add_(1.0)
    (middle * 3.0).backward(upstream)
    return {"x.grad": t.grad, "beside": beside.data}


_KEPT = "to add a constant does not change the gradient: it flows on as before"


@suite.scenario("Tensor.add_", "_check_change", says={"x.grad": _KEPT, "y": _KEPT})
def result_added_to(lib, x, y, upstream):
    """Used before the change and after it."""
    t = lib.Tensor(x, requires_grad=True)
    h = t * 2.0
    before = h + 1.0
    h.add_(y)
    out = before + h * h
    out.backward(upstream)
    return {"y": out.data, "x.grad": t.grad}


_LEAF = "a leaf that requires a gradient must not be changed in place: RuntimeError is due"


@suite.scenario("_check_change", "Tensor.add_", raises="RuntimeError", says={"raises": _LEAF})
def leaf_added_to(lib, x):
    lib.Tensor(x.copy(), requires_grad=True).add_(1.0)
    return {}


@suite.scenario("_check_change", "Tensor.mul_", raises="RuntimeError", says={"raises": _LEAF})
def leaf_multiplied(lib, x):
    lib.Tensor(x.copy(), requires_grad=True).mul_(2.0)
    return {}


@suite.scenario(
    "_check_change", "Tensor.__setitem__", raises="RuntimeError", says={"raises": _LEAF}
)
def leaf_written_to(lib, x):
    lib.Tensor(x.copy(), requires_grad=True)[0] = 2.0
    return {}


@suite.scenario(
    "_check_change",
    "Tensor.add_",
    "Tensor._version",
    says={
        "refused": _LEAF,
        "data": "a change that is refused must not be made: refuse first",
        "version": "a change that is refused does not count",
        "x.grad": "a graph that was recorded before still runs back",
    },
)
def leaf_is_left_alone(lib, x, upstream):
    t = lib.Tensor(x.copy(), requires_grad=True)
    lib.Tensor(x.copy()).add_(1.0)
    out, refused = t * t, False
    try:
        t.add_(1.0)
    except RuntimeError:
        refused = True
    out.backward(upstream)
    return {"refused": refused, "data": t.data, "version": t._version, "x.grad": t.grad}


_SILENT = "the change is not part of the graph, so the gradient is wrong: record it or refuse it"


@suite.scenario("_check_change", "Tensor.mul_", says={"refused or right": _SILENT})
def recorded_result_multiplied(lib, x, upstream):
    """torch records what is changed here, and in the next four. To refuse it is as good."""
    t = lib.Tensor(x, requires_grad=True)
    h = t * 1.0
    lib.Tensor(x.copy()).mul_(1.0)
    try:
        h.mul_(3.0)
        h.backward(upstream)
        right = bool(np.allclose(t.grad, 3.0 * upstream))
    except RuntimeError:
        right = True
    return {"refused or right": right}


@suite.scenario("_check_change", "Tensor.__setitem__", says={"refused or right": _SILENT})
def recorded_result_written_to(lib, x, upstream):
    t = lib.Tensor(x, requires_grad=True)
    h = t * 1.0
    lib.Tensor(x.copy())[0] = 1.0
    try:
        h[0] = 3.0
        h.backward(upstream)
        right = bool(np.allclose(t.grad, [0.0, *upstream[1:]]))
    except RuntimeError:
        right = True
    return {"refused or right": right}


@suite.scenario("_check_change", "Tensor.add_", says={"refused or right": _SILENT})
def recorded_result_added_to_result(lib, x, upstream):
    t = lib.Tensor(x, requires_grad=True)
    h = t * 1.0
    lib.Tensor(x.copy()).add_(1.0)
    try:
        h.add_(t * 2.0)
        h.backward(upstream)
        right = bool(np.allclose(t.grad, 3.0 * upstream))
    except RuntimeError:
        right = True
    return {"refused or right": right}


@suite.scenario("_check_change", "Tensor.mul_", says={"refused or right": _SILENT})
def constant_multiplied_by_a_leaf(lib, x, upstream):
    t, c = lib.Tensor(x, requires_grad=True), lib.Tensor(np.full_like(x, 2.0))
    c.mul_(1.0)
    try:
        c.mul_(t)
        (c + t).backward(upstream)
        right = bool(np.allclose(t.grad, 3.0 * upstream))
    except RuntimeError:
        right = True
    return {"refused or right": right}


@suite.scenario("_check_change", "Tensor.__setitem__", says={"refused or right": _SILENT})
def leaf_written_to_a_constant(lib, x, upstream):
    t, c = lib.Tensor(x, requires_grad=True), lib.Tensor(np.ones_like(x))
    c[0] = 2.0
    try:
        c[:] = t * 2.0
        (c + t).backward(upstream)
        right = bool(np.allclose(t.grad, 3.0 * upstream))
    except RuntimeError:
        right = True
    return {"refused or right": right}


# Edge cases -----------------------------------------------------------------------------------


@suite.scenario(
    "_check_change",
    "Tensor.add_",
    raises="RuntimeError",
    says={"raises": "a view of a leaf that requires a gradient is its memory: it is refused too"},
)
def view_of_a_leaf_changed(lib, x, *, times):
    view = lib.Tensor(x.copy(), requires_grad=True)
    for _ in range(times):
        view = view.reshape(-1)
    view.add_(1.0)
    return {}


@suite.scenario(
    "Tensor.add_",
    "Tensor.mul_",
    "Tensor._version",
    says={"version": "a change that fails is none, and does not count", "data": "nothing was done"},
)
def change_of_a_wrong_shape(lib, x):
    t = lib.Tensor(x.copy())
    refused = []
    for change in (t.add_, t.mul_):
        try:
            change(np.ones((2, *x.shape)))
        except (RuntimeError, ValueError) as error:
            refused.append(type(error).__name__ != "NotImplementedError")
    return {"refused": refused, "version": t._version, "data": t.data}


@suite.scenario(
    "Tensor.__setitem__",
    "Tensor._version",
    says={"data": "every index that `tensor[index]` takes can be written to"},
)
def set_by_any_index(lib, x):
    t = lib.Tensor(x.copy())
    t[lib.Tensor([0.0, 1.0])] = [1.0]
    t[..., -1] = lib.Tensor(x[..., 0])
    t[x > 0.5] = 7
    t[1:] = t[:-1]
    return {"data": t.data, "version": t._version}
