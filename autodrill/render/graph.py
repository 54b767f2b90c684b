"""A graph for people: a table of its nodes, or a block for each where there is little room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from autodrill.render import report
from autodrill.render.digits import digits_for
from autodrill.render.inert import inert
from autodrill.render.layout import Line, Style, blocks, fixed, len_cells, line
from autodrill.render.numbers import literal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from autodrill.practice.graph import Graph, Node
    from autodrill.render.console import Screen

    Array = NDArray[Any]

_INDENT = 2
_GAP = 2
_MOST_NUMBERS = 24
_FIRST = 4
"""Of an array with more numbers than that, the first so many are shown."""
_FILE_WIDTH = 100
_HEAD = ("#", "node", "from", "shape", "value", "gradient")


def show(screen: Screen, graph: Graph) -> None:
    """Show a graph, or why there is none."""
    screen.write(lines(graph, screen.width))


def lines(graph: Graph, width: int) -> list[Line]:
    """Lay out a graph, parents first."""
    title = line(
        (inert(graph.expression), "strong"),
        f" · {inert(graph.track)} · {inert(graph.engine)}",
        hang=_INDENT,
    )
    if graph.problem is not None:
        from autodrill.render.source import explain

        return blocks([title], explain(graph.problem, width))
    table = [tuple(_cells(node)) for node in graph.nodes]
    widths = [max(map(len_cells, column)) for column in zip(_HEAD, *table, strict=True)]
    if sum(widths) + _GAP * (len(widths) - 1) <= width:
        body = list(_side_by_side(graph.nodes, table, widths))
    else:
        body = [row for pair in zip(graph.nodes, table, strict=True) for row in _stacked(*pair)]
    return blocks([title], body)


def _cells(node: Node) -> Iterator[str]:
    yield str(node.number)
    yield inert(node.title)
    yield " ".join(map(str, node.parents))
    yield "" if node.shape is None else str(node.shape)
    yield written(node.value)
    yield written(node.gradient)


def written(value: Array | str | None, most: int = _MOST_NUMBERS) -> str:
    """Write an array as nested lists, of a large one the first numbers and how many more."""
    if value is None:
        return "none"
    if isinstance(value, str):
        return inert(value)
    if value.size <= most:
        return literal(value, digits_for(value.reshape(-1).tolist()))
    first = value.reshape(-1)[:_FIRST]
    shown = literal(first, digits_for(first.tolist()))[1:-1]
    return f"[{shown}, … {value.size - _FIRST:,} more]"


def _side_by_side(
    nodes: Sequence[Node], table: Sequence[Sequence[str]], widths: Sequence[int]
) -> Iterator[Line]:
    yield fixed((_row(_HEAD, widths), "quiet"))
    for node, cells in zip(nodes, table, strict=True):
        number, name, *rest = _padded(cells, widths)
        gap = " " * _GAP
        style: Style = "strong" if node.name else ""
        yield fixed((f"{number}{gap}", "quiet"), (name, style), f"{gap}{gap.join(rest)}".rstrip())


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    return (" " * _GAP).join(_padded(cells, widths)).rstrip()


def _padded(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [
        f"{cell:>{width}}" if place == 0 else cell + " " * (width - len_cells(cell))
        for place, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]


def _stacked(node: Node, cells: Sequence[str]) -> Iterator[Line]:
    number, name, parents, shape, value, gradient = cells
    whence = f"  from {parents}" if parents else ""
    style: Style = "strong" if node.name else ""
    yield line((f"{number} ", "quiet"), (name, style), f"{whence}  {shape}".rstrip(), hang=_INDENT)
    for label, text in (("value", value), ("gradient", gradient)):
        yield line((f"{label:<8}  ", "quiet"), text, indent=_INDENT, hang=_INDENT)


def as_json(graph: Graph) -> dict[str, Any]:
    """Return a graph as plain data."""
    return {
        "schema": "autodrill.graph/1",
        "expression": graph.expression,
        "track": graph.track,
        "engine": graph.engine,
        "problem": report.problem(graph.problem) if graph.problem else None,
        "nodes": [
            {
                "number": one.number,
                "name": one.name,
                "op": one.op,
                "parents": list(one.parents),
                "value": report.value(one.value),
                "gradient": report.value(one.gradient),
            }
            for one in graph.nodes
        ],
    }


def as_file(graph: Graph, form: str) -> bytes:
    """Return a graph as the content of a file, or of a pipe."""
    from autodrill.render import diagram, layout, plot

    if form in ("svg", "png"):
        return plot.graph(graph, form)
    if form == "terminal":
        return layout.plain(lines(graph, _FILE_WIDTH), _FILE_WIDTH).encode()
    return (diagram.mermaid(graph) if form == "mermaid" else diagram.dot(graph)).encode()
