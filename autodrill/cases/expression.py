"""Expressions: a computation given as text, read and never run as Python.

`h = x @ w; (h * h + h).sum()` is two statements; what has a name can be used more than once.
`grammar` says what an expression may be made of; nothing but what it let through is computed here.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from autodrill.errors import AutodrillError

OPERATORS: Mapping[type[ast.operator], tuple[str, str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", "__add__", operator.add),
    ast.Sub: ("-", "__sub__", operator.sub),
    ast.Mult: ("*", "__mul__", operator.mul),
    ast.Div: ("/", "__truediv__", operator.truediv),
    ast.MatMult: ("@", "__matmul__", operator.matmul),
    ast.Pow: ("**", "__pow__", operator.pow),
}


def statements(text: str) -> list[ast.stmt]:
    """Parse a text; a SyntaxError becomes a sentence with its column."""
    shown = text.strip()
    if not shown:
        raise AutodrillError("the expression is empty", 'write one such as "(x*w + b).sum()"')
    try:
        return ast.parse(shown).body
    except SyntaxError as error:
        message = f"column {error.offset or 1} of the expression: {error.msg}"
        raise AutodrillError(message, 'an expression reads like "(x*w + b).relu().sum()"') from None
    except (ValueError, RecursionError, MemoryError):
        raise AutodrillError("the expression can't be read: it is nested too deeply") from None


def index(node: ast.expr) -> Any:
    """Return what an index says: whole numbers, lists of them, slices, `...` and None."""
    if isinstance(node, ast.Tuple):
        return tuple(index(one) for one in node.elts)
    if isinstance(node, ast.Slice):
        ends = (node.lower, node.upper, node.step)
        return slice(*(None if one is None else _whole(ast.literal_eval(one)) for one in ends))
    value = ast.literal_eval(node)
    if value is None or value is Ellipsis:
        return value
    return [_whole(one) for one in value] if isinstance(value, list) else _whole(value)


def _whole(value: Any) -> int:
    if type(value) is not int:
        raise ValueError(value)
    return value


def fold(node: ast.expr) -> float:
    """Compute numbers alone, as floats: nothing here takes long or grows."""
    if isinstance(node, ast.BinOp):
        value = OPERATORS[type(node.op)][2](fold(node.left), fold(node.right))
        if not isinstance(value, float):
            raise ValueError("it is no real number")
        return value
    if isinstance(node, ast.UnaryOp):
        return -fold(node.operand)
    return float(ast.literal_eval(node))


def evaluate(text: str, lib: Any, tensors: Mapping[str, Any]) -> Any:
    """Compute an expression that was checked, on an engine."""
    names = dict(tensors)
    *first, last = statements(text)
    for one in first:
        assert isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)
        names[one.targets[0].id] = _value(one.value, lib, names)
    assert isinstance(last, ast.Expr)
    return _value(last.value, lib, names)


def _value(node: ast.expr, lib: Any, names: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.UnaryOp) and not isinstance(node.operand, ast.Constant):
        return -_value(node.operand, lib, names)
    if isinstance(node, ast.BinOp):
        if not any(isinstance(one, ast.Name) for one in ast.walk(node)):
            return fold(node)
        left, right = _value(node.left, lib, names), _value(node.right, lib, names)
        return OPERATORS[type(node.op)][2](left, right)
    if isinstance(node, ast.Attribute):
        return getattr(_value(node.value, lib, names), node.attr)
    if isinstance(node, ast.Subscript):
        return _value(node.value, lib, names)[index(node.slice)]
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name):
            function = getattr(lib, node.func.id)
        else:
            function = _value(node.func, lib, names)
        given = [_argument(one, lib, names) for one in node.args]
        named = {str(one.arg): _argument(one.value, lib, names) for one in node.keywords}
        return function(*given, **named)
    value = ast.literal_eval(node)
    return np.array(value, dtype=np.float64) if isinstance(value, (list, tuple)) else value


def _argument(node: ast.expr, lib: Any, names: Mapping[str, Any]) -> Any:
    return ast.literal_eval(node) if is_literal(node) else _value(node, lib, names)


def names_in(text: str) -> Iterator[str]:
    """Yield every name of an expression, as often as it occurs."""
    for one in statements(text):
        names = [node for node in ast.walk(one) if isinstance(node, ast.Name)]
        yield from (node.id for node in sorted(names, key=lambda node: node.col_offset))


def is_literal(node: ast.expr) -> bool:
    """Tell whether a part is a number, a list, a boolean or the like, with no name in it."""
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return False
    return True
