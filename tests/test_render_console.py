"""Any stream, any encoding, any width: what is written is always readable."""

import os
import re
import subprocess
import sys

import pexpect
import pyte
import pytest

from autodrill.render.console import Screen, encodable

SHOW = """
import sys
import numpy as np
from autodrill.render.check import show
from autodrill.render.console import Screen
from autodrill.results import CheckResult, Example, Failure, TargetResult
failure = Failure(
    "test_log", "fail", "gradient", "your gradient of x is wrong; the forward is right",
    of="x", example=Example("x.grad", {"x": np.ones(1)}), yours=np.array([1.0]),
    expected=np.array([0.5]), output="\\u4e2d \\x1b[31m \\udcff\\n" * 30,
)
passed = TargetResult("one", 1, "title", "pass", 2, 0, 2)
failed = TargetResult("two", 2, "title", "fail", 0, 1, 1, None, (failure,))
todo = TargetResult("three", 3, "title", "todo", 0, 1, 1)
blocked = TargetResult("four", 4, "title", "blocked", 0, 0, 1, "two")
result = CheckResult("lab", "Lab", "exercise.py", "exercise", "fail", 0.4,
                     (passed, failed, todo, blocked))
show(Screen(sys.stdout), result)
"""


def environment(**extra):
    unset = ("NO_COLOR", "COLUMNS", "FORCE_COLOR", "PYTHONIOENCODING", "PYTHONUTF8")
    kept = {name: value for name, value in os.environ.items() if name not in unset}
    return {**kept, "TERM": "xterm-256color", **extra}


def piped(**extra):
    done = subprocess.run(
        [sys.executable, "-c", SHOW], capture_output=True, env=environment(**extra), check=True
    )
    return done.stdout


def on_a_terminal(columns=80, **extra):
    child = pexpect.spawn(
        sys.executable, ["-c", SHOW], env=environment(**extra), dimensions=(60, columns)
    )
    child.expect(pexpect.EOF, timeout=30)
    child.close()
    return child.before


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1", "utf-8", "cp437", "utf-16"])
def test_every_encoding_can_carry_a_check(encoding):
    shown = piped(PYTHONIOENCODING=encoding).decode(encoding)
    assert "1 one 2" in shown
    assert "your gradient of x is wrong" in shown


def test_ascii_has_signs_of_its_own():
    shown = piped(PYTHONIOENCODING="ascii").decode("ascii")
    assert "ok 1 one 2   x 2 two 0/1   .. 3 three todo   . 4 four" in shown
    assert "lab . exercise.py" in shown
    assert r"| \u4e2d \x1b[31m \udcff" in shown


def test_cp1252_keeps_the_signs_that_it_has():
    shown = piped(PYTHONIOENCODING="cp1252").decode("cp1252")
    assert "ok 1 one 2   x 2 two 0/1   … 3 three todo   · 4 four" in shown


def test_a_pipe_gets_no_escapes():
    assert b"\x1b" not in piped()
    assert b"\x1b" not in piped(FORCE_COLOR="1")


@pytest.mark.parametrize("setting", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {"TERM": "unknown"}])
def test_a_terminal_without_colour_gets_no_escapes(setting):
    shown = on_a_terminal(**setting)
    assert b"\x1b" not in shown
    assert "✗ 2 two" in shown.decode()


def test_a_terminal_gets_colours_and_the_same_text():
    shown = on_a_terminal().decode()
    assert "\x1b[" in shown
    without = re.sub(r"\x1b\[[\d;]*m", "", shown).replace("\r\n", "\n")
    assert without == piped(COLUMNS="80").decode()


@pytest.mark.parametrize("columns", [20, 40, 60, 132])
def test_a_terminal_is_filled_to_its_width(columns):
    terminal = pyte.Screen(columns, 200)
    pyte.ByteStream(terminal).feed(on_a_terminal(columns))
    shown = [line.rstrip() for line in terminal.display]
    assert any("✗ 2 two 0/1" in line for line in shown)
    assert max(map(len, shown)) <= min(columns, 100)


def test_the_width_is_looked_up_at_every_write(monkeypatch, capsys):
    screen = Screen(sys.stdout)
    monkeypatch.setenv("COLUMNS", "40")
    assert screen.width == 40
    monkeypatch.setenv("COLUMNS", "70")
    assert screen.width == 70
    monkeypatch.setenv("COLUMNS", "300")
    assert screen.width == 100


def test_an_unknown_encoding_counts_as_ascii():
    assert encodable("✓ ✗", "no-such-encoding") == "ok x"


def test_plain_output_needs_no_rich():
    done = subprocess.run(
        [sys.executable, "-c", f"{SHOW}\nassert not [m for m in sys.modules if 'rich' in m]"],
        capture_output=True,
        env=environment(),
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()


def test_a_green_check_needs_no_numpy():
    code = "import sys, autodrill.render.check, autodrill.render.console; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"rich", "numpy"} & set(loaded)
