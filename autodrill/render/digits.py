"""Numbers as text: as few digits as show what has to be seen, aligned on the decimal point."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

_SIGNIFICANT = 6
_MOST = 17
_LARGE = 1e7
_SMALL = 1e-4
_NOISE = 1e-9


@dataclass(frozen=True)
class Digits:
    """How the numbers of a table are written; `scientific` as in `1.25e+09`."""

    places: int
    scientific: bool = False

    def write(self, value: float) -> str:
        """Write a number; zeros that say nothing are left out."""
        if isinstance(value, int):  # a bool too
            return str(value)
        if not math.isfinite(value):
            return str(float(value))
        if self.scientific:
            return f"{value:.{self.places}e}"
        text = f"{value:.{self.places}f}".rstrip("0")
        return _unsigned_zero(text + "0" if text.endswith(".") else text)


def digits_for(values: Sequence[float], apart: Iterable[tuple[float, float]] = ()) -> Digits:
    """Choose the fewest digits for some numbers.

    Parameters
    ----------
    values : sequence of numbers
        Written whole where they are short, such as integers and halves, else to six
        significant digits of the largest.
    apart : iterable of pairs
        Numbers that have to be told apart once they are written.
    """
    sizes = [abs(one) for one in values if math.isfinite(one) and one != 0]
    largest = max(sizes, default=1.0)
    scientific = largest >= _LARGE or largest < _SMALL
    pairs = list(apart)
    for places in range(1, _MOST):
        digits = Digits(places, scientific)
        told_apart = all(digits.write(one) != digits.write(other) for one, other in pairs)
        if told_apart and (_enough(digits, largest) or _whole(digits, values, largest)):
            return digits
    return Digits(_MOST, scientific)


def write_difference(value: float, digits: Digits) -> str:
    """Write a difference to at least two digits: a tiny or a huge one as `3.0e-08`."""
    size = abs(value)
    if isinstance(value, int) or not math.isfinite(value) or size == 0:
        return digits.write(value)
    if size < _SMALL or size >= _LARGE:
        return f"{value:.1e}"
    own = 2 - _magnitude(size)
    return Digits(max(1, own, 0 if digits.scientific else digits.places)).write(value)


def aligned(texts: Sequence[str]) -> list[str]:
    """Pad numbers to one width so that their decimal points are below each other.

    What has no point because it is nan or infinite stands at the right.
    """
    numbers = [one for one in texts if one[-1:].isdigit()]
    after = max((_after_point(one) for one in numbers), default=0)
    padded = [
        one + " " * (after - _after_point(one)) if one[-1:].isdigit() else one for one in texts
    ]
    width = max(map(len, padded), default=0)
    return [one.rjust(width) for one in padded]


def _after_point(text: str) -> int:
    """Return how many characters the point and what follows it are."""
    return len(text) - len(text.partition(".")[0])


def _unsigned_zero(text: str) -> str:
    """Drop the sign of what was rounded to zero."""
    return text[1:] if text.startswith("-") and not text.strip("-0.") else text


def _enough(digits: Digits, largest: float) -> bool:
    before_point = 1 if digits.scientific else _magnitude(largest)
    return digits.places + before_point >= _SIGNIFICANT


def _whole(digits: Digits, values: Iterable[float], largest: float) -> bool:
    """Tell whether the digits show the numbers as they are, but for the noise of floats."""
    finite = [one for one in values if isinstance(one, float) and math.isfinite(one)]
    return all(abs(float(digits.write(one)) - one) <= _NOISE * largest for one in finite)


def _magnitude(size: float) -> int:
    """Return how many digits stand before the decimal point, negative for 0.0..."""
    return math.floor(math.log10(size)) + 1
