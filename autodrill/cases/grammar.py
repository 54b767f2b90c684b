"""What an expression may be made of: names, numbers, lists, operators, and what an engine has.

Nothing else is understood, so a text can do nothing but arithmetic.
"""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass
from typing import NoReturn, TypeGuard

import numpy as np

from autodrill.cases.expression import OPERATORS, fold, index, is_literal, statements
from autodrill.catalog import nearest_hint
from autodrill.errors import AutodrillError

LARGEST = 600
"""Parts of an expression, as Python counts them; a larger one is refused."""


@dataclass(frozen=True)
class Operations:
    """What an engine can do with tensors: methods, properties and functions, by name."""

    methods: frozenset[str]
    properties: frozenset[str]
    functions: frozenset[str]

    def has(self, *names: str) -> bool:
        """Tell whether all the names are there; that of a function ends in `()`."""
        functions = {f"{name}()" for name in self.functions}
        return functions.union(self.methods, self.properties).issuperset(names)

    @property
    def public(self) -> list[str]:
        """Return what can be written in an expression, besides the operators."""
        own = {f".{name}()" for name in self.methods if not name.startswith("_")}
        own |= {f".{name}" for name in self.properties}
        return [*sorted(own), *sorted(f"{name}()" for name in self.functions)]


def operations(source: str) -> Operations:
    """Read from a reference what gives a Tensor: its annotations say so."""
    methods, properties, functions = set(), set(), set()
    for node in ast.parse(source).body:
        if _is_operation(node) and _takes_tensor(node):
            functions.add(node.name)
        if not (isinstance(node, ast.ClassDef) and node.name == "Tensor"):
            continue
        for one in filter(_is_operation, node.body):
            marks = {ast.unparse(mark) for mark in one.decorator_list}
            if "property" in marks:
                properties.add(one.name)
            elif not marks:
                methods.add(one.name)
    return Operations(frozenset(methods), frozenset(properties), frozenset(functions))


def _is_operation(node: ast.stmt) -> TypeGuard[ast.FunctionDef]:
    """Tell whether a function gives a Tensor, and neither cuts a graph nor works in place."""
    if not isinstance(node, ast.FunctionDef) or node.returns is None:
        return False
    name = node.name
    is_operator = name.startswith("__") and name.endswith("__")
    is_aside = name == "detach" or (not is_operator and "_" in (name[0], name[-1]))
    return ast.unparse(node.returns).strip("'\"") == "Tensor" and not is_aside


def _takes_tensor(node: ast.FunctionDef) -> bool:
    first = node.args.args[:1]
    return bool(first and first[0].annotation and ast.unparse(first[0].annotation) == "Tensor")


def check(text: str, known: Operations, names: Collection[str]) -> tuple[str, ...]:
    """Check an expression and return the names of `names` that it uses, in order.

    Raises
    ------
    AutodrillError
        At the first part that is none of what an expression is made of, with its column.
    """
    return _Check(text.strip(), known, names).run()


