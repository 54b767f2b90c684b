"""Random graphs of two layers, as expressions, and how one is made smaller."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from autodrill.cases.builtin import EXPRESSION
from autodrill.cases.expression import names_in, statements
from autodrill.cases.grammar import Operations
from autodrill.cases.probe import Probe
from autodrill.cases.scenario import Case, Domain
from autodrill.cases.shapes import Shapes, dims

_LINEAR = (
    "{h} @ w{i} + b{i}",
    "b{i} + {h} @ w{i}",
    "{h} @ w{i} * s{i} + b{i}",
    "s{i} * ({h} @ w{i})",
    "({h} - c{i}) @ w{i}",
    "{h} / d{i} @ w{i} + b{i}",
    "{h} / (d{i} * d{i} + 1.0) @ w{i}",
)
_ACTIVATIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("{a}", ()),
    ("({a}).relu()", ("relu",)),
    ("({a}).tanh()", ("tanh",)),
    ("({a}).sigmoid()", ("sigmoid",)),
    ("({a}).tanh().exp()", ("tanh", "exp")),
    ("(({a}) ** 2 + 1.0).log()", ("__pow__", "log")),
    ("({a}).softmax(axis=-1)", ("softmax",)),
    ("({a}).log_softmax(axis=-1)", ("log_softmax",)),
    ("log_softmax({a})", ("log_softmax()",)),
    ("({a}).logsumexp(axis=-1, keepdims=True) * ({a}).tanh()", ("logsumexp", "tanh")),
    ("({a}) - ({a}).mean(axis=0, keepdims=True)", ("mean",)),
    ("({a}).tanh() * ({a}).tanh().sum(axis=1, keepdims=True)", ("tanh",)),
)
_MIXES = ("", "h2 = h2 * h2", "h2 = h2 - h2 * c", "h2 = c * h2", "h2 = h2 / (h2 * h2 + 1.0)")
_ENDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("(h2 * v).sum()", ()),
    ("(h2 * v).mean()", ("mean",)),
    ("(h2 * v).sum(axis=0).tanh().sum()", ("tanh",)),
    ("(h2 * v).reshape(-1).sum()", ("reshape",)),
    ("(h2 * v)[[0, 0, -1]].sum()", ("__getitem__",)),
)
_FLAT_ENDS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("(h2.transpose() @ h1 * u).sum()", ("transpose",)),
    ("cross_entropy((h2 * v)[[0, -1, 0]], [0, 0, 0])", ("cross_entropy()", "__getitem__")),
    ("cross_entropy((h2 * v).mean(axis=0, keepdims=True), [0])", ("cross_entropy()", "mean")),
)
"""Ends for a batch of rows; the others take a batch of matrices as well."""
_SHAPES = {
    "x": ("n k",),
    "w1": ("k m",),
    "w2": ("m p",),
    "b1": ("m", "1 m", "n 1", "1", ""),
    "b2": ("p", "1 p", "n 1", "1", ""),
    "s1": ("m", "n 1", "1", ""),
    "s2": ("n p", "1 p", ""),
    "c1": ("k", "n 1", ""),
    "c2": ("m", "n m", ""),
    "d1": ("k", "n 1", ""),
    "d2": ("m", "1 m", "1"),
    "c": ("n p", "p", ""),
    "v": ("n p",),
    "u": ("p m",),
}
"""The shapes that each name may have; those that are not whole are broadcast."""
_BATCH = "b n k"
"""A shape of `x` by which the weights are shared over a batch of matrices."""
_DOMAINS: Mapping[str, Domain] = {"d1": "nonzero", "d2": "nonzero"}
_LARGEST = 4


@dataclass(frozen=True)
class RandomGraph:
    """A scalar expression, the shape of each of its leaves in named dimensions, and their sizes."""

    code: str
    shapes: Mapping[str, str]
    sizes: Mapping[str, int]
    seed: int

    @property
    def leaves(self) -> list[str]:
        """Return the names of the leaves that the expression uses, in order."""
        return [name for name in dict.fromkeys(names_in(self.code)) if name in self.shapes]

    def probe(self) -> Probe:
        """Return the graph as a probe of a case, which draws its inputs."""
        names = self.leaves
        shapes = tuple(dims(self.shapes[name]) for name in names)
        used = {dim for one in shapes for dim in one.names if isinstance(dim, str)}
        sizes = {name: size for name, size in self.sizes.items() if name in used}
        case = Case(EXPRESSION, lambda *_: None, (), tuple(names), _DOMAINS)
        params: dict[str, Any] = {"code": self.code, "names": names}
        return Probe(case, Shapes(shapes, sizes), params, self.seed)


def random_graph(known: Operations, seed: int) -> RandomGraph:
    """Return a graph of two layers made of what an engine can do; a seed gives the same again."""
    rng = np.random.default_rng(seed)

    def one_of(choices: Any) -> Any:
        return choices[int(rng.integers(len(choices)))]

    is_batch = bool(rng.integers(3) == 0)
    ends = _ENDS if is_batch else _ENDS + _FLAT_ENDS
    activations = [text for text, needs in _ACTIVATIONS if known.has(*needs)]
    parts, h = [], "x"
    for i in (1, 2):
        linear = one_of(_LINEAR).format(h=h, i=i)
        parts.append(f"a{i} = {linear}")
        parts.append(f"h{i} = {one_of(activations).format(a=f'a{i}')}")
        h = f"h{i}"
    parts += [one for one in (one_of(_MIXES),) if one]
    parts.append(one_of([text for text, needs in ends if known.has(*needs)]))
    shapes = {name: one_of(choices) for name, choices in _SHAPES.items()}
    shapes |= {"x": _BATCH} if is_batch else {}
    sizes = {name: int(rng.integers(1, _LARGEST + 1)) for name in "bnkmp"}
    return written_out(RandomGraph(_joined(statements("; ".join(parts))), shapes, sizes, seed))


def _joined(body: Iterable[ast.stmt]) -> str:
    """Write statements as Python would, without brackets that say nothing."""
    return "; ".join(ast.unparse(one) for one in body)


def square(graph: RandomGraph) -> RandomGraph:
    """Return the same graph with all dimensions alike, where more of its parts fit together."""
    return replace(graph, sizes=dict.fromkeys(graph.sizes, 2))


def smaller(graph: RandomGraph) -> Iterator[RandomGraph]:
    """Yield every graph in which one operation is left out, the last operations first.

    An operation gives way to one of its operands. Not all of these graphs can be computed.
    """
    body = statements(graph.code)
    for place in range(len(body) - 1, -1, -1):
        value = _value_of(body[place])
        for node in ast.walk(value):
            for operand in _operands(node):
                yield _changed(graph, place, node, operand)


def written_out(graph: RandomGraph) -> RandomGraph:
    """Return the graph with each name that is used once, or not at all, written out."""
    body = statements(graph.code)
    for place, one in enumerate(body[:-1]):
        assert isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name)
        name = one.targets[0].id
        until = next((i for i in range(place + 1, len(body)) if _binds(body[i], name)), None)
        reach = body[place + 1 : len(body) if until is None else until + 1]
        uses = sum(_uses(later, name) for later in reach)
        if uses <= 1 or isinstance(one.value, ast.Name):
            put = _Put(name, one.value)
            rest = [put.visit(later) if later in reach else later for later in body[place + 1 :]]
            return written_out(replace(graph, code=_joined([*body[:place], *rest])))
    return graph


def _value_of(statement: ast.stmt) -> ast.expr:
    assert isinstance(statement, (ast.Assign, ast.Expr))
    return statement.value


def _operands(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [one for one in (node.left, node.right) if not isinstance(one, ast.Constant)]
    if isinstance(node, ast.Call):
        return [node.func.value] if isinstance(node.func, ast.Attribute) else node.args[:1]
    return [node.operand] if isinstance(node, ast.UnaryOp) else []


def _changed(graph: RandomGraph, place: int, old: ast.AST, new: ast.expr) -> RandomGraph:
    body = statements(graph.code)
    body[place] = _Replace(ast.unparse(old), ast.unparse(new)).visit(body[place])
    return written_out(replace(graph, code=_joined(body)))


def _binds(statement: ast.stmt, name: str) -> bool:
    return isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == name


def _uses(statement: ast.stmt, name: str) -> int:
    return list(names_in(ast.unparse(_value_of(statement)))).count(name)


class _Replace(ast.NodeTransformer):
    """Replace the first part of a statement that reads as `old`."""

    def __init__(self, old: str, new: str) -> None:
        self.old, self.new = old, new
        self.is_done = False

    def visit(self, node: ast.AST) -> Any:
        """Visit the outermost part first."""
        is_value = isinstance(node, ast.expr) and not isinstance(
            getattr(node, "ctx", None), ast.Store
        )
        if is_value and not self.is_done and ast.unparse(node) == self.old:
            self.is_done = True
            return ast.parse(self.new, mode="eval").body
        return self.generic_visit(node)


class _Put(ast.NodeTransformer):
    """Write a value in the place of a name, where the name is read."""

    def __init__(self, name: str, value: ast.expr) -> None:
        self.name, self.value = name, value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Leave the name where it is given a value."""
        is_read = node.id == self.name and isinstance(node.ctx, ast.Load)
        return self.value if is_read else node
