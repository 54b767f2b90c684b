"""What came back beside what was due: the table of the entries, or the two as they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from autodrill.render.digits import Digits, aligned, digits_for, write_difference
from autodrill.render.inert import inert
from autodrill.render.layout import Line, Part, Style, fixed, glued, len_cells, line

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from autodrill.results import Failure

    Array = NDArray[Any]

_STACKED_BELOW = 60
_SMALL = 8
"""An array of so many entries is shown whole."""
_MOST_ROWS = 8
_MOST_STACKED = 4
_MOST_WRITTEN = 24
_INDENT = 2
_TRUSTED = 0.1
"""Finite differences are shown where their error is less than this part of the difference."""
_PLACES = 8
"""Decimal places to which finite differences of numbers of size 1 can be trusted."""


def comparison(failure: Failure, width: int) -> list[Line]:
    """Show what the learner's engine gave beside what it should have given."""
    yours, expected = failure.yours, failure.expected
    if yours is None and expected is None:
        return []
    if not _is_alike(yours, expected):
        return _both(yours, expected)
    assert isinstance(yours, np.ndarray) and isinstance(expected, np.ndarray)
    wrong = _wrong(yours, expected, failure.tolerance)
    if not wrong.any():
        return []
    is_narrow = width < _STACKED_BELOW
    most = _MOST_STACKED if is_narrow else _MOST_ROWS
    table = _table(failure, yours, expected, wrong, most)
    gaps = [gap for gap in (4, 2) if _needs(table, gap) <= width]
    if is_narrow or not gaps:
        return _stacked(table)
    return _side_by_side(table, " " * gaps[0])


def _is_alike(yours: Array | str | None, expected: Array | str | None) -> bool:
    """Tell whether the two can be compared entry by entry."""
    if not (isinstance(yours, np.ndarray) and isinstance(expected, np.ndarray)):
        return False
    return bool(yours.shape == expected.shape and yours.dtype == expected.dtype and yours.size)


@dataclass(frozen=True)
class _Table:
    """The entries as aligned text, ready to be laid out."""

    label: str
    witness: str
    places: Sequence[str]
    yours: Sequence[str]
    theirs: Sequence[str]
    differences: Sequence[str]
    wrong: Sequence[bool]
    notes: Sequence[str]

    @property
    def head(self) -> tuple[str, ...]:
        return self.label, "yours", self.witness, "difference"

    @property
    def columns(self) -> tuple[Sequence[str], ...]:
        return self.places, self.yours, self.theirs, self.differences


def _table(
    failure: Failure, yours: Array, expected: Array, wrong: NDArray[np.bool_], most: int
) -> _Table:
    differences = _differences(yours, expected, wrong)
    order, notes = np.arange(yours.size), []
    if yours.size > _SMALL:
        order = _worst_first(differences, wrong)[:most]
        count = f"{int(wrong.sum()):,} of {yours.size:,} entries differ"
        notes.append(f"{count}, worst {len(order)} shown")
    witness, theirs, note = _witness(failure.finite_differences, yours, expected, wrong)
    chosen = [one.reshape(-1)[order].tolist() for one in (yours, theirs, differences, wrong)]
    pairs = [(one, other) for one, other, _, is_wrong in zip(*chosen, strict=True) if is_wrong]
    digits = digits_for(chosen[0] + chosen[1], pairs)
    return _Table(
        label=_label(failure),
        witness=witness,
        places=[_place(int(index), yours.shape) for index in order],
        yours=aligned([digits.write(one) for one in chosen[0]]),
        theirs=aligned([digits.write(one) for one in chosen[1]]),
        differences=aligned([write_difference(one, digits) for one in chosen[2]]),
        wrong=chosen[3],
        notes=[*notes, note] if note else notes,
    )


def _witness(
    measured: Array | None, yours: Array, expected: Array, wrong: NDArray[np.bool_]
) -> tuple[str, Array, str]:
    """Choose what stands beside the learner's numbers: its name, its numbers and a note."""
    if measured is None or measured.shape != yours.shape:
        return "expected", expected, ""
    rounded = _rounded(measured, expected)
    if all(_can_tell(one, yours, expected, wrong) for one in (measured, rounded)):
        return "finite differences", rounded, ""
    note = "finite differences can't tell here; this is the exact gradient"
    return "expected", expected, note


def _wrong(yours: Array, expected: Array, tolerance: float) -> NDArray[np.bool_]:
    from autodrill.cases.judge import differs

    return differs(yours, expected, tolerance)


def _differences(yours: Array, expected: Array, wrong: NDArray[np.bool_]) -> Array:
    """Return yours minus expected, with the noise of right entries left out."""
    if yours.dtype.kind in "bu":
        yours, expected = yours.astype(np.int64), expected.astype(np.int64)
    with np.errstate(all="ignore"):
        return np.where(wrong, yours - expected, yours.dtype.type(0))


