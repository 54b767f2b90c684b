"""One failure as plain text, which is what plain pytest prints."""

import numpy as np

from autodrill.render.failure import text
from autodrill.results import Diagnosis, Example, Failure


def failure(**more):
    given = {
        "test": "test_log",
        "verdict": "fail",
        "what": "gradient",
        "message": "your gradient of x is wrong; the forward is right",
        "of": "x",
    }
    return Failure(**(given | more))


def test_plain_pytest_gets_the_whole_explanation(snapshot):
    shown = failure(
        example=Example("x = Tensor([2.])\nx.log().backward([1.])\nx.grad", {"x": np.ones(1)}),
        yours=np.array([1.0]),
        expected=np.array([0.5]),
        finite_differences=np.array([0.4999999998]),
        diagnosis=Diagnosis(
            "pattern-doubled", "doubled", "every entry is twice what it should be", "", "pattern"
        ),
    )
    assert text(shown) == snapshot


def test_what_is_not_written_yet_is_one_sentence_and_a_line():
    todo = failure(verdict="todo", what="missing", message="`log` is not written yet", line=7)
    assert text(todo) == "… test_log\n  `log` is not written yet\n  at line 7 of your file"


def test_a_line_that_the_message_names_is_not_said_again():
    hang = failure(verdict="timeout", what="hang", message="it was at line 63", line=63)
    assert "of your file" not in text(hang)


def test_a_line_is_said_where_the_message_names_a_longer_number():
    crash = failure(verdict="crash", what="crash", message="crashed near line 63", line=6)
    assert "at line 6 of your file" in text(crash)


def test_a_missing_symbol_has_no_example_to_run():
    example = Example("(A @ B).data", {"A": np.ones(1)})
    missing = failure(what="missing", message="`Tensor.__matmul__` is missing", example=example)
    assert "A @ B" not in text(missing)


def test_what_was_not_made_smaller_is_not_called_the_smallest():
    example = Example("x.log()", {"x": np.ones(1)})
    hang = failure(verdict="timeout", what="hang", message="no end", example=example)
    assert "what was run" in text(hang)
    assert "smallest" not in text(hang)


def test_bugs_that_fit_as_well_are_named():
    shown = failure(diagnosis=Diagnosis("one", "the first", "why", also=("two", "three")))
    assert "what also fits: two, three" in text(shown)


def test_names_and_messages_of_the_learners_are_inert():
    shown = text(
        failure(
            test="test_x[\x1b[2J]",
            message="Value\x07Error: \x1b]0;title\x07",
            trace=("line 1, in f\x1b[31m: x = '\u202e'",),
            diagnosis=Diagnosis("b", "\x1b[5m", "\x1b[6m"),
            warnings=("\x1b[7m",),
        )
    )
    assert shown.replace("\n", "").isprintable()
