"""The screen of a check, as a person reads it: pinned at three widths."""

import io
import re
from dataclasses import replace

import numpy as np
import pytest

from autodrill.render.check import show
from autodrill.render.console import Screen
from autodrill.results import (
    CheckResult,
    Diagnosis,
    Example,
    Failure,
    Problem,
    TargetResult,
)

WIDTHS = [100, 60, 40]

CODE = """\
from exercise import Tensor
A = Tensor([[[1.]], [[2.]]], requires_grad=True)  # (2, 1, 1)
B = Tensor([[3.]], requires_grad=True)            # (1, 1)
(A @ B).backward([[[1.]], [[2.]]])
B.grad"""

GRADIENT = Failure(
    test="test_matmul[2,3,4 @ 4,5]",
    verdict="fail",
    what="gradient",
    message="your gradient of B is wrong; the forward is right",
    symbol="Tensor.__matmul__",
    of="B",
    example=Example(CODE, {"A": np.array([[[1.0]], [[2.0]]]), "B": np.array([[3.0]])}),
    yours=np.array([[4.0]]),
    expected=np.array([[5.0]]),
    finite_differences=np.array([[5.000000000139778]]),
    max_abs_diff=1.0,
    diagnosis=Diagnosis(
        "matmul-last-batch-only",
        "the last batch only",
        "One weight was shared by the whole batch: its gradient is the sum over the batch.",
    ),
)
RAISED = Failure(
    test="test_matmul[2,1,3,4 @ 5,4,2]",
    verdict="fail",
    what="raised",
    message="ValueError: cannot reshape array of size 1 into shape (2,1) in the backward",
    symbol="Tensor.__matmul__",
    line=297,
    trace=(
        "line 174, in backward: for parent, part in zip(node._parents, node._vjp(upstream)):",
        "line 297, in vjp: return da, db.reshape(B.shape)",
    ),
    example=Example("from exercise import Tensor\n(A @ B).data", {"A": np.ones((1, 1))}),
)
TODO = Failure(
    test="test_unbroadcast_matches_sum[3,4 to 4]",
    verdict="todo",
    what="missing",
    message="`unbroadcast` is not written yet",
    symbol="unbroadcast",
    of="unbroadcast",
    line=42,
    trace=('line 42, in unbroadcast: raise NotImplementedError("implement unbroadcast")',),
)
HANG = Failure(
    test="test_unary_ops",
    verdict="timeout",
    what="hang",
    message="no end after 10 s; it was at line 63, in `relu`",
    symbol="Tensor.relu",
    line=63,
    example=Example("from exercise import Tensor\nx.relu()", {"x": np.ones(2)}),
    output="".join(f"round {number}\n" for number in range(1200)),
)
CRASH = Failure(
    test="test_unary_ops",
    verdict="crash",
    what="crash",
    message="crashed (signal 11, SIGSEGV) in `relu`",
    symbol="Tensor.relu",
    line=62,
)


def target(step, target_id, verdict, *failures, passed=0, total=4, blocked_by=None):
    return TargetResult(
        target_id,
        step,
        f"what {target_id} is about",
        verdict,
        passed,
        len(failures),
        total,
        blocked_by,
        failures,
    )


UNBROADCAST = target(1, "unbroadcast", "pass", passed=6, total=6)
BACKWARD = target(2, "backward", "pass", passed=5, total=5)
ELEMENTWISE = target(3, "elementwise", "pass", passed=5, total=5)
MATMUL = target(4, "matmul", "pass", passed=4, total=4)
SHAPE = target(5, "shape", "blocked", total=12, blocked_by="matmul")
TRAINING = target(6, "training", "blocked", total=5, blocked_by="matmul")


def result(*targets, verdict="fail", **more):
    return CheckResult(
        "lab", "Autograd from scratch", "exercise.py", "exercise", verdict, 0.41, targets, **more
    )