def _worst_first(differences: Array, wrong: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return the places of the wrong entries, the worst first and what is no number before it."""
    with np.errstate(all="ignore"):
        badness = np.where(np.isfinite(differences), np.abs(differences), np.inf)
    badness = np.where(wrong, badness, -1.0).reshape(-1)
    return np.argsort(-badness, kind="stable")[: int(wrong.sum())]


def _rounded(finite_differences: Array, expected: Array) -> Array:
    """Leave out the digits of finite differences that are only their own error."""
    sizes = np.abs(expected[np.isfinite(expected)])
    largest = float(sizes.max()) if sizes.size else 1.0
    places = _PLACES - max(0, int(np.ceil(np.log10(max(largest, 1.0)))))
    with np.errstate(all="ignore"):
        return np.round(finite_differences, places)


def _can_tell(
    finite_differences: Array, yours: Array, expected: Array, wrong: NDArray[np.bool_]
) -> bool:
    """Tell whether finite differences are near enough to the truth to show what is wrong.

    They are not at a kink, such as relu's at 0, nor where the difference is below their error.
    """
    with np.errstate(all="ignore"):
        off = np.abs(finite_differences - expected)[wrong]
        difference = np.abs(yours - expected)[wrong]
    finite = np.isfinite(difference)
    return bool(np.all(off[finite] <= _TRUSTED * difference[finite]))


def _label(failure: Failure) -> str:
    if failure.of is None:
        return "result"
    return f"{failure.of}.grad" if failure.what == "gradient" else failure.of


def _place(index: int, shape: tuple[int, ...]) -> str:
    place = [int(one) for one in np.unravel_index(index, shape)]
    return str(place) if place else ""


def _needs(table: _Table, gap: int) -> int:
    """Return the columns that a table takes side by side, the sign included."""
    return _INDENT + sum(_widths(table)) + gap * (len(table.head) - 1) + len("  ✗")


def _widths(table: _Table) -> list[int]:
    return [
        max(len_cells(head), *map(len_cells, column))
        for head, column in zip(table.head, table.columns, strict=True)
    ]


def _side_by_side(table: _Table, gap: str) -> list[Line]:
    first, *others = _widths(table)
    head = [f"{table.label:<{first}}"]
    head += [f"{name:>{width}}" for name, width in zip(table.head[1:], others, strict=True)]
    shown = [fixed((gap.join(head), "quiet"), indent=_INDENT)]
    for place, *values, is_wrong in zip(*table.columns, table.wrong, strict=True):
        style: Style = "bad" if is_wrong else ""
        yours, *rest = (f"{one:>{width}}" for one, width in zip(values, others, strict=True))
        sign: list[Part] = [("  ✗", style)] if is_wrong else []
        parts: tuple[Part, ...] = (
            f"{place:<{first}}{gap}",
            (yours, style),
            gap,
            gap.join(rest),
            *sign,
        )
        shown.append(fixed(*parts, indent=_INDENT))
    return shown + _notes(table)


def _stacked(table: _Table) -> list[Line]:
    """Show each wrong entry as a small block, and each right one on a line of its own."""
    names = table.head[1:]
    widest = max(map(len, names))
    shown = []
    for place, *values, is_wrong in zip(*table.columns, table.wrong, strict=True):
        entry = f"{table.label} {place}".strip()
        if not is_wrong:
            shown.append(fixed(("✓ ", "good"), f"{entry}  {values[0].strip()}", indent=_INDENT))
            continue
        shown.append(fixed(("✗ ", "bad"), entry, indent=_INDENT))
        for name, value in zip(names, aligned([one.strip() for one in values]), strict=True):
            style: Style = "bad" if name == "yours" else ""
            parts = (f"{name:<{widest}}  ", (value.rstrip(), style))
            shown.append(line(*parts, indent=2 * _INDENT, hang=_INDENT))
    return shown + _notes(table)


def _notes(table: _Table) -> list[Line]:
    return [line((note, "quiet"), indent=_INDENT, hang=_INDENT) for note in table.notes]


def _both(yours: Array | str | None, expected: Array | str | None) -> list[Line]:
    """Show the two as they are, such as arrays of different shapes."""
    dtypes = {one.dtype for one in (yours, expected) if isinstance(one, np.ndarray)}
    shown = [("yours", yours)] if expected is None else [("yours", yours), ("expected", expected)]
    return [_described(name, value, with_dtype=len(dtypes) > 1) for name, value in shown]


def _described(name: str, value: Array | str | None, *, with_dtype: bool) -> Line:
    text = inert(value) if isinstance(value, str) else "None"
    if isinstance(value, np.ndarray):
        text = f"{value.dtype}, " if with_dtype else ""
        text = glued(f"{text}shape {value.shape}")
        if value.size <= _MOST_WRITTEN:
            text += f"  {literal(value, digits_for(value.reshape(-1).tolist()))}"
    return line((f"{name:<10}", "quiet"), text, indent=_INDENT, hang=10)


def literal(array: Array, digits: Digits) -> str:
    """Write an array as nested lists."""
    if array.ndim == 0:
        return digits.write(array.item())
    return f"[{', '.join(literal(one, digits) for one in array)}]"
