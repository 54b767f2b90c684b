"""What retype grades: each function is one computation, run on the learner's engine,
on the reference, on torch and on every variant of the reference with a bug in it.

A case takes tensors and returns a tensor; its forward and all gradients are compared. A
scenario takes arrays and returns named values. `lib` is the engine.

No check calls on a later target. A case is driven from here: seed the gradient of the
result, then run the closures, consumers first. And the graphs of `core` are made by hand,
with the constructor and closures of our own, so that they need no operation at all.
"""

import ast

import numpy as np

from autodrill.cases import Scenario, Suite


def _parents_first(root):
    order, seen, stack = [], set(), [(root, False)]
    while stack:
        node, parents_done = stack.pop()
        if parents_done:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend((parent, False) for parent in node._prev)
    return order


def _run_closures(lib, out, upstream):
    out.grad = np.array(upstream)
    for node in reversed(_parents_first(out)):
        node._backward()


_OPERATORS = (ast.Add, ast.Mult, ast.Pow, ast.MatMult)
_METHODS = ("sum", "exp", "log", "relu", "tanh", "log_softmax", "softmax", "reshape", "transpose")


def _is_one_closure(result):
    """Tell whether an expression is a single operation that nobody makes of several."""
    if isinstance(result, ast.BinOp):
        parts = [*ast.walk(result.left), *ast.walk(result.right)]
        composed = any(isinstance(part, (ast.BinOp, ast.Attribute)) for part in parts)
        return isinstance(result.op, _OPERATORS) and not composed
    is_method = isinstance(result, ast.Call) and isinstance(result.func, ast.Attribute)
    return is_method and isinstance(result.func.value, ast.Name) and result.func.attr in _METHODS


def _closures_as_code(out, upstream):
    result = ast.parse(out, mode="eval").body
    lines = [f"out = {ast.unparse(result)}", f"out.grad = np.array({upstream})"]
    if _is_one_closure(result):
        return "\n".join([*lines, "out._backward()"])
    loop = ["for node in reversed(_topological_order(out)):", "    node._backward()", "\n"]
    return "\n".join([*lines, *loop])


suite = Suite(
    backward=_run_closures,
    backward_code=_closures_as_code,
    backward_names=("_topological_order",),
    parents="_prev",
    rule="_backward",
)

# ---------------------------------------------------------------- unbroadcast


@suite.scenario("unbroadcast", what="gradient", says={"result": "the sums are wrong"})
def unbroadcast(lib, grad, *, shape):
    return {"result": lib.unbroadcast(grad, shape)}


# ---------------------------------------------------------------- core: a tensor

_ZEROS = "`grad` starts as zeros in the shape of the data"
_FRESH = {"data": "`data` is what was given", "has a grad": _ZEROS, "grad": _ZEROS}


def _about_fresh(t):
    """Say nothing of the gradient where the data has the wrong dtype: it may follow the data."""
    if getattr(t.data, "dtype", None) != np.float64:
        return {"data": t.data}
    return {"data": t.data, "has a grad": t.grad is not None, "grad": t.grad}


@suite.scenario("Tensor.__init__", says=_FRESH)
def fresh(lib, x, *, dtype="float64"):
    t = lib.Tensor(x.astype(dtype))
    return _about_fresh(t)


@suite.scenario("Tensor.__init__", says=_FRESH)
def fresh_from_list(lib, x):
    t = lib.Tensor(x.astype(int).tolist())
    return _about_fresh(t)


@suite.scenario(
    "Tensor.__init__",
    says={
        "_prev": "`_prev` is the tuple of parents that was given as `_children`",
        "_prev of a leaf": "`_prev` of a leaf is the empty tuple",
        "_op": "`_op` is the text that was given",
        "_op of a leaf": "`_op` of a leaf is the empty text",
        "requires_grad": "`requires_grad` is kept as it was given, and False where it was not",
    },
    example="""
import numpy as np
from {module} import Tensor
a = Tensor(x)
b = Tensor(x, requires_grad=True)
out = Tensor(2. * x, _children=(a, b, a), _op="+")
a._prev, a._op, a.requires_grad, b.requires_grad
out._prev, out._op
""",
)
def keeps_what_was_given(lib, x):
    a, b = lib.Tensor(x), lib.Tensor(x, True)
    out = lib.Tensor(2.0 * x, _children=(a, b, a), _op="+")
    names = {id(a): "a", id(b): "b"}
    parents = [names.get(id(one), "another") for one in out._prev]
    parents = sorted(parents) if isinstance(out._prev, (set, frozenset)) else parents
    return {
        "_prev": f"{type(out._prev).__name__} of {', '.join(parents)}",
        "_prev of a leaf": f"{type(a._prev).__name__} of {len(a._prev)}",
        "_op": out._op,
        "_op of a leaf": a._op,
        "requires_grad": [bool(a.requires_grad), bool(b.requires_grad)],
    }


