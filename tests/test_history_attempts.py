"""Timed attempts in the history: the migration, two processes, and a great many rows."""

import sqlite3
import subprocess
import sys
import time

import pytest

from autodrill.history import Attempt, Attempts, Figures, History, Split
from autodrill.history.schema import MIGRATIONS, VERSION


def an_attempt(number, **changed):
    usual = {
        "id": number,
        "at": 1000.0 + number,
        "beat": 1000.0 + number,
        "track": "a_track",
        "kind": "target",
        "target": "one",
        "state": "passed",
        "folder": "/folder",
        "file": "/folder/attempts/engine.py",
        "pid": 1,
        "born": 1.0,
        "run_s": 10.0,
    }
    return Attempt(**usual | changed)


@pytest.fixture
def file(tmp_path):
    return tmp_path / "history.db"


def test_a_file_of_the_first_version_is_taken_over_with_all_its_rows(file):
    with sqlite3.connect(file) as old:
        old.executescript(MIGRATIONS[0])
        old.execute("INSERT INTO hints VALUES ('/a.py', 'one', 2, 1.0)")
        old.execute("PRAGMA user_version = 1")
    old.close()
    with History(file) as history:
        assert history.notices == []
        assert history.hint_level("/a.py", "one") == 2
        Attempts(history).begin(lambda number, _: an_attempt(number))
    with sqlite3.connect(file) as now:
        assert now.execute("PRAGMA user_version").fetchone() == (VERSION,)
    now.close()


def test_a_file_of_a_newer_version_is_set_aside(file):
    with History(file):
        pass
    with sqlite3.connect(file) as newer:
        newer.execute(f"PRAGMA user_version = {VERSION + 1}")
    newer.close()
    with History(file) as history:
        assert "newer version" in history.notices[0]
        assert Attempts(history).latest(None, 5) == []
    assert len(list(file.parent.glob("*set-aside.db"))) == 1


def test_an_attempt_is_on_disk_before_it_has_ended(file):
    with History(file) as history:
        begun = Attempts(history).begin(lambda number, _: an_attempt(number, state="open"))
        with History(file) as other:
            assert Attempts(other).open_attempts() == [begun]


def test_an_open_attempt_is_taken_over_by_one_process_only(file):
    with History(file) as history:
        attempts = Attempts(history)
        begun = attempts.begin(lambda number, _: an_attempt(number, state="open"))
        assert attempts.take_over(begun, 2, 2.0) is not None
        assert attempts.take_over(begun, 3, 3.0) is None


def test_a_best_time_of_the_whole_engine_is_none_of_a_target_alone(file):
    with History(file) as history:
        attempts, figures = Attempts(history), Figures(history)
        for number, kind, took_s in ((1, "full", 5.0), (2, "target", 9.0), (3, "ladder", 8.0)):
            attempts.put(an_attempt(number, kind=kind, run_s=took_s))
            attempts.add_split(number, Split("one", 0.0, took_s, took_s, 0, "passed"))
        assert figures.bests("a_track", "target") == {"one": 8.0}
        assert figures.bests("a_track", "full") == {"one": 5.0}
        assert figures.best_run("a_track", "ladder") == 8.0


WRITER = """
import sys
from pathlib import Path
from autodrill.history import Attempts, History, Split
sys.path.insert(0, {tests!r})
from test_history_attempts import an_attempt
with History(Path({file!r})) as history:
    attempts = Attempts(history)
    for _ in range(60):
        begun = attempts.begin(lambda number, _: an_attempt(number))
        attempts.add_split(begun.id, Split("one", 0.0, 1.0, 1.0, 0, "passed"))
        attempts.review("a_track", "one", lambda card: (str(int(card or 0) + 1), 0.0))
    assert history.notices == []
"""


def test_two_processes_lose_no_row(file):
    tests = __file__.rpartition("/")[0]
    code = WRITER.format(tests=tests, file=str(file))
    writers = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]
    assert [one.wait(60) for one in writers] == [0, 0]
    with History(file) as history:
        attempts = Attempts(history)
        assert len(attempts.latest(None, 1000)) == 120
        assert len(Figures(history).tries("a_track")) == 120
        assert attempts.cards("a_track")["one"] == ("120", 0.0)


@pytest.fixture
def ten_thousand(lab01):
    """A workspace whose history holds ten thousand attempts."""
    targets = ["unbroadcast", "backward", "elementwise", "matmul", "shape", "training"]
    with History(lab01.home / "history.db") as history:
        attempts = Attempts(history)
        now = time.time()

        def fill(write):
            for number in range(1, 10_001):
                target = targets[number % 6]
                write(
                    "INSERT INTO attempts VALUES (?,?,?,'lab01','target',?,'passed','/f','/f/e',"
                    "1,1,?,0,0)",
                    (number, now, now, target, 60 + number % 50),
                )
                write(
                    "INSERT INTO splits VALUES (?,?,?,?,?,0,'passed')",
                    (number, target, now, 60 + number % 50, 60 + number % 50),
                )
                write(
                    "INSERT INTO saves VALUES (?,1,1.0,?,'fail',?,'wrong')",
                    (number, target, f"bug-{number % 7}"),
                )

        history.transact(fill)
        for target in targets:
            card = '{"stability": 1.0}'
            attempts.review("lab01", target, lambda _, card=card: (card, now - 10))
    return lab01


def test_ten_thousand_attempts_are_all_counted(ten_thousand):
    rows = ten_thousand.run("stats", "--json").json["targets"]
    assert sum(one["attempts"] for one in rows) == 10_000
    assert rows[0]["bugs"]
    assert len(ten_thousand.run("next", "--json").json["order"]) == 6
    assert len(ten_thousand.run("export").out.splitlines()) == 10_001
    assert len(ten_thousand.run("history", "--json").json["attempts"]) == 20
