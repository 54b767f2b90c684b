"""Requests, outcomes and the loading of a file as plain data, for the wire."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from autodrill.cases.outcome import Frame, Outcome, Raised
from autodrill.cases.run import Request
from autodrill.cases.wire import BadMessage


@dataclass(frozen=True)
class Loaded:
    """What came of importing the learner's file.

    `missing` names the track's symbols that the file does not have. A syntax error comes
    with its line, column (from 1) and the text of the line; any other exception as `raised`.
    """

    missing: tuple[str, ...] = ()
    syntax: tuple[str, int, int, str] | None = None
    raised: Raised | None = None


def request_to_plain(request: Request) -> dict[str, Any]:
    """Turn a request into a message."""
    return {
        "scenario": request.scenario,
        "inputs": dict(request.inputs),
        "params": dict(request.params),
        "upstream": request.upstream,
    }


def request_from_plain(message: Mapping[str, Any]) -> Request:
    """Read a request back."""
    return Request(**message)


def outcome_to_plain(outcome: Outcome) -> dict[str, Any]:
    """Turn an outcome, of a process that lives, into a message; what is empty is left out."""
    message = {
        "values": dict(outcome.values),
        "measured": dict(outcome.measured),
        "raised": _raised_to_plain(outcome.raised),
        "changed": outcome.changed,
        "aliases": outcome.aliases,
        "readonly": outcome.readonly,
        "warnings": outcome.warnings,
    }
    return {name: value for name, value in message.items() if value}


def outcome_from_plain(message: Any, output: str) -> Outcome:
    """Read an outcome back; BadMessage if it is none."""
    try:
        given = message.get
        return Outcome(
            values={str(name): value for name, value in given("values", {}).items()},
            measured={str(name): float(size) for name, size in given("measured", {}).items()},
            raised=_raised_from_plain(given("raised")),
            changed=_words(given("changed", ())),
            aliases=_words(given("aliases", ())),
            readonly=_words(given("readonly", ())),
            warnings=_words(given("warnings", ())),
            output=output,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadMessage("an outcome is not of the right form") from error


def loaded_to_plain(loaded: Loaded) -> dict[str, Any]:
    """Turn what came of an import into a message."""
    return {
        "missing": loaded.missing,
        "syntax": loaded.syntax,
        "raised": _raised_to_plain(loaded.raised),
    }


def loaded_from_plain(message: Any) -> Loaded:
    """Read what came of an import back; BadMessage if it is nothing of the kind."""
    try:
        syntax = message["syntax"]
        if syntax is not None:
            text, line, column, source = syntax
            syntax = (str(text), int(line), int(column), str(source))
        return Loaded(_words(message["missing"]), syntax, _raised_from_plain(message["raised"]))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BadMessage("the answer to an import is not of the right form") from error


def _words(value: Any) -> tuple[str, ...]:
    return tuple(str(word) for word in value)


def _raised_to_plain(raised: Raised | None) -> dict[str, Any] | None:
    if raised is None:
        return None
    frames = [[frame.line, frame.function, frame.text] for frame in raised.frames]
    return {
        "classes": raised.classes,
        "message": raised.message,
        "stage": raised.stage,
        "frames": frames,
    }


def _raised_from_plain(message: Any) -> Raised | None:
    if message is None:
        return None
    frames = tuple(Frame(int(line), str(name), str(text)) for line, name, text in message["frames"])
    names = _words(message["classes"]) or ("Exception",)
    return Raised(names, str(message["message"]), str(message["stage"]), frames)