@suite.scenario(
    "Tensor.__init__",
    says={
        "callable": "`_backward` of a leaf is a function that takes nothing and does nothing",
        "grad": "`_backward` of a leaf does nothing",
        "grad of another": "each tensor has a `grad` of its own; these two share one array",
    },
    example="""
import numpy as np
from {module} import Tensor
a, b = Tensor(x), Tensor(x)
a._backward()
a.grad += 1.
a.grad, b.grad
""",
)
def leaf_does_nothing(lib, x):
    a, b = lib.Tensor(x), lib.Tensor(x)
    works = callable(a._backward)
    if works:
        a._backward()
    a.grad += 1.0
    return {"callable": works, "grad": a.grad.tolist(), "grad of another": b.grad.tolist()}


# ---------------------------------------------------------------- core: graphs made by hand


def _note(ran, out):
    """Note that the closure of `out` ran, and whether it was given a proper gradient."""
    is_array = isinstance(out.grad, (np.ndarray, np.generic))
    ran.append((id(out), is_array and out.grad.shape == out.data.shape))


def _weighted(lib, ran, *terms):
    """Make the node `w1 * t1 + w2 * t2 + …` by hand; its closure notes in `ran` that it ran."""
    data = np.zeros(())
    for weight, tensor in terms:
        data = data + weight * tensor.data
    parents = tuple(tensor for _, tensor in terms)
    out = lib.Tensor(data, requires_grad=True, _children=parents, _op="weighted")

    def _backward():
        _note(ran, out)
        for weight, tensor in terms:
            tensor.grad += weight * out.grad

    out._backward = _backward
    return out


def _total(lib, ran, tensor):
    """Make the sum of all entries by hand."""
    out = lib.Tensor(tensor.data.sum(), requires_grad=True, _children=(tensor,), _op="total")

    def _backward():
        _note(ran, out)
        tensor.grad += out.grad

    out._backward = _backward
    return out


def _leaf(lib, data):
    return lib.Tensor(data, requires_grad=True)


_ORDER_SAYS = {
    "all": "the order has to hold every tensor that the root was computed from, and the root",
    "once": "a tensor stands in the order more than once",
    "parents first": "a tensor stands in the order before one of its parents",
}


def _about_order(order, root):
    order = list(order)
    place = {id(node): i for i, node in enumerate(order)}
    return {
        "all": set(place) == {id(node) for node in _parents_first(root)},
        "once": len(place) == len(order),
        "parents first": all(
            place.get(id(parent), -1) < place[id(node)] for node in order for parent in node._prev
        ),
    }


_RUN_SAYS = {
    "once": "the closure of every node has to run, and run exactly once",
    "consumers first": "a closure ran before all consumers of its node had run: "
    "it passed on a gradient that was not whole yet",
    "arrays": "a closure has to find an array in the shape of its node's data as the gradient",
}


def _about_run(ran, root):
    place = {node: i for i, (node, _) in enumerate(ran)}
    nodes = [node for node in _parents_first(root) if node._prev]
    return {
        "once": len(ran) == len(place) and set(place) == {id(node) for node in nodes},
        "consumers first": all(
            place.get(id(node), -1) < place.get(id(parent), len(ran))
            for node in nodes
            for parent in node._prev
        ),
        "arrays": all(proper for _, proper in ran),
    }


def _diamond(lib, ran, x, children):
    """c needs a and b, and b needs a: a hasty visit fails for one order of c's parents."""
    x = _leaf(lib, x)
    a = _weighted(lib, ran, (2.0, x), (1.0, x))
    b = _weighted(lib, ran, (1.0, a), (3.0, x))
    terms = {"a": (5.0, a), "b": (1.0, b)}
    return x, a, b, _weighted(lib, ran, *(terms[name] for name in children.split(", ")))


def _any_graph(lib, ran, x, seed):
    """Make a graph of two leaves and nine nodes in which everything leads to the last."""
    rng = np.random.default_rng(seed)
    leaves = [_leaf(lib, x), _leaf(lib, x)]
    nodes = list(leaves)
    for _ in range(9):
        others = rng.integers(len(nodes), size=rng.integers(1, 3))
        picked = rng.permutation([len(nodes) - 1, *others])
        terms = [(float(rng.integers(1, 4)), nodes[i]) for i in picked]
        nodes.append(_weighted(lib, ran, *terms))
    return leaves, nodes[-1]


@suite.scenario(
    "_topological_order",
    says=_ORDER_SAYS,
    example="""
import numpy as np
from {module} import Tensor, _topological_order
t = Tensor(x)
a = Tensor(3. * t.data, _children=(t, t))
b = Tensor(a.data + 3. * t.data, _children=(a, t))
c = Tensor(5. * a.data + b.data, _children=({children}))
names = {id(t): "t", id(a): "a", id(b): "b", id(c): "c"}
[names[id(node)] for node in _topological_order(c)]
""",
)
def order_of_diamond(lib, x, *, children):
    *_, root = _diamond(lib, [], x, children)
    return _about_order(lib._topological_order(root), root)


