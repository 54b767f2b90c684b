"""Lists, Markdown and source, on a plain screen and on a terminal."""

import io
import re

import pytest

from autodrill.render import markdown
from autodrill.render.console import Screen
from autodrill.render.lists import show_doctor, show_tracks, show_where

GUIDE = """\
# Title

Some `code` and *words* in a paragraph that is long enough to be wrapped on most screens.

    x = 1

- one
- two
"""


def written(show, *arguments, width=100):
    stream = io.StringIO()
    show(Screen(stream, width), *arguments)
    return stream.getvalue()


class Terminal(io.StringIO):
    """A stream in memory that calls itself a terminal, in an encoding of its own."""

    encoding = "ascii"

    def isatty(self):
        return True


@pytest.fixture
def terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return Terminal()


@pytest.mark.parametrize("width", [100, 40])
def test_tracks_are_listed_with_what_they_are(snapshot, width):
    rows = [
        ("first", "Build an engine, op by op, and train a network with it.", "6 targets"),
        ("second_one", "Type it from memory.", ""),
    ]
    assert written(show_tracks, rows, "autodrill start first", width=width) == snapshot


@pytest.mark.parametrize("width", [100, 20])
def test_a_path_stays_whole(width):
    path = "/home/someone/a folder with spaces/lab/.autodrill/workspace.toml"
    rows = [("workspace", path), ("history", "/h")]
    assert path in written(show_where, rows, width=width)


@pytest.mark.parametrize("width", [100, 40])
def test_the_doctor_says_what_is_missing_and_what_to_do(snapshot, width):
    rows = [
        ("numpy", "2.4.6", "ok", ""),
        ("pytest", "missing", "missing", "`pip install pytest`"),
        ("torch", "not installed; only `check --torch` needs it", "optional", "`pip install …`"),
    ]
    assert written(show_doctor, rows, width=width) == snapshot


def test_the_doctor_says_when_all_is_well():
    assert written(show_doctor, [("numpy", "2.4.6", "ok", "")]).endswith("\n\nall is well\n")


def test_markdown_in_a_pipe_is_what_was_written():
    assert written(markdown.show, GUIDE) == GUIDE


def test_markdown_on_a_terminal_is_rendered_in_signs_that_it_has(terminal):
    markdown.show(Screen(terminal, 40), GUIDE)
    shown = re.sub(r"\x1b\[[\d;]*m", "", terminal.getvalue())
    assert shown.isascii()
    assert shown != terminal.getvalue()
    assert "* one" in shown
    assert "*words*" not in shown


def test_source_in_a_pipe_is_what_was_written():
    assert written(markdown.show_source, "def f():\n    return 1", width=20) == (
        "def f():\n    return 1\n"
    )


def test_source_on_a_terminal_is_highlighted_and_its_lines_stay_whole(terminal):
    source = "def function(argument):\n    return argument + 1  # " + "word " * 20
    markdown.show_source(Screen(terminal, 20), source)
    assert "\x1b[" in terminal.getvalue()
    assert terminal.getvalue().count("\n") == 2
