"""`autodrill trace` in a pseudo-terminal and in a pipe: questions, answers, the history."""

import subprocess
import sys
import time

import pytest
from terminal import Terminal

from autodrill.trace.levels import draw, level_of
from autodrill.trace.questions import answer_to, questions

SEED = 5


def answers(level, seed=SEED):
    solved = draw(level_of(level), seed)
    return [answer_to(solved, one) for one in questions(solved.graph)]


def lines(*texts):
    return "".join(f"{one}\n" for one in texts)


def expression(level, seed):
    return draw(level_of(level), seed).graph.expression()


@pytest.fixture
def tracing(autodrill):
    opened = []

    def start(*arguments, size=(40, 100), **extra):
        environment = autodrill.environment(TERM="xterm-256color", COLUMNS=None, **extra)
        command = [sys.executable, "-m", "autodrill", "trace", *arguments]
        opened.append(Terminal(command, autodrill.folder, environment, size))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def attempt(autodrill, number=1):
    return autodrill.run("history", "show", str(number), "--json").json


@pytest.mark.parametrize("columns", [100, 60, 40])
def test_a_graph_is_traced_at_a_terminal_from_the_order_to_the_leaves(autodrill, tracing, columns):
    terminal = tracing("--level", "2", "--seed", str(SEED), size=(60, columns))
    terminal.shows("level 2", "L last:")
    order, *rest = answers(2)
    terminal.press("L\r")
    terminal.shows("missing")
    terminal.press(f"{order}\r")
    terminal.shows("needs leaves only")
    terminal.press("1 2 x\r")
    terminal.shows("`x` is no number")
    for one in rest:
        terminal.press(f"{one}\r")
    terminal.shows("attempt 1: passed", f"{len(rest)} of {len(rest) + 1} answers right")
    assert terminal.ends() == 0
    assert all(len(row.rstrip()) <= columns for row in terminal.screen.display)
    seen = attempt(autodrill)
    assert (seen["attempt"]["track"], seen["attempt"]["target"]) == ("trace", "level_2")
    assert seen["attempt"]["state"] == "passed"
    assert seen["splits"][0]["hints"] == 1
    assert seen["seed"] == SEED
    assert [one["verdict"] for one in seen["answers"]] == ["wrong", *["right"] * (len(rest) + 1)]


def test_ctrl_c_leaves_and_counts_neither_way(autodrill, tracing):
    terminal = tracing("--level", "1", "--seed", "1")
    terminal.shows("L last:")
    terminal.child.sendintr()
    terminal.shows("attempt 1: left, which counts neither way")
    assert terminal.ends() == 130
    assert attempt(autodrill)["attempt"]["state"] == "closed"


def test_the_clock_counts_the_time_in_which_nothing_is_typed(autodrill, tracing):
    terminal = tracing("--level", "1", "--seed", "1")
    terminal.shows("L last:")
    time.sleep(1.5)
    terminal.press("q\r")
    assert terminal.ends() == 1
    assert 1.4 < attempt(autodrill)["attempt"]["run_s"] < 6


def test_a_closed_attempt_is_none_that_was_given_up(autodrill, tracing):
    terminal = tracing("--level", "1", "--seed", "1")
    terminal.shows("L last:")
    terminal.child.kill(9)
    terminal.child.wait()
    assert attempt(autodrill)["attempt"]["state"] == "open"
    assert autodrill.run("trace", "--level", "1", stdin="q\n").code == 1
    assert attempt(autodrill)["attempt"]["state"] == "closed"


def test_in_a_pipe_the_answers_are_read_line_by_line(autodrill):
    ran = autodrill.run("trace", "--level", "4", "--seed", "5", stdin=lines(*answers(4)))
    assert ran.code == 0
    assert "attempt 1: passed, within the 6:00" in ran.out
    assert "\x1b" not in ran.out
    assert ran.out.count("✗") == 0


def test_a_wrong_gradient_is_named_and_can_be_tried_again(autodrill):
    seed = next(one for one in range(99) if expression(2, one) == "sum(a * b + a)")
    solved, given = draw(level_of(2), seed), answers(2, seed)
    asked = [one.asks for one in questions(solved.graph)]
    at = asked.index("dL/da")
    one_use_only = str(solved.values["b"].tolist())
    ran = autodrill.run(
        "trace", "--level", "2", "--seed", seed, stdin=lines(*given[:at], one_use_only, *given[at:])
    )
    assert ran.code == 0
    assert "likely: overwrites where it should add" in ran.out
    assert "a is used 2 times (m = a * b, s = m + a): add what each use sends" in ran.out
    assert autodrill.run("stats", "--json").json["traces"][0]["bugs"] == {"overwrites-gradient": 1}


def test_giving_up_shows_the_answer_and_goes_on(autodrill):
    order, *rest = answers(1)
    ran = autodrill.run("trace", "--level", "1", "--seed", SEED, stdin=lines("?", "g", *rest))
    assert ran.code == 1
    assert f"→ order = {order}" in ran.out
    assert "a single row `1 2;`" in " ".join(ran.out.split())
    assert "attempt 1: given up" in ran.out