_ANY_GRAPH_EXAMPLE = """
def make(seed):
    rng, nodes = np.random.default_rng(seed), [Tensor(x), Tensor(x)]
    for _ in range(9):
        others = rng.integers(len(nodes), size=rng.integers(1, 3))
        picked = rng.permutation([len(nodes) - 1, *others])
        rng.integers(1, 4, size=len(picked))
        nodes.append(Tensor(x, _children=tuple(nodes[i] for i in picked)))
    return nodes

"""


@suite.scenario(
    "_topological_order",
    says=_ORDER_SAYS,
    example="import numpy as np\nfrom {module} import Tensor, _topological_order"
    + _ANY_GRAPH_EXAMPLE
    + """
def order(nodes):
    number = {id(node): i for i, node in enumerate(nodes)}
    return [number[id(node)] for node in _topological_order(nodes[-1])]

[order(make(seed)) for seed in range({graphs})]
""",
)
def order_of_any_graph(lib, x, *, graphs):
    found = []
    for seed in range(graphs):
        _, root = _any_graph(lib, [], x, seed)
        found.append(_about_order(lib._topological_order(root), root))
    return {name: all(one[name] for one in found) for name in _ORDER_SAYS}


_APART = "tensors are told apart by identity: two with equal values are still two"


@suite.scenario(
    "_topological_order",
    says={"length": _APART} | _ORDER_SAYS,
    example="""
import numpy as np
from {module} import Tensor, _topological_order
a, b = Tensor(x), Tensor(x)
u, v = Tensor(x, _children=(a,)), Tensor(x, _children=(b,))
root = Tensor(2. * x, _children=(u, v))
len(_topological_order(root))
""",
)
def order_of_equal_tensors(lib, x):
    a, b = _leaf(lib, x), _leaf(lib, x)
    u, v = _weighted(lib, [], (1.0, a)), _weighted(lib, [], (1.0, b))
    root = _weighted(lib, [], (1.0, u), (1.0, v))
    order = list(lib._topological_order(root))
    return {"length": len(order)} | _about_order(order, root)


def _chain(lib, ran, length):
    """Make a long chain by hand: each link hands its gradient on to the one before."""

    def link(parent):
        out = lib.Tensor(0.0, requires_grad=True, _children=(parent,), _op="link")

        def _backward():
            _note(ran, out)
            parent.grad += out.grad

        out._backward = _backward
        return out

    x = node = _leaf(lib, 0.0)
    for _ in range(length):
        node = link(node)
    return x, node


_CHAIN_EXAMPLE = """
y = Tensor(0.)
for _ in range({length}):
    y = Tensor(0., _children=(y,))

"""


@suite.scenario(
    "_topological_order",
    says={"all": "the order of a long chain has to hold every tensor of it once"},
    example="from {module} import Tensor, _topological_order"
    + _CHAIN_EXAMPLE
    + "len(_topological_order(y))",
)
def order_of_long_chain(lib, *, length):
    node = _leaf(lib, 0.0)
    for _ in range(length):
        node = lib.Tensor(0.0, requires_grad=True, _children=(node,), _op="link")
    return {"all": len(list(lib._topological_order(node))) == length + 1}


@suite.scenario(
    "Tensor.backward",
    what="gradient",
    says={
        "y.grad": "backward starts from a gradient of 1 at the root",
        "x.grad": "what two uses of x add to its gradient has to be there: 2 and 3",
    }
    | _RUN_SAYS,
    example="""
import numpy as np
from {module} import Tensor
a = Tensor(x)
y = Tensor(5. * a.data, _children=(a, a))
def adds_twice():
    a.grad += 2. * y.grad
    a.grad += 3. * y.grad

y._backward = adds_twice
y.backward()
y.grad
a.grad
""",
)
def used_twice(lib, x):
    ran = []
    a = _leaf(lib, x)
    y = _weighted(lib, ran, (2.0, a), (3.0, a))
    y.backward()
    return _about_run(ran, y) | {"y.grad": y.grad, "x.grad": a.grad}


@suite.scenario(
    "Tensor.backward",
    what="gradient",
    says={"x.grad": "two losses over one leaf: the second backward adds to what the first left"},
    example="""
import numpy as np
from {module} import Tensor
a = Tensor(x)
first, second = Tensor(2. * a.data, _children=(a,)), Tensor(3. * a.data, _children=(a,))
def adds_two():
    a.grad += 2. * first.grad

def adds_three():
    a.grad += 3. * second.grad

first._backward, second._backward = adds_two, adds_three
first.backward()
second.backward()
a.grad
""",
)
def two_losses(lib, x):
    a = _leaf(lib, x)
    _weighted(lib, [], (2.0, a)).backward()
    _weighted(lib, [], (3.0, a)).backward()
    return {"x.grad": a.grad}


