"""`autodrill watch` in a real pseudo-terminal, with files saved as editors save them."""

import os
import signal
import time

import pexpect
import psutil
import pytest
from conftest import ROOT
from terminal import Terminal

LAB01 = (ROOT / "reference" / "lab01.py").read_text()
BROKEN = LAB01.replace("y = np.tanh(self.data)", "y = np.sinh(self.data)")


@pytest.fixture
def watching(lab01):
    import sys

    opened = []

    def start(*arguments, size=(30, 100)):
        environment = lab01.environment(TERM="xterm-256color", COLUMNS=None)
        command = [sys.executable, "-m", "autodrill", "watch", *arguments]
        opened.append(Terminal(command, lab01.folder, environment, size))
        return opened[-1]

    start.file = lab01.folder / "exercise.py"
    start.lab01 = lab01
    yield start
    for one in opened:
        one.close()


def replace(file, text):
    """Save as many editors do: write a new file and rename it over the old one."""
    beside = file.with_name(".exercise.py.swp")
    beside.write_text(text)
    os.replace(beside, file)


def test_every_save_gets_a_verdict_and_a_green_target_is_said(watching):
    watching.file.write_text(BROKEN)
    terminal = watching()
    terminal.shows("elementwise", "the forward is wrong", "Ctrl-C stops")
    replace(watching.file, LAB01)
    terminal.shows("elementwise turned green", "6 of 6 targets green")


def test_a_target_can_be_watched_alone(watching):
    terminal = watching("matmul")
    terminal.shows("matmul is green")
    watching.file.write_text(LAB01.replace("return da, db", "return db, da"))
    terminal.shows("matmul", "✗")


def test_a_burst_of_saves_ends_with_the_verdict_on_the_last(watching):
    terminal = watching("tanh")
    terminal.shows("is green")
    for i in range(10):
        replace(watching.file, (BROKEN if i % 2 == 0 else LAB01) + f"# {i}\n")
    terminal.shows("is green")
    time.sleep(1)
    terminal.take()
    assert "is green" in terminal.text


def test_a_file_that_is_truncated_before_it_is_written_is_graded_whole(watching):
    terminal = watching("tanh")
    terminal.shows("is green")
    with open(watching.file, "w") as stream:
        time.sleep(0.03)
        stream.write(BROKEN)
    terminal.shows("the forward is wrong")


def test_other_files_beside_it_start_nothing(watching):
    terminal = watching("tanh")
    terminal.shows("is green")
    before = terminal.text
    for name in ("exercise.py~", ".#exercise.py", "4913", "notes.txt"):
        (watching.file.parent / name).write_text("x")
    time.sleep(1)
    terminal.take()
    assert terminal.text == before


def test_a_file_that_goes_away_is_waited_for(watching):
    terminal = watching("tanh")
    terminal.shows("is green")
    away = watching.file.with_name("away.py")
    watching.file.rename(away)
    terminal.shows("exercise.py is gone; waiting")
    away.rename(watching.file)
    terminal.shows("is green")


def test_an_engine_that_raises_keyboard_interrupt_does_not_end_it(watching):
    terminal = watching("tanh")
    terminal.shows("is green")
    watching.file.write_text(BROKEN.replace("y = np.sinh(self.data)", "raise KeyboardInterrupt"))
    terminal.shows("KeyboardInterrupt")
    watching.file.write_text(LAB01)
    terminal.shows("is green")


def test_ctrl_c_ends_it_with_130_and_leaves_nothing_behind(watching):
    terminal = watching("tanh")
    terminal.shows("is green")
    children = psutil.Process(terminal.child.pid).children(recursive=True)
    terminal.child.sendintr()
    terminal.child.expect(pexpect.EOF)
    terminal.child.wait()
    assert terminal.child.exitstatus == 130
    _, alive = psutil.wait_procs(children, timeout=5)
    assert alive == []


def test_a_standby_worker_that_has_died_is_replaced(watching):
    terminal = watching("tanh")
    terminal.shows("is green")
    time.sleep(1)
    workers = psutil.Process(terminal.child.pid).children(recursive=True)
    assert workers
    for one in workers:
        one.kill()
    replace(watching.file, BROKEN)
    terminal.shows("the forward is wrong")


def test_looking_without_events_finds_saves_too(watching):
    terminal = watching("tanh", "--poll")
    terminal.shows("is green")
    watching.file.write_text(BROKEN)
    terminal.shows("the forward is wrong")


def test_at_sixty_columns_nothing_is_cut(watching):
    watching.file.write_text(BROKEN)
    terminal = watching("tanh", size=(40, 60))
    terminal.shows("yours", "expected", "difference")


def test_in_a_pipe_there_is_one_object_a_save(watching):
    import json
    import subprocess
    import sys

    lab01 = watching.lab01
    process = subprocess.Popen(
        [sys.executable, "-m", "autodrill", "watch", "tanh", "--json"],
        cwd=lab01.folder,
        env=lab01.environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert json.loads(process.stdout.readline())["verdict"] == "pass"
        watching.file.write_text(BROKEN)
        assert json.loads(process.stdout.readline())["verdict"] == "fail"
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 130
        process.stdout.close()
