"""Expressions: what they may be made of, and that they are computed as Python would."""

import numpy as np
import pytest

from autodrill.cases.expression import evaluate
from autodrill.cases.grammar import check, operations
from autodrill.catalog import load_track
from autodrill.engines.reference import reference_engine
from autodrill.errors import AutodrillError

TRACK = load_track("lab01")
KNOWN = operations(TRACK.reference.read_text())
X, W = np.array([[1.0, -2.0], [3.0, 0.5]]), np.array([[2.0, 1.0], [-1.0, 4.0]])


@pytest.mark.parametrize(
    "text",
    [
        "x",
        "-x + 2 - w * 3 / (x*x + 1)",
        "x @ w",
        "2 * 3 * x ** -2",
        "-(2 * 3) * x",
        "[[1, 2], [3, 4]] - x",
        "x.T @ w.transpose(1, 0)",
        "x.sum(axis=(0, 1), keepdims=True)",
        "x.reshape(-1)[1:3]",
        "x[[0, 0, 1], 1] + x[..., 0].mean()",
        "cross_entropy(x, [0, 1])",
        "h = x @ w; g = h * h; (g + h).tanh()",
    ],
)
def test_an_expression_gives_what_python_gives(text):
    lib = reference_engine(TRACK).lib
    assert set(check(text, KNOWN, ["x", "w"])) <= {"x", "w"}
    names = {"x": lib.Tensor(X), "w": lib.Tensor(W)}
    space = {**vars(lib), **names}
    *first, last = text.split("; ")
    for one in first:
        exec(one, space)
    expected = eval(last, space)
    assert np.array_equal(evaluate(text, lib, names).data, np.asarray(expected.data))


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("x + y", 5, "`y` has no value"),
        ("x.reluu()", 2, "no `.reluu()`"),
        ("x * softplus(w)", 5, "no `softplus()`"),
        ("x ** w", 6, "exponent has to be a number"),
        ("x // 2", 1, "no such operator"),
        ("x if w else 1", 1, "is no part of an expression"),
        ("[i for i in x]", 1, "is no part of an expression"),
        ("x.data", 2, "no `.data`"),
        ("x.__class__", 2, "no `.__class__`"),
        ("x.backward()", 2, "no `.backward()`"),
        ("__import__('os')", 1, "no `__import__()`"),
        ("x.sum(axis=open)", 12, "`open` has no value"),
        ("x.sum(**w)", 1, "no part of an expression"),
        ("x[w]", 3, "whole numbers"),
        ("x + 'a'", 5, "no number"),
        ("x + True", 5, "no number"),
        ("x + [[1], [2, 3]]", 5, "rows of one length"),
        ("9 ** 9 ** 9 * x", 1, "can't be computed"),
        ("1 / 0 * x", 1, "can't be computed"),
        ("(x + ", 1, "was never closed"),
        ("x = 2; x", 1, "has a value already"),
        ("h = x; import os", 8, "has to be what is computed"),
        ("ü + x", 1, "`ü` has no value"),
        ("x + (ü := w)", 6, "is no part of an expression"),
        ("relu", 1, "`relu` has no value"),
        ("cross_entropy", 1, "is a function"),
    ],
)
def test_what_is_no_expression_is_explained_with_its_column(text, column, words):
    with pytest.raises(AutodrillError) as caught:
        check(text, KNOWN, ["x", "w"])
    assert f"column {column} of the expression" in caught.value.message
    assert words in caught.value.message


@pytest.mark.parametrize(
    "text", ["", "1 + 2", "+".join(["x"] * 500), "(" * 5000 + "x" + ")" * 5000, "\0"]
)
def test_an_empty_a_constant_and_an_endless_one_are_refused(text):
    with pytest.raises(AutodrillError):
        check(text, KNOWN, ["x"])


def test_a_misspelt_operation_gets_the_nearest():
    with pytest.raises(AutodrillError) as caught:
        check("x.tan()", KNOWN, ["x"])
    assert "`.tanh()`" in caught.value.hint