@suite.scenario(
    "Tensor.backward",
    raises="AssertionError",
    says={"raises": "backward() of anything but one element must raise AssertionError"},
)
def refused_root(lib, x):
    lib.Tensor(x, requires_grad=True).backward()
    return {}


_GRADIENT = "the gradient that arrives here is wrong"
_GRADIENTS = dict.fromkeys(("x.grad", "a.grad", "b.grad", "c.grad"), _GRADIENT)


@suite.scenario(
    "Tensor.backward",
    "_topological_order",
    says=_RUN_SAYS | _GRADIENTS,
    example="""
import numpy as np
from {module} import Tensor
t = Tensor(x)
a = Tensor(3. * t.data, _children=(t, t))
b = Tensor(a.data + 3. * t.data, _children=(a, t))
c = Tensor(5. * a.data + b.data, _children=({children}))
ran = []
a._backward = lambda: ran.append("a")
b._backward = lambda: ran.append("b")
c._backward = lambda: ran.append("c")
c.backward()
ran
""",
)
def diamond(lib, x, *, children):
    ran = []
    t, a, b, c = _diamond(lib, ran, x, children)
    c.backward()
    grads = {"c.grad": c.grad, "b.grad": b.grad, "a.grad": a.grad, "x.grad": t.grad}
    return _about_run(ran, c) | grads


@suite.scenario(
    "Tensor.backward",
    "_topological_order",
    says=_RUN_SAYS | {"grads": "the gradients that arrive at the leaves of a graph are wrong"},
    example="import numpy as np\nfrom {module} import Tensor"
    + _ANY_GRAPH_EXAMPLE
    + """
def run(nodes):
    ran = []
    for i, node in enumerate(nodes):
        node._backward = lambda i=i: ran.append(i)
    nodes[-1].backward()
    return ran

[run(make(seed)) for seed in range({graphs})]
""",
)
def backward_through_any_graph(lib, x, *, graphs):
    found, grads = [], []
    for seed in range(graphs):
        ran = []
        leaves, root = _any_graph(lib, ran, x, seed)
        root.backward()
        found.append(_about_run(ran, root))
        grads.append([leaf.grad for leaf in leaves])
    run = {name: all(one[name] for one in found) for name in _RUN_SAYS}
    return run | {"grads": np.array(grads)}


@suite.scenario(
    "Tensor.backward",
    "_topological_order",
    says=_RUN_SAYS | {"a.grad": _GRADIENT, "x.grad": _GRADIENT},
    example="""
import numpy as np
from {module} import Tensor
t = Tensor(x)
a = Tensor(2. * t.data, _children=(t,))
out = Tensor(a.data.sum(), _children=(a,))
def doubles():
    t.grad += 2. * a.grad

def spreads():
    a.grad += out.grad

a._backward, out._backward = doubles, spreads
out.backward()
a.grad
t.grad
""",
)
def backward_through_arrays(lib, x):
    ran = []
    t = _leaf(lib, x)
    a = _weighted(lib, ran, (2.0, t))
    b = _weighted(lib, ran, (1.0, a), (3.0, t), (1.0, a))
    out = _total(lib, ran, b)
    out.backward()
    return _about_run(ran, out) | {"a.grad": a.grad, "x.grad": t.grad}


@suite.scenario(
    "Tensor.backward",
    "_topological_order",
    says={"a.grad": _APART, "b.grad": _APART},
    example="""
import numpy as np
from {module} import Tensor
a, b = Tensor(x), Tensor(x)
u, v = Tensor(x, _children=(a,)), Tensor(x, _children=(b,))
root = Tensor(5. * x, _children=(u, v))
ran = []
u._backward = lambda: ran.append("u")
v._backward = lambda: ran.append("v")
root.backward()
ran
""",
)
def backward_through_equal_tensors(lib, x):
    a, b = _leaf(lib, x), _leaf(lib, x)
    u, v = _weighted(lib, [], (1.0, a)), _weighted(lib, [], (1.0, b))
    _weighted(lib, [], (2.0, u), (3.0, v)).backward()
    return {"a.grad": a.grad, "b.grad": b.grad}


@suite.scenario(
    "Tensor.backward",
    "_topological_order",
    says=_RUN_SAYS | {"x.grad": "the gradient that comes out of a long chain is 1"},
    example="from {module} import Tensor" + _CHAIN_EXAMPLE + "y.backward()",
)
def backward_through_long_chain(lib, *, length):
    ran = []
    x, root = _chain(lib, ran, length)
    root.backward()
    return _about_run(ran, root) | {"x.grad": x.grad}


