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
        "problem": problem(result.problem) if result.problem else None,
        "warnings": list(result.warnings),
        "targets": [_target(one) for one in result.targets],
    }


def dumps(value: Json) -> str:
    """Write a JSON object in ASCII, so that any stream takes it and no terminal obeys it."""
    return json.dumps(value, allow_nan=False, indent=2)


def problem(found: Problem) -> Json:
    """Return why a file could not be used."""
    return {
        "message": found.message,
        "hint": found.hint,
        "line": found.line,
        "column": found.column,
    }


def _target(target: TargetResult) -> Json:
    return {
        "id": target.id,
        "symbol": target.symbol,
        "step": target.step,
        "verdict": target.verdict,
        "passed": target.passed,
        "failed": target.failed,
        "total": target.total,
        "blocked_by": target.blocked_by,
        "failures": [failure(one) for one in target.failures],
        "measured": [
            {"label": one.label, "bytes": one.bytes, "share": one.share} for one in target.measured
        ],
    }


def failure(found: Failure) -> Json:
    """Return what is wrong, with the example that shows it."""
    return {
        "test": found.test,
        "verdict": found.verdict,
        "symbol": found.symbol,
        "what": found.what,
        "of": found.of,
        "message": found.message,
        "line": found.line,
        "trace": list(found.trace),
        "example": _example(found.example) if found.example else None,
        "yours": value(found.yours),
        "expected": value(found.expected),
        "finite_differences": value(found.finite_differences),
        "max_abs_diff": None if found.max_abs_diff is None else number(found.max_abs_diff),
        "diagnosis": _diagnosis(found.diagnosis) if found.diagnosis else None,
        "output": found.output,
        "warnings": list(found.warnings),
    }


def _example(example: Example) -> Json:
    return {
        "code": example.code,
        "inputs": {name: value(array) for name, array in example.inputs.items()},
        "upstream": value(example.upstream),
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


def value(found: Array | str | None) -> Json | None:
    """Return an array as its shape and its numbers, anything else as a text."""
    if found is None:
        return None
    if isinstance(found, str):
        return {"text": found}
    if found.size > _MOST_NUMBERS:
        text = f"{found.size:,} numbers, more than are written out"
        return {"shape": list(found.shape), "values": None, "text": text}
    return {"shape": list(found.shape), "values": _nested(found.tolist())}


def _nested(values: Any) -> Any:
    return [_nested(one) for one in values] if isinstance(values, list) else number(values)


def number(found: float) -> float | str:
    """Return a number, as a string where JSON lacks it."""
    return found if math.isfinite(found) else str(float(found))
