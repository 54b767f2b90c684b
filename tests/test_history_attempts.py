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


class Interrupted(sqlite3.Connection):
    """Ctrl-C falls into the moment at which a transaction has just been written."""

    def execute(self, *statement):
        was_open = self.in_transaction
        cursor = super().execute(*statement)
        if was_open and not self.in_transaction:
            raise KeyboardInterrupt
        return cursor

    def __exit__(self, *error):
        super().__exit__(*error)
        raise KeyboardInterrupt


def test_ctrl_c_while_a_new_file_is_made_is_not_taken_for_damage(file, monkeypatch):
    connect = sqlite3.connect

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, **k, factory=Interrupted))
        History(file)

    with History(file) as history:
        assert history.notices == []
        assert history.last_workspace() is None


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


def test_what_an_older_file_knows_of_splits_and_saves_counts_on(file):
    with sqlite3.connect(file) as old:
        for script in MIGRATIONS[:2]:
            old.executescript(script)
        for number, kind in ((1, "target"), (2, "full")):
            old.execute(
                "INSERT INTO attempts VALUES (?,0,0,'a_track',?,'one','passed','/','/e',1,1,9,0,0)",
                (number, kind),
            )
            old.execute("INSERT INTO splits VALUES (?,'one',0,9,9,0,'passed')", (number,))
        for run_s, bug in ((2.0, "a-bug"), (6.5, None)):
            old.execute("INSERT INTO saves VALUES (1,1,?,'one','fail',?,'')", (run_s, bug))
        old.execute("PRAGMA user_version = 2")
    old.close()
    with History(file) as history:
        assert Figures(history).tally("a_track", "one", 12, 5).attempts == 1
        (met,) = Figures(history).bugs("a_track")
        assert (met.bug, met.lost_s) == ("a-bug", 4.5)


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
            attempt = an_attempt(number, kind=kind, run_s=took_s)
            attempts.put(attempt)
            attempts.add_split(attempt, Split("one", 0.0, took_s, took_s, 0, "passed"))
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
        attempts.add_split(begun, Split("one", 0.0, 1.0, 1.0, 0, "passed"))
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
        assert Figures(history).tally("a_track", "one", 12, 5).passed == 120
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
                    "INSERT INTO splits VALUES (?,?,?,?,?,0,'passed','lab01',1)",
                    (number, target, now, 60 + number % 50, 60 + number % 50),
                )
                write(
                    "INSERT INTO saves VALUES (?,1,1.0,?,'fail',?,'wrong','lab01',2.0)",
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


def test_figures_are_those_of_all_the_tries_in_whatever_order_they_come(file):
    took = [8.0, 3.0, 5.0, 1.0, 9.0, 2.0, 7.0]
    with History(file) as history:
        attempts = Attempts(history)
        for number, took_s in enumerate(took, 1):
            attempt = an_attempt(number, kind="ladder" if number % 2 else "target", run_s=took_s)
            outcome = "given up" if number == 4 else "passed"
            attempts.put(attempt)
            attempts.add_split(attempt, Split("one", 0.0, took_s, took_s, 0, outcome))
        full = an_attempt(8, kind="full", run_s=0.5)
        attempts.put(full)
        attempts.add_split(full, Split("one", 0.0, 0.5, 0.5, 0, "passed"))
        tally = Figures(history).tally("a_track", "one", 3, 2)
        assert (tally.attempts, tally.passed, tally.best_s, tally.median_s) == (7, 6, 2.0, 6.0)
        assert tally.times_s == (9.0, 2.0, 7.0)
        assert [one.took_s for one in tally.tries] == [2.0, 7.0]
        assert tally.best_before_s == 3.0
        runs = Figures(history).run_tally("a_track", "ladder", 3, 2)
        assert (runs.attempts, runs.best_s, runs.times_s) == (4, 5.0, (5.0, 9.0, 7.0))


def test_the_time_lost_to_a_bug_runs_to_the_next_save_or_the_end(file):
    with History(file) as history:
        attempts = Attempts(history)
        attempt = an_attempt(1, state="open")
        attempts.put(attempt)

        def save(run_s, bug):
            verdict = "fail" if bug else "pass"
            attempts.add_save(
                attempt, b"", run_s=run_s, target="one", verdict=verdict, bug=bug, message=""
            )

        save(10.0, "a-bug")
        save(25.0, None)
        save(30.0, "a-bug")
        attempts.add_split(attempt, Split("one", 0.0, 32.5, 32.5, 0, "given up"))
        (met,) = Figures(history).bugs("a_track")
        assert (met.bug, met.times, met.lost_s) == ("a-bug", 2, 17.5)


def test_what_is_put_together_is_written_whole_or_not_at_all(file):
    with History(file) as history:
        attempts = Attempts(history)
        attempt = an_attempt(1)
        with pytest.raises(KeyboardInterrupt), history.together():
            attempts.put(attempt)
            attempts.add_split(attempt, Split("one", 0.0, 1.0, 1.0, 0, "passed"))
            raise KeyboardInterrupt
        assert attempts.attempt(1) is None
        with history.together():
            attempts.put(attempt)
            assert attempts.attempt(1) is None
        assert attempts.attempt(1) == attempt
