"""What `conv1d` grades: its values and gradients, and that its graph holds nothing new."""

from autodrill.cases import Suite

suite = Suite()


@suite.case("conv1d")
def conv1d(lib, x, w, *, stride=1, padding=0):
    return lib.conv1d(x, w, stride=stride, padding=padding)


@suite.case("conv1d")
def conv1d_default(lib, x, w):
    return lib.conv1d(x, w)


@suite.case("conv1d")
def conv1d_by_place(lib, x, w):
    return lib.conv1d(x, w, 2, 1)


@suite.case("conv1d")
def conv1d_of_itself(lib, x):
    """One tensor is signal and kernel: both gradients add up in it."""
    return lib.conv1d(x, x, padding=1)


@suite.case("conv1d")
def conv1d_twice(lib, x, v, w):
    """Two layers that share nothing but the channels between them."""
    return lib.conv1d(lib.conv1d(x, v, padding=1).relu(), w, stride=2)


_EXISTING = "the graph may hold the engine's own operations only: write no new VJP"


@suite.scenario("conv1d", says={"new operations": _EXISTING})
def conv1d_graph(lib, x, w, *, stride=1, padding=0):
    """A new operation is one with another name, or with a VJP that no method of Tensor made."""
    t, u = lib.Tensor(x, requires_grad=True), lib.Tensor(w, requires_grad=True)
    y = lib.conv1d(t, u, stride=stride, padding=padding)
    given = "add mul div pow matmul exp log relu tanh sum reshape transpose getitem logsumexp"
    new, seen, nodes = [], set(), [y]
    while nodes:
        node = nodes.pop()
        if id(node) in seen or node._vjp is None:
            continue
        seen.add(id(node))
        nodes.extend(node._parents)
        maker = getattr(node._vjp, "__qualname__", "")
        if node._op not in given.split() or not maker.startswith("Tensor."):
            new.append(node._op)
    return {"new operations": sorted(set(new))}


@suite.scenario(
    "conv1d",
    raises="ValueError",
    says={"raises": "kernels must have as many channels as the signals: raise ValueError"},
)
def conv1d_of_other_channels(lib, x, w):
    lib.conv1d(lib.Tensor(x), lib.Tensor(w))
    return {}


@suite.scenario(
    "conv1d",
    raises="ValueError",
    says={"raises": "a kernel longer than the padded signal has no place: raise ValueError"},
)
def conv1d_of_a_long_kernel(lib, x, w, *, stride=1, padding=0):
    lib.conv1d(lib.Tensor(x), lib.Tensor(w), stride=stride, padding=padding)
    return {}


@suite.scenario("conv1d", what="gradient")
def conv1d_of_constant_signals(lib, x, w):
    u = lib.Tensor(w, requires_grad=True)
    y = lib.conv1d(x, u, padding=1)
    y.sum().backward()
    return {"y": y.data, "w.grad": u.grad}


@suite.scenario("conv1d", what="forward", says={"y": "signals and kernels may be lists"})
def conv1d_of_lists(lib):
    y = lib.conv1d([[[1, 2, 3, 4]]], [[[1, 10]]], stride=2)
    return {"y": y.data, "requires_grad": bool(y.requires_grad)}
