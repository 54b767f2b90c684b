"""What the history says, for people and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from autodrill.history.attempts import QUIZ
from autodrill.render.commands import commands, due_commands
from autodrill.render.inert import inert, inert_lines
from autodrill.render.layout import Line, Part, blocks, fixed, line
from autodrill.render.signs import SIGNS
from autodrill.render.times import clock, day, figure, until

if TYPE_CHECKING:
    from autodrill.history import Answer, Attempt, Met, Save, Snapshot, Split
    from autodrill.history.answers import Reviewed
    from autodrill.practice.records import Record
    from autodrill.practice.stats import Stats, TargetStats
    from autodrill.practice.timed_view import View
    from autodrill.practice.whiteboard import DueThere
    from autodrill.render.console import Screen
    from autodrill.schedule import Due

_INDENT = 2
_NARROW = 72
_BARS = "▁▂▃▄▅▆▇█"
_ASCII_BARS = "_.:-=+*#"


# Attempts -------------------------------------------------------------------------------------


def show_history(screen: Screen, attempts: Sequence[Attempt], texts: Sequence[Snapshot]) -> None:
    """Show the latest attempts, and the texts that were kept of the workspace's file."""
    if not attempts and not texts:
        screen.write(blocks([line("the history is empty")], commands(("begin", "autodrill time"))))
        return
    screen.write(
        blocks(
            [line(("attempts", "strong"))] if attempts else [],
            [_attempt(one) for one in attempts],
            [line(("texts of your file", "strong"))] if texts else [],
            [_snapshot(one) for one in texts],
            commands(
                ("look", f"autodrill history show {attempts[0].id if attempts else 't1'}"),
                ("bring back", f"autodrill history restore t{texts[0].number}" if texts else None),
            ),
        )
    )


def show_record(screen: Screen, record: Record) -> None:
    """Show an attempt with its splits and saves, or a text as it was."""
    if record.attempt is None:
        screen.print("\n".join(inert_lines(record.text.decode("utf-8", "replace"))))
        return
    attempt = record.attempt
    counted = [
        line(f"not counted: {name} {clock(seconds)}", indent=_INDENT)
        for name, seconds in (("paused", attempt.paused_s), ("asleep", attempt.slept_s))
        if seconds >= 1
    ]
    bring = f"autodrill history restore {attempt.id}" if record.saves else None
    again = None
    if record.seed is not None:
        level = attempt.target.rpartition("_")[2]
        again = f"autodrill trace --level {inert(level)} --seed {record.seed}"
    splits = [] if record.answers else record.splits
    screen.write(
        blocks(
            [_attempt(attempt), *counted],
            [_split(one) for one in splits],
            [_save(one) for one in record.saves],
            [_answer(one) for one in record.answers],
            commands(("bring its last text back", bring), ("the same again", again)),
        )
    )


def show_closed(screen: Screen, attempt: Attempt) -> None:
    """Say that an attempt was closed."""
    what = f"attempt {attempt.id} at `{inert(attempt.target)}` is closed; it counts neither way"
    screen.write(blocks([line(what, hang=_INDENT)], commands(("again", "autodrill time"))))


def show_interrupted(screen: Screen, attempt: Attempt) -> None:
    """Say that an attempt was interrupted, before it is asked what becomes of it."""
    words = {"ladder": "the ladder, at ", "full": "the whole engine, at "}.get(attempt.kind, "")
    what = f"attempt {attempt.id} ({words}`{inert(attempt.target)}`) was interrupted"
    said = f"{what} after {clock(attempt.run_s)}, {day(attempt.beat)}"
    screen.write(blocks([line(("! ", "todo"), said, hang=_INDENT)]))


def show_left(screen: Screen, attempt: Attempt) -> None:
    """Say that an attempt was left open, and how to go on with it."""
    said = line(("! ", "todo"), f"attempt {attempt.id} is left open at {clock(attempt.run_s)}")
    go_on, end = "autodrill time --resume", "autodrill time --close"
    screen.write(blocks([said], commands(("go on", go_on), ("close it", end))))
    screen.flush()


def _attempt(one: Attempt) -> Line:
    what = inert(one.target) if one.kind == "target" else one.kind
    sign = {"passed": SIGNS["pass"], "given up": SIGNS["fail"]}.get(one.state, SIGNS["blocked"])
    state: str = one.state
    if one.track == QUIZ and state == "passed":  # its cards were right or wrong, it was not
        sign, state = SIGNS["blocked"], "done"
    return line(
        f"{one.id:>4} ",
        sign,
        f" {inert(one.track)} ",
        (what, "strong"),
        f"  {figure(one.run_s)}  {state}",
        (f"  {day(one.at)}", "quiet"),
        hang=7,
    )


