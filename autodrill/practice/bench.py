"""A training step of the spirals' network: beside torch, by operation, and in memory."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autodrill.engines.process import Worker
from autodrill.errors import AutodrillError
from autodrill.practice.chosen import Running, Unusable, choose, running
from autodrill.results import Problem

if TYPE_CHECKING:
    from autodrill.engines.torch_network import TorchNetwork

WALK = "(backward's walk)"
REST = "(loss, leaves, update)"
"""What is no operation: the order of backward and its adding up; what is left of the step."""

_ROUNDS = 10
_MOST_PROFILED = 50
_LIMIT_S = 30.0


@dataclass(frozen=True)
class BenchRequest:
    """How many steps to time, and the engine."""

    steps: int = 100
    file: Path | None = None
    track: str | None = None


@dataclass(frozen=True)
class OperationCost:
    """One operation in a step: its calls, and seconds of forward and backward together.

    `overhead_s` is what the same calls take on one point and layers one wide, where there is next
    to nothing to compute: Python, and NumPy's own way into its loops. `numpy_s` is the rest.
    """

    name: str
    calls: int
    forward_s: float
    backward_s: float
    numpy_s: float
    overhead_s: float

    @property
    def seconds(self) -> float:
        """Return the seconds of both ways."""
        return self.forward_s + self.backward_s


@dataclass(frozen=True)
class GraphMemory:
    """What the graph of one step keeps, in bytes, as `tracemalloc` sees it.

    `forward` is held until backward, `peak` is the most in backward, `all_nodes` is what stays
    after it, and `leaves_only` what would, had only leaves kept their gradients.
    """

    nodes: int
    inner: int
    forward: int
    peak: int
    all_nodes: int
    leaves_only: int


@dataclass(frozen=True)
class Bench:
    """What was measured; the medians of torch are None where it is not installed."""

    track: str
    engine: str
    steps: int
    step_s: float = 0.0
    torch_s: float | None = None
    torch: str | None = None
    operations: tuple[OperationCost, ...] = ()
    memory: GraphMemory | None = None
    notices: tuple[str, ...] = ()
    problem: Problem | None = None

    @property
    def ratio(self) -> float | None:
        """Return the engine's time over torch's."""
        return None if self.torch_s is None else self.step_s / self.torch_s


def bench(request: BenchRequest) -> Bench:
    """Time an engine and torch in turn, then see where the engine's time and memory go."""
    chosen = choose(request.file, request.track)
    found = Bench(chosen.track.id, chosen.shown, request.steps)
    worker = Worker()
    worker.prepare(chosen.track.scenarios)
    try:
        with running(chosen, worker) as engine:
            _steps(engine, 1)  # a part that is not written yet is told before torch is imported
            torch, notices = _torch()
            step_s, torch_s = _in_turn(engine, torch, request.steps)
            operations = _operations(engine, min(request.steps, _MOST_PROFILED))
            return replace(
                found,
                step_s=step_s,
                torch_s=torch_s,
                torch=torch.version if torch else None,
                operations=operations,
                memory=_memory(engine),
                notices=notices,
            )
    except Unusable as unusable:
        return replace(found, problem=unusable.problem)
    except (KeyError, TypeError, ValueError, IndexError):
        broken = "the measurement came back broken: your file changes what it is measured with"
        return replace(found, problem=Problem(broken))
    finally:
        worker.kill()


def _torch() -> tuple[TorchNetwork | None, tuple[str, ...]]:
    try:
        from autodrill.engines.torch_network import TorchNetwork

        return TorchNetwork(), ()
    except AutodrillError as error:
        return None, (f"{error.message}, so there is nothing to compare with: {error.hint}",)


def _in_turn(engine: Running, torch: TorchNetwork | None, steps: int) -> tuple[float, float | None]:
    """Time both round by round, so that a busy machine slows both; return the medians."""
    own: list[float] = []
    theirs: list[float] = []
    rounds = min(_ROUNDS, steps)
    for number in range(rounds):
        count = steps * (number + 1) // rounds - steps * number // rounds
        own += _steps(engine, count)
        theirs += torch.steps(count) if torch else []
    return statistics.median(own), statistics.median(theirs) if theirs else None


def _steps(engine: Running, count: int) -> list[float]:
    from autodrill.cases.builtin import STEPS

    return [float(one) for one in _values(engine, STEPS, {"count": count})["seconds"]]


def _values(engine: Running, scenario: str, params: Mapping[str, Any]) -> dict[str, Any]:
    from autodrill.cases.run import Request

    return engine.values(Request(scenario, {}, params), _LIMIT_S, asked=_untrainable)


def _untrainable(why: str) -> AutodrillError:
    return AutodrillError(f"the network can't be trained on this track's engines: {why}")


def _operations(engine: Running, count: int) -> tuple[OperationCost, ...]:
    """Return what each part of a step costs: the operations, the dearest first, and the rest."""
    from autodrill.cases.builtin import PROFILE

    full = _values(engine, PROFILE, {"count": count, "tiny": False})
    tiny = _values(engine, PROFILE, {"count": count, "tiny": True})
    costs = [_cost(name, full[name], tiny[name]) for name in full["names"]]
    costs.sort(key=lambda one: one.seconds, reverse=True)
    walks = [(1, 0.0, values["whole"][1]) for values in (full, tiny)]
    rests = [(1, _rest(values), 0.0) for values in (full, tiny)]
    return (*costs, _cost(WALK, *walks), _cost(REST, *rests))


def _rest(values: Mapping[str, Any]) -> float:
    """Return the seconds of a step outside of its operations and of backward's own walk."""
    whole, walk = values["whole"]
    spent = sum(values[name][1] + values[name][2] for name in values["names"])
    return max(float(whole - walk - spent), 0.0)


def _cost(name: str, full: Sequence[float], tiny: Sequence[float]) -> OperationCost:
    seconds = float(full[1] + full[2])
    overhead = min(float(tiny[1] + tiny[2]), seconds)
    return OperationCost(
        name, int(full[0]), float(full[1]), float(full[2]), seconds - overhead, overhead
    )


def _memory(engine: Running) -> GraphMemory:
    from autodrill.cases.builtin import MEMORY

    values = _values(engine, MEMORY, {})
    names = ("nodes", "inner", "forward", "peak", "all", "leaves")
    return GraphMemory(*(int(values[name]) for name in names))
