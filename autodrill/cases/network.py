"""The network of the spirals, 2-64-64-3, as something to be timed on any engine.

Nothing here knows an engine but for `Tensor`, `@`, `+`, `relu`, `cross_entropy` and `backward`;
the parameters move with NumPy, outside of it.
"""

from __future__ import annotations

import tracemalloc
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import pairwise
from time import perf_counter
from typing import Any

import numpy as np

from autodrill.cases.scenario import Array, Lib, Suite

POINTS = 300
SIZES = (2, 64, 64, 3)
TINY_SIZES = (2, 1, 1, 3)
"""As many operations as the network, and next to no arithmetic."""
RATE = 0.5
WARM_UP = 2

Layers = list[tuple[Array, Array]]


def spirals(points: int) -> tuple[Array, Array]:
    """Return points of shape (points, 2) on three spiral arms, and the arm of each."""
    arm = np.arange(points) % SIZES[-1]
    turn = 4.0 * np.arange(points) / max(points - 1, 1)
    angle = turn + 2.0 * np.pi * arm / SIZES[-1]
    return np.stack([np.sin(angle), np.cos(angle)], axis=1) * turn[:, None] / 4.0, arm


def parameters(sizes: tuple[int, ...]) -> Layers:
    """Return a weight and a bias for each layer, the same at every call."""
    rng = np.random.default_rng(0)
    return [(rng.uniform(-1, 1, (m, n)) * np.sqrt(6 / m), np.zeros(n)) for m, n in pairwise(sizes)]


class _Network:
    """Parameters as arrays, and the step that trains them on an engine."""

    def __init__(self, suite: Suite, lib: Lib, points: int, sizes: tuple[int, ...]) -> None:
        self.suite, self.lib = suite, lib
        self.layers = parameters(sizes)
        self.points, self.classes = spirals(points)

    def forward(self) -> tuple[Any, list[tuple[Any, Any]]]:
        """Return the loss, and the leaves that it was computed from."""
        leaves = [
            (self.suite.leaf(self.lib, w), self.suite.leaf(self.lib, b)) for w, b in self.layers
        ]
        h = self.lib.Tensor(self.points)
        for w, b in leaves[:-1]:
            h = (h @ w + b).relu()
        w, b = leaves[-1]
        return self.lib.cross_entropy(h @ w + b, self.classes), leaves

    def update(self, leaves: list[tuple[Any, Any]]) -> None:
        self.layers = [(w.data - RATE * w.grad, b.data - RATE * b.grad) for w, b in leaves]

    def step(self) -> float:
        """Train for one step and return the seconds that it took."""
        started = perf_counter()
        loss, leaves = self.forward()
        loss.backward()
        if any(one.grad is None for layer in leaves for one in layer):
            raise ValueError("backward left a weight of the network without a gradient")
        self.update(leaves)
        return perf_counter() - started


def steps(suite: Suite, lib: Lib, *, count: int) -> dict[str, Any]:
    """Time some steps, after a few that are not counted; `seconds` has one entry for each."""
    network = _Network(suite, lib, POINTS, SIZES)
    for _ in range(WARM_UP):
        network.step()
    return {"seconds": np.array([network.step() for _ in range(count)])}


# Where the time goes --------------------------------------------------------------------------


@dataclass
class _Cost:
    """The calls of one operation in a step, and the seconds in it, forward and backward."""

    calls: int = 0
    forward: float = 0.0
    backward: float = 0.0


@dataclass
class _Watch:
    """What the operations of one step cost; `inner` holds the time of calls within calls."""

    costs: dict[str, _Cost] = field(default_factory=dict)
    inner: list[float] = field(default_factory=lambda: [0.0])

    def timed(self, function: Callable[..., Any], *given: Any, **named: Any) -> tuple[Any, float]:
        """Call a function; return its result and its own seconds, without the calls within."""
        self.inner.append(0.0)
        started = perf_counter()
        try:
            result = function(*given, **named)
        finally:
            took = perf_counter() - started
            own = took - self.inner.pop()
            self.inner[-1] += took
        return result, own