def _snapshot(one: Snapshot) -> Line:
    verdict = f" {inert(one.verdict)}" if one.verdict else ""
    number = f"t{one.number}"
    return line(f"{number:>6}  {inert(one.reason)}{verdict}", (f"  {day(one.at)}", "quiet"), hang=8)


def _split(one: Split) -> Line:
    sign = SIGNS["pass" if one.outcome == "passed" else "fail"]
    hints = f", {one.hints} hints" if one.hints > 1 else ", 1 hint" if one.hints else ""
    what = f" {inert(one.target)}  {figure(one.took_s)}{hints}"
    return line(sign, what, (f"  at {figure(one.run_s)}", "quiet"), indent=_INDENT, hang=_INDENT)


def _save(one: Save) -> Line:
    sign = SIGNS[one.verdict] if one.verdict in SIGNS else SIGNS["blocked"]
    said = f"  {inert(one.message)}" if one.message else ""
    return line(
        (f"{figure(one.run_s):>8}  t{one.snapshot}  ", "quiet"),
        sign,
        f" {inert(one.target)}{said}",
        indent=_INDENT,
        hang=12,
    )


def _answer(one: Answer) -> Line:
    signs: dict[str, Part] = {"right": SIGNS["pass"], "wrong": SIGNS["fail"]}
    sign = signs.get(one.verdict, SIGNS["blocked"])
    given = f" = {inert(one.given)}" if one.given else ""
    said = f"  {inert(one.message)}" if one.message else ""
    rated = "" if one.verdict in signs else f"  {inert(one.verdict)}"
    bug = f" ({_bug(one.bug)})" if one.bug else ""
    return line(
        (f"{figure(one.run_s):>8}  ", "quiet"),
        sign,
        f" {inert(one.question)}{given}{rated}{said}{bug}",
        indent=_INDENT,
        hang=12,
    )


# Figures --------------------------------------------------------------------------------------


def show_stats(screen: Screen, found: Stats) -> None:
    """Show the figures of each target, the weakest first, then of whole runs."""
    tried = [one for one in found.targets if one.attempts]
    untried = [one.target for one in found.targets if not one.attempts]
    never = [line((f"not timed yet: {', '.join(map(inert, untried))}", "quiet"), hang=_INDENT)]
    own: list[Line] = []
    if tried:
        title = line((inert(found.track or ""), "strong"), " · the weakest first")
        own = blocks(
            [title], *_table(screen, tried, estimates=found.estimates), never if untried else []
        )
    elif found.track is not None:
        own = [line(f"nothing of {inert(found.track)} was timed yet")]
    word = "next" if tried else "begin"
    command = "autodrill next" if tried else "autodrill time"
    foot = commands((word, command if found.track is not None else "autodrill trace"))
    screen.write(blocks(own, *_whiteboard(screen, found), foot))


def _whiteboard(screen: Screen, found: Stats) -> Iterator[list[Line]]:
    """Show the levels that were traced, and what the decks' cards add up to."""
    if found.traces:
        yield [line(("trace", "strong"), " · the weakest first")]
        yield from _table(screen, found.traces)
    if found.decks:
        yield [line(("quiz", "strong")), *map(_deck, found.decks)]


def _deck(one: Reviewed) -> Line:
    said = f"  {one.answers} answers, {one.again} in vain"
    return line((inert(one.deck), "strong"), said, indent=_INDENT, hang=_INDENT)


def _table(
    screen: Screen, tried: Sequence[TargetStats], *, estimates: bool = False
) -> Iterator[list[Line]]:
    """Show what was tried, a row each, then the bugs that were met."""
    bars = _BARS if screen.can_show(_BARS) else _ASCII_BARS
    names = max(len(inert(one.target)) for one in tried) + 2
    if screen.width < _NARROW:
        yield [row for one in tried for row in _stacked(one, bars)]
    else:
        tries = max(6, *(len(_tries(one)) + 1 for one in tried))
        head = f"{'':{names}}{'tries':>{tries}}{'best':>9}{'median':>9}{'last':>9}  trend"
        of = "of about" if estimates else "of"
        yield [fixed((head, "quiet")), *(_figures(one, names, tries, bars, of) for one in tried)]
    bugs = [_bugs(one) for one in tried if one.bugs]
    if bugs:
        yield [line(("time lost to bugs", "strong")), *bugs]


