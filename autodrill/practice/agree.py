"""Random graphs on an engine and on live torch: how far apart they are, and where."""

from __future__ import annotations

import math
import shlex
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from autodrill.engines.process import Worker
from autodrill.practice.chosen import Running, Unusable, choose, running
from autodrill.practice.graph import known_operations
from autodrill.results import Example, Failure, Problem

if TYPE_CHECKING:
    from autodrill.cases.grammar import Operations
    from autodrill.cases.judge import Mismatch
    from autodrill.cases.outcome import Outcome
    from autodrill.cases.random_graph import RandomGraph
    from autodrill.cases.run import Request
    from autodrill.engines.engine import Engine

BAR = 1e-9
"""The largest disagreement that passes."""

_SHRINK_S = 5.0
_LIMIT_S = 10.0


@dataclass(frozen=True)
class AgreeRequest:
    """How many graphs to compare, from which seed on, and the engine."""

    graphs: int = 200
    seed: int = 0
    file: Path | None = None
    track: str | None = None


@dataclass(frozen=True)
class Agreement:
    """What came of the comparison.

    `apart` holds the disagreement of each graph: the largest difference in its result and its
    gradients, relative to the largest number among them where that is more than 1; infinite where
    the two can't be compared. `failing` holds the graphs of which an array is wrong by more than
    the bar, relative to its own largest entry; `failure` explains the plainest of them, made
    small, and `look` is the command that draws it.
    """

    track: str
    engine: str
    seed: int
    torch: str = ""
    apart: tuple[float, ...] = ()
    failing: tuple[int, ...] = ()
    failure: Failure | None = None
    look: str | None = None
    problem: Problem | None = None

    @property
    def passes(self) -> bool:
        """Tell whether every graph passes."""
        return not self.failing and self.problem is None

    @property
    def largest(self) -> float:
        """Return the largest disagreement, 0 where nothing was compared."""
        return max(self.apart, default=0.0)

    @property
    def histogram(self) -> list[tuple[int | None, int]]:
        """Return how many graphs there are of each power of ten, None for those that are equal.

        The powers are in order, without a gap.
        """
        finite = [one for one in self.apart if 0 < one < math.inf]
        counts = Counter(math.floor(math.log10(one)) for one in finite)
        powers = range(min(counts), max(counts) + 1) if counts else ()
        equal = sum(one == 0 for one in self.apart)
        return [(None, equal), *((power, counts[power]) for power in powers)]


def agree(request: AgreeRequest) -> Agreement:
    """Compare an engine with torch, graph by graph, and make one that fails small."""
    from autodrill.cases.random_graph import random_graph

    chosen = choose(request.file, request.track)
    found = Agreement(chosen.track.id, chosen.shown, request.seed)
    worker = Worker()
    try:
        with running(chosen, worker) as engine:
            first = random_graph(known_operations(chosen), request.seed)
            engine.run(first.probe().request())  # a hole is told before torch is imported
            from autodrill.engines.torch_engine import live_torch, torch_engine

            found = replace(found, torch=str(live_torch().__version__))
            return _compared(found, _Pair(engine, torch_engine(chosen.track)), request)
    except Unusable as unusable:
        return replace(found, problem=unusable.problem)
    finally:
        worker.kill()


def _compared(empty: Agreement, pair: _Pair, request: AgreeRequest) -> Agreement:
    from autodrill.cases.random_graph import random_graph

    known = known_operations(pair.engine.chosen)
    apart: list[float] = []
    failing: dict[int, RandomGraph] = {}
    for number in range(request.graphs):
        graph = random_graph(known, request.seed + number)
        ran = pair.run(graph)
        apart.append(_apart(ran.yours, ran.theirs))
        if ran.mismatch is not None:
            failing[number + 1] = graph
    found = replace(empty, apart=tuple(apart), failing=tuple(failing))
    if not failing:
        return found
    number = min(failing, key=lambda one: _complexity(failing[one], known))
    small, ran = _smallest(pair, failing[number])
    failure = _explained(f"graph {number} of {request.graphs}", pair, small, ran)
    return replace(found, failure=failure, look=_command(request, small, ran.request))


def _complexity(graph: RandomGraph, known: Operations) -> tuple[int, int]:
    """Order graphs by how much they hide: a function is made of several operations."""
    functions = sum(graph.code.count(f"{name}(") for name in known.functions)
    return functions, len(graph.code)


@dataclass(frozen=True)
class _Ran:
    """One graph on both engines, and what is wrong with the first."""

    request: Request
    yours: Outcome
    theirs: Outcome
    mismatch: Mismatch | None


@dataclass(frozen=True)
class _Pair:
    """The engine that is looked at, and torch."""

    engine: Running
    torch: Engine

    def run(self, graph: RandomGraph) -> _Ran:
        return self.request(graph, graph.probe().request())

    def request(self, graph: RandomGraph, request: Request) -> _Ran:
        """Run a request on both; no mismatch where torch itself can't run it."""
        from autodrill.cases.builtin import NO_SEED
        from autodrill.cases.judge import judge

        theirs = self.torch.run(request, _LIMIT_S)
        if theirs.raised is not None or NO_SEED in theirs.values:
            return _Ran(request, theirs, theirs, None)
        yours = self.engine.run(request, _LIMIT_S)
        return _Ran(request, yours, theirs, judge(graph.probe().scenario, yours, theirs))


