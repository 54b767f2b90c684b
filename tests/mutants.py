"""Mechanical mutants of one function: every small change of its body, one at a time."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator
from dataclasses import dataclass

SWAPPED = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
}
COMPARED = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}


@dataclass(frozen=True)
class Mutant:
    """A changed function; `id` says what was changed, so that it can be listed."""

    id: str
    source: str


def mutants(source: str) -> Iterator[Mutant]:
    """Yield every mutant of a function's source, each with an id of its own."""
    tree = ast.parse(source)
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    seen = {ast.unparse(tree)}
    count: dict[str, int] = {}
    for place, parent, field, index, change, new in _changes(function):
        mutated = copy.deepcopy(tree)
        target = _at(mutated, place)
        _put(target, field, index, new)
        ast.fix_missing_locations(mutated)
        text = ast.unparse(mutated)
        if text in seen:
            continue
        seen.add(text)
        before = _short(parent, field, index)
        name = f"{change}: {before}"
        count[name] = count.get(name, 0) + 1
        suffix = f" #{count[name]}" if count[name] > 1 else ""
        yield Mutant(f"{name}{suffix}", text)


def _changes(function):
    """Yield (path to the parent, parent, field, index, what is changed, the new node)."""
    body = function.body
    start = 1 if _is_docstring(body[0]) else 0
    yield from _in_statements(function, (), "body", start)


def _in_statements(parent, path, field, start=0):
    statements = getattr(parent, field)
    for index, statement in enumerate(statements[start:], start):
        if not isinstance(statement, (ast.FunctionDef, ast.Return, ast.Pass, ast.Nonlocal)):
            yield path, parent, field, index, "dropped", ast.Pass()
        yield from _in_node(parent, path, field, index, statement)


def _in_node(parent, path, field, index, node):
    """Yield the changes of a node and of all that is in it."""
    for change, new in _replacements(node):
        yield path, parent, field, index, change, new
    inner = (*path, (field, index))
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "decorator_list", "args") and isinstance(
            node, (ast.FunctionDef, ast.AnnAssign, ast.arg)
        ):
            continue
        if name == "ctx":
            continue
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            yield from _in_statements(node, inner, name)
        elif isinstance(value, list):
            for i, one in enumerate(value):
                if isinstance(one, ast.AST):
                    yield from _in_node(node, inner, name, i, one)
        elif isinstance(value, ast.AST):
            yield from _in_node(node, inner, name, None, value)


def _replacements(node):
    match node:
        case ast.BinOp(op=op) if type(op) in SWAPPED:
            yield "swapped", ast.BinOp(node.left, SWAPPED[type(op)](), node.right)
            yield "left only", node.left
            yield "right only", node.right
        case ast.UnaryOp():
            yield "sign or not removed", node.operand
        case ast.Compare(ops=[op]) if type(op) in COMPARED:
            yield (
                "compared otherwise",
                ast.Compare(node.left, [COMPARED[type(op)]()], node.comparators),
            )
        case ast.BoolOp(values=[first, *_]):
            yield "first condition only", first
            yield "last condition only", node.values[-1]
        case ast.IfExp():
            yield "always", node.body
            yield "never", node.orelse
        case ast.Constant(value=bool() as value):
            yield "negated", ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield "one more", ast.Constant(value + 1)
            yield "one less", ast.Constant(value - 1)
        case ast.AugAssign():
            yield "assigned", ast.Assign([node.target], node.value)
        case ast.If():
            yield "condition always", ast.If(ast.Constant(True), node.body, node.orelse)
            yield "condition never", ast.If(ast.Constant(False), node.body, node.orelse)
        case ast.Call():
            yield from _calls(node)


def _calls(node):
    for i, keyword in enumerate(node.keywords):
        rest = [one for j, one in enumerate(node.keywords) if j != i]
        yield f"without {keyword.arg}", ast.Call(node.func, node.args, rest)
    if isinstance(node.func, ast.Attribute) and not isinstance(node.func.value, ast.Name):
        yield "call removed", node.func.value
    elif node.args and isinstance(node.args[0], ast.Starred):
        pass  # what is starred is no value by itself
    elif isinstance(node.func, ast.Attribute) and node.func.attr not in ("append", "add"):
        yield "call removed", node.args[0] if node.args else node.func.value
    elif node.args:
        yield "call removed", node.args[0]
    if len(node.args) == 2:
        yield "arguments swapped", ast.Call(node.func, node.args[::-1], node.keywords)


def _is_docstring(statement):
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _at(tree, path):
    node = tree.body[0]
    for field, index in path:
        value = getattr(node, field)
        node = value if index is None else value[index]
    return node


def _put(parent, field, index, new):
    if index is None:
        setattr(parent, field, copy.deepcopy(new))
    else:
        getattr(parent, field)[index] = copy.deepcopy(new)


def _short(parent, field, index):
    value = getattr(parent, field)
    text = " ".join(ast.unparse(value if index is None else value[index]).split())
    return text if len(text) <= 70 else f"{text[:67]}..."