class _Check:
    """Walks an expression once; each method tells whether a part is a tensor."""

    def __init__(self, text: str, known: Operations, names: Collection[str]) -> None:
        self.lines = text.splitlines()
        self.known = known
        self.leaves = set(names)
        self.bound: dict[str, bool] = {}
        self.used: dict[str, None] = {}
        self.body = statements(text)

    def run(self) -> tuple[str, ...]:
        if sum(1 for one in self.body for _ in ast.walk(one)) > LARGEST:
            raise AutodrillError("the expression is too long to be drawn")
        *first, last = self.body
        for one in first:
            if not (isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)):
                self.fail(one, "only `name = …` may stand before the last part")
            name = one.targets[0].id
            if name in self.leaves or len(one.targets) > 1:
                self.fail(one, f"`{name}` has a value already")
            self.bound[name] = self.tensor(one.value)
        if not isinstance(last, ast.Expr):
            self.fail(last, "the last part has to be what is computed", "end with such as `; h`")
        if not self.tensor(last.value):
            raise AutodrillError(
                "there is no tensor in the expression", 'name one: "(x*2).sum()" x=3'
            )
        return tuple(self.used)

    def tensor(self, node: ast.expr) -> bool:
        """Check a part and tell whether it is a tensor; else it is a constant."""
        if isinstance(node, ast.Name):
            return self.name(node)
        if isinstance(node, ast.Constant):
            return self.number(node)
        if isinstance(node, (ast.List, ast.Tuple)):
            self.literal(node)
            return False
        if isinstance(node, ast.UnaryOp):
            return self.unary(node)
        if isinstance(node, ast.BinOp):
            return self.binary(node)
        if isinstance(node, ast.Call):
            return self.call(node)
        if isinstance(node, ast.Attribute):
            return self.attribute(node)
        if isinstance(node, ast.Subscript):
            return self.subscript(node)
        self.fail(node, f"`{ast.unparse(node)[:40]}` is no part of an expression")

    def name(self, node: ast.Name) -> bool:
        if node.id in self.bound:
            return self.bound[node.id]
        if node.id not in self.leaves:
            if node.id in self.known.functions:
                self.fail(node, f"`{node.id}` is a function: write `{node.id}(…)`")
            self.fail(node, f"`{node.id}` has no value", f"add one: {node.id}=1.5")
        self.used[node.id] = None
        return True

    def number(self, node: ast.Constant) -> bool:
        if type(node.value) not in (int, float):
            self.fail(node, f"`{ast.unparse(node)[:40]}` is no number")
        return False

    def literal(self, node: ast.expr) -> None:
        try:
            value = np.asarray(ast.literal_eval(node))
        except (ValueError, TypeError, RecursionError, MemoryError):
            self.fail(node, "a list holds numbers, and rows of one length")
        if value.dtype.kind not in "iuf":
            self.fail(node, "a list holds numbers, and at least one")

    def unary(self, node: ast.UnaryOp) -> bool:
        is_tensor = self.tensor(node.operand)
        if not isinstance(node.op, ast.USub):
            self.fail(node, "the only sign in front is `-`")
        if is_tensor and not self.known.has("__neg__"):
            self.fail(node, "the engine has no `-` in front")
        return is_tensor

    def binary(self, node: ast.BinOp) -> bool:
        sign, method, _ = OPERATORS.get(type(node.op), ("", "", None))
        if not sign or not self.known.has(method):
            signs = [sign for sign, method, _ in OPERATORS.values() if self.known.has(method)]
            hint = f"the operators are {' '.join(signs)}"
            self.fail(node, f"there is no such operator in `{ast.unparse(node)[:40]}`", hint)
        left, right = self.tensor(node.left), self.tensor(node.right)
        if sign == "**" and right:
            self.fail(node.right, "an exponent has to be a number")
        if not left and not right:
            self.fold(node)
        return left or right

    def fold(self, node: ast.BinOp) -> None:
        """Compute what has no tensor in it, once, to see that it is a number."""
        try:
            value = fold(node)
        except (ArithmeticError, ValueError, TypeError) as error:
            self.fail(node, f"`{ast.unparse(node)[:40]}` can't be computed: {error.args[-1]}")
        if not isinstance(value, float):
            self.fail(node, f"`{ast.unparse(node)[:40]}` is no number")

    def call(self, node: ast.Call) -> bool:
        known = self.known
        if isinstance(node.func, ast.Attribute):
            name = node.func.attr
            if not self.tensor(node.func.value):
                self.fail(node, f"`.{name}()` is called on a constant")
            if name.startswith("_") or name not in known.methods:
                self.unknown(node.func, f".{name}()")
        elif isinstance(node.func, ast.Name):
            if node.func.id not in known.functions:
                self.unknown(node.func, f"{node.func.id}()")
        else:
            self.fail(node, "only a method or a function can be called")
        given = [one.value for one in node.keywords]
        if any(one.arg is None for one in node.keywords):
            self.fail(node, "`**` in a call is no part of an expression")
        for one in (*node.args, *given):
            if not is_literal(one):
                self.tensor(one)
        return True

    def attribute(self, node: ast.Attribute) -> bool:
        if not self.tensor(node.value):
            self.fail(node, f"`.{node.attr}` is asked of a constant")
        if node.attr not in self.known.properties:
            self.unknown(node, f".{node.attr}")
        return True

    def subscript(self, node: ast.Subscript) -> bool:
        if not self.tensor(node.value):
            self.fail(node, "a constant can't be indexed")
        if not self.known.has("__getitem__"):
            self.fail(node, "the engine has no indexing")
        try:
            index(node.slice)
        except ValueError:
            self.fail(node.slice, "an index is made of whole numbers and slices")
        return True

    def unknown(self, node: ast.Attribute | ast.Name, written: str) -> NoReturn:
        hint = nearest_hint(written, self.known.public, "operations")
        column = node.value.end_col_offset if isinstance(node, ast.Attribute) else None
        self.fail(node, f"the engine has no `{written}`", hint, column)

    def fail(
        self, node: ast.AST, message: str, hint: str = "", column: int | None = None
    ) -> NoReturn:
        line = getattr(node, "lineno", 1)
        start = getattr(node, "col_offset", 0) if column is None else column
        before = self.lines[line - 1].encode()[:start].decode("utf-8", "replace")
        place = f"line {line}, column" if line > 1 else "column"
        raise AutodrillError(f"{place} {len(before) + 1} of the expression: {message}", hint)
