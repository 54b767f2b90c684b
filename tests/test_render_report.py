"""A check as JSON: the schema that editors and scripts rely on."""

import json
import subprocess
import sys

import numpy as np

from autodrill.render.report import check, dumps
from autodrill.results import (
    CheckResult,
    Diagnosis,
    Example,
    Failure,
    Problem,
    TargetResult,
)

FAILURE = Failure(
    test="test_matmul[2,3,4 @ 4,5]",
    verdict="fail",
    what="gradient",
    message="your gradient of B is wrong; the forward is right",
    symbol="Tensor.__matmul__",
    of="B",
    trace=("line 3, in vjp: return g",),
    example=Example("B.grad", {"A": np.array([[[1.0]], [[2.0]]])}, np.array([[[1.0]], [[2.0]]])),
    yours=np.array([[np.nan, np.inf, -np.inf, 4.0]]),
    expected=np.array([[5.0, 5.0, 5.0, 5.0]]),
    finite_differences=np.array([[5.0, 5.0, 5.0, 5.0]]),
    max_abs_diff=float("nan"),
    diagnosis=Diagnosis("last-batch-only", "the last batch only", "why", "sum it", also=("other",)),
    output="\x1b[31mred",
    warnings=("RuntimeWarning: overflow",),
)


def result(*failures, problem=None):
    target = TargetResult("matmul", 4, "products", "fail", 2, 2, 4, None, failures)
    return CheckResult(
        "lab", "Lab", "exercise.py", "exercise", "fail", 0.41, (target,), (), problem, ("a",)
    )


def failure_as_json(failure):
    return json.loads(dumps(check(result(failure))))["targets"][0]["failures"][0]


def test_a_check_has_the_keys_of_its_schema():
    shown = json.loads(dumps(check(result(FAILURE))))
    (target,) = shown.pop("targets")
    assert shown == {
        "schema": "autodrill.check/1",
        "track": "lab",
        "file": "exercise.py",
        "impl": "exercise",
        "verdict": "fail",
        "seconds": 0.41,
        "problem": None,
        "warnings": ["a"],
    }
    target.pop("failures")
    assert target == {
        "id": "matmul",
        "symbol": None,
        "step": 4,
        "verdict": "fail",
        "passed": 2,
        "failed": 2,
        "total": 4,
        "blocked_by": None,
        "measured": [],
    }


def test_a_failure_has_everything_that_is_known_of_it():
    assert failure_as_json(FAILURE) == {
        "test": "test_matmul[2,3,4 @ 4,5]",
        "verdict": "fail",
        "symbol": "Tensor.__matmul__",
        "what": "gradient",
        "of": "B",
        "message": "your gradient of B is wrong; the forward is right",
        "line": None,
        "trace": ["line 3, in vjp: return g"],
        "example": {
            "code": "B.grad",
            "inputs": {"A": {"shape": [2, 1, 1], "values": [[[1.0]], [[2.0]]]}},
            "upstream": {"shape": [2, 1, 1], "values": [[[1.0]], [[2.0]]]},
        },
        "yours": {"shape": [1, 4], "values": [["nan", "inf", "-inf", 4.0]]},
        "expected": {"shape": [1, 4], "values": [[5.0, 5.0, 5.0, 5.0]]},
        "finite_differences": {"shape": [1, 4], "values": [[5.0, 5.0, 5.0, 5.0]]},
        "max_abs_diff": "nan",
        "diagnosis": {
            "bug": "last-batch-only",
            "title": "the last batch only",
            "why": "why",
            "hint": "sum it",
            "confidence": "exact",
            "also": ["other"],
        },
        "output": "\x1b[31mred",
        "warnings": ["RuntimeWarning: overflow"],
    }


def test_what_is_not_known_is_null():
    shown = failure_as_json(Failure("test", "crash", "crash", "crashed"))
    unknown = ("symbol", "of", "line", "example", "yours", "expected", "max_abs_diff", "diagnosis")
    assert [shown[key] for key in unknown] == [None] * len(unknown)


def test_what_is_no_array_is_a_text():
    shown = failure_as_json(Failure("test", "fail", "type", "wrong", yours="Tensor …"))
    assert shown["yours"] == {"text": "Tensor …"}


def test_scalars_integers_and_truths_are_plain_json():
    failure = Failure("t", "fail", "graph", "m", yours=np.array(True), expected=np.array([1, 2]))
    shown = failure_as_json(failure)
    assert shown["yours"] == {"shape": [], "values": True}
    assert shown["expected"] == {"shape": [2], "values": [1, 2]}


def test_an_array_too_large_to_write_is_described():
    failure = Failure("t", "fail", "shape", "m", yours=np.zeros((1000, 1000)))
    assert failure_as_json(failure)["yours"] == {
        "shape": [1000, 1000],
        "values": None,
        "text": "1,000,000 numbers, more than are written out",
    }


def test_a_problem_is_reported_with_its_place():
    problem = Problem("no Python", "close it", 12, 13, "def f(:", output="hello")
    assert check(result(problem=problem))["problem"] == {
        "message": "no Python",
        "hint": "close it",
        "line": 12,
        "column": 13,
    }


def test_the_json_is_ascii_so_that_no_terminal_obeys_it():
    written = dumps(check(result(FAILURE)))
    assert written.isascii()
    assert "\x1b" not in written


def test_the_report_needs_neither_rich_nor_numpy():
    code = "import sys, autodrill.render.report; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"rich", "numpy"} & set(loaded)