@suite.scenario(
    "Tensor.backward",
    "_topological_order",
    says=_RUN_SAYS | {"x.grad": "x is doubled again and again: its gradient is a power of two"},
    example="""
import numpy as np
from {module} import Tensor
y, ran = Tensor(x), []
for i in range({times}):
    y = Tensor(2. * y.data, _children=(y, y))
    y._backward = lambda i=i: ran.append(i)

y.backward()
len(ran)
""",
    limit_s=3.0,
)
def doubled_many_times(lib, x, *, times):
    """There are 2**times paths and only `times` nodes: a visit per path takes for ever."""
    ran = []
    t = node = _leaf(lib, x)
    for _ in range(times):
        node = _weighted(lib, ran, (1.0, node), (1.0, node))
    node.backward()
    return _about_run(ran, node) | {"x.grad": t.grad}


# ---------------------------------------------------------------- arithmetic


@suite.case("Tensor.__add__")
def add(lib, a, b):
    return a + b


@suite.case("Tensor.__mul__")
def mul(lib, a, b):
    return a * b


@suite.case("Tensor.__add__")
def doubled(lib, x):
    return x + x


@suite.case("Tensor.__mul__")
def squared(lib, x):
    return x * x


@suite.case("Tensor.__add__")
def sum_and_again(lib, a, b):
    """Both sums hand one array to two tensors: where it is kept, adding in place spoils b's."""
    return (a + b) + a


@suite.case("Tensor.__add__")
def add_constant(lib, x):
    return x + 2.0


@suite.case("Tensor.__mul__")
def mul_constant(lib, x):
    return x * 2.0


@suite.case("Tensor.__add__")
def add_array(lib, x):
    return x + np.array([[1.0], [2.0]])


@suite.case("Tensor.__mul__")
def mul_array(lib, x):
    return x * np.array([[1.0], [2.0]])


@suite.case("Tensor.__sub__")
def sub(lib, a, b):
    return a - b


@suite.case("Tensor.__neg__")
def neg(lib, x):
    return -x


@suite.case("Tensor.__pow__", x="nonzero")
def pow(lib, x, *, exponent):
    return x**exponent


@suite.case("Tensor.__pow__", x="positive")
def pow_positive(lib, x, *, exponent):
    return x**exponent


@suite.case("Tensor.__truediv__", b="nonzero")
def div(lib, a, b):
    return a / b


@suite.case("Tensor.__matmul__")
def matmul(lib, A, B):
    return A @ B


@suite.case("Tensor.__matmul__")
def matmul_array(lib, A):
    return A @ np.array([[1.0, 2.0, 3.0, 4.0], [3.0, 1.0, 4.0, 2.0], [2.0, 4.0, 1.0, 3.0]])


@suite.case("Tensor.__matmul__")
def matmul_by_itself(lib, A):
    return A @ A


# ---------------------------------------------------------------- elementwise


@suite.case("Tensor.sum")
def sum(lib, x, *, axis=None, keepdims=False):
    return x.sum(axis=axis, keepdims=keepdims)


@suite.case("Tensor.sum")
def sum_default(lib, x):
    return x.sum()


@suite.scenario(
    "Tensor.sum",
    what="gradient",
    says={
        "columns": "the sum over axis 0 is wrong",
        "rows": "the sum over axis 1 is wrong",
        "x.grad": "both sums have to add to the gradient of the tensor that they are of",
    },
    example="""
import numpy as np
from {module} import Tensor
t = Tensor(x)
columns, rows = t.sum(axis=0), t.sum(axis=1)
columns.grad = np.array(g)
rows.grad = np.array(h)
columns._backward()
rows._backward()
t.grad
""",
)
def sum_twice(lib, x, g, h):
    t = _leaf(lib, x)
    columns, rows = t.sum(axis=0), t.sum(axis=1)
    if columns.shape != g.shape or rows.shape != h.shape:
        return {"columns": columns.data, "rows": rows.data}
    _run_closures(lib, columns, g)
    _run_closures(lib, rows, h)
    return {"columns": columns.data, "rows": rows.data, "x.grad": t.grad}


@suite.case("Tensor.mean")
def mean(lib, x, *, axis=None, keepdims=False):
    return x.mean(axis=axis, keepdims=keepdims)


@suite.case("Tensor.mean")
def mean_default(lib, x):
    return x.mean()


@suite.case("Tensor.exp")
def exp(lib, x):
    return x.exp()


@suite.case("Tensor.log", x="positive")
def log(lib, x):
    return x.log()


@suite.case("Tensor.relu", x="nonzero")
def relu(lib, x):
    return x.relu()


@suite.case("Tensor.relu", x="signs")
def relu_at_zero(lib, x):
    return x.relu()


@suite.case("Tensor.sigmoid")
def sigmoid(lib, x):
    return x.sigmoid()


@suite.case("Tensor.tanh")
def tanh(lib, x):
    return x.tanh()


# ---------------------------------------------------------------- softmax and shapes


@suite.case("Tensor.softmax")
def softmax(lib, x, *, axis=-1):
    return x.softmax(axis=axis)


