"""The five levels, and how a graph of a level is drawn from a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from autodrill.trace.graph import Array, Graph, Node, Op, Solved, forward, solve

Shape = tuple[int, ...]

_LARGEST = 60
"""No value and no gradient is larger: it is the rules that are practised, not arithmetic."""
_DRAWS = 12
"""So often are other numbers tried on one graph before it is drawn anew."""
_NAMES: dict[Op, str] = {"add": "s", "mul": "m", "matmul": "p", "relu": "r", "sum": "t"}
_CLASSICS_EVERY = 4


@dataclass(frozen=True)
class Level:
    """What the graphs of a level are like.

    `shapes` are of the leaves; `plans` the operations, in any order, before a last sum to one
    number; `needs` may ask for a leaf that is used twice, and for one that is broadcast.
    """

    number: int
    says: str
    minutes: float
    shapes: tuple[tuple[Shape, ...], ...]
    plans: tuple[tuple[Op, ...], ...]
    needs: frozenset[str] = frozenset()
    leaves: tuple[str, ...] = ("a", "b", "c")

    @property
    def id(self) -> str:
        """Return the name under which its attempts are kept."""
        return f"level_{self.number}"


LEVELS = (
    Level(
        1,
        "sums and products of single numbers",
        2,
        (((), ()), ((), (), ())),
        (("add", "mul"), ("mul", "mul"), ("add", "add", "mul"), ("add", "mul", "mul")),
    ),
    Level(
        2,
        "a leaf that is used twice",
        3,
        (((), ()), ((2,), (2,)), ((2,), (2,), (2,)), ((2, 2), (2, 2))),
        (("add", "mul"), ("mul", "mul"), ("add", "add", "mul"), ("add", "mul", "mul")),
        frozenset({"twice"}),
    ),
    Level(
        3,
        "relu, and a leaf that is broadcast",
        5,
        (((2, 2), (2,)), ((2,), ()), ((2, 2), (2,), ()), ((2, 2), (2, 1))),
        (
            ("add", "relu"),
            ("mul", "relu"),
            ("add", "mul", "relu"),
            ("add", "add", "relu"),
            ("mul", "relu", "sum"),
        ),
        frozenset({"broadcast"}),
    ),
    Level(
        4,
        "a layer: a matrix product, a bias, relu",
        6,
        (((2, 2), (2, 2), (2,)), ((2, 2), (2, 1), (2, 1)), ((1, 2), (2, 2), (2,))),
        (("matmul", "add", "relu"), ("matmul", "mul", "relu")),
        leaves=("X", "W", "b"),
    ),
    Level(
        5,
        "all of it in one graph",
        10,
        (((2, 2), (2, 2), (2,)), ((2, 2), (2, 1), (2,)), ((2, 2), (1, 2), (2, 1))),
        (
            ("matmul", "add", "relu", "mul"),
            ("matmul", "add", "relu", "mul", "add"),
            ("matmul", "add", "relu", "mul", "mul"),
            ("matmul", "add", "relu", "mul", "sum"),
        ),
        frozenset({"twice", "broadcast"}),
    ),
)
_CLASSICS: Mapping[int, tuple[tuple[Node, ...], tuple[Shape, ...]]] = {
    2: (
        (
            Node("a", "leaf"),
            Node("b", "leaf"),
            Node("m", "mul", ("a", "b")),
            Node("s", "add", ("m", "a")),
            Node("L", "sum", ("s",)),
        ),
        ((2,), (2,)),
    ),
    4: (
        (
            Node("X", "leaf"),
            Node("W", "leaf"),
            Node("b", "leaf"),
            Node("p", "matmul", ("X", "W")),
            Node("s", "add", ("p", "b")),
            Node("r", "relu", ("s",)),
            Node("L", "sum", ("r",)),
        ),
        ((2, 2), (2, 2), (2,)),
    ),
}
"""L = sum(a * b + a), and L = sum(relu(X W + b))."""


def level_of(number: int) -> Level:
    """Return a level by its number, 1 to 5."""
    return LEVELS[number - 1]


def draw(level: Level, seed: int) -> Solved:
    """Draw the graph of a level that belongs to a seed: the same one everywhere."""
    rng = random.Random(f"trace {level.number} {seed}")  # noqa: S311  # an exercise, no secret
    is_classic = level.number in _CLASSICS and rng.randrange(_CLASSICS_EVERY) == 0
    while True:
        nodes, shapes = _CLASSICS[level.number] if is_classic else _grown(level, rng)
        for _ in range(_DRAWS if nodes else 0):
            graph = Graph(nodes, _leaves(nodes, shapes, rng))
            if _is_telling(graph) and _is_easy(solved := solve(graph)):
                return solved


def listing(graph: Graph, seed: int) -> tuple[Node, ...]:
    """Put the computed nodes in an order that gives no topological order away."""
    ops = list(graph.ops)
    random.Random(seed).shuffle(ops)  # noqa: S311  # as above
    if len(ops) > 1 and ops.index(graph.loss) == len(ops) - 1:
        ops.insert(0, ops.pop())
    return tuple(ops)


def _grown(level: Level, rng: random.Random) -> tuple[tuple[Node, ...], tuple[Shape, ...]]:
    """Add operations at random; no nodes where not everything flows into one number."""
    leaf_shapes = rng.choice(level.shapes)
    plan = list(rng.choice(level.plans))
    rng.shuffle(plan)
    nodes = [Node(name, "leaf") for name in level.leaves[: len(leaf_shapes)]]
    shapes = {node.name: shape for node, shape in zip(nodes, leaf_shapes, strict=True)}
    unused = set(shapes)
    while plan or shapes[nodes[-1].name]:
        op = plan.pop() if plan else "sum"
        choices = list(_choices(op, nodes, shapes))
        if not choices:
            return (), ()
        weights = [6 ** len(unused & set(node.parents)) for node, _ in choices]
        chosen, shape = rng.choices(choices, weights)[0]
        node = Node(f"{len(nodes)}", chosen.op, chosen.parents)
        nodes.append(node)
        shapes[node.name] = shape
        unused = (unused - set(node.parents)) | {node.name}
    is_whole = len(unused) == 1 and level.needs <= _has(nodes, shapes)
    return (_named(nodes), leaf_shapes) if is_whole else ((), ())


def _choices(
    op: Op, nodes: Sequence[Node], shapes: Mapping[str, Shape]
) -> Iterator[tuple[Node, Shape]]:
    """Yield every way to add an operation."""
    if op == "sum":
        for one in nodes:
            if shapes[one.name]:
                yield Node("", op, (one.name,)), ()
    elif op == "relu":
        for one in nodes:
            yield Node("", op, (one.name,)), shapes[one.name]
    else:
        for one, other in product(nodes, nodes):
            result = _together(op, shapes[one.name], shapes[other.name])
            if result is not None and (one is not other or op == "mul"):
                yield Node("", op, (one.name, other.name)), result


def _together(op: Op, one: Shape, other: Shape) -> Shape | None:
    """Return the shape of a result, None where the operands do not fit."""
    if op == "matmul":
        fits = len(one) == len(other) == 2 and one[1] == other[0]
        return (one[0], other[1]) if fits else None
    if len(one) < len(other):
        return _together(op, other, one)
    stretched = (1,) * (len(one) - len(other)) + other
    pairs = list(zip(one, stretched, strict=True))
    return tuple(map(max, pairs)) if all(m == n or 1 in (m, n) for m, n in pairs) else None


def _has(nodes: Sequence[Node], shapes: Mapping[str, Shape]) -> set[str]:
    """Say whether a leaf is used twice, and whether one is broadcast."""
    leaves = {one.name for one in nodes if one.op == "leaf"}
    uses = [name for node in nodes for name in node.parents]
    found = {"twice"} if any(uses.count(leaf) > 1 for leaf in leaves) else set()
    for node in nodes:
        if node.op in ("add", "mul") and any(
            shapes[name] != shapes[node.name] for name in leaves & set(node.parents)
        ):
            found.add("broadcast")
    return found


def _named(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Name nodes after their operations, numbered where there are several, the last L."""
    letters = [_NAMES[one.op] for one in nodes[:-1] if one.op != "leaf"]
    names: dict[str, str] = {}
    for one in nodes[:-1]:
        if one.op == "leaf":
            names[one.name] = one.name
            continue
        letter = _NAMES[one.op]
        number = sum(name.startswith(letter) for name in names.values()) + 1
        names[one.name] = f"{letter}{number}" if letters.count(letter) > 1 else letter
    names[nodes[-1].name] = "L"
    return tuple(
        Node(names[one.name], one.op, tuple(names[name] for name in one.parents)) for one in nodes
    )