def test_with_q_all_the_rest_is_shown(autodrill):
    ran = autodrill.run("trace", "--level", "5", "--seed", "3", stdin="q\n")
    assert ran.code == 1
    assert ran.out.count("→") == len(answers(5, 3))
    assert attempt(autodrill)["attempt"]["state"] == "given up"


def test_where_stdin_ends_no_answer_is_given_away(autodrill):
    ran = autodrill.run("trace", "--level", "5", "--seed", "3")
    assert ran.code == 1
    assert "→" not in ran.out
    assert attempt(autodrill)["attempt"]["state"] == "closed"


def test_json_is_one_object_with_the_graph_the_answers_and_the_verdicts(autodrill):
    order, *rest = answers(3)
    ran = autodrill.run(
        "trace", "--level", "3", "--seed", str(SEED), "--json", stdin=lines("L", order, *rest)
    )
    assert ran.code == 0
    assert len(ran.out.splitlines()) == 1
    data = ran.json
    assert (data["schema"], data["level"], data["seed"]) == ("autodrill.trace/1", 3, SEED)
    assert [one["verdict"] for one in data["answers"]] == ["wrong", *["right"] * (len(rest) + 1)]
    assert data["right_at_first"] == data["questions"] - 1
    loss = data["graph"]["nodes"][-1]
    assert (loss["name"], loss["gradient"]) == ("L", {"shape": [], "values": 1.0})


def test_ctrl_c_in_a_pipe_still_gives_the_object(autodrill):
    run = subprocess.Popen(
        [sys.executable, "-m", "autodrill", "trace", "--level", "1", "--json"],
        cwd=autodrill.folder,
        env=autodrill.environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )
    while "L last:" not in run.stderr.readline():
        pass
    run.send_signal(2)
    out, _ = run.communicate(timeout=60)
    assert run.returncode == 130
    assert '"state": "closed"' in out


def test_the_level_that_is_due_comes_first_then_the_next_new_one(autodrill):
    first = autodrill.run("trace", "--json", stdin="q\n").json
    assert first["level"] == 1
    second = autodrill.run("trace", "--json", stdin="q\n").json
    assert second["level"] == 2
    assert first["seed"] != second["seed"]


def test_the_history_and_the_figures_show_it_in_and_out_of_a_workspace(lab01):
    lab01.run("trace", "--level", "3", "--seed", str(SEED), stdin=lines(*answers(3)))
    for folder in (lab01.folder, lab01.folder.parent):
        assert "trace level_3" in lab01.run("history", folder=folder).out
        ran = lab01.run("stats", folder=folder)
        assert "level_3     1/1" in ran.out
    shown = lab01.run("history", "show", "1").out
    assert f"autodrill trace --level 3 --seed {SEED}" in shown
    assert "dL/da = " in shown
    row = lab01.run("export", "--format", "json").json["attempts"][0]
    assert (row["track"], row["target"], row["outcome"]) == ("trace", "level_3", "passed")


def test_a_level_that_is_due_again_is_said_where_one_looks(lab01):
    from autodrill.history import Attempts, History

    with History(lab01.home / "history.db") as history:
        Attempts(history).review("trace", "level_3", lambda _: ('{"stability": 1.0}', 0.0))
    for command in ((), ("next",)):
        assert "autodrill trace --level 3" in lab01.run(*command).out
    assert lab01.run("next", "--json").json["there"] == {"levels": [3], "cards": 0}


def test_in_ascii_and_without_colour_every_sign_has_a_letter(autodrill):
    ran = autodrill.run(
        "trace", "--level", "4", "--seed", "5", stdin="X\ng\n", PYTHONIOENCODING="ascii"
    )
    assert ran.out.isascii()
    assert "x order" in ran.out
    assert "\\u" not in ran.out


def test_a_level_that_is_not_there_is_refused(autodrill):
    assert autodrill.run("trace", "--level", "6").code == 2
    assert autodrill.run("trace", "--seed", "-1").code == 2


@pytest.mark.parametrize("command", ["trace --level 1", "quiz --deck numerics"])
def test_bytes_that_are_no_text_are_an_answer_like_any_other(autodrill, command):
    done = subprocess.run(
        [sys.executable, "-m", "autodrill", *command.split()],
        cwd=autodrill.folder,
        env=autodrill.environment(),
        input=b"\xff\xfe\x00\x1b[31m\nq\n",
        capture_output=True,
        check=False,
    )
    assert done.returncode in (0, 1)
    assert b"Traceback" not in done.stderr
    assert b"\x1b" not in done.stdout


@pytest.mark.parametrize(
    "command",
    ["trace --level 1 <&-", "trace --level 1 | head -1", "quiz 2>&-", "quiz --list | head -1"],
)
def test_a_stream_that_is_closed_costs_no_traceback(autodrill, command):
    done = subprocess.run(
        f"{sys.executable} -m autodrill {command}",
        shell=True,
        cwd=autodrill.folder,
        env=autodrill.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 1)
    assert "Traceback" not in done.stderr and "itself failed" not in done.stderr
