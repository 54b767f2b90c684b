"""Agreement: whether two engines did the same with one request, whichever of them is right.

Unlike the judge, this knows no right and no wrong: NaN agrees with NaN, and an exception with
another of its kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autodrill.cases.judge import differs
from autodrill.cases.outcome import Outcome, Raised, Value
from autodrill.cases.run import Request
from autodrill.cases.scenario import TOLERANCE, Scenario

_ANY_EXCEPTION = frozenset({"Exception", "BaseException"})


def same(scenario: Scenario, one: Outcome, other: Outcome) -> bool:
    """Tell whether two outcomes agree: the same values, and the same kind of exception if any."""
    if one.ended is not None or other.ended is not None:
        return False
    if one.raised is None or other.raised is None:
        alike = one.raised is other.raised
    else:
        alike = _alike(one.raised, other.raised)
    return alike and _agree(scenario, one.values, other.values)


def is_misshapen(request: Request, outcome: Outcome) -> bool:
    """Tell whether shapes do not fit together in the backward of a case."""
    if outcome.raised is not None:
        return outcome.raised.stage == "backward" and "ValueError" in outcome.raised.classes
    grads = [(array, outcome.values.get(f"{name}.grad")) for name, array in request.inputs.items()]
    return any(isinstance(grad, np.ndarray) and grad.shape != at.shape for at, grad in grads)


def _alike(one: Raised, other: Raised) -> bool:
    """Tell whether one exception is of the other's kind, and from the same stage."""
    if one.stage != other.stage:
        return False
    kinds = {one.type, other.type}
    if len(kinds) > 1 and kinds & _ANY_EXCEPTION:
        return False
    return one.type in other.classes or other.type in one.classes


def _agree(scenario: Scenario, one: Mapping[str, Value], other: Mapping[str, Value]) -> bool:
    if one.keys() != other.keys():
        return False
    names = list(one)
    out = one.get("out")
    if isinstance(out, np.ndarray) and not np.all(np.isfinite(out)):
        names = ["out"]  # what flows back from an overflow depends on how a rule is written
    return all(equal(one[name], other[name], scenario.tolerance) for name in names)


def equal(one: Value, other: Value, tolerance: float = TOLERANCE) -> bool:
    """Tell whether two values are the same to a tolerance, in the same shape and dtype."""
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        if one.shape != other.shape or one.dtype != other.dtype:
            return False
        if one.tobytes() == other.tobytes():  # mostly they are, and this is soon seen
            return True
        return _equal_numbers(one.astype(float), other.astype(float), tolerance)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(
            equal(a, b, tolerance) for a, b in zip(one, other, strict=True)
        )
    if _is_number(one) and _is_number(other):
        return _equal_numbers(np.array(one), np.array(other), tolerance)
    return type(one) is type(other) and one == other


def _is_number(value: Value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _equal_numbers(one: NDArray[Any], other: NDArray[Any], tolerance: float) -> bool:
    """Compare as the judge does, but for NaN, which here agrees with itself."""
    nan = np.isnan(one)
    if not np.array_equal(nan, np.isnan(other)):
        return False
    return not np.any(differs(one, other, tolerance) & ~nan)