def _leaves(
    nodes: tuple[Node, ...], shapes: tuple[Shape, ...], rng: random.Random
) -> dict[str, Array]:
    digits = (-3, -2, -1, 1, 2, 3, 4)
    leaves = [one.name for one in nodes if one.op == "leaf"]
    return {
        name: np.array([rng.choice(digits) for _ in range(int(np.prod(shape)))], float).reshape(
            shape
        )
        for name, shape in zip(leaves, shapes, strict=True)
    }


def _is_telling(graph: Graph) -> bool:
    """Tell whether each relu lets some entries through and, of several, stops some; none is 0."""
    values = dict(graph.leaves)
    for node in graph.ops:
        inputs = [values[name] for name in node.parents]
        if node.op == "relu":
            x = inputs[0]
            stops = x.size == 1 or bool((x < 0).any())
            if not (stops and (x > 0).any() and (x != 0).all()):
                return False
        values[node.name] = forward(node, inputs)
    return True


def _is_easy(solved: Solved) -> bool:
    """Tell whether all numbers are small, and no leaf's gradient is nothing but zeros."""
    arrays = [*solved.values.values(), *solved.grads.values()]
    leaves = solved.graph.leaves
    return all(np.abs(one).max() <= _LARGEST for one in arrays) and all(
        solved.grads[name].any() for name in leaves
    )
