"""Answers as people type them: names in an order, and numbers in rows."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np

from autodrill.trace.graph import Array

FORMS = "a number `3`, a row `1 2`, rows `1 2; 3 4` or `[[1, 2], [3, 4]]`, a single row `1 2;`"
_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:/\d+)?"
_TOKEN = re.compile(rf"\s*({_NUMBER}|[\[\];,])")
_CALL = re.compile(r"^\s*(?:np\.)?array\((.*)\)\s*$")
_LONGEST = 400
_DEEPEST = 4


class Unclear(ValueError):
    """An answer that can't be read; the message says why. It counts as no try."""


def read_names(text: str) -> list[str]:
    """Read names with anything between them: spaces, commas, arrows."""
    names = re.findall(r"\w+", text[:_LONGEST])
    if not names:
        raise Unclear("type the names of the nodes in order, with spaces between them")
    return names


def read_array(text: str) -> Array:
    """Read a number, a row, or rows; `Unclear` says what is wrong with it."""
    if len(text) > _LONGEST:
        raise Unclear("that is longer than any answer here")
    plain = _CALL.sub(r"\1", text).translate(str.maketrans("()−", "[]-")).strip()
    tokens = _tokens(plain)
    if not any(one[0].isdigit() or one[0] in "+-." for one in tokens):
        raise Unclear(f"type {FORMS}")
    is_nested = bool({"[", "]"} & set(tokens))
    value = _nested(tokens) if is_nested else _rows(tokens)
    try:
        return np.array(value, dtype=np.float64)
    except ValueError:
        raise Unclear("the rows are not all of the same length") from None


def fits_shape(given: Array, text: str, shape: tuple[int, ...]) -> Array:
    """Take a row without brackets for a matrix of one row where that is what is due."""
    if "[" not in text and given.ndim == 1 and shape == (1, *given.shape):
        return given.reshape(shape)
    if "[" not in text and given.ndim == 0 and shape in ((1,), (1, 1)):
        return given.reshape(shape)
    return given


def _tokens(text: str) -> list[str]:
    tokens, at = [], 0
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None or _runs_on(text, found):
            rest = text[at:].split(maxsplit=1)
            raise (
                Unclear(f"`{rest[0]}` is no number; type {FORMS}")
                if rest
                else Unclear(f"type {FORMS}")
            )
        tokens.append(found[1])
        at = found.end()
    return tokens


def _runs_on(text: str, found: re.Match[str]) -> bool:
    """Tell whether a number goes straight on with something that is no part of one: `3x`."""
    after = text[found.end() : found.end() + 1]
    return found[1] not in "[];," and bool(after) and after not in " \t[];,"


def _number(token: str) -> float:
    try:
        value = float(Fraction(token)) if "/" in token else float(token)
    except (ZeroDivisionError, OverflowError):
        raise Unclear(f"`{token}` is no number") from None
    if not np.isfinite(value):
        raise Unclear(f"`{token}` is too large")
    return value


def _rows(tokens: list[str]) -> Any:
    rows: list[list[float]] = [[]]
    for sign in tokens:
        if sign == ";":
            rows.append([])
        elif sign != ",":
            rows[-1].append(_number(sign))
    if len(rows) == 1:
        return rows[0][0] if len(rows[0]) == 1 and "," not in tokens else rows[0]
    return rows[:-1] if not rows[-1] else rows


def _nested(tokens: list[str]) -> Any:
    """Read brackets; rows inside one pair may be parted by semicolons."""
    stack: list[list[Any]] = [[]]
    for sign in tokens:
        if sign == "[":
            stack.append([])
            if len(stack) > _DEEPEST:
                raise Unclear("there are too many brackets")
        elif sign == "]":
            if len(stack) == 1:
                raise Unclear("a bracket is closed that was not opened")
            done = stack.pop()
            stack[-1].append(_parted(done))
        elif sign == ";":
            stack[-1].append(None)
        elif sign != ",":
            stack[-1].append(_number(sign))
    if len(stack) > 1:
        raise Unclear("a bracket is not closed")
    whole = _parted(stack[0])
    return whole[0] if len(whole) == 1 else whole


def _parted(items: list[Any]) -> list[Any]:
    """Split a list at its semicolons."""
    if None not in items:
        return items
    rows: list[list[Any]] = [[]]
    for one in items:
        if one is None:
            rows.append([])
        else:
            rows[-1].append(one)
    return [row for row in rows if row]