def profile(suite: Suite, lib: Lib, *, count: int, tiny: bool) -> dict[str, Any]:
    """Run steps with a clock around every operation; medians over the steps, in seconds.

    `tiny` runs the same operations on one point and layers one wide.
    """
    network = _Network(suite, lib, *((1, TINY_SIZES) if tiny else (POINTS, SIZES)))
    network.step()
    watch = _Watch()
    seen: list[dict[str, _Cost]] = []
    whole: list[tuple[float, float]] = []
    with _watched(suite, lib, watch):
        for _ in range(count):
            watch.costs = {}
            started = perf_counter()
            loss, leaves = network.forward()
            _, walk = watch.timed(loss.backward)
            network.update(leaves)
            whole.append((perf_counter() - started, walk))
            seen.append(watch.costs)
    names = [name for name, cost in seen[-1].items() if cost.calls]
    values: dict[str, Any] = {"names": names, "whole": np.median(whole, axis=0)}
    for name in names:
        rows = [(one[name].calls, one[name].forward, one[name].backward) for one in seen]
        values[name] = np.median(rows, axis=0)
    return values


@contextmanager
def _watched(suite: Suite, lib: Lib, watch: _Watch) -> Iterator[None]:
    """Put a clock around the operations of an engine, and take it away again."""
    own = dict(vars(lib.Tensor))
    try:
        for name, function in own.items():
            if isinstance(function, types.FunctionType) and _is_operation(name):
                setattr(lib.Tensor, name, _clocked(suite, lib, watch, name, function))
        yield
    finally:
        for name, function in own.items():
            if isinstance(function, types.FunctionType):
                setattr(lib.Tensor, name, function)


def _is_operation(name: str) -> bool:
    aside = {"__init__", "__repr__", "__hash__", "__eq__", "__del__", "backward", "zero_grad"}
    is_operator = name.startswith("__") and name.endswith("__")
    return name not in aside and (is_operator or not name.startswith("_"))


def _clocked(
    suite: Suite, lib: Lib, watch: _Watch, name: str, function: Callable[..., Any]
) -> Callable[..., Any]:
    shown = name.strip("_")

    def operation(*given: Any, **named: Any) -> Any:
        out, own = watch.timed(function, *given, **named)
        cost = watch.costs.setdefault(shown, _Cost())
        cost.calls += 1
        cost.forward += own
        rule = getattr(out, suite.rule, None) if isinstance(out, lib.Tensor) else None
        if callable(rule) and not hasattr(rule, "is_clocked"):
            _clock_rule(suite, watch, out, rule, cost)
        return out

    return operation


def _clock_rule(
    suite: Suite, watch: _Watch, out: Any, rule: Callable[..., Any], cost: _Cost
) -> None:
    def clocked(*given: Any) -> Any:
        result, own = watch.timed(rule, *given)
        cost.backward += own
        return result

    clocked.is_clocked = True  # type: ignore[attr-defined]  # a function has attributes
    with suppress(AttributeError):  # where it can't be set, its time is part of the walk
        setattr(out, suite.rule, clocked)


# What the graph keeps -------------------------------------------------------------------------


def memory(suite: Suite, lib: Lib) -> dict[str, Any]:
    """Weigh the graph of a step by tracemalloc, in bytes.

    `forward` is what it keeps until backward, `peak` the most at any moment of backward, `all` what
    is kept after it, and `leaves` the same without the gradients of what is no leaf.
    """
    from autodrill.cases.builtin import parents_first, parents_of

    network = _Network(suite, lib, POINTS, SIZES)
    network.step()
    tracemalloc.start()
    try:
        loss, _ = network.forward()
        forward, _ = tracemalloc.get_traced_memory()
        order = list(parents_first(loss, lib, suite.parents))
        inner = [one for one in order if parents_of(one, lib, suite.parents)]
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        loss.backward()
        after, peak = tracemalloc.get_traced_memory()
        for one in inner:
            one.grad = None
        less, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    lists = before - forward
    return {
        "nodes": len(order),
        "inner": len(inner),
        "forward": forward,
        "peak": peak - lists,
        "all": after - lists,
        "leaves": less - lists,
    }
