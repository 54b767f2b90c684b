"""`autodrill time` in a pseudo-terminal and in a pipe: the clock, the splits, the history."""

import json
import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
from timed import RETYPE, TARGETS, WRONG, InAPipe, attempt, save


def test_a_ladder_is_played_from_its_first_split_to_its_last(timing):
    terminal = timing()
    terminal.shows("the ladder", "1 unbroadcast:", "attempts/autograd.py", "h hint", "g give up")
    assert timing.file.read_text().count("raise NotImplementedError") == 1

    save(timing.file, WRONG)
    terminal.shows("✗ unbroadcast 0/1", "gradient")

    terminal.press("h")
    terminal.shows("hint 1: nudge", "1 hint")

    terminal.press("p")
    terminal.shows("paused", "p goes on")
    time.sleep(1.5)
    terminal.press("p")
    terminal.shows("p pause")

    terminal.resize(40, 56)
    terminal.shows("unbroadcast", "p pause")
    terminal.resize(30, 100)
    terminal.shows("unbroadcast", "target", "best")

    moments = []
    for number, target in enumerate(TARGETS):
        terminal.shows(f"{number + 1} {target}:")
        terminal.shows("p pause")
        if number:
            wait_for_blank(timing.file)
        moments.append(save(timing.file, f"{RETYPE}# {number}\n"))
    terminal.shows("attempt 1: passed")
    assert terminal.ends() == 0

    seen = attempt(timing.retype)
    assert seen["attempt"]["state"] == "passed"
    assert 1.3 < seen["attempt"]["paused_s"] < 5
    assert [one["target"] for one in seen["splits"]] == TARGETS
    assert [one["hints"] for one in seen["splits"]] == [1, 0, 0, 0, 0, 0]
    assert [one["verdict"] for one in seen["saves"]] == ["fail", *["pass"] * 6]
    runs = [one["run_s"] for one in seen["splits"]]
    for split, moment in zip(runs, moments, strict=True):
        assert split - runs[0] == pytest.approx(moment - moments[0], abs=0.05)


def wait_for_blank(file):
    end = time.monotonic() + 30
    while "NotImplementedError" not in file.read_text():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_giving_up_is_asked_for_twice_and_ends_the_attempt(timing):
    terminal = timing("core")
    terminal.shows("2 core:")
    terminal.press("g")
    terminal.shows("give up? g again")
    terminal.press("x")
    terminal.shows("h hint")
    terminal.press("gq")
    terminal.shows("attempt 1: given up")
    assert terminal.ends() == 1
    seen = attempt(timing.retype)
    assert seen["attempt"]["state"] == "given up"
    assert [(one["target"], one["outcome"]) for one in seen["splits"]] == [("core", "given up")]
    assert timing.retype.run("next", "--json").json["order"][0]["target"] == "unbroadcast"


def test_after_a_kill_the_attempt_is_offered_again_and_goes_on(timing):
    terminal = timing("unbroadcast")
    terminal.shows("1 unbroadcast:")
    time.sleep(2)
    os.kill(terminal.child.pid, signal.SIGKILL)
    terminal.child.wait()
    retype = timing.retype
    alone = retype.run()
    assert "attempt 1 at `unbroadcast` was interrupted" in alone.out
    assert "autodrill time --resume" in alone.out
    refused = retype.run("time", "core")
    assert refused.code == 1
    assert "autodrill time --resume" in refused.err
    assert "autodrill time --close" in refused.err

    again = timing("--resume")
    again.shows("1 unbroadcast:", "p pause")
    save(timing.file, RETYPE)
    again.shows("attempt 1: passed")
    assert again.ends() == 0
    seen = attempt(retype)
    assert seen["attempt"]["state"] == "passed"
    assert seen["splits"][0]["took_s"] > 0.9
    assert retype.run("time", "--resume").code == 1


