"""`history`, `stats`, `export` and `next`: what was done, and what comes next."""

import csv
import io
import sys

import pytest
from conftest import ROOT
from terminal import Terminal

from autodrill.history import Attempt, Attempts, History, Split
from autodrill.render.records import spark

LAB01 = (ROOT / "reference" / "lab01.py").read_bytes()


@pytest.fixture
def practised(lab01):
    """A workspace with a passed attempt, one given up, and a check."""
    file = lab01.folder / "attempts" / "exercise.py"
    with History(lab01.home / "history.db") as history:
        attempts = Attempts(history)
        for number, target, outcome, took_s in (
            (1, "unbroadcast", "passed", 90.0),
            (2, "matmul", "given up", 200.0),
            (3, "unbroadcast", "passed", 61.5),
        ):
            attempt = Attempt(
                number,
                1_700_000_000.0,
                1_700_000_000.0,
                "lab01",
                "target",
                target,
                outcome,
                str(lab01.folder),
                str(file),
                1,
                1.0,
                took_s,
            )
            attempts.put(attempt)
            attempts.add_save(
                attempt,
                b"# attempt %d\n" % number,
                run_s=took_s - 40.0,
                target=target,
                verdict="pass" if outcome == "passed" else "fail",
                bug=None if outcome == "passed" else "matmul-transpose-missing",
                message="" if outcome == "passed" else "your gradient of A is wrong",
            )
            attempts.add_split(attempt, Split(target, 0.0, took_s, took_s, 0, outcome))
            attempts.review("lab01", target, lambda _: ('{"stability": 1.0}', 0.0))
    lab01.check("unbroadcast")
    return lab01


def test_the_history_lists_attempts_and_texts_the_newest_first(practised):
    listed = practised.run("history", "--json").json
    assert [one["id"] for one in listed["attempts"]] == [3, 2, 1]
    assert [one["reason"] for one in listed["texts"]] == ["check"]
    assert listed["texts"][0]["verdict"] == "pass"
    text = practised.run("history").out
    assert "unbroadcast  1:01.5  passed" in text
    assert "autodrill history restore t4" in text


def test_an_attempt_is_shown_with_its_saves(practised):
    ran = practised.run("history", "show", "2")
    assert "your gradient of A is wrong" in ran.out
    assert practised.run("history", "show", "2", "--json").json["text"] == "# attempt 2\n"


def test_a_text_is_printed(practised):
    assert practised.run("history", "show", "t4").out.splitlines() == LAB01.decode().splitlines()


def test_a_text_is_brought_back_and_undo_takes_that_back(practised):
    file = practised.folder / "exercise.py"
    assert practised.run("history", "restore", "2").code == 0
    assert file.read_bytes() == b"# attempt 2\n"
    assert practised.run("undo").code == 0
    assert file.read_bytes() == LAB01
    file.write_bytes(b"# something new\n")
    assert practised.run("history", "restore", "t4", "--json").json["kept"]
    assert file.read_bytes() == LAB01


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["show"], 2, "needs a number"),
        (["show", "x"], 2, "no number of the history"),
        (["show", "99"], 1, "has no `99`"),
        (["restore", "t99"], 1, "has no `t99`"),
        (["forget"], 2, "forget"),
    ],
)
def test_what_is_not_there_is_said(practised, arguments, code, said):
    ran = practised.run("history", *arguments)
    assert ran.code == code
    assert said in ran.err


def test_stats_put_the_weakest_first(practised):
    rows = practised.run("stats", "--json").json["targets"]
    assert rows[0]["target"] == "matmul"
    assert rows[0]["bugs"] == {"matmul-transpose-missing": 1}
    assert rows[0]["lost_s"] == {"matmul-transpose-missing": 40.0}
    own = next(one for one in rows if one["target"] == "unbroadcast")
    assert (own["attempts"], own["best_s"], own["median_s"], own["last_s"]) == (
        2,
        61.5,
        75.75,
        61.5,
    )
    text = practised.run("stats").out
    assert "matmul transpose missing 0:40.0 (1×)" in text
    assert "█▁" in text


def test_stats_in_ascii_and_on_a_narrow_screen(practised):
    ran = practised.run("stats", PYTHONIOENCODING="ascii", COLUMNS="40")
    assert "#_" in ran.out
    assert all(len(one) <= 40 for one in ran.out.splitlines())


def test_a_trend_without_a_change_is_flat():
    assert spark([]) == ""
    assert spark([3.0, 3.0]) == "▁▁"
    assert spark([1.0, 2.0, 8.0]) == "▁▂█"


def test_export_gives_csv_and_json(practised):
    rows = list(csv.DictReader(io.StringIO(practised.run("export").out)))
    assert [one["target"] for one in rows] == ["unbroadcast", "matmul", "unbroadcast"]
    assert rows[1]["outcome"] == "given up"
    attempts = practised.run("export", "--format", "json").json["attempts"]
    assert attempts[2]["took_s"] == 61.5


def test_no_exported_cell_is_a_formula(practised):
    folder = "=HYPERLINK(1)"
    with History(practised.home / "history.db") as history:
        history.write("UPDATE attempts SET folder = ?", (folder,))
    rows = list(csv.DictReader(io.StringIO(practised.run("export").out)))
    assert {one["folder"] for one in rows} == {f"'{folder}"}
    assert practised.run("export", "--format", "json").json["attempts"][0]["folder"] == folder


def test_next_is_what_is_due_then_what_is_new(practised):
    order = practised.run("next", "--json").json["order"]
    assert {one["target"] for one in order[:2]} == {"unbroadcast", "matmul"}
    assert order[2] == {"target": "backward", "due": None, "is_due": True}


def test_alone_it_says_what_is_due(practised):
    assert "due again: " in practised.run().out


def test_next_starts_it_on_enter(lab01):
    environment = lab01.environment(TERM="xterm-256color", COLUMNS=None)
    command = [sys.executable, "-m", "autodrill", "next"]
    terminal = Terminal(command, lab01.folder, environment)
    terminal.shows("unbroadcast", "Enter starts it")
    terminal.press("\r")
    terminal.shows("1 unbroadcast:", "h hint")
    terminal.press("g")
    terminal.shows("give up? g again")
    terminal.press("g")
    assert terminal.ends() == 1
    terminal.close()


@pytest.mark.parametrize("command", ["history", "stats", "next", "export"])
def test_with_nothing_done_yet_each_says_so(lab01, command):
    assert lab01.run(command).code == 0