def _apart(yours: Outcome, theirs: Outcome) -> float:
    """Return how far apart two outcomes are, infinitely where they can't be compared."""
    import numpy as np

    scale, off = 1.0, 0.0
    for name, value in theirs.values.items():
        own = yours.values.get(name)
        if not (isinstance(value, np.ndarray) and isinstance(own, np.ndarray)):
            return math.inf
        if own.shape != value.shape:
            return math.inf
        with np.errstate(all="ignore"):
            scale = max(scale, float(np.abs(value).max(initial=0.0)))
            off = float(np.maximum(off, np.abs(own - value).max(initial=0.0)))
    return off / scale if math.isfinite(off) else math.inf


# The smallest graph ---------------------------------------------------------------------------


def _explained(name: str, pair: _Pair, small: RandomGraph, ran: _Ran) -> Failure:
    from autodrill.grading.failure import max_abs_diff, shown, trace_of

    mismatch = ran.mismatch
    assert mismatch is not None
    code = _snippet(pair.engine.chosen.module, small, ran.request, mismatch)
    return Failure(
        test=name,
        verdict="fail",
        what="gradient" if mismatch.what == "gradient" else "forward",
        message=mismatch.message,
        of=mismatch.of,
        line=mismatch.line,
        trace=trace_of(ran.yours),
        example=Example(code, dict(ran.request.inputs)),
        yours=shown(mismatch.yours),
        expected=shown(mismatch.expected),
        max_abs_diff=max_abs_diff(mismatch),
        output=ran.yours.output,
        warnings=ran.yours.warnings,
    )


def _smallest(pair: _Pair, graph: RandomGraph) -> tuple[RandomGraph, _Ran]:
    """Leave out operations while it still fails in the same way; then shrink shapes and values."""
    from autodrill.cases.random_graph import smaller, square
    from autodrill.shrink import shrink

    best, ran = graph, pair.run(graph)
    end = time.monotonic() + _SHRINK_S

    def tried(one: RandomGraph, request: Request | None = None) -> _Ran | None:
        """Return what came of a graph, None where the engine has no answer at all."""
        try:
            return pair.request(one, request or one.probe().request())
        except Unusable:
            return None

    steps: Iterator[RandomGraph] = iter([square(graph)])
    while (one := next(steps, None)) is not None and time.monotonic() < end:
        found = tried(one)
        if found is not None and _is_alike(found.mismatch, ran.mismatch):
            best, ran, steps = one, found, smaller(one)
        elif one.sizes != best.sizes:
            steps = smaller(best)

    def attempt(request: Request) -> Mismatch | None:
        found = tried(best, request)
        return None if found is None else found.mismatch

    assert ran.mismatch is not None
    small = shrink(best.probe(), ran.request, ran.mismatch, attempt, lambda _: None)
    return best, tried(best, small) or ran


def _is_alike(found: Mismatch | None, wanted: Mismatch | None) -> bool:
    """Tell whether a graph fails as another does, or has a wrong forward in place of a gradient."""
    if found is None or wanted is None:
        return False
    if "raised" in (found.what, wanted.what):
        kinds = [(one.what, one.message.partition(":")[0]) for one in (found, wanted)]
        return kinds[0] == kinds[1]
    return found.what in (wanted.what, "forward")


def _snippet(module: str, graph: RandomGraph, request: Request, mismatch: Mismatch) -> str:
    from autodrill.cases.expression import names_in
    from autodrill.cases.snippet import assignment

    inputs = [assignment(name, array, "Tensor", column=0) for name, array in request.inputs.items()]
    *first, last = graph.code.split("; ")
    functions = set(names_in(graph.code)) - set(request.inputs) - {_bound(one) for one in first}
    names = ", ".join(sorted({"Tensor", *functions}))
    asked = ["out.backward()", f"{mismatch.of}.grad"] if mismatch.of else ["out.data"]
    asked = ["out.backward()"] if mismatch.what == "raised" else asked
    body = [*inputs, *first, f"out = {last}", *asked]
    text = "\n".join([f"from {module} import {names}", *body])
    return f"import numpy as np\n{text}" if "np." in text else text


def _command(asked: AgreeRequest, graph: RandomGraph, request: Request) -> str:
    """Return the command that draws a graph on the same engine."""
    from autodrill.cases.snippet import literal

    values = [f"{name}={literal(array)}" for name, array in request.inputs.items()]
    words = ["autodrill", "graph", graph.code, *values]
    words += ["--file", str(asked.file)] if asked.file is not None else []
    words += ["--track", asked.track] if asked.track is not None else []
    return shlex.join(words)


def _bound(statement: str) -> str:
    return statement.partition(" =")[0]
