"""The graph of an expression after one backward, on the learner's engine or the reference."""

from __future__ import annotations

import ast
import keyword
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autodrill.engines.process import Worker
from autodrill.errors import AutodrillError
from autodrill.practice.chosen import Chosen, Running, Unusable, choose, running
from autodrill.results import Problem

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from autodrill.cases.grammar import Operations

    Array = NDArray[Any]

_MOST_NUMBERS = 10_000


@dataclass(frozen=True)
class GraphRequest:
    """What to draw: an expression, `NAME=VALUE` for each of its names, and the engine."""

    expression: str
    values: Sequence[str] = ()
    upstream: str | None = None
    file: Path | None = None
    track: str | None = None


@dataclass(frozen=True)
class Node:
    """A tensor of the graph: a leaf has a name, or is a constant; all else has parents.

    `value` and `gradient` are arrays, a short text where the engine left no array there, and
    the gradient is None where there is none.
    """

    number: int
    name: str | None
    op: str
    parents: tuple[int, ...]
    value: Array | str
    gradient: Array | str | None

    @property
    def title(self) -> str:
        """Return what a person calls it: its name, its operation, or that it is a constant."""
        return self.name or self.op or ("operation" if self.parents else "constant")

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Return the shape of the value, None where it is no array."""
        return None if isinstance(self.value, str) else self.value.shape


@dataclass(frozen=True)
class Graph:
    """The nodes, parents first; none of them, and a problem, where the engine gave no graph."""

    expression: str
    track: str
    engine: str
    nodes: tuple[Node, ...] = ()
    problem: Problem | None = None


def graph(request: GraphRequest) -> Graph:
    """Compute an expression on an engine and describe its graph."""
    from autodrill.cases.grammar import check

    chosen = choose(request.file, request.track)
    known = known_operations(chosen)
    given = _given(request.values, known)
    used = check(request.expression, known, given)
    unused = [name for name in given if name not in used]
    if unused:
        raise AutodrillError(f"`{unused[0]}` has a value and is not in the expression")
    arrays = {name: _array(f"the value of `{name}`", given[name]) for name in used}
    upstream = request.upstream and _array("the upstream", request.upstream)
    params = {"code": request.expression, "names": list(used), "upstream": upstream}
    shown = Graph(request.expression.strip(), chosen.track.id, chosen.shown)
    worker = Worker()
    try:
        with running(chosen, worker) as engine:
            nodes = _nodes(engine, arrays, params)
    except Unusable as unusable:
        return Graph(shown.expression, shown.track, shown.engine, problem=unusable.problem)
    finally:
        worker.kill()
    return Graph(shown.expression, shown.track, shown.engine, nodes)


def known_operations(chosen: Chosen) -> Operations:
    """Return what the engines of a track can do, as its reference says."""
    from autodrill.cases.grammar import operations

    return operations(chosen.track.reference.read_text(encoding="utf-8"))


def _given(values: Sequence[str], known: Operations) -> dict[str, str]:
    """Split each `NAME=VALUE`; a name comes once and is no operation's."""
    given: dict[str, str] = {}
    for one in values:
        name, found, value = one.partition("=")
        name = name.strip()
        if not found or not name.isidentifier() or keyword.iskeyword(name):
            raise AutodrillError(
                f"`{one}` is no NAME=VALUE", "a value reads like x=1.5 or x=[[1, 2], [3, 4]]"
            )
        if name in given:
            raise AutodrillError(f"`{name}` has two values")
        if name in known.functions:
            raise AutodrillError(f"`{name}` is a function of the engine", "choose another name")
        given[name] = value
    return given


def _array(what: str, text: str) -> Array:
    """Read a number or nested lists of numbers, written as in Python, as float64."""
    import numpy as np

    hint = "write a number such as -1.5, or lists such as [[1, 2], [3, 4]]"
    try:
        array = np.asarray(ast.literal_eval(text.strip()))
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise AutodrillError(f"{what} can't be read: `{text[:40]}`", hint) from None
    if array.dtype.kind not in "iuf":
        raise AutodrillError(f"{what} holds something that is no number: `{text[:40]}`", hint)
    if not array.size or array.size > _MOST_NUMBERS:
        raise AutodrillError(f"{what} holds {array.size:,} numbers", hint)
    return array.astype(np.float64)


def _nodes(
    engine: Running, arrays: Mapping[str, Array], params: Mapping[str, Any]
) -> tuple[Node, ...]:
    from autodrill.cases.builtin import GRAPH, NO_SEED
    from autodrill.cases.run import Request

    values = engine.values(Request(GRAPH, arrays, params), asked=_uncomputable)
    if values.get(NO_SEED):
        raise _no_seed(values["out"], params["upstream"])
    if not values.get("linked"):
        engine.refuse(Problem("the result of your engine knows no parents: there is no graph"))
    try:
        return tuple(_node(values, number) for number in range(1, int(values["count"]) + 1))
    except (KeyError, TypeError, ValueError):
        engine.refuse(Problem("your file broke the process that it runs in"))


def _uncomputable(why: str) -> AutodrillError:
    return AutodrillError(f"the expression can't be computed: {why}")


def _no_seed(out: Any, upstream: Array | None) -> AutodrillError:
    shape = getattr(out, "shape", "that is unknown")
    if upstream is not None:
        return AutodrillError(
            f"the upstream has shape {upstream.shape}; the result has shape {shape}"
        )
    return AutodrillError(
        f"the result has shape {shape}: backward starts from a single number",
        "end with `.sum()`, or give the gradient of the result: --upstream [...]",
    )


def _node(values: Mapping[str, Any], number: int) -> Node:
    name, op = values[f"name {number}"], values[f"op {number}"]
    value, gradient = values[f"value {number}"], values[f"gradient {number}"]
    return Node(
        number,
        name if isinstance(name, str) else None,
        op if isinstance(op, str) else "",
        tuple(int(one) for one in values[f"parents {number}"]),
        _readable(value),
        None if gradient is None else _readable(gradient),
    )


def _readable(value: Any) -> Array | str:
    import numpy as np

    return value if isinstance(value, np.ndarray) else repr(value)
