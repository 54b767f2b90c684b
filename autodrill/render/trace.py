"""A trace as people read it and answer it, and as JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from autodrill.render.commands import commands
from autodrill.render.inert import inert
from autodrill.render.layout import Line, Part, blocks, glued, line, spread
from autodrill.render.times import clock, figure

if TYPE_CHECKING:
    from autodrill.practice.trace import View
    from autodrill.render.console import Screen
    from autodrill.results import Diagnosis

_INDENT = 2
_HANG = 4
_ARRAY = re.compile(r"\[[-\[\]\d, .]*\]")


def show_event(screen: Screen, view: View, *, prompts: bool) -> None:
    """Show what has just happened; with `prompts` a question is one that waits for its answer."""
    match view.event:
        case "start":
            screen.write(_start(view, screen.width))
        case "ask" if prompts:
            screen.prompt(f"{clock(view.run_s)}  {_asks(view)} ")
        case "ask":
            screen.write([line(f"{view.number} of {view.count}  {_asks(view)}", hang=_INDENT)])
        case "unclear":
            screen.write([line(("? ", "todo"), inert(view.message), hang=_INDENT)])
        case "end":
            screen.write(_end(view, screen.width))
        case _:
            screen.write(_judged(view))
    screen.flush()


def _start(view: View, width: int) -> list[Line]:
    graph, level = view.solved.graph, view.level
    title = line(("trace", "strong"), f" · level {level.number}: {level.says}", hang=_INDENT)
    goal = line((f"{clock(level.minutes * 60)} min", "quiet"))
    from autodrill.trace.working import number

    leaves = [
        line(glued(f"{name} = {number(array)}"), (f"  {_shape(array.shape)}", "quiet"), indent=2)
        for name, array in graph.leaves.items()
    ]
    computed = [line(f"{one.name} = {one.written()}", indent=_INDENT) for one in view.listing]
    expression = graph.expression()
    whole = [line(("L = ", ""), (expression, "strong"), hang=_HANG)] if expression else []
    how = "dm is short for dL/dm, and dL/dL = 1. ? says how to type an answer, g shows it."
    return [
        *blocks(spread(title, goal, width), whole, leaves, computed, [line((how, "quiet"))]),
        Line(),
    ]


def _asks(view: View) -> str:
    question = view.question
    assert question is not None
    if question.kind == "order":
        return "order of the nodes, L last:"
    if question.kind == "value":
        return f"{question.node} ="
    return f"{question.asks} ="


def _judged(view: View) -> list[Line]:
    question = view.question
    assert question is not None
    says = "order" if question.kind == "order" else question.asks
    derived = [line((_whole(one), "quiet"), indent=_HANG, hang=_HANG) for one in view.working]
    if view.event == "right":
        return [line(("✓", "good"), f" {says} = {inert(view.given)}", hang=_INDENT), *derived]
    if view.event == "revealed":
        return [line(("→", "todo"), f" {says} = {_whole(view.expected)}", hang=_INDENT), *derived]
    head = line(("✗", "bad"), f" {says}: {inert(view.message)}", hang=_INDENT)
    return [head, *_named(view.diagnosis)]


def _whole(text: str) -> str:
    """Keep each array of a line together where the line is wrapped."""
    return _ARRAY.sub(lambda found: glued(found.group()), text)


def _named(diagnosis: Diagnosis | None) -> Iterator[Line]:
    if diagnosis is None:
        return
    yield line(("likely: ", "quiet"), (diagnosis.title, "strong"), indent=_INDENT, hang=_INDENT)
    yield line(diagnosis.why, indent=_HANG)
    if diagnosis.also:
        others = ", ".join(one.replace("-", " ") for one in diagnosis.also)
        yield line((f"the same numbers come from: {others}", "quiet"), indent=_HANG)


def _end(view: View, width: int) -> list[Line]:
    level, found = view.level, _found(view)
    passed = view.state == "passed"
    sign: Part = ("✓", "good") if passed else ("✗", "bad")
    state: str = view.state
    if view.state == "closed":
        sign, state = ("·", "quiet"), "left, which counts neither way"
    goal_s = level.minutes * 60
    parts: list[Part] = [f" attempt {view.attempt}: {state}"]
    if passed:
        words = "within" if view.run_s <= goal_s else "over"
        parts.append(f", {words} the {clock(goal_s)} of the level")
        if view.best_s is not None and view.run_s < view.best_s:
            parts.append((", a new best", "good"))
    lines = spread(line(sign, *parts, hang=_INDENT), line((figure(view.run_s), "strong")), width)
    lines.append(line(f"{found} of {view.count} answers right at the first try", indent=_INDENT))
    again = f"autodrill trace --level {level.number} --seed {view.seed}"
    return [
        Line(),
        *blocks(lines, commands(("the same again", again), ("next", "autodrill trace"))),
    ]


def _found(view: View) -> int:
    """Count the questions whose first answer was right."""
    first: dict[str, str] = {}
    for one in view.answers:
        first.setdefault(one.question, one.verdict)
    return sum(verdict == "right" for verdict in first.values())


def _shape(shape: tuple[int, ...]) -> str:
    return str(shape) if shape else ""


def report(view: View) -> dict[str, Any]:
    """Return a trace that has ended as plain data."""
    graph, solved = view.solved.graph, view.solved
    nodes = [
        {
            "name": one.name,
            "op": one.op,
            "parents": list(one.parents),
            "value": _array(solved.values[one.name]),
            "gradient": _array(solved.grads[one.name]),
        }
        for one in graph.nodes
    ]
    return {
        "schema": "autodrill.trace/1",
        "attempt": view.attempt,
        "level": view.level.number,
        "seed": view.seed,
        "state": view.state,
        "run_s": view.run_s,
        "target_s": view.level.minutes * 60,
        "right_at_first": _found(view),
        "questions": view.count,
        "graph": {"expression": graph.expression(), "nodes": nodes},
        "answers": [asdict(one) for one in view.answers],
    }


def _array(array: Any) -> dict[str, Any]:
    return {"shape": list(array.shape), "values": array.tolist()}
