"""Faults planted in a learner's file: lab01's reference with some bodies replaced."""

import ast
import textwrap

from conftest import ROOT

REFERENCE = (ROOT / "reference" / "lab01.py").read_text(encoding="utf-8")
RIGHT_RELU = """
x = self.data
return Tensor._make(np.maximum(x, 0.0), (self,), lambda g: (g * (x > 0),), "relu")
"""


def engine(*, top="", **bodies):
    """Return the reference with the bodies of some functions replaced, and `top` on top."""
    lines = REFERENCE.splitlines(keepends=True)
    functions = [one for one in ast.walk(ast.parse(REFERENCE)) if isinstance(one, ast.FunctionDef)]
    places = {one.name: one for one in reversed(functions)}  # the first of a name: Tensor's
    for name in sorted(bodies, key=lambda name: -places[name].lineno):
        node = places[name]
        body = textwrap.dedent(bodies[name]).strip("\n") + "\n"
        indent = " " * (node.col_offset + 4)
        lines[node.body[0].lineno - 1 : node.end_lineno] = [textwrap.indent(body, indent)]
    first = "from __future__ import annotations\n"
    return "".join(lines).replace(first, f"{first}{textwrap.dedent(top).strip()}\n", 1)


def plant(program, text):
    """Write the learner's file."""
    path = program.folder / "exercise.py"
    path.write_bytes(text if isinstance(text, bytes) else text.encode("utf-8"))


def grade(program, *, top="", also=(), environment=None, **bodies):
    """Plant some bodies, grade the functions they are in, and return the JSON of the check."""
    plant(program, engine(top=top, **bodies))
    ran = program.check(*bodies, *also, **(environment or {}))
    assert ran.code == (0 if ran.json["verdict"] == "pass" else 1), ran
    return ran.json


def failures(result):
    """Return each function's first failure, in the order in which they were named."""
    return [(one["failures"] or [None])[0] for one in result["targets"]]


def line_of(program, mark):
    """Return the number of the line of the learner's file that holds a mark."""
    text = (program.folder / "exercise.py").read_text(encoding="utf-8")
    found = [number for number, line in enumerate(text.splitlines(), 1) if mark in line]
    assert len(found) == 1, found
    return found[0]
