"""A graph as text for other programs, Mermaid and Graphviz, and its layout for a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from autodrill.render.graph import written
from autodrill.render.inert import inert

if TYPE_CHECKING:
    from autodrill.practice.graph import Graph, Node

_MOST_NUMBERS = 6


def label(node: Node) -> list[str]:
    """Return the lines that stand in the box of a node."""
    shape = "" if node.shape is None else f"  {node.shape}"
    return [
        f"{inert(node.title)}{shape}",
        f"value {written(node.value, _MOST_NUMBERS)}",
        f"grad {written(node.gradient, _MOST_NUMBERS)}",
    ]


def mermaid(graph: Graph) -> str:
    """Write a graph as a Mermaid flowchart."""
    rows = ["flowchart LR"]
    for node in graph.nodes:
        text = "<br/>".join(map(_mermaid, label(node)))
        box = f'(["{text}"])' if not node.parents else f'["{text}"]'
        rows.append(f"    n{node.number}{box}")
    rows += [f"    n{above} --> n{below}" for above, below in edges(graph)]
    return "\n".join(rows) + "\n"


def dot(graph: Graph) -> str:
    """Write a graph in the language of Graphviz."""
    rows = ["digraph {", "    rankdir=LR;", "    node [shape=box];"]
    for node in graph.nodes:
        text = "\\n".join(one.replace("\\", "\\\\").replace('"', '\\"') for one in label(node))
        style = "" if node.parents else ", style=rounded"
        rows.append(f'    n{node.number} [label="{text}"{style}];')
    rows += [f"    n{above} -> n{below};" for above, below in edges(graph)]
    return "\n".join([*rows, "}"]) + "\n"


def edges(graph: Graph) -> list[tuple[int, int]]:
    """Return every edge from a parent to what was computed from it, as often as it is used."""
    return [(above, node.number) for node in graph.nodes for above in node.parents]


def _mermaid(text: str) -> str:
    """Write by its number what Mermaid reads as its own, such as a `*` that begins a list."""
    plain = set(" .,()[]-:…")
    kept = [one if one.isalnum() or one in plain else f"#{ord(one)};" for one in text]
    return "".join(["#45;", *kept[1:]] if text.startswith("-") else kept)


@dataclass(frozen=True)
class Layout:
    """Where the nodes of a picture stand, in columns and rows from 0, and the ways of its edges.

    An edge from a column to one further than the next goes through a free place in each between.
    """

    places: dict[int, tuple[int, float]]
    ways: tuple[tuple[tuple[int, float], ...], ...]
    columns: int
    rows: int


def layout(graph: Graph) -> Layout:
    """Put each node right of its parents, a leaf just left of its first use."""
    column: dict[int, int] = {}
    for node in graph.nodes:
        column[node.number] = max((column[one] + 1 for one in node.parents), default=0)
    for node in graph.nodes:
        used_in = [column[below] for above, below in edges(graph) if above == node.number]
        if not node.parents and used_in:
            column[node.number] = min(used_in) - 1
    points: dict[tuple[int, ...], int] = {(number,): at for number, at in column.items()}
    chains = []
    for above, below in dict.fromkeys(edges(graph)):
        between = [(above, below, at) for at in range(column[above] + 1, column[below])]
        points |= {point: point[2] for point in between}
        chains.append([(above,), *between, (below,)])
    rows = _rows(points, chains)
    places = {point: (points[point], rows[point]) for point in points}
    return Layout(
        {point[0]: place for point, place in places.items() if len(point) == 1},
        tuple(tuple(places[point] for point in chain) for chain in chains),
        max(column.values()) + 1,
        max(list(points.values()).count(at) for at in set(points.values())),
    )


def _rows(
    points: dict[tuple[int, ...], int], chains: Sequence[Sequence[tuple[int, ...]]]
) -> dict[tuple[int, ...], float]:
    """Order the points of each column by where their neighbours to the right stand."""
    after: dict[tuple[int, ...], list[tuple[int, ...]]] = {}
    for chain in chains:
        for one, following in pairwise(chain):
            after.setdefault(one, []).append(following)
    rows: dict[tuple[int, ...], float] = {}
    for at in sorted(set(points.values()), reverse=True):
        column = [point for point, where in points.items() if where == at]

        def wanted(point: tuple[int, ...]) -> float:
            right = [rows[one] for one in after.get(point, [])]
            return sum(right) / len(right) if right else 0.0

        column.sort(key=wanted)
        middle = sum(map(wanted, column)) / len(column)
        for place, point in enumerate(column):
            rows[point] = middle + place - (len(column) - 1) / 2
    return rows
