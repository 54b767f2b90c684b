"""The whole screen of a check: where the targets stand, what is wrong, and what to type."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from autodrill.render.commands import commands
from autodrill.render.inert import inert
from autodrill.render.layout import Line, blocks, glued, line, spread
from autodrill.render.measured import table
from autodrill.render.signs import SIGNS
from autodrill.render.standing import Standing, standing

if TYPE_CHECKING:
    from autodrill.render.console import Screen
    from autodrill.results import CheckResult, Failure, Problem, TargetResult

_INDENT = 2
_MOST_TESTS = 6
_BROKEN = ("fail", "error", "timeout", "crash")
_EDGE_CASES = "strict"
"""The id under which the edge cases are graded; they are asked for by an option."""


def show(screen: Screen, result: CheckResult, next_command: str | None = None) -> None:
    """Show a check.

    Parameters
    ----------
    screen, result
    next_command : str, optional
        On a green result what to type next; on any other what runs this check again, where
        that is not `autodrill check` with what was asked for.
    """
    screen.write(lines(result, screen.width, next_command))


def lines(result: CheckResult, width: int, next_command: str | None = None) -> list[Line]:
    """Lay out the screen of a check."""
    if result.problem is not None:
        body = _ungraded(result, result.problem, width, next_command)
    elif result.verdict == "pass":
        body = _green(result, next_command)
    else:
        focus = _focus(result.targets)
        show_body = {"todo": _todo, "blocked": _blocked}.get(focus.verdict, _failing)
        body = show_body(result, focus, width, next_command)
    measured = table(one for target in result.targets for one in target.measured)
    warnings = [line(("warning: ", "todo"), inert(one), hang=_INDENT) for one in result.warnings]
    return blocks(_head(result, width), measured, body, warnings)


# Where the targets stand ----------------------------------------------------------------------


def _head(result: CheckResult, width: int) -> list[Line]:
    file = "the solution" if result.impl == "solution" else result.file
    left = line((inert(result.track), "strong"), f" · {inert(file)}", hang=_INDENT)
    if result.problem is not None:
        return spread(left, line(("not graded", "bad")), width)
    targets = result.targets
    green = sum(target.verdict == "pass" for target in targets)
    count = f"{green} of {len(targets)} {_kind(targets)} green"
    if len(targets) == 1:
        count = f"{targets[0].passed} of {targets[0].total} tests pass"
        count = "not graded" if targets[0].verdict == "blocked" else count
    return [*spread(left, line(count), width), standing([_standing(one) for one in targets], width)]


def _kind(targets: Sequence[TargetResult]) -> str:
    """Say what was graded: targets, single symbols, or both."""
    single = [target.symbol is not None for target in targets]
    return "symbols" if all(single) else "parts" if any(single) else "targets"


def _standing(target: TargetResult) -> Standing:
    return Standing(target.verdict, target.step, target.label, _count(target))


def _count(target: TargetResult) -> str:
    if target.verdict == "blocked":
        return ""
    if target.verdict == "pass":
        return str(target.total)
    if target.verdict == "todo" and not target.passed:
        return "todo"
    count = f"{target.passed}/{target.total}"
    return count if target.verdict == "fail" else f"{count} {target.verdict}"


def _focus(targets: Sequence[TargetResult]) -> TargetResult:
    """Choose the target to explain: what is wrong comes before what is not written yet."""
    for verdicts in (_BROKEN, ("todo",), ("blocked",)):
        for target in targets:
            if target.verdict in verdicts:
                return target
    return targets[0]


# One body for each kind of result -------------------------------------------------------------


def _green(result: CheckResult, next_command: str | None) -> list[Line]:
    targets = result.targets
    what = f"all {len(targets)} {_kind(targets)} are green"
    if len(targets) == 1:
        what = f"{inert(targets[0].label)} is green, {targets[0].total} tests"
    head = line(("✓ ", "good"), (what, "strong"), f" ({_seconds(result.seconds)})", hang=_INDENT)
    return [head, *commands(("next", next_command))]


def _failing(
    result: CheckResult, target: TargetResult, width: int, next_command: str | None
) -> list[Line]:
    # Imported here: a green check needs neither NumPy's table nor the rest of a failure.
    from autodrill.render.failure import lines as explain
    from autodrill.render.failure import one_line

    failures = sorted(target.failures, key=lambda one: one.verdict == "todo")
    if not failures:
        unseen = f"{target.total - target.passed} of {target.total} tests came to no verdict"
        head = line(("✗ ", "bad"), f"{inert(target.label)}: {unseen}", hang=_INDENT)
        return blocks([head], commands(("rerun", _rerun(result, target, next_command))))
    first, *others = failures
    head = line(
        SIGNS[target.verdict],
        (glued(f" {inert(target.label)}"), "strong"),
        f"  {glued(inert(first.test))}",
        hang=_INDENT,
    )
    also = [one_line(one, first) for one in others[:_MOST_TESTS]]
    if len(others) > _MOST_TESTS:
        also.append(line(f"and {len(others) - _MOST_TESTS} more", indent=_INDENT))
    return blocks(
        [head, *explain(first, width)],
        _titled(f"also in {inert(target.label)}", also),
        _titled("other targets", _others(result.targets, target)),
        commands(("hint", _hint(target, first)), ("rerun", _rerun(result, target, next_command))),
    )


def _todo(
    result: CheckResult, target: TargetResult, width: int, next_command: str | None
) -> list[Line]:
    by_name: dict[str, Failure] = {}
    for failure in target.failures:
        by_name.setdefault(_name(failure), failure)
    first, *others = by_name.values()
    place = inert(result.file) if first.line is None else f"{inert(result.file)}:{first.line}"
    at = "" if first.line is None else f" (line {first.line})"
    head = line(
        SIGNS["todo"], " Next: ", (_name(first), "strong"), f" is not written yet{at}", hang=_INDENT
    )
    about = line((f"{target.step} {inert(target.id)}: {inert(target.title)}", "quiet"))
    later = [line(f"{_name(one)} (line {one.line})", indent=2 * _INDENT) for one in others]
    return blocks(
        [head, Line(about.parts, _INDENT, _INDENT)],
        _titled("after it", later),
        _titled("other targets", _others(result.targets, target)),
        commands(
            ("hint", _hint(target, first)),
            ("write", place),
            ("check", _rerun(result, target, next_command)),
        ),
    )


def _blocked(
    result: CheckResult, target: TargetResult, width: int, next_command: str | None
) -> list[Line]:
    return blocks(
        [_waits(one) for one in result.targets if one.verdict == "blocked"],
        commands(("next", f"autodrill check {inert(target.blocked_by or '')}".rstrip())),
    )


def _ungraded(
    result: CheckResult, problem: Problem, width: int, next_command: str | None
) -> list[Line]:
    from autodrill.render.source import explain

    asked = " ".join(("autodrill check", *map(inert, result.asked)))
    return blocks(explain(problem, width), commands(("rerun", next_command or asked)))


# Parts of them --------------------------------------------------------------------------------


def _others(targets: Iterable[TargetResult], focus: TargetResult) -> Iterable[Line]:
    """Say in one line each what keeps the other targets from being green."""
    for target in targets:
        if target is focus or target.verdict == "pass":
            continue
        if target.verdict == "blocked":
            if target.blocked_by != focus.id:
                yield _waits(target, _INDENT)
            continue
        message = inert(target.failures[0].message) if target.failures else target.verdict
        name = glued(f" {target.step} {inert(target.label)}")
        yield line(SIGNS[target.verdict], f"{name}  {message}", indent=_INDENT, hang=_INDENT)


def _waits(target: TargetResult, indent: int = 0) -> Line:
    waits = f" {inert(target.label)} waits for {inert(target.blocked_by or 'another target')}"
    return line(SIGNS["blocked"], f"{waits}, which is not green yet", indent=indent, hang=_INDENT)


def _titled(title: str, body: Iterable[Line]) -> list[Line]:
    shown = list(body)
    return [line((title, "quiet"), indent=_INDENT), *shown] if shown else []


def _name(failure: Failure) -> str:
    return f"`{inert(failure.symbol or failure.of or failure.test)}`"


def _hint(target: TargetResult, failure: Failure) -> str | None:
    about = failure.symbol if target.id == _EDGE_CASES else target.id
    return f"autodrill hint {inert(about)}" if about else None


def _rerun(result: CheckResult, target: TargetResult, next_command: str | None) -> str:
    if next_command:
        return next_command
    if target.id == _EDGE_CASES:
        return " ".join(("autodrill check", *map(inert, result.asked), "--strict"))
    return " ".join(("autodrill check", *map(inert, result.asked or (target.id,))))


def _seconds(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"
