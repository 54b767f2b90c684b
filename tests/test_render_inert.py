"""Text of the learner's is shown and never obeyed."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autodrill.render.inert import inert, inert_lines


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", r"\x1b[31mred\x1b[0m"),
        ("\x9b31m", r"\x9b31m"),
        ("a\rb\x08\x07\x00", r"a\rb\x08\x07\x00"),
        ("\u202etxt.exe\u2066", r"\u202etxt.exe\u2066"),
        ("zero\u200bwidth\ufeff", r"zero\u200bwidth\ufeff"),
        ("no\u00a0break", r"no\xa0break"),
        ("one\u2028line", r"one\u2028line"),
        ("\udcff", r"\udcff"),
        ("::error file=x::bad", r"\x3a:error file=x::bad"),
        ("  ::warning::bad", r"  \x3a:warning::bad"),
        ("see ::notice::", r"see \x3a:notice::"),
        ("##[error]bad", r"#\x23[error]bad"),
        ("x ##vso[task.complete]", r"x #\x23vso[task.complete]"),
    ],
)
def test_what_would_act_is_shown(text, shown):
    assert inert(text) == shown


@pytest.mark.parametrize(
    "text",
    ["x[::2] and y[::-1]", "[bold]text[/bold]", "naïve 中文 ✓", r"a\nb", "# a ## b", ":smile:"],
)
def test_ordinary_text_stays_as_it_is(text):
    assert inert(text) == text


def test_tabs_become_spaces():
    assert inert("\tx") == "    x"


@settings(deadline=None)
@given(st.text())
def test_nothing_but_printable_text_is_left(text):
    assert inert(text).isprintable()


def test_lines_are_split_at_line_ends_only():
    assert inert_lines("one\r\ntwo\x0cthree\n\n") == ["one", r"two\x0cthree"]


def test_the_end_of_a_long_line_is_counted():
    assert inert_lines("x" * 1500) == ["x" * 500 + "… (1,000 more characters)"]
