"""A small graph of whole numbers, and its values and gradients by a reference engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from autodrill.catalog import Track, load_track, track_ids
from autodrill.engines.reference import load_suite, reference_engine
from autodrill.errors import broken_track

Array = NDArray[Any]
Op = Literal["leaf", "add", "mul", "matmul", "relu", "sum"]

_NEEDED = frozenset(
    {"Tensor.__add__", "Tensor.__mul__", "Tensor.__matmul__", "Tensor.relu", "Tensor.sum"}
)
_SIGNS: dict[Op, str] = {"add": " + ", "mul": " * ", "matmul": " @ "}


@dataclass(frozen=True)
class Node:
    """One node and what it is computed from; a sum is over everything."""

    name: str
    op: Op
    parents: tuple[str, ...] = ()

    def written(self, parents: Sequence[str] | None = None) -> str:
        """Write what the node is computed from, the parents by their names or as given."""
        names = self.parents if parents is None else parents
        if self.op == "leaf":
            return self.name
        if self.op in _SIGNS:
            return _SIGNS[self.op].join(names)
        return f"{self.op}({names[0]})"


@dataclass(frozen=True)
class Graph:
    """Nodes in a topological order, the leaves first and the loss last."""

    nodes: tuple[Node, ...]
    leaves: Mapping[str, Array]

    @property
    def ops(self) -> tuple[Node, ...]:
        """Return the nodes that are computed, in order."""
        return tuple(one for one in self.nodes if one.op != "leaf")

    @property
    def loss(self) -> Node:
        """Return the last node, from which backward starts."""
        return self.nodes[-1]

    def node(self, name: str) -> Node:
        """Return the node of that name; KeyError if there is none."""
        return {one.name: one for one in self.nodes}[name]

    def uses(self, name: str) -> tuple[tuple[Node, int], ...]:
        """Return where a node is used: each consumer with the place among its parents."""
        return tuple(
            (one, slot)
            for one in self.nodes
            for slot, parent in enumerate(one.parents)
            if parent == name
        )

    def expression(self) -> str | None:
        """Write the loss as one expression, None where a computed node is used twice."""
        if any(len(self.uses(one.name)) > 1 for one in self.ops):
            return None
        return self._expression(self.loss, outer=None)

    def _expression(self, node: Node, outer: Op | None) -> str:
        inner = [self._expression(self.node(name), node.op) for name in node.parents]
        text = node.written(inner)
        is_open = node.op == "add" and outer in ("mul", "matmul")
        is_mixed = node.op in ("mul", "matmul") and outer in ("mul", "matmul") and node.op != outer
        return f"({text})" if is_open or is_mixed else text


@dataclass(frozen=True)
class Solved:
    """A graph with the value of each node and dL/d(node)."""

    graph: Graph
    values: Mapping[str, Array]
    grads: Mapping[str, Array]


def solve(graph: Graph) -> Solved:
    """Run a graph forward and backward on a reference engine."""
    track = reference_track()
    suite, lib = load_suite(track), reference_engine(track).lib
    tensors: dict[str, Any] = {}
    for node in graph.nodes:
        if node.op == "leaf":
            tensors[node.name] = suite.leaf(lib, np.array(graph.leaves[node.name], dtype=float))
        else:
            tensors[node.name] = apply(node, [tensors[name] for name in node.parents])
    loss = tensors[graph.loss.name]
    suite.backward(lib, loss, np.ones(loss.data.shape))
    return Solved(
        graph,
        {name: np.asarray(one.data) for name, one in tensors.items()},
        {name: np.asarray(one.grad) for name, one in tensors.items()},
    )


def forward(node: Node, parents: Sequence[Array]) -> Array:
    """Compute one node in plain NumPy, to draw graphs and to check the reference with."""
    if node.op == "relu":
        return np.maximum(parents[0], 0.0)
    if node.op == "sum":
        return np.asarray(parents[0].sum())
    return np.asarray(apply(node, parents))


def reference_track() -> Track:
    """Return the first track whose engine has every operation that a graph is made of."""
    for track_id in track_ids():
        track = load_track(track_id)
        if set(track.symbols) >= _NEEDED:
            return track
    raise broken_track("no track has an engine with add, mul, matmul, relu and sum")


def apply(node: Node, parents: Sequence[Any]) -> Any:
    """Compute one node from its operands, arrays or an engine's tensors."""
    match node.op:
        case "add":
            return parents[0] + parents[1]
        case "mul":
            return parents[0] * parents[1]
        case "matmul":
            return parents[0] @ parents[1]
        case "relu":
            return parents[0].relu()
        case _:
            return parents[0].sum()