@suite.case("Tensor.softmax")
def softmax_default(lib, x):
    return x.softmax()


@suite.case("Tensor.log_softmax")
def log_softmax(lib, x, *, axis=-1):
    return x.log_softmax(axis=axis)


@suite.case("Tensor.log_softmax")
def log_softmax_default(lib, x):
    return x.log_softmax()


_STABLE = {
    "out": "the forward is wrong on large entries: subtract the maximum along the axis first",
    "x.grad": "the gradient is wrong on large entries",
}

_STABLE_EXAMPLE = """
import numpy as np
from {module} import Tensor
t = Tensor(x + np.array({offset}))
out = t.FUNCTION()
out.grad = np.array(upstream)
out._backward()
out.data
t.grad
"""


@suite.scenario(
    "Tensor.softmax",
    what="forward",
    says=_STABLE,
    example=_STABLE_EXAMPLE.replace("FUNCTION", "softmax"),
)
def softmax_of_large(lib, x, upstream, *, offset):
    t = _leaf(lib, x + np.array(offset))
    out = t.softmax()
    _run_closures(lib, out, upstream)
    return {"out": out.data, "x.grad": t.grad}


@suite.scenario(
    "Tensor.log_softmax",
    what="forward",
    says=_STABLE,
    example=_STABLE_EXAMPLE.replace("FUNCTION", "log_softmax"),
)
def log_softmax_of_large(lib, x, upstream, *, offset):
    t = _leaf(lib, x + np.array(offset))
    out = t.log_softmax()
    _run_closures(lib, out, upstream)
    return {"out": out.data, "x.grad": t.grad}


@suite.case("Tensor.reshape")
def reshape(lib, x, *, shape):
    return x.reshape(*shape)


@suite.case("Tensor.transpose")
def transpose(lib, x, *, axes):
    return x.transpose(*axes)


@suite.case("Tensor.transpose")
def transpose_all(lib, x):
    return x.transpose()


@suite.case("Tensor.T", "Tensor.transpose")
def transposed(lib, x):
    return x.T


# ---------------------------------------------------------------- what every closure owes


def _owed(case, params):
    """Run the closure of one operation onto gradients that already hold ones."""

    def build(lib, *arrays):
        operands = [_leaf(lib, array) for array in arrays]
        for operand in operands:
            operand.grad += 1.0
        out = case.build(lib, *operands, **params)
        _run_closures(lib, out, np.ones(out.shape))
        behind = {id(node) for node in _parents_first(out)}
        values = {f"{name}.grad": t.grad for name, t in zip(case.inputs, operands, strict=True)}
        values["_prev"] = [id(operand) in behind for operand in operands]
        values["out.grad"] = out.grad
        return values | {name: t.data for name, t in zip(case.inputs, operands, strict=True)}

    return build


def _owed_example(case, operation):
    names = ", ".join(case.inputs)
    tensors = ", ".join(f"Tensor({name})" for name in case.inputs)
    grads = [f"{name}.grad += 1." for name in case.inputs]
    shown = [f"{name}.grad" for name in case.inputs]
    run = [f"out = {operation}", "out.grad = np.ones(out.shape)", "out._backward()", "out._prev"]
    heads = ["import numpy as np", "from {module} import Tensor", f"{names} = {tensors}"]
    return "\n".join([*heads, *grads, *run, *shown])


_ONTO = "its closure has to add to the gradient that is there (ones, here), not replace it"

for _id, _operation, _params in (
    ("add", "a + b", {}),
    ("mul", "a * b", {}),
    ("pow", "x ** 3", {"exponent": 3}),
    ("matmul", "A @ B", {}),
    ("sum", "x.sum()", {}),
    ("mean", "x.mean()", {}),
    ("exp", "x.exp()", {}),
    ("log", "x.log()", {}),
    ("relu", "x.relu()", {}),
    ("sigmoid", "x.sigmoid()", {}),
    ("tanh", "x.tanh()", {}),
    ("softmax", "x.softmax()", {}),
    ("log_softmax", "x.log_softmax()", {}),
    ("reshape", "x.reshape(-1)", {"shape": (-1,)}),
    ("transpose_all", "x.transpose()", {}),
):
    _case = suite[_id]
    suite.scenarios[f"{_id}_adds"] = Scenario(
        id=f"{_id}_adds",
        build=_owed(_case, _params),
        symbols=_case.symbols,
        inputs=_case.inputs,
        domains=_case.domains,
        what="gradient",
        says=dict.fromkeys((f"{name}.grad" for name in _case.inputs), _ONTO)
        | dict.fromkeys(_case.inputs, "the operation has to leave the data of its operands alone")
        | {
            "_prev": "its result has to keep the operands in `_prev`, or backward stops there",
            "out.grad": "its closure has to leave the gradient of the result as it was",
        },
        example=_owed_example(_case, _operation),
    )