def test_a_ladder_that_was_killed_is_resumed_with_the_right_figures(timing):
    killed = timing()
    killed.shows("1 unbroadcast:")
    save(timing.file, RETYPE)
    killed.shows("2 core:")
    wait_for_blank(timing.file)
    os.kill(killed.child.pid, signal.SIGKILL)
    killed.child.wait()

    terminal = timing()
    terminal.shows("(the ladder, at `core`) was interrupted", "r resumes it")
    terminal.press("\r")
    terminal.shows("2 core:", "p pause")
    moments = []
    for number, target in ((2, "core"), (3, "arithmetic"), (4, "elementwise")):
        terminal.shows(f"{number} {target}:")
        wait_for_blank(timing.file)
        moments.append(save(timing.file, f"{RETYPE}# {number}\n"))
    terminal.shows("5 softmax:")
    terminal.press("gg")
    assert terminal.ends() == 1

    first, *others, given_up = attempt(timing.retype)["splits"]
    assert (first["target"], given_up["outcome"]) == ("unbroadcast", "given up")
    assert first["run_s"] < others[0]["run_s"]
    for split, moment in zip(others, moments, strict=True):
        since = split["run_s"] - others[0]["run_s"]
        assert since == pytest.approx(moment - moments[0], abs=0.05)


def test_an_interrupted_attempt_can_be_closed_and_counts_neither_way(timing):
    terminal = timing("unbroadcast")
    terminal.shows("1 unbroadcast:")
    os.kill(terminal.child.pid, signal.SIGKILL)
    terminal.child.wait()
    retype = timing.retype
    assert retype.run("time", "--close").code == 0
    assert attempt(retype)["attempt"]["state"] == "closed"
    assert retype.run("time", "--close").code == 1
    assert retype.run("stats", "--json").json["targets"][0]["attempts"] == 0


def test_ctrl_c_leaves_the_attempt_open_the_terminal_in_order_and_no_process(timing):
    terminal = timing("unbroadcast")
    terminal.shows("1 unbroadcast:")
    children = psutil.Process(terminal.child.pid).children(recursive=True)
    terminal.child.sendintr()
    assert terminal.ends() == 130
    assert not terminal.screen.cursor.hidden
    _, alive = psutil.wait_procs(children, timeout=5)
    assert alive == []
    assert attempt(timing.retype)["attempt"]["state"] == "open"


def test_ctrl_c_while_an_endless_loop_is_graded_ends_that_too(timing):
    terminal = timing("unbroadcast")
    terminal.shows("1 unbroadcast:")
    save(timing.file, RETYPE.replace("    if grad.shape == shape:", "    while True:", 1))
    terminal.shows("grading")
    time.sleep(1)  # what it has to note of the start is written by then
    children = psutil.Process(terminal.child.pid).children(recursive=True)
    terminal.child.sendintr()
    assert terminal.ends() == 130
    _, alive = psutil.wait_procs(children, timeout=5)
    assert alive == []


def test_a_save_while_paused_counts_from_when_the_clock_goes_on(timing):
    terminal = timing("unbroadcast")
    terminal.shows("1 unbroadcast:")
    terminal.press("p")
    terminal.shows("paused")
    save(timing.file, RETYPE)
    time.sleep(1)  # what it has to note of the start is written by then
    terminal.shows("paused")
    terminal.press("p")
    terminal.shows("attempt 1: passed")


def test_an_editor_that_puts_the_last_file_back_makes_nothing_green(timing):
    terminal = timing()
    terminal.shows("1 unbroadcast:")
    save(timing.file, RETYPE)
    terminal.shows("2 core:")
    wait_for_blank(timing.file)
    save(timing.file, RETYPE)
    terminal.shows("your editor put back", "2 core:")
    wait_for_blank(timing.file)


def test_the_file_of_each_target_is_kept_out_of_sight(timing):
    terminal = timing()
    terminal.shows("1 unbroadcast:")
    save(timing.file, RETYPE)
    terminal.shows("2 core:")
    kept = timing.retype.folder / ".autodrill" / "attempts" / "001-unbroadcast" / "autograd.py"
    assert kept.read_text() == RETYPE
    assert os.listdir(timing.file.parent) == ["autograd.py"]


def test_the_editor_gets_the_terminal_and_its_save_stops_the_clock(timing):
    solution = timing.retype.home.parent / "solution.py"
    solution.write_text(RETYPE)
    editor = f"sh -c 'echo EDITING; sleep 1; cp {solution} \"$0\"; sleep 1'"
    terminal = timing("unbroadcast", "--edit", EDITOR=editor, VISUAL=None)
    terminal.shows("EDITING")
    terminal.shows("attempt 1: passed")
    assert terminal.ends() == 0
    assert 0.9 < attempt(timing.retype)["attempt"]["run_s"] < 1.9


