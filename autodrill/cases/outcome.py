"""Outcomes: what came back from an engine, as plain data that is safe to judge."""

from __future__ import annotations

import reprlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

# Names are bound here, before the learner's file can patch NumPy in a worker.
from numpy import array, generic, ndarray
from numpy.typing import NDArray

Array = NDArray[Any]

LARGEST_BYTES = 64 * 2**20
"""An array larger than this is described, not sent."""
NO_TENSOR = "(no Tensor)"
"""The text of what came back where a Tensor was due."""

_MOST_ITEMS = 100
_DEEPEST = 3
_LARGEST_INT = 2**63
_LONGEST_TEXT = 200
_SHORT = reprlib.Repr()
_SHORT.maxother = _SHORT.maxstring = _LONGEST_TEXT


@dataclass(frozen=True, repr=False)
class Odd:
    """Something that is not plain data: its type's name and the start of its repr."""

    type: str
    text: str

    def __repr__(self) -> str:
        return self.text or self.type


Value = Array | float | int | bool | str | list[Any] | Odd | None


@dataclass(frozen=True)
class Frame:
    """One line of the learner's file in a traceback."""

    line: int
    function: str
    text: str


@dataclass(frozen=True)
class Raised:
    """An exception that left the engine.

    `classes` holds the names of the exception's classes, the most special first; `frames` only
    those of the learner's file, the outermost first.
    """

    classes: tuple[str, ...]
    message: str
    stage: str
    frames: tuple[Frame, ...] = ()

    @property
    def type(self) -> str:
        """Return the name of the exception's own class."""
        return self.classes[0]


@dataclass(frozen=True)
class Ended:
    """The process in which the engine ran is gone: why, and at which line it was."""

    how: Literal["hang", "crash", "exit", "memory"]
    message: str
    line: int | None = None
    function: str | None = None


@dataclass(frozen=True)
class Outcome:
    """All that is known of one run of a scenario on one engine.

    `measured` holds numbers of bytes that were counted on the way. `changed` names the inputs
    that the engine changed in place, `aliases` the pairs of results that share memory, `readonly`
    the results that can't be written to.
    """

    values: Mapping[str, Value] = field(default_factory=dict)
    measured: Mapping[str, float] = field(default_factory=dict)
    raised: Raised | None = None
    ended: Ended | None = None
    changed: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    readonly: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    output: str = ""


def plain(value: Any, depth: int = 0) -> Value:
    """Turn what an engine gave into plain data, trusting none of its methods.

    An exact ndarray of numbers stays an array and a NumPy scalar becomes a 0-d array.
    Everything else that is not a plain Python value of a decent size is described by its
    type as `Odd`.
    """
    kind = type(value)
    if kind is ndarray:
        if value.dtype.kind not in "fiub":
            return Odd(f"array of dtype {value.dtype}", _text(value))
        if value.nbytes > LARGEST_BYTES:
            return Odd(f"array of shape {value.shape}", "too large to be graded")
        return array(value, order="C")
    if kind in (list, tuple) and len(value) <= _MOST_ITEMS and depth < _DEEPEST:
        return [plain(one, depth + 1) for one in value]
    if (
        value is None
        or kind in (float, bool)
        or (kind is int and abs(value) < _LARGEST_INT)
        or (kind is str and len(value) <= _LONGEST_TEXT)
    ):
        return value  # type: ignore[no-any-return]  # narrowed by the exact type
    if isinstance(value, generic) and kind.__module__ == "numpy":
        return array(value)
    return Odd(kind.__name__, _text(value))


def start_of(text: str, length: int) -> str:
    """Return the start of a text as an exact str, whatever class it is of."""
    return str.__getitem__(text, slice(length))


def _text(value: Any) -> str:
    try:
        return start_of(_SHORT.repr(value), _LONGEST_TEXT)
    except BaseException as error:  # the learner's __repr__ may raise anything
        return f"(its repr raised {type(error).__name__})"
