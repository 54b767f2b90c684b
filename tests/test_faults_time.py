"""`autodrill time` killed, on a full disk, stopped, with a clock that is set, on narrow screens.

Rows 28, 29, 31 to 33, 36, 38 and 42 of the faults, as far as they concern timed attempts.
"""

import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time

import pytest
from test_faults_workspace import linux, run_on_a_full_disk, run_without_privilege, unix
from timed import RETYPE, TARGETS, WRONG, InAPipe, attempt, save

from autodrill.catalog import load_track
from autodrill.render.times import clock, figure
from autodrill.workspace import stub_source


def rows(retype, query):
    """Ask the history, as a program that knows nothing of ours."""
    history = sqlite3.connect(retype.home / "history.db")
    try:
        return history.execute(query).fetchall()
    finally:
        history.close()


# ---------------------------------------------------------------- 28 SIGKILL

KILLS = 10

KILL_AT = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int left = 0;
static pid_t own = 0;

static void step(void) {
    if (!own) { own = getpid(); left = atoi(getenv("KILL_AT")); }
    if (getpid() == own && --left == 0) kill(own, SIGKILL);
}

#define REAL(name) (step(), (__typeof__(&name))dlsym(RTLD_NEXT, #name))
ssize_t pwrite64(int f, const void *b, size_t n, off64_t o) { return REAL(pwrite64)(f, b, n, o); }
int mkdir(const char *a, mode_t mode) { return REAL(mkdir)(a, mode); }
int rename(const char *a, const char *b) { return REAL(rename)(a, b); }
int link(const char *a, const char *b) { return REAL(link)(a, b); }
int unlink(const char *a) { return REAL(unlink)(a); }
int fsync(int f) { return REAL(fsync)(f); }
int fdatasync(int f) { return REAL(fdatasync)(f); }
"""
"""Kills a process as it is about to write for the n-th time: to the history or elsewhere."""


@unix
def test_a_kill_at_any_moment_leaves_an_attempt_whole_or_none(retype, tmp_path):
    """Half the kills come at a random time, half at a random write."""
    file = retype.folder / "attempts" / "autograd.py"
    track = load_track("retype")
    texts = {stub_source(track, track.target(one).symbols).encode() for one in TARGETS}
    seed = time.time_ns()
    print(f"the moments are those of seed {seed}")
    moments = random.Random(seed)
    counts = library(tmp_path, KILL_AT) if shutil.which("cc") and sys.platform == "linux" else None
    for number in range(KILLS):
        if number % 2 and counts is not None:
            write = moments.randint(1, 50 if is_open(retype) else 110)
            run = start(retype, LD_PRELOAD=counts, KILL_AT=str(write))
            play(run, file, texts)
        else:
            run = start(retype)
            timer = threading.Timer(moments.uniform(0.1, 1.2), run.kill)
            timer.start()
            play(run, file, texts)
            timer.join()
        assert_whole(retype, file, texts)
    if is_open(retype) or run.returncode != 0:
        play(start(retype), file, texts)
    assert not is_open(retype)
    seen = attempt(retype, rows(retype, "SELECT max(id) FROM attempts")[0][0])
    assert [one["target"] for one in seen["splits"]] == TARGETS
    assert seen["attempt"]["run_s"] == seen["splits"][-1]["run_s"]


def library(folder, source):
    """Compile what is to be loaded before the C library, and return where it is."""
    (folder / "first.c").write_text(source)
    command = ["cc", "-shared", "-fPIC", "-o", "first.so", "first.c", "-ldl"]
    subprocess.run(command, check=True, cwd=folder)
    return str(folder / "first.so")


def start(retype, **extra):
    """Begin the ladder in a pipe, or go on with it where it is open."""
    return subprocess.Popen(
        [sys.executable, "-m", "autodrill", "time", *(["--resume"] if is_open(retype) else [])],
        cwd=retype.folder,
        env=retype.environment(**extra),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        encoding="utf-8",
    )


def play(run, file, texts):
    """Save what is right whenever a target is asked for, until the ladder or the process ends."""
    for said in run.stdout:
        if "; write `" in said or "next: `" in said:
            text = f"{RETYPE}# {len(texts)}\n"
            texts.add(text.encode())
            save(file, text)
    run.communicate()


def is_open(retype):
    if not (retype.home / "history.db").exists():
        return False
    try:
        return bool(rows(retype, "SELECT 1 FROM attempts WHERE state = 'open'"))
    except sqlite3.OperationalError:  # killed before there was a table
        return False


def assert_whole(retype, file, texts):
    """Nothing is half: neither the file, nor the history, nor what hangs together in it."""
    if file.exists():
        assert file.read_bytes() in texts
    if not is_open(retype):
        return
    assert rows(retype, "PRAGMA integrity_check") == [("ok",)]
    ((number, target),) = rows(retype, "SELECT id, target FROM attempts WHERE state = 'open'")
    of_it = f"WHERE attempt_id = {number}"
    green = [one for (one,) in rows(retype, f"SELECT target FROM splits {of_it} ORDER BY run_s")]
    assert green == TARGETS[: len(green)]
    assert target == TARGETS[len(green)]
    assert {one for (one,) in rows(retype, "SELECT target FROM cards")} >= set(green)
    query = f"SELECT target FROM saves {of_it} AND verdict = 'pass' ORDER BY rowid"
    assert [one for (one,) in rows(retype, query)] == green


@unix
def test_a_kill_between_two_targets_makes_nothing_green(retype):
    run = InAPipe(retype)
    file = retype.folder / "attempts" / "autograd.py"
    save(file, RETYPE)
    assert "green" in run.says()
    assert "next: `core`" in run.says()
    run.kill()
    save(file, RETYPE)  # as it stands where the kill came before the fresh file
    again = InAPipe(retype, "--resume")
    assert "write `core`" in again.lines[0]
    assert "core 0/2" in again.says()
    assert file.read_text().count("NotImplementedError") == 3
    save(file, RETYPE)
    assert "put back the last target's file" in again.says()
    again.kill()


def test_after_a_kill_a_terminal_asks_and_enter_loses_nothing(timing):
    killed = timing("core")
    killed.shows("2 core:")
    os.kill(killed.child.pid, signal.SIGKILL)
    killed.child.wait()

    again = timing("unbroadcast")
    again.shows("attempt 1 (`core`) was interrupted", "r resumes it, c closes it [r]")
    again.press("x\r")
    again.press("\r")
    again.shows("2 core:", "h hint")
    again.child.sendintr()
    again.shows("attempt 1 is left open", "autodrill time --resume")
    assert again.ends() == 130

    leaving = timing()
    leaving.shows("r resumes it, c closes it [r]")
    leaving.child.sendeof()
    assert leaving.ends() == 130
    assert attempt(timing.retype)["attempt"]["state"] == "open"

    closing = timing("unbroadcast")
    closing.shows("r resumes it, c closes it [r]")
    closing.press("c\r")
    closing.shows("1 unbroadcast:", "h hint")
    assert attempt(timing.retype)["attempt"]["state"] == "closed"
    assert attempt(timing.retype, 2)["attempt"]["target"] == "unbroadcast"


# ---------------------------------------------------------------- 29 a full disk


@unix
def test_a_disk_too_full_for_the_attempt_file_begins_nothing(retype):
    file = retype.folder / "attempts" / "autograd.py"
    file.parent.mkdir()
    file.write_text("# mine\n")
    ran = run_on_a_full_disk(retype, "time", "core", largest=8192)
    assert ran.returncode == 1
    assert "can't be written: File too large; it is as it was" in ran.stderr
    assert file.read_text() == "# mine\n"
    assert os.listdir(file.parent) == ["autograd.py"]
    assert retype.run("history", "--json").json["attempts"] == []


@linux
def test_a_disk_that_fills_up_costs_the_history_and_no_green_target(retype):
    run = InAPipe(retype, "unbroadcast")
    fill_the_disk_of(run.process)
    save(retype.folder / "attempts" / "autograd.py", RETYPE)
    said = run.rest()
    assert run.process.wait(30) == 0
    assert "progress is not saved" in said
    assert "attempt 1: passed" in said
    assert "attempt 1 at `unbroadcast` was interrupted" in retype.run().out


@linux
def test_a_disk_that_fills_up_in_a_ladder_leaves_the_file_whole_and_says_so(retype):
    run = InAPipe(retype)
    file = retype.folder / "attempts" / "autograd.py"
    fill_the_disk_of(run.process)
    save(file, RETYPE)
    said = run.rest()
    assert run.process.wait(30) == 1
    assert "can't be written: File too large; it is as it was" in said
    assert file.read_text() == RETYPE
    assert os.listdir(file.parent) == ["autograd.py"]


def fill_the_disk_of(process):
    """Let every further write of a process fail as on a full disk does."""
    import resource

    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (4096, 4096))


# ---------------------------------------------------------------- 31 two at once


@unix
def test_two_at_once_without_a_place_for_the_history_have_a_file_each(retype):
    (retype.home.parent / "a_file").write_text("")
    retype.home = retype.home.parent / "a_file" / "home"
    runs = [InAPipe(retype, target) for target in ("unbroadcast", "core")]
    folder = retype.folder / "attempts"
    assert sorted(os.listdir(folder)) == ["autograd.py", "autograd_2.py"]
    for name in os.listdir(folder):
        save(folder / name, RETYPE)
    for run in runs:
        assert "attempt 1: passed" in run.rest()
        assert run.process.wait(30) == 0


# ---------------------------------------------------------------- 32 how editors save


def test_however_an_editor_saves_only_whole_texts_are_graded_and_the_last_one_once(retype):
    file = retype.folder / "attempts" / "autograd.py"
    run = InAPipe(retype, "--full")
    written = [f"{WRONG}# {number}\n" for number in range(12)]
    for beside in ("autograd.py~", ".autograd.py.swp", ".#autograd.py", "4913"):
        (file.parent / beside).write_text("no Python at all (")
    for text in written[:10]:
        save(file, text)
    with file.open("w") as stream:
        time.sleep(0.05)
        stream.write(written[10])
    assert verdict_on(retype, run, written[10]) == 1
    with file.open("w") as stream:
        stream.write(written[11][:5000])
        stream.flush()
        time.sleep(0.005)
        stream.write(written[11][5000:])
    assert verdict_on(retype, run, written[11]) == 1
    run.kill()
    texts = [text_of(retype, one) for one in attempt(retype)["saves"]]
    assert set(texts) <= set(written)


def verdict_on(retype, run, text):
    """Wait until a text was graded and return how often it was."""
    end = time.monotonic() + 30
    while time.monotonic() < end:
        run.says()
        saves = attempt(retype)["saves"]
        if saves and text_of(retype, saves[-1]) == text:
            return [text_of(retype, one) for one in saves].count(text)
    raise AssertionError("the last text was never graded")


def text_of(retype, one):
    return retype.run("history", "show", f"t{one['snapshot']}", "--json").json["text"]


def test_where_no_events_arrive_looking_at_the_file_does(retype):
    run = InAPipe(retype, "unbroadcast", "--poll")
    save(retype.folder / "attempts" / "autograd.py", RETYPE)
    assert "attempt 1: passed" in run.rest()
    assert run.process.wait(30) == 0


# ---------------------------------------------------------------- 33 a file that goes away


def test_a_file_that_goes_away_is_waited_for_and_can_be_had_again(retype):
    file = retype.folder / "attempts" / "autograd.py"
    run = InAPipe(retype, "unbroadcast")
    file.unlink()
    assert "is gone; waiting for it to be back" in run.says()
    save(file, WRONG)
    assert "unbroadcast 0/1" in run.says()
    file.unlink()
    assert "is gone" in run.says()
    run.kill()
    again = InAPipe(retype, "--resume")
    assert file.read_text() == WRONG
    again.kill()


# ---------------------------------------------------------------- 36 narrow screens


def test_no_number_is_cut_at_any_width_nor_after_a_resize(timing):
    terminal = timing(size=(48, 100))
    terminal.shows("1 unbroadcast:")
    save(timing.file, RETYPE)
    terminal.shows("2 core:")
    (split,) = attempt(timing.retype)["splits"]
    for columns in (20, 60, 40, 20, 100):
        terminal.resize(48, columns)
        terminal.shows("2 core", figure(split["took_s"]), "of 44:00", "-4:5", "give up")
        assert "10:00" in terminal.text
        assert f"green at {figure(split['run_s'])}" in " ".join(terminal.text.split())
        head = next(row for row in terminal.text.splitlines() if "of 44:00" in row)
        assert clock(split["run_s"])[:2] in head.split(" of ")[0]


# ---------------------------------------------------------------- 38 a read-only workspace


@linux
def test_a_read_only_workspace_says_why_there_is_no_attempt(retype):
    retype.folder.chmod(0o555)
    try:
        ran = run_without_privilege(retype, "time", "core")
    finally:
        retype.folder.chmod(0o755)
    assert ran.returncode == 1
    assert "can't be made: Permission denied" in ran.stderr
    assert "make the workspace writable" in ran.stderr
    assert retype.run("history", "--json").json["attempts"] == []


# ---------------------------------------------------------------- 42 the clock


@unix
def test_a_stopped_process_counts_since_the_machine_was_awake(timing):
    """A machine can't be put to sleep in a test; that it was asleep is told by unit tests."""
    terminal = timing(command=["bash", "--norc", "--noprofile"])
    terminal.press(f"{sys.executable} -m autodrill time\r")
    terminal.shows("1 unbroadcast:", "p pause")
    first = save(timing.file, RETYPE)
    terminal.shows("2 core:", "p pause")
    terminal.press("\x1a")
    terminal.shows("Stopped")
    assert not terminal.screen.cursor.hidden
    time.sleep(2)
    terminal.press("fg\r")
    time.sleep(0.5)
    terminal.press("p")
    terminal.shows("paused")
    terminal.press("p")
    terminal.shows("p pause")
    second = save(timing.file, f"{RETYPE}# again\n")
    terminal.shows("3 arithmetic:")
    seen = attempt(timing.retype)
    one, two = (split["run_s"] for split in seen["splits"])
    counted = second - first - seen["attempt"]["paused_s"]
    assert two - one == pytest.approx(counted, abs=0.3)
    assert two - one > 2
    assert seen["attempt"]["slept_s"] == 0