FAILING = result(
    UNBROADCAST,
    BACKWARD,
    ELEMENTWISE,
    target(
        4,
        "matmul",
        "fail",
        GRADIENT,
        replace(GRADIENT, test="test_matmul[2,3,4 @ 2,4,5]"),
        RAISED,
        passed=1,
    ),
    SHAPE,
    TRAINING,
)


def screen(shown, width=100, next_command=None):
    stream = io.StringIO()
    show(Screen(stream, width), shown, next_command)
    return stream.getvalue()


def fresh():
    return result(
        target(1, "unbroadcast", "todo", TODO, total=6),
        target(2, "backward", "blocked", total=5, blocked_by="unbroadcast"),
        target(3, "elementwise", "blocked", total=5, blocked_by="unbroadcast"),
        verdict="todo",
    )


@pytest.mark.parametrize("width", WIDTHS)
def test_a_wrong_gradient_is_shown_with_its_smallest_input_and_its_name(snapshot, width):
    assert screen(FAILING, width) == snapshot


@pytest.mark.parametrize("width", WIDTHS)
def test_a_fresh_file_says_what_to_write_first_and_where(snapshot, width):
    assert screen(fresh(), width) == snapshot


@pytest.mark.parametrize("width", WIDTHS)
def test_a_green_check_says_so_and_what_is_next(snapshot, width):
    green = result(UNBROADCAST, BACKWARD, ELEMENTWISE, MATMUL, verdict="pass")
    assert screen(green, width, "autodrill check --strict") == snapshot


@pytest.mark.parametrize("width", WIDTHS)
def test_an_endless_loop_shows_the_line_and_the_ends_of_what_was_printed(snapshot, width):
    assert screen(result(target(3, "elementwise", "timeout", HANG)), width) == snapshot


def test_a_crash_names_the_line(snapshot):
    assert screen(result(target(3, "elementwise", "crash", CRASH, passed=1))) == snapshot


def test_an_exception_shows_the_learners_frames(snapshot):
    assert screen(result(target(4, "matmul", "fail", RAISED))) == snapshot


def test_a_blocked_target_says_what_it_waits_for(snapshot):
    blocked = result(
        target(4, "matmul", "blocked", blocked_by="unbroadcast"),
        verdict="blocked",
        asked=("matmul",),
    )
    assert screen(blocked) == snapshot


def test_with_all_the_other_targets_follow_in_one_line_each(snapshot):
    todo = replace(TODO, message="`__truediv__` is not written yet", symbol="Tensor.__truediv__")
    everything = result(
        UNBROADCAST,
        BACKWARD,
        target(3, "elementwise", "todo", todo, total=5),
        target(4, "matmul", "fail", GRADIENT, passed=3),
        target(5, "shape", "fail", replace(RAISED, test="test_sum[0]"), passed=11, total=12),
        target(6, "training", "blocked", total=5, blocked_by="elementwise"),
        target(7, "last", "blocked", total=5, blocked_by="matmul"),
    )
    assert screen(everything) == snapshot


def test_a_syntax_error_has_a_caret_under_its_column(snapshot):
    problem = Problem(
        "`exercise.py` is not valid Python: '(' was never closed",
        hint="close it",
        line=12,
        column=13,
        text="    def relu(self: Tensor -> Tensor:",
    )
    assert screen(result(target(1, "unbroadcast", "error"), problem=problem)) == snapshot


def test_an_exception_at_import_shows_its_line_and_what_was_printed(snapshot):
    problem = Problem(
        "`exercise.py` can't be imported: ValueError: no",
        line=3,
        trace=("line 3, in <module>: raise ValueError('no')",),
        output="hello\n",
    )
    shown = result(target(1, "unbroadcast", "error"), problem=problem, asked=("unbroadcast",))
    assert screen(shown) == snapshot


