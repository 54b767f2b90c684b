"""Make a failing probe as small as the failure allows, so that it can be redone on paper."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autodrill.cases.judge import Mismatch
from autodrill.cases.probe import Probe
from autodrill.cases.run import Request
from autodrill.cases.scenario import Domain

Array = NDArray[Any]

_COUNTED = 9
"""Counting starts again after this number, so that nothing grows large."""

Try = Callable[[Request], Mismatch | None]

BUDGET_S = 0.25
"""Seconds after which the smallest example found so far is taken."""


def shrink(
    probe: Probe,
    request: Request,
    mismatch: Mismatch,
    attempt: Try,
    out_shape: Callable[[Request], tuple[int, ...] | None],
) -> Request:
    """Return the smallest request found that fails in the same way.

    First each named dimension is made as small as the failure allows, then the values of
    each input and of the upstream become small integers, or halves. The upstream of a case
    comes back as an array.

    Parameters
    ----------
    probe, request, mismatch
        The failing probe, its request, and how it fails.
    attempt : callable
        Runs a request and returns its mismatch, None where it passes or where the
        reference itself can't run it.
    out_shape : callable
        Gives the shape of a request's output, None where there is none.
    """
    search = _Search(mismatch, attempt)
    smallest = _smaller_sizes(probe, request, search)
    rounder = _rounder_values(probe, smallest, search)
    shape = out_shape(rounder)
    return rounder if shape is None else _rounder_upstream(rounder, shape, search)


class _Search:
    """Tries requests until the time is up."""

    def __init__(self, mismatch: Mismatch, attempt: Try) -> None:
        self.kind = _kind(mismatch)
        self.attempt = attempt
        self.end = time.monotonic() + BUDGET_S

    def fails(self, request: Request) -> bool:
        """Tell whether a request fails in the way that is being shrunk."""
        if time.monotonic() > self.end:
            return False
        found = self.attempt(request)
        return found is not None and _kind(found) == self.kind


def _kind(mismatch: Mismatch) -> tuple[Any, ...]:
    raised = mismatch.message.partition(":")[0] if mismatch.what == "raised" else ""
    return mismatch.verdict, mismatch.what, mismatch.of, raised


def _smaller_sizes(probe: Probe, request: Request, search: _Search) -> Request:
    sizes = dict(probe.shapes.sizes)
    best = request
    improved = True
    while improved:
        improved = False
        for name, largest in list(sizes.items()):
            for size in range(1, largest):
                candidate = probe.at({**sizes, name: size})
                smaller = candidate.request()
                if search.fails(smaller):
                    sizes[name], best, improved = size, smaller, True
                    break
    return best


def _rounder_values(probe: Probe, request: Request, search: _Search) -> Request:
    best, first = request, 1
    for name, array in request.inputs.items():
        domain = probe.scenario.domains.get(name, "any")
        for values in _round_values(array, domain, first):
            candidate = replace(best, inputs={**best.inputs, name: np.asarray(values)})
            if search.fails(candidate):
                best = candidate
                break
        first = 1 + (first + array.size - 1) % _COUNTED
    return best


def _rounder_upstream(request: Request, shape: tuple[int, ...], search: _Search) -> Request:
    for upstream in _round_values(np.zeros(shape), "any", 1):
        candidate = replace(request, upstream=np.asarray(upstream))  # of no axes it is a scalar
        if search.fails(candidate):
            return candidate
    assert isinstance(request.upstream, int)
    drawn = np.random.default_rng(request.upstream).standard_normal(shape)
    return replace(request, upstream=np.asarray(drawn))


def _round_values(array: Array, domain: Domain, first: int) -> Iterator[Array]:
    """Yield arrays of the same shape, in the domain, with ever less simple entries.

    The simplest counts from `first`, so that the inputs of a case hold different numbers.
    """
    place = np.arange(array.size).reshape(array.shape)
    count = (place + first - 1.0) % _COUNTED + 1.0
    if domain == "signs":
        yield np.zeros(array.shape)
        yield place % 3 - 1.0
        return
    yield count
    if domain != "positive":
        yield count * np.where(place % 2, -1.0, 1.0)
        yield -count
    yield count / 2
    halves = np.round(array * 2) / 2
    yield halves if domain == "any" else np.where(halves == 0, 0.5, halves)
