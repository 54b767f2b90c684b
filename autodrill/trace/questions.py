"""What is asked about a graph, and the judge of the answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from autodrill.bugs import find_bug
from autodrill.results import Diagnosis
from autodrill.trace.answers import Unclear, fits_shape, read_array, read_names
from autodrill.trace.graph import Array, Graph, Solved
from autodrill.trace.mistakes import (
    ORDER_REVERSED,
    first_too_early,
    is_reversed,
    name_gradient,
    name_value,
)
from autodrill.trace.working import gradient_working, number, order_working, value_working


@dataclass(frozen=True)
class Question:
    """One question; `asks` is the short form, such as `dL/da`."""

    kind: Literal["order", "value", "gradient"]
    node: str
    asks: str


@dataclass(frozen=True)
class Judged:
    """What came of an answer; `message` says what is wrong with it."""

    is_right: bool
    message: str = ""
    diagnosis: Diagnosis | None = None


def questions(graph: Graph) -> tuple[Question, ...]:
    """Return the questions about a graph: the order, each value, each gradient from L back."""
    values = (Question("value", one.name, one.name) for one in graph.ops)
    back = reversed(graph.nodes[:-1])
    gradients = (Question("gradient", one.name, f"dL/d{one.name}") for one in back)
    return (Question("order", graph.loss.name, "order"), *values, *gradients)


def judge(solved: Solved, question: Question, text: str) -> Judged:
    """Judge an answer; one that can't be read raises `Unclear` and counts as no try."""
    if question.kind == "order":
        return _judge_order(solved.graph, read_names(text))
    right = _right(solved, question)
    given = fits_shape(read_array(text), text, right.shape)
    if given.shape == right.shape and np.allclose(given, right, rtol=1e-6, atol=1e-9):
        return Judged(True)
    namer = name_value if question.kind == "value" else name_gradient
    diagnosis = namer(solved, question.node, given)
    return Judged(False, _what_is_wrong(question, given, right), diagnosis)


def answer_to(solved: Solved, question: Question) -> str:
    """Write the right answer; of an order the one that the graph is kept in."""
    if question.kind == "order":
        return " ".join(one.name for one in solved.graph.ops)
    return number(_right(solved, question))


def working(solved: Solved, question: Question) -> tuple[str, ...]:
    """Derive the right answer, line by line."""
    match question.kind:
        case "order":
            return order_working(solved.graph)
        case "value":
            return value_working(solved, question.node)
        case _:
            return gradient_working(solved, question.node)


def _right(solved: Solved, question: Question) -> Array:
    found = solved.values if question.kind == "value" else solved.grads
    return found[question.node]


def _judge_order(graph: Graph, given: list[str]) -> Judged:
    names = {one.name for one in graph.nodes}
    unknown = [one for one in given if one not in names]
    if unknown:
        known = " ".join(sorted(one.name for one in graph.ops))
        raise Unclear(f"`{unknown[0]}` is no node of this graph; put {known} in order")
    twice = [one for one in names if given.count(one) > 1]
    if twice:
        return Judged(False, f"{min(twice)} is there more than once")
    missing = [one.name for one in graph.ops if one.name not in given]
    if missing:
        return Judged(False, f"{', '.join(sorted(missing))} is missing")
    early = first_too_early(graph, given)
    if early is None:
        return Judged(True)
    message = f"{early[0]} comes before {early[1]}, which it is computed from"
    if not is_reversed(graph, given):
        return Judged(False, message)
    bug = find_bug(ORDER_REVERSED)
    named = Diagnosis(bug.id, bug.title, bug.why, bug.hint) if bug else None
    return Judged(False, f"that is the order of the backward pass; {message}", named)


def _what_is_wrong(question: Question, given: Array, right: Array) -> str:
    if given.shape != right.shape:
        own = f"; a gradient has its node's own shape, {right.shape}"
        return f"the shape {given.shape} is wrong" + (own if question.kind == "gradient" else "")
    if right.size == 1:
        return "not that"
    wrong = [
        index for index in np.ndindex(right.shape) if not np.isclose(given[index], right[index])
    ]
    places = ", ".join(str(list(index)) for index in wrong)
    return f"{len(wrong)} of {right.size} entries wrong: at {places}"