# ---------------------------------------------------------------- the loss, and the whole


@suite.case("cross_entropy")
def cross_entropy(lib, logits, *, targets):
    return lib.cross_entropy(logits, np.array(targets))


@suite.case("cross_entropy")
def cross_entropy_of_large(lib, logits, *, targets, by):
    return lib.cross_entropy(logits * by, np.array(targets))


@suite.case()
def shapes_and_softmax(lib, x):
    return x.transpose(2, 0, 1).reshape(x.shape[2], -1).softmax(axis=0).mean(axis=1)


@suite.case()
def shapes_and_log_softmax(lib, x):
    return x.reshape(x.shape[0], -1).log_softmax().T.softmax(axis=-1).mean(axis=0, keepdims=True)


@suite.scenario(what="gradient", says={"x.grad": "the gradient through all of these is wrong"})
def shapes_and_softmax_backward(lib):
    x = _leaf(lib, np.random.default_rng(0).standard_normal((2, 3, 4)))
    weights = np.arange(24.0).reshape(4, 6)
    flat = x.transpose(2, 0, 1).reshape(4, 6).softmax(axis=0) * weights
    (flat.log_softmax(axis=1) * weights).mean().backward()
    return {"x.grad": x.grad}


@suite.case("Tensor.__rsub__")
def number_minus(lib, x):
    return 1.0 - x


@suite.case("Tensor.__rtruediv__", x="nonzero")
def number_over(lib, x):
    return 2.0 / x


@suite.case("Tensor.__radd__")
def number_plus(lib, x):
    return 1.0 + x


@suite.case("Tensor.__rmul__")
def number_times(lib, x):
    return 2.0 * x


@suite.case()
def random_graph(lib, a, b, *, seed):
    rng = np.random.default_rng(seed)
    nodes = [a, b, a + b]
    for _ in range(8):
        u, v = nodes[-1], nodes[rng.integers(len(nodes) - 1)]
        choices = [u + v, v - u, u.tanh() * v, v / (u * u + 1.0), (u * u + 1.0).log(), u.relu() + v]
        choices += [u.tanh().exp(), u.sigmoid() * v, u.tanh() ** 3, 2.0 - u, -u * u.sigmoid()]
        nodes.append(choices[rng.integers(len(choices))])
    return nodes[-1]


@suite.scenario(
    what="gradient",
    says={
        "loss": "the forward of a random graph is wrong",
        "a.grad": "the gradient through a random graph is wrong",
        "b.grad": "the gradient through a random graph is wrong",
    },
)
def random_graph_backward(lib, *, seed):
    """The same graph, from a sum back through the learner's own backward."""
    rng = np.random.default_rng(seed)
    a, b = _leaf(lib, rng.standard_normal((2, 3))), _leaf(lib, rng.standard_normal(3))
    loss = random_graph(lib, a, b, seed=seed).sum()
    loss.backward()
    return {"loss": loss.data, "a.grad": a.grad, "b.grad": b.grad}


@suite.case()
def two_layer_mlp(lib, x, w1, b1, w2, b2, *, targets):
    return lib.cross_entropy((x @ w1 + b1).relu() @ w2 + b2, np.array(targets))


_PARAMETERS = ("w1", "b1", "w2", "b2")


@suite.scenario(
    what="training",
    says={
        "losses": "the loss of the network is wrong, or goes wrong from step to step",
        "zeroed": "zero_grad() has to leave zeros in the shape of the data",
    }
    | dict.fromkeys(_PARAMETERS, "four training steps do not give the reference's parameters"),
)
def mlp_training(lib):
    """Train for four steps with the learner's backward and zero_grad, from given weights."""
    rng = np.random.default_rng(0)
    x, targets = rng.standard_normal((6, 2)), np.array([0, 2, 1, 2, 0, 0])
    shapes = ((2, 5), (5,), (5, 3), (3,))
    parameters = [_leaf(lib, rng.standard_normal(shape)) for shape in shapes]
    losses = []
    for _ in range(4):
        for one in parameters:
            one.zero_grad()
        loss = two_layer_mlp(lib, lib.Tensor(x), *parameters, targets=targets)
        loss.backward()
        losses.append(loss.data)
        for one in parameters:
            one.data = one.data - 0.5 * one.grad
    parameters[0].zero_grad()
    trained = {name: one.data for name, one in zip(_PARAMETERS, parameters, strict=True)}
    return {"losses": np.array(losses), "zeroed": parameters[0].grad} | trained


# ---------------------------------------------------------------- strict


@suite.case("Tensor.__radd__", "Tensor.__add__")
def array_plus(lib, x):
    return np.array([[1.0], [2.0]]) + x


@suite.case("Tensor.__rsub__")
def array_minus(lib, x):
    return np.array([[1.0], [2.0]]) - x


@suite.case("Tensor.__rmul__", "Tensor.__mul__")
def array_times(lib, x):
    return np.array([[1.0], [2.0]]) * x