def test_in_a_pipe_there_is_a_line_an_event_and_no_escape(retype):
    run = InAPipe(retype, "unbroadcast")
    assert "write `unbroadcast` in attempts/autograd.py" in run.lines[0]
    file = retype.folder / "attempts" / "autograd.py"
    save(file, WRONG)
    assert "✗ unbroadcast 0/1" in run.process.stdout.readline()
    save(file, RETYPE)
    text = run.rest()
    assert run.process.wait(10) == 0
    assert "attempt 1: passed" in text
    assert "\x1b" not in text


def test_in_a_pipe_ctrl_c_gives_up(retype):
    run = InAPipe(retype, "core")
    run.process.send_signal(signal.SIGINT)
    assert "given up" in run.rest()
    assert run.process.wait(10) == 130
    assert attempt(retype)["attempt"]["state"] == "given up"


def test_two_at_once_have_a_file_each_and_lose_nothing(retype):
    runs = [InAPipe(retype, target) for target in ("unbroadcast", "core")]
    folder = retype.folder / "attempts"
    assert sorted(os.listdir(folder)) == ["autograd.py", "autograd_2.py"]
    for name in os.listdir(folder):
        save(folder / name, RETYPE)
    for run in runs:
        assert "passed" in run.rest()
        assert run.process.wait(10) == 0
    listed = retype.run("history", "--json").json["attempts"]
    assert [one["state"] for one in listed] == ["passed", "passed"]


def test_the_whole_engine_is_timed_with_a_split_for_each_part(retype):
    run = InAPipe(retype, "--full")
    file = retype.folder / "attempts" / "autograd.py"
    assert file.read_text().count("raise NotImplementedError") == 20
    save(file, WRONG)
    assert "✗ unbroadcast" in run.process.stdout.readline()
    save(file, RETYPE)
    text = run.rest()
    assert run.process.wait(60) == 0
    assert "attempt 1: passed, within the 45:00" in text
    assert len(attempt(retype)["splits"]) == 7


def test_json_is_one_object_when_it_has_ended(retype):
    run = subprocess.Popen(
        [sys.executable, "-m", "autodrill", "time", "core", "--json"],
        cwd=retype.folder,
        env=retype.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    assert "attempt 1" in run.stderr.readline()
    save(retype.folder / "attempts" / "autograd.py", RETYPE)
    out, _ = run.communicate(timeout=60)
    ended = json.loads(out)
    assert (ended["schema"], ended["state"]) == ("autodrill.time/1", "passed")
    assert ended["splits"][0]["took_s"] == ended["run_s"]


def test_a_history_that_is_damaged_meanwhile_costs_no_attempt(retype):
    run = InAPipe(retype, "unbroadcast")
    time.sleep(1)  # what it has to note of the start is written by then
    for suffix in ("-wal", "-shm", ""):
        with (retype.home / f"history.db{suffix}").open("r+b") as part:  # SQLite has it mapped
            part.write(b"no database" * 1000)
    save(retype.folder / "attempts" / "autograd.py", RETYPE)
    text = run.rest()
    assert run.process.wait(60) == 0
    assert "attempt 1: passed" in text
    assert "set aside" in text
    assert attempt(retype)["attempt"]["state"] == "passed"


def test_without_a_place_for_the_history_it_is_timed_and_said(retype):
    nowhere = retype.home.parent / "a_file"
    nowhere.write_text("")
    retype.home = nowhere / "home"
    run = InAPipe(retype, "unbroadcast")
    save(retype.folder / "attempts" / "autograd.py", RETYPE)
    text = "".join(run.lines) + run.rest()
    assert run.process.wait(60) == 0
    assert "attempt 1: passed" in text
    assert "progress is not saved" in " ".join(text.split())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nothing"], "no target"),
        (["core", "--full"], "exclude"),
        (["--resume", "--close"], "exclude"),
        (["core", "--edit"], "needs a terminal"),
    ],
)
def test_what_makes_no_sense_is_refused(retype, arguments, said):
    ran = retype.run("time", *arguments)
    assert ran.code == 2
    assert said in ran.err


def test_without_a_workspace_it_says_how_to_make_one(autodrill):
    ran = autodrill.run("time")
    assert ran.code == 2
    assert "autodrill start" in ran.err
