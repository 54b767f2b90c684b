"""General patterns in a wrong array, for bugs that no catalogue knows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autodrill.cases.judge import differs
from autodrill.results import Diagnosis

Array = NDArray[Any]

_LARGEST_RANK = 4
_ENOUGH_NUMBERS = 3
_FACTOR = "constant-factor"


@dataclass(frozen=True)
class Wrong:
    """A wrong array beside the right one.

    `with_ones` is what would be right if the upstream were all ones, where that is known.
    """

    yours: Array
    expected: Array
    with_ones: Array | None = None


def name_pattern(wrongs: list[Wrong]) -> Diagnosis | None:
    """Name a pattern that fits every one of the wrong arrays, None if none does.

    One number alone shows nothing, as some factor explains it; several show the factor that
    they have in common.
    """
    telling = [one for one in wrongs if one.expected.size > 1]
    if not telling:
        return _common_factor(wrongs)
    named = [dict(_patterns(one)) for one in telling]
    for key, diagnosis in named[0].items():
        if all(key in other for other in named[1:]):
            differ = any(other[key] != diagnosis for other in named[1:])
            return _FACTORS if key == _FACTOR and differ else diagnosis
    return None


def _common_factor(wrongs: list[Wrong]) -> Diagnosis | None:
    numbers = [one for one in wrongs if one.yours.size == one.expected.size == 1]
    if len(numbers) < _ENOUGH_NUMBERS:
        return None
    yours = np.array([one.yours.item() for one in numbers])
    expected = np.array([one.expected.item() for one in numbers])
    return next((diagnosis for _, diagnosis in _factor(yours, expected)), None)


def _patterns(wrong: Wrong) -> Iterator[tuple[str, Diagnosis]]:
    """Yield the patterns that fit, the most telling first, each under a key of its own."""
    yours, expected = wrong.yours, wrong.expected
    if yours.shape != expected.shape:
        yield from _shape_patterns(yours, expected)
        return
    if not np.any(yours):
        yield _named("zero", "all zeros", "nothing arrives here: it is never added or never stored")
    if wrong.with_ones is not None and _equal(yours, wrong.with_ones):
        yield _named(
            "upstream-ignored",
            "the upstream is ignored",
            "this is the gradient for an upstream of all ones: multiply by the upstream",
        )
    yield from _factor(yours, expected)
    yield from _moved(yours, expected)
    yield from _summed(yours, expected)


def _shape_patterns(yours: Array, expected: Array) -> Iterator[tuple[str, Diagnosis]]:
    if (
        yours.ndim == expected.ndim
        and yours.T.shape == expected.shape
        and _equal(yours.T, expected)
    ):
        yield _named("transposed", "transposed", "the right numbers, with the axes swapped")
    if yours.size == expected.size and _equal(yours.reshape(expected.shape), expected):
        yield _named(
            "not-reshaped", "not in the input's shape", "the right numbers in another shape"
        )
    elif yours.ndim >= expected.ndim and _sums_to(yours, expected):
        yield _named(
            "not-unbroadcast",
            "left in the broadcast shape",
            "summed over the axes that were broadcast it would be right",
        )


def _factor(yours: Array, expected: Array) -> Iterator[tuple[str, Diagnosis]]:
    largest = np.unravel_index(np.argmax(np.abs(expected)), expected.shape)
    if expected[largest] == 0 or not np.all(np.isfinite(yours)):
        return
    factor = float(yours[largest] / expected[largest])
    if factor == 0 or not _equal(yours, factor * expected):
        return
    if np.isclose(factor, -1):
        yield _named("sign", "the wrong sign", "every entry is right but for its sign")
    elif np.isclose(factor, 2):
        yield _named("doubled", "doubled", "every entry is twice what it should be: counted twice")
    else:
        yield _named(
            _FACTOR,
            "off by a constant factor",
            f"every entry is {factor:.6g} times what it should be",
        )


def _moved(yours: Array, expected: Array) -> Iterator[tuple[str, Diagnosis]]:
    if expected.ndim <= _LARGEST_RANK:
        for order in itertools.permutations(range(expected.ndim)):
            moved = expected.transpose(order)
            if order != tuple(range(expected.ndim)) and moved.shape == yours.shape:
                if not _equal(yours, moved):
                    continue
                if expected.ndim == 2:
                    yield _named("transposed", "transposed", "rows and columns are swapped")
                else:
                    yield _named(
                        "permuted", "axes permuted", f"the axes stand in the order {order}"
                    )
    if _equal(np.sort(yours, axis=None), np.sort(expected, axis=None)):
        yield _named("misplaced", "the right numbers in the wrong places", "the order is mixed up")


def _summed(yours: Array, expected: Array) -> Iterator[tuple[str, Diagnosis]]:
    for axis in range(expected.ndim):
        if expected.shape[axis] > 1:
            total = expected.sum(axis=axis, keepdims=True)
            if _equal(yours, np.broadcast_to(total, yours.shape)):
                yield _named(
                    f"summed-{axis}",
                    f"summed over axis {axis}",
                    f"every entry along axis {axis} holds the sum of that axis",
                )


def _sums_to(yours: Array, expected: Array) -> bool:
    extra = yours.ndim - expected.ndim
    stretched = [extra + i for i, n in enumerate(expected.shape) if n == 1]
    total = yours.sum(axis=(*range(extra), *stretched))
    return total.size == expected.size and _equal(total.reshape(expected.shape), expected)


def _equal(one: Array, other: Array) -> bool:
    return one.shape == other.shape and not differs(one, other).any()


def _named(key: str, title: str, why: str) -> tuple[str, Diagnosis]:
    return key, Diagnosis(f"pattern-{key}", title, why, confidence="pattern")


_FACTORS = _named(
    _FACTOR,
    "off by a factor that depends on the sizes",
    "all entries of an array are off by the same factor, which is another one at other sizes",
)[1]
