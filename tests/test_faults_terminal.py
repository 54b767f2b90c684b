"""Pipes, terminals, encodings, widths and Ctrl-C (rows 34 to 37 of the faults)."""

import os
import re
import shlex
import signal
import sqlite3
import subprocess
import sys
import time

import pexpect
import psutil
import pytest
from planted import engine, plant

COMMAND = [sys.executable, "-m", "autodrill"]
BIG_GRADIENT = """
x = self.data
return Tensor._make(np.maximum(x, 0.0), (self,), lambda g: (g * 123456.789 * (x > 0),), "relu")
"""
unix = pytest.mark.skipif(os.name != "posix", reason="needs a Unix shell")


def shell(program, line, **environment):
    """Run a line in bash, with `autodrill` in it as `$A`."""
    return subprocess.run(
        ["bash", "-c", line],
        check=False,
        cwd=program.folder,
        env=program.environment(A=shlex.join(COMMAND), **environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
    )


# ---------------------------------------------------------------- 34 pipes


@unix
@pytest.mark.parametrize(
    ("command", "reader"),
    [
        ("check relu", "head -c 1"),
        ("check relu", "true"),
        ("check relu --json", "true"),
        ("hint relu", "true"),
    ],
)
def test_a_reader_that_stops_early_is_met_with_silence(lab01, command, reader):
    plant(lab01, engine(relu=BIG_GRADIENT))
    ran = shell(lab01, f"$A {command} | {reader}; echo ${{PIPESTATUS[0]}}")
    assert ran.stderr == ""
    assert ran.stdout.endswith("1\n" if command.startswith("check") else "0\n")


@unix
def test_a_check_that_nobody_reads_is_in_the_history_all_the_same(lab01):
    shell(lab01, "$A check relu | true", PYTHONUNBUFFERED="1")
    with sqlite3.connect(lab01.home / "history.db") as history:
        assert history.execute("SELECT verdict FROM checks").fetchall() == [("pass",)]
    history.close()


@unix
@pytest.mark.parametrize("streams", [">&-", "<&- >&- 2>&-"])
def test_closed_streams_change_no_exit_code(lab01, streams):
    ran = shell(lab01, f"$A check relu {streams}")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_output_that_can_not_be_written_is_said_to_be_and_no_success(lab01):
    ran = shell(lab01, "$A check relu > /dev/full")
    assert ran.returncode == 3
    assert ran.stderr.startswith("error: the output can't be written: No space left")


def test_without_a_terminal_nothing_is_asked(lab01):
    plant(lab01, engine(relu="return self"))
    ran = lab01.run("show", "relu", stdin="y\n")
    assert ran.code == 2
    assert "add --yes" in ran.err
    assert "?" not in ran.out


# ---------------------------------------------------------------- 35 colour and encodings


def on_a_terminal(program, columns=80, **environment):
    child = pexpect.spawn(
        COMMAND[0],
        [*COMMAND[1:], "check", "relu"],
        cwd=str(program.folder),
        env=program.environment(COLUMNS=None, **environment),
        dimensions=(24, columns),
        encoding="utf-8",
        timeout=60,
    )
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 1
    return child.before


@unix
@pytest.mark.parametrize(
    ("environment", "is_plain"),
    [
        ({"TERM": "xterm-256color"}, False),
        ({"TERM": "xterm-256color", "NO_COLOR": "1"}, True),
        ({"TERM": "dumb"}, True),
    ],
    ids=["a terminal", "NO_COLOR", "TERM=dumb"],
)
def test_escapes_are_written_where_a_terminal_wants_them_alone(lab01, environment, is_plain):
    plant(lab01, engine(relu=BIG_GRADIENT))
    shown = on_a_terminal(lab01, NO_COLOR=environment.pop("NO_COLOR", None), **environment)
    assert ("\x1b" not in shown) == is_plain
    assert "your gradient of x is wrong" in shown


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"PYTHONIOENCODING": "cp1252"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=["ascii", "cp1252", "LC_ALL=C"],
)
def test_an_encoding_without_our_signs_gets_others(lab01, environment):
    plant(lab01, engine(relu=BIG_GRADIENT, top='print("中文 ✓")'))
    ran = lab01.run("check", "relu", **environment)
    assert ran.code == 1
    assert ran.err == ""
    assert "x relu" in ran.out
    assert not set("✗✓…→") & set(ran.out)


# ---------------------------------------------------------------- 36 widths


@pytest.mark.parametrize("columns", [60, 40, 20])
def test_no_number_is_cut_on_a_narrow_screen(lab01, columns):
    plant(lab01, engine(relu=BIG_GRADIENT))
    shown = lab01.run("check", "relu", COLUMNS=str(columns)).out
    table = shown.partition("\n    x.grad\n")[2].partition("\n  also in")[0]
    assert {"123456.8", "1.0", "123455.8"} <= set(re.findall(r"-?\d+\.\d+", table))
    assert "…" not in table
    assert max(map(len, table.splitlines())) <= columns


# ---------------------------------------------------------------- 37 Ctrl-C


def heed_ctrl_c():
    """Undo what a shell does to a job in the background, in which these tests may run."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@unix
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM"])
def test_ctrl_c_ends_a_check_that_hangs_and_its_worker(lab01, name):
    started = lab01.folder / "started"
    note = f"open({str(started)!r}, 'a').write(str(os.getpid()) + ' ')"
    sleep = "subprocess.Popen(['sleep', '600'], start_new_session=True).pid"
    body = f"import os, subprocess\n{note.replace('os.getpid()', sleep)}\n{note}\nwhile True: pass"
    plant(lab01, engine(relu=body))
    grader = subprocess.Popen(
        [*COMMAND, "check", "relu"],
        cwd=lab01.folder,
        env=lab01.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_ctrl_c,  # noqa: PLW1509 - there are no threads here
    )
    wait_until(lambda: started.exists() and len(started.read_text().split()) == 2)
    grader.send_signal(getattr(signal, name))
    out, err = grader.communicate(timeout=30)
    assert (grader.returncode, out, err.strip()) == (130, "", "")
    pids = [int(one) for one in started.read_text().split()]
    try:
        wait_until(lambda: not any(map(psutil.pid_exists, pids)), seconds=2)
    finally:
        for pid in filter(psutil.pid_exists, pids):
            psutil.Process(pid).kill()


@unix
def test_ctrl_c_while_it_starts_is_no_traceback(lab01):
    grader = subprocess.Popen(
        [*COMMAND, "check"],
        cwd=lab01.folder,
        env=lab01.environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=heed_ctrl_c,  # noqa: PLW1509 - there are no threads here
    )
    wait_until(lambda: psutil.Process(grader.pid).children())
    workers = psutil.Process(grader.pid).children()
    grader.send_signal(signal.SIGINT)
    _, err = grader.communicate(timeout=60)
    assert (grader.returncode, err.strip()) == (130, "")
    _, alive = psutil.wait_procs(workers, timeout=2)
    assert not alive


@unix
def test_a_closed_terminal_gives_up_no_timed_attempt(autodrill):
    autodrill.run("start", "retype")
    autodrill.folder = autodrill.folder / "retype"
    timed = subprocess.Popen(
        [*COMMAND, "time", "unbroadcast"],
        cwd=autodrill.folder,
        env=autodrill.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    timed.stdout.readline()
    timed.send_signal(signal.SIGHUP)
    out, err = timed.communicate(timeout=30)
    assert (timed.returncode, err.strip()) == (130, "")
    assert "given up" not in out
    assert autodrill.run("history", "show", "1", "--json").json["attempt"]["state"] == "open"


def wait_until(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.02)