def test_output_and_warnings_of_a_failing_test_are_shown_inert(snapshot):
    forward = Failure(
        test="test_unary_ops",
        verdict="fail",
        what="forward",
        message="the forward is wrong",
        symbol="Tensor.log",
        yours=np.array([np.inf, np.nan, 2.0]),
        expected=np.array([1.0, 1.0, 2.0]),
        output="\x1b[31mred\x1b[0m\n::error file=x::bad\n\u202etxt.exe [bold]not bold[/bold]\n",
        warnings=("RuntimeWarning: divide by zero", "RuntimeWarning: divide by zero"),
    )
    shown = result(
        target(3, "elementwise", "fail", forward),
        warnings=("`numpy.py` beside your file would hide a module; it is not imported",),
    )
    assert screen(shown) == snapshot


def test_the_rerun_is_what_was_asked_for_unless_a_command_is_given():
    one = result(target(4, "matmul", "fail", GRADIENT), asked=("__matmul__",))
    assert "rerun: autodrill check __matmul__\n" in screen(one)
    assert "rerun: autodrill check --file x.py\n" in screen(
        one, next_command="autodrill check --file x.py"
    )


def test_edge_cases_are_asked_for_again_by_their_option_and_hinted_by_symbol():
    edge = result(UNBROADCAST, target(7, "strict", "fail", GRADIENT))
    assert "hint:  autodrill hint Tensor.__matmul__\n" in screen(edge)
    assert "rerun: autodrill check --strict\n" in screen(edge)


def test_a_target_whose_tests_came_to_no_verdict_is_not_called_green():
    silent = result(target(4, "matmul", "error", passed=3), verdict="error")
    assert "✗ matmul: 1 of 4 tests came to no verdict" in screen(silent)


def test_a_test_that_fails_as_the_one_above_is_not_explained_twice():
    assert "✗ test_matmul[2,3,4 @ 2,4,5]  the same\n" in screen(FAILING)


def test_more_failing_tests_than_fit_are_counted():
    many = [replace(GRADIENT, test=f"test_{number}") for number in range(12)]
    assert "  and 5 more\n" in screen(result(target(4, "matmul", "fail", *many, total=12)))


def test_a_failure_is_explained_before_what_is_not_written_yet():
    both = target(4, "matmul", "fail", replace(TODO, test="test_todo"), GRADIENT)
    shown = screen(result(both))
    assert shown.index("smallest input") < shown.index("… test_todo  `unbroadcast` is not written")


@pytest.mark.parametrize("width", [20, 30, 40, 60, 80, 100])
def test_the_code_can_be_copied_at_every_width(width):
    shown = [line.removeprefix("    ") for line in screen(FAILING, width).splitlines()]
    start = shown.index("from exercise import Tensor")
    assert "\n".join(shown[start : start + 5]) == CODE


@pytest.mark.parametrize("width", [20, 30, 40, 60, 80, 100])
def test_targets_wrap_between_each_other_and_never_inside_one(width):
    shown = screen(FAILING, width)
    for name in ("✓ 1 unbroadcast 6", "✓ 3 elementwise 5", "✗ 4 matmul 1/4", "· 6 training"):
        assert name in shown


@pytest.mark.parametrize("width", [20, 30, 40, 60, 80, 100])
def test_only_what_must_stay_whole_is_wider_than_the_screen(width):
    whole = [*CODE.splitlines(), *(trace.partition(": ")[2] for trace in RAISED.trace)]
    for shown in (FAILING, fresh(), result(target(4, "matmul", "fail", RAISED))):
        for line in screen(shown, width).splitlines():
            is_whole = line.strip() in whole or re.match(" *(hint|rerun|check|write): ", line)
            is_one_word = line.strip().startswith(("test_", "✗ test_")) or " " not in line.strip()
            assert len(line) <= width or is_whole or is_one_word, line


def test_no_line_ends_in_a_space():
    assert not re.search(r" $", screen(FAILING, 40), re.MULTILINE)
