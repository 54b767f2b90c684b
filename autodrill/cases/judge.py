"""Judge an outcome against the reference's: the first thing that is wrong, in one sentence.

The order is fixed: an end of the process, an exception, the forward, then each gradient;
and of every value first its type, then its dtype, its shape and its numbers. So a wrong
forward is never reported as a wrong gradient.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autodrill.cases.outcome import NO_TENSOR, Odd, Outcome, Raised, Value
from autodrill.cases.scenario import TOLERANCE, Case, Scenario

Array = NDArray[Any]

_FLOOR = 1e-12


@dataclass(frozen=True)
class Mismatch:
    """The first thing that is wrong with an outcome (`verdict` and `what` as in `results`)."""

    verdict: str
    what: str
    of: str | None
    message: str
    line: int | None = None
    yours: Value = None
    expected: Value = None


def judge(
    scenario: Scenario, outcome: Outcome, expected: Outcome | None, *, strict: bool = False
) -> Mismatch | None:
    """Return the first mismatch between an outcome and the reference's, or None.

    `expected` is None where the scenario judges its own values. `strict` also demands that
    inputs are left as they were and that no result shares memory or is read-only.
    """
    if outcome.ended is not None:
        ended = outcome.ended
        verdict = "timeout" if ended.how == "hang" else "crash"
        what = "hang" if ended.how == "hang" else "crash"
        return Mismatch(verdict, what, None, ended.message, ended.line)
    if outcome.raised is not None:
        return _judge_raised(scenario, outcome.raised)
    if scenario.raises is not None:
        message = scenario.says.get("raises", f"no error was raised; {scenario.raises} is due")
        return Mismatch("fail", "not-raised", None, message)
    if scenario.judge is not None:
        for name, sentence in scenario.judge(outcome.values):
            return Mismatch("fail", scenario.what, name, sentence, yours=outcome.values.get(name))
    if expected is not None:
        for name, value in expected.values.items():
            mismatch = _judge_value(scenario, name, outcome.values.get(name), value)
            if mismatch is not None:
                return mismatch
    return _judge_memory(outcome) if strict else None


def todo_symbol(raised: Raised) -> str | None:
    """Return what a stub's NotImplementedError says is missing, or None if it is no stub."""
    if "NotImplementedError" not in raised.classes:
        return None
    _, found, name = raised.message.partition(": implement ")
    return name if found else (raised.frames[-1].function if raised.frames else "a function")


def differs(yours: Array, expected: Array, tolerance: float = TOLERANCE) -> NDArray[np.bool_]:
    """Mark the entries that are wrong: off by more than the tolerance, or NaN.

    The bound of an entry is `tolerance` times its own size plus `tolerance` times the
    largest size in `expected`, so that an entry near zero is not let through by an absolute bound
    nor failed for a sum taken in another order. Equal infinities agree; NaN never does.
    """
    unequal = np.asarray(yours != expected)
    if expected.dtype.kind == "b" or not unequal.any():  # mostly nothing is off at all
        return unequal
    with np.errstate(all="ignore"):
        finite = np.abs(expected[np.isfinite(expected)])
        scale = float(finite.max()) if finite.size else 0.0
        bound = tolerance * (np.abs(expected) + scale) + _FLOOR
        close = np.isfinite(expected) & (np.abs(yours - expected) <= bound)
        right: NDArray[np.bool_] = close | (np.isinf(expected) & (yours == expected))
        return ~right


def _judge_raised(scenario: Scenario, raised: Raised) -> Mismatch | None:
    line = raised.frames[-1].line if raised.frames else None
    todo = todo_symbol(raised)
    if todo is not None:
        return Mismatch("todo", "missing", todo, f"`{todo}` is not written yet", line)
    if scenario.raises in raised.classes and "RecursionError" not in raised.classes:
        return None
    if scenario.raises is not None and raised.frames:
        message = f"{raised.type} was raised; {scenario.raises} is due"
        return Mismatch("fail", "raised", None, message, line)
    if "SystemExit" in raised.classes:
        return Mismatch("crash", "crash", None, "your file exited (it called sys.exit)", line)
    text = raised.message.strip().splitlines()
    message = f"{raised.type}: {text[0]}" if text else raised.type
    where = {"forward": " in the forward", "backward": " in the backward"}.get(raised.stage, "")
    functions = [frame.function for frame in raised.frames]
    if "RecursionError" in raised.classes and functions and functions[-1] in functions[:-1]:
        message = f"RecursionError: `{functions[-1]}` calls itself too deeply"
    elif "EOFError" in raised.classes and raised.message.startswith("EOF when reading"):
        message = "`input()` needs a keyboard, and a check has none"
    elif "BdbQuit" in raised.classes:
        message = (
            "`breakpoint()` needs a keyboard: run plain `pytest` in place of `autodrill check`"
        )
    return Mismatch("fail", "raised", None, f"{message}{where}", line)


