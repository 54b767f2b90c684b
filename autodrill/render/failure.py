"""One failure in full: what is wrong, the smallest input that shows it, and the numbers."""

from __future__ import annotations

from autodrill.render.inert import inert
from autodrill.render.layout import Line, blocks, fixed, glued, line, plain
from autodrill.render.numbers import comparison
from autodrill.render.signs import SIGNS
from autodrill.render.source import printed, says_line, trace
from autodrill.results import Diagnosis, Failure

_INDENT = 2


def text(failure: Failure, width: int = 80) -> str:
    """Explain a failure as plain text, for plain pytest."""
    sign, _ = SIGNS[failure.verdict]
    head = line(f"{sign} {inert(failure.test)}")
    return plain([head, *lines(failure, width)], width).rstrip("\n")


def lines(failure: Failure, width: int) -> list[Line]:
    """Explain a failure, without the name of its test."""
    message = line((inert(failure.message), "strong"), indent=_INDENT, hang=_INDENT)
    if failure.verdict == "todo":
        return [message, *_place(failure)]
    return blocks(
        [message, *_place(failure)],
        trace(failure.trace),
        _example(failure),
        comparison(failure, width),
        _diagnosis(failure.diagnosis) if failure.diagnosis else [],
        printed(failure.output),
        _warnings(failure.warnings),
    )


def one_line(failure: Failure, above: Failure) -> Line:
    """Name a failing test and say what is wrong with it, or that it is as `above`."""
    message = inert(failure.message)
    if failure.message == above.message:
        message = "the same"
    elif failure.line is not None and not says_line(failure.message, failure.line):
        message = f"{message} ({glued(f'line {failure.line}')})"
    test = glued(f" {inert(failure.test)}")
    return line(SIGNS[failure.verdict], f"{test}  {message}", indent=_INDENT, hang=_INDENT)


def _place(failure: Failure) -> list[Line]:
    """Say the line where neither the message nor the trace does."""
    is_in_trace = failure.trace and failure.verdict != "todo"
    if failure.line is None or is_in_trace or says_line(failure.message, failure.line):
        return []
    return [line(f"at line {failure.line} of your file", indent=_INDENT, hang=_INDENT)]


def _example(failure: Failure) -> list[Line]:
    is_absent = failure.what == "missing" and failure.expected is None
    if failure.example is None or is_absent:
        return []
    is_smallest = failure.verdict == "fail" and failure.example.inputs
    head = "smallest input that fails" if is_smallest else "what was run"
    code = [fixed(inert(one), indent=2 * _INDENT) for one in failure.example.code.splitlines()]
    return [line((head, "quiet"), indent=_INDENT), *code]


def _diagnosis(diagnosis: Diagnosis) -> list[Line]:
    label = "likely bug:" if diagnosis.confidence == "exact" else "pattern:"
    head = line(label, (f" {inert(diagnosis.title)}", "strong"), indent=_INDENT, hang=_INDENT)
    shown = [head, line(inert(diagnosis.why), indent=2 * _INDENT)] if diagnosis.why else [head]
    if diagnosis.also:
        others = ", ".join(map(inert, diagnosis.also))
        shown.append(line(f"what also fits: {others}", indent=_INDENT, hang=_INDENT))
    return shown


def _warnings(warnings: tuple[str, ...]) -> list[Line]:
    once = dict.fromkeys(map(inert, warnings))
    return [line(("warning: ", "todo"), one, indent=_INDENT, hang=_INDENT) for one in once]