@suite.case("Tensor.__rtruediv__", x="nonzero")
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


_NOTHING = dict.fromkeys(("y", "x.grad"), "an empty tuple of axes reduces nothing")

_NOTHING_EXAMPLE = """
import numpy as np
from {module} import Tensor
t = Tensor(x)
y = t.FUNCTION(axis=())
y.grad = np.array(upstream)
y._backward()
y.data
t.grad
"""


@suite.scenario(
    "Tensor.sum",
    what="forward",
    says=_NOTHING,
    example=_NOTHING_EXAMPLE.replace("FUNCTION", "sum"),
)
def sum_over_nothing(lib, x, upstream):
    """Not a case: torch takes an empty tuple for all axes."""
    t = _leaf(lib, x)
    y = t.sum(axis=())
    _run_closures(lib, y, upstream)
    return {"y": y.data, "x.grad": t.grad}


@suite.scenario(
    "Tensor.mean",
    what="forward",
    says=_NOTHING,
    example=_NOTHING_EXAMPLE.replace("FUNCTION", "mean"),
)
def mean_over_nothing(lib, x, upstream):
    t = _leaf(lib, x)
    y = t.mean(axis=())
    _run_closures(lib, y, upstream)
    return {"y": y.data, "x.grad": t.grad}


@suite.case("cross_entropy")
def cross_entropy_of_list(lib, logits, *, targets):
    return lib.cross_entropy(logits, targets)


_DOUBLE = "whatever dtype comes in, data and gradients are float64"


@suite.scenario("Tensor.__mul__", says=dict.fromkeys(("data", "y", "x.grad"), _DOUBLE))
def data_of_another_dtype(lib, x, *, dtype):
    t = lib.Tensor(x.astype(dtype), requires_grad=True)
    y = t * t
    y.grad = np.ones(x.shape)
    y._backward()
    return {"data": t.data, "y": y.data, "x.grad": t.grad}


@suite.scenario("Tensor.__pow__", says={"y": _DOUBLE, "x.grad": _DOUBLE})
def power_of_integers(lib):
    """NumPy refuses integers to negative integer powers; float64 data has no such trouble."""
    t = _leaf(lib, [1, 2, 4])
    y = t**-1
    _run_closures(lib, y, np.array([1.0, 2.0, 3.0]))
    return {"y": y.data, "x.grad": t.grad}


_TWICE = "a second backward on the same graph adds the same gradients once more, no more, no less"


@suite.scenario(
    "Tensor.backward",
    says=dict.fromkeys(("x.grad", "a.grad", "b.grad", "c.grad"), _TWICE),
)
def same_graph_twice(lib):
    x, a, b, c = _diamond(lib, [], 3.0, "a, b")
    c.backward()
    c.backward()
    return {"x.grad": x.grad, "a.grad": a.grad, "b.grad": b.grad, "c.grad": c.grad}


@suite.scenario("Tensor.backward", says={"x.grad": _TWICE, "a.grad": _TWICE})
def two_losses_over_one_node(lib):
    x = _leaf(lib, 3.0)
    a = _weighted(lib, [], (2.0, x), (1.0, x))
    _weighted(lib, [], (5.0, a), (1.0, x)).backward()
    _weighted(lib, [], (7.0, a)).backward()
    return {"x.grad": x.grad, "a.grad": a.grad}


_UNUSED = "what does not lead to the root takes no part"


@suite.scenario(
    "Tensor.backward",
    "_topological_order",
    says=_RUN_SAYS | {"x.grad": _UNUSED, "unused.grad": _UNUSED},
)
def unused_branch(lib):
    ran = []
    x = _leaf(lib, 3.0)
    a = _weighted(lib, ran, (2.0, x))
    unused = _weighted(lib, ran, (3.0, a), (1.0, x))
    root = _weighted(lib, ran, (5.0, a))
    root.backward()
    return _about_run(ran, root) | {"x.grad": x.grad, "unused.grad": unused.grad}


@suite.scenario("Tensor.backward", says={"x.grad": "backward() of a leaf leaves a gradient of 1"})
def leaf_as_root(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    t.backward()
    return {"x.grad": t.grad}


@suite.case()
def constant_used_twice(lib, x):
    constant = lib.Tensor([[1.0], [2.0]])
    return x * constant + constant * constant + constant


_FUSED = "this is one operation with one closure: the only parent of its result is its operand"


@suite.scenario("Tensor.softmax", says={"fused": _FUSED})
def softmax_is_one_operation(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    return {"fused": [id(one) for one in t.softmax()._prev] == [id(t)]}


@suite.scenario("Tensor.log_softmax", says={"fused": _FUSED})
def log_softmax_is_one_operation(lib, x):
    t = lib.Tensor(x, requires_grad=True)
    return {"fused": [id(one) for one in t.log_softmax()._prev] == [id(t)]}