def _judge_value(scenario: Scenario, name: str, yours: Value, expected: Value) -> Mismatch | None:
    label = "the result" if name == "out" else f"`{name}`"
    of = None if name == "out" else name.removesuffix(".grad")

    def wrong(what: str, message: str) -> Mismatch:
        return Mismatch("fail", what, of, message, None, yours, expected)

    if not isinstance(expected, np.ndarray):
        if _plainly_equal(yours, expected):
            return None
        return wrong(scenario.what, scenario.says.get(name) or _unlike(label, yours, expected))
    if yours is None:
        is_gradient = name.endswith(".grad")
        missing = "is still None: no gradient reached it" if is_gradient else "is missing"
        return wrong("gradient" if is_gradient else "missing", f"{label} {missing}")
    if not isinstance(yours, np.ndarray):
        if isinstance(yours, Odd) and yours.text == NO_TENSOR:
            return wrong("type", f"{label} is {_kind(yours)}, not a Tensor")
        label = "the result's data" if name == "out" else label
        return wrong("type", f"{label} is {_kind(yours)}, not a NumPy array")
    if yours.dtype != expected.dtype:
        return wrong("type", f"{label} has dtype {yours.dtype}, not {expected.dtype}")
    if yours.shape != expected.shape:
        says = scenario.says.get(name)
        shapes = f"{label} has shape {yours.shape}, not {expected.shape}"
        return wrong("shape", f"{shapes}: {says}" if says else shapes)
    if not differs(yours, expected, scenario.tolerance).any():
        return None
    if not isinstance(scenario, Case):
        return wrong(scenario.what, scenario.says.get(name) or f"{label} is wrong")
    if name == "out":
        return wrong("forward", "the forward is wrong")
    return wrong("gradient", f"your gradient of {of} is wrong; the forward is right")


def _judge_memory(outcome: Outcome) -> Mismatch | None:
    if outcome.changed:
        return Mismatch("fail", "graph", None, f"`{outcome.changed[0]}` was changed in place")
    if outcome.aliases:
        return Mismatch("fail", "graph", None, f"{outcome.aliases[0]} share the same memory")
    if outcome.readonly:
        return Mismatch("fail", "graph", None, f"`{outcome.readonly[0]}` is a read-only view")
    return None


def _plainly_equal(yours: Value, expected: Value) -> bool:
    if isinstance(yours, np.ndarray) and yours.ndim == 0 and isinstance(expected, float):
        yours = float(yours)  # a NumPy scalar serves where a number is due
    if isinstance(expected, float) and isinstance(yours, (float, int)):
        return math.isclose(yours, expected, rel_tol=TOLERANCE, abs_tol=_FLOOR)
    if isinstance(yours, np.ndarray) or type(yours) is not type(expected):
        return False
    return bool(yours == expected)


def _unlike(label: str, yours: Value, expected: Value) -> str:
    if expected is None:
        return f"{label} should be None but is {_kind(yours)}"
    return f"{label} is {_kind(yours)}, not {expected!r}"


def _kind(value: Value) -> str:
    if isinstance(value, Odd):
        name = value.type
    elif isinstance(value, np.ndarray):
        name = f"array of shape {value.shape}"
    elif value is None or isinstance(value, bool):
        return repr(value)
    elif isinstance(value, (int, float)):
        return f"the number {value!r}"
    else:
        name = type(value).__name__
    if name == "NoneType":
        return "None"
    return f"an {name}" if name[:1].lower() in "aeiou" or name == "ndarray" else f"a {name}"