SET_CLOCK = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(clock, now);
    if (clock == CLOCK_REALTIME && access(getenv("CLOCK_IS_SET"), F_OK) == 0) now->tv_sec -= 7200;
    return failed;
}
"""


@linux
@pytest.mark.skipif(shutil.which("cc") is None, reason="needs a C compiler")
def test_a_wall_clock_that_is_set_back_changes_no_figure(retype, tmp_path):
    is_set = tmp_path / "is_set"
    set_back = library(tmp_path, SET_CLOCK)
    plain = retype.environment
    retype.environment = lambda **extra: plain(
        **extra | {"LD_PRELOAD": set_back, "CLOCK_IS_SET": str(is_set)}
    )
    run = InAPipe(retype)
    file = retype.folder / "attempts" / "autograd.py"
    first = save(file, RETYPE)
    assert "green" in run.says()
    assert "next: `core`" in run.says()
    is_set.touch()
    time.sleep(1)
    second = save(file, f"{RETYPE}# set back\n")
    assert "core 2/2" in run.says()
    run.process.send_signal(signal.SIGINT)
    run.rest()
    run.process.wait()
    seen = attempt(retype)
    one, two = (split["run_s"] for split in seen["splits"][:2])
    assert two - one == pytest.approx(second - first, abs=0.5)
    assert (seen["attempt"]["slept_s"], seen["attempt"]["paused_s"]) == (0, 0)
    assert seen["attempt"]["beat"] < seen["attempt"]["at"]  # the wall clock was set, so it was
