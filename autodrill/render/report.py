"""A check as JSON, for editors and scripts: the same facts as on the screen, and all of them."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from autodrill.results import (
        CheckResult,
        Diagnosis,
        Example,
        Failure,
        Problem,
        TargetResult,
    )

    Array = NDArray[Any]
    Json = dict[str, Any]

SCHEMA = "autodrill.check/1"
_MOST_NUMBERS = 100_000
"""An array with more is described by its shape alone."""


def check(result: CheckResult) -> Json:
    """Turn a check into a JSON object of the schema `autodrill.check/1`.

    Numbers that JSON lacks are the strings "nan", "inf" and "-inf". An array is
    `{"shape": [...], "values": [...]}`, anything else that came back `{"text": "..."}`.
    """
    return {
        "schema": SCHEMA,
        "track": result.track,
        "file": result.file,
        "impl": result.impl,
        "verdict": result.verdict,
        "seconds": result.seconds,
        "problem": _problem(result.problem) if result.problem else None,
        "warnings": list(result.warnings),
        "targets": [_target(one) for one in result.targets],
    }


def dumps(value: Json) -> str:
    """Write a JSON object in ASCII, so that any stream takes it and no terminal obeys it."""
    return json.dumps(value, allow_nan=False, indent=2)


def _problem(problem: Problem) -> Json:
    return {
        "message": problem.message,
        "hint": problem.hint,
        "line": problem.line,
        "column": problem.column,
    }


def _target(target: TargetResult) -> Json:
    return {
        "id": target.id,
        "step": target.step,
        "verdict": target.verdict,
        "passed": target.passed,
        "failed": target.failed,
        "total": target.total,
        "blocked_by": target.blocked_by,
        "failures": [_failure(one) for one in target.failures],
        "measured": [
            {"label": one.label, "bytes": one.bytes, "share": one.share} for one in target.measured
        ],
    }


def _failure(failure: Failure) -> Json:
    return {
        "test": failure.test,
        "verdict": failure.verdict,
        "symbol": failure.symbol,
        "what": failure.what,
        "of": failure.of,
        "message": failure.message,
        "line": failure.line,
        "trace": list(failure.trace),
        "example": _example(failure.example) if failure.example else None,
        "yours": _value(failure.yours),
        "expected": _value(failure.expected),
        "finite_differences": _value(failure.finite_differences),
        "max_abs_diff": None if failure.max_abs_diff is None else _number(failure.max_abs_diff),
        "diagnosis": _diagnosis(failure.diagnosis) if failure.diagnosis else None,
        "output": failure.output,
        "warnings": list(failure.warnings),
    }


def _example(example: Example) -> Json:
    return {
        "code": example.code,
        "inputs": {name: _value(array) for name, array in example.inputs.items()},
        "upstream": _value(example.upstream),
    }


def _diagnosis(diagnosis: Diagnosis) -> Json:
    return {
        "bug": diagnosis.bug,
        "title": diagnosis.title,
        "why": diagnosis.why,
        "hint": diagnosis.hint,
        "confidence": diagnosis.confidence,
        "also": list(diagnosis.also),
    }


def _value(value: Array | str | None) -> Json | None:
    if value is None:
        return None
    if isinstance(value, str):
        return {"text": value}
    if value.size > _MOST_NUMBERS:
        text = f"{value.size:,} numbers, more than are written out"
        return {"shape": list(value.shape), "values": None, "text": text}
    return {"shape": list(value.shape), "values": _nested(value.tolist())}


def _nested(values: Any) -> Any:
    return [_nested(one) for one in values] if isinstance(values, list) else _number(values)


def _number(value: float) -> float | str:
    return value if math.isfinite(value) else str(float(value))