def spark(values: Sequence[float], bars: str = _BARS) -> str:
    """Draw values as bars between their least and their greatest."""
    if not values:
        return ""
    low, high = min(values), max(values)
    step = (high - low) / (len(bars) - 1) or 1.0
    return "".join(bars[round((one - low) / step)] for one in values)


def _tries(one: TargetStats) -> str:
    return f"{one.passed}/{one.attempts}"


def _figures(one: TargetStats, names: int, tries: int, bars: str, of: str) -> Line:
    times = "".join(f"{_time(s):>9}" for s in (one.best_s, one.median_s, one.last_s))
    par: Part = (f"  {of} {clock(one.par_s)}" if one.par_s else "", "quiet")
    trend = f"  {spark(one.trend_s, bars)}"
    return fixed(
        (f"{inert(one.target):<{names}}", "strong"), f"{_tries(one):>{tries}}{times}{trend}", par
    )


def _stacked(one: TargetStats, bars: str) -> list[Line]:
    passed = f"{one.passed} of {one.attempts} passed"
    times = f"best {_time(one.best_s)}, median {_time(one.median_s)}, last {_time(one.last_s)}"
    return [
        line((inert(one.target), "strong"), f"  {passed}  {spark(one.trend_s, bars)}"),
        line(times, indent=_INDENT, hang=_INDENT),
    ]


def _bugs(one: TargetStats) -> Line:
    met = ", ".join(_met(met) for met in one.bugs)
    return line(f"{inert(one.target)}: {met}", indent=_INDENT, hang=_INDENT)


def _met(one: Met) -> str:
    lost = f" {figure(one.lost_s)}" if one.lost_s else ""
    return f"{_bug(one.bug)}{lost} ({one.times}×)"


def _bug(bug: str) -> str:
    return inert(bug).removeprefix("pattern-").replace("-", " ")


def _time(seconds: float | None) -> str:
    return "–" if seconds is None else figure(seconds)


# What is next ---------------------------------------------------------------------------------


def show_next(screen: Screen, order: Sequence[Due], there: DueThere, now: float) -> None:
    """Show what is due in order, and the commands that start the first and the whiteboard."""
    rows = [_due(one, now) for one in order]
    command = f"autodrill time {inert(order[0].target)}" if order else None
    is_any = any(one.is_due for one in order)
    head = [] if is_any else [line("nothing is due; what follows can be had early")]
    screen.write(blocks(head, rows, commands(("next", command), *due_commands(there))))


def _due(one: Due, now: float) -> Line:
    if one.due is None:
        return line(("·", "quiet"), f" {inert(one.target)}", ("  not tried yet", "quiet"))
    when = "due" if one.is_due else f"due {until(one.due - now)}"
    sign: Part = ("→", "todo") if one.is_due else ("✓", "good")
    return line(sign, f" {inert(one.target)}", (f"  {when}", "quiet"))


# JSON -----------------------------------------------------------------------------------------


def record(found: Record) -> dict[str, Any]:
    """Return an attempt or a text as plain data."""
    return {
        "schema": "autodrill.record/1",
        "attempt": asdict(found.attempt) if found.attempt else None,
        "splits": [asdict(one) for one in found.splits],
        "saves": [asdict(one) for one in found.saves],
        "answers": [asdict(one) for one in found.answers],
        "seed": found.seed,
        "text": found.text.decode("utf-8", "replace"),
    }


def stats(found: Stats) -> dict[str, Any]:
    """Return the figures of a track as plain data."""
    return {
        "schema": "autodrill.stats/1",
        "track": found.track,
        "targets": [_row(one) for one in found.targets],
        "traces": [_row(one) for one in found.traces],
        "decks": [asdict(one) for one in found.decks],
    }


def _row(one: TargetStats) -> dict[str, Any]:
    row = asdict(one) | {
        "bugs": {met.bug: met.times for met in one.bugs},
        "lost_s": {met.bug: met.lost_s for met in one.bugs},
    }
    del row["weakness"]
    return row


def timed(view: View) -> dict[str, Any]:
    """Return a run that has ended as plain data."""
    return {
        "schema": "autodrill.time/1",
        "attempt": view.attempt,
        "track": view.track,
        "kind": view.kind,
        "state": view.state,
        "run_s": view.run_s,
        "paused_s": view.paused_s,
        "slept_s": view.slept_s,
        "splits": [asdict(one) for one in view.rows],
    }
