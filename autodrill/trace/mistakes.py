"""What the usual mistakes give on a graph, so that a wrong answer gets its mistake's name.

A mistake has the id of a bug in the catalogues, from which its title and its why come.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from autodrill.bugs import find_bug
from autodrill.results import Diagnosis
from autodrill.trace.graph import Array, Graph, Node, Op, Solved
from autodrill.trace.working import Part, parts, summed_to


@dataclass(frozen=True)
class Use:
    """One use of a node: the upstream `g`, the node's own value `x`, the result's `y`.

    `other` is the value of the other operand, `x` itself where there is none; `is_left` tells
    on which side of the operation the node stands.
    """

    g: Array
    x: Array
    other: Array
    y: Array
    is_left: bool


Wrong = Callable[[Use], Array]

_SENDS: dict[Op, tuple[tuple[str, Wrong], ...]] = {
    "add": (
        ("add-upstream-ignored", lambda u: np.ones_like(u.x)),
        ("add-upstream-ignored", lambda u: np.ones_like(u.g)),  # and then summed to fit
        ("add-uses-multiplication-rule", lambda u: u.g * u.other),
    ),
    "mul": (
        ("upstream-ignored", lambda u: np.ones_like(u.g) * u.other),
        ("mul-uses-addition-rule", lambda u: u.g),
        ("mul-uses-result", lambda u: u.g * u.y),
    ),
    "relu": (
        ("relu-mask-missing", lambda u: u.g),
        ("relu-upstream-ignored", lambda u: 1.0 * (u.x > 0)),
        ("relu-mask-inverted", lambda u: u.g * (u.x < 0)),
        ("relu-mask-of-output-shape", lambda u: u.g * (u.g > 0)),
        ("relu-times-output", lambda u: u.g * u.y),
    ),
    "sum": (
        ("sum-upstream-ignored", lambda u: np.ones_like(u.x)),
        ("sum-averaged", lambda u: np.broadcast_to(u.g, u.x.shape) / u.x.size),
        ("sum-not-expanded", lambda u: u.g),
    ),
    "matmul": (
        (
            "matmul-upstream-ignored",
            lambda u: _matmul(np.ones_like(u.g), u.other.T, u.is_left),
        ),
        ("matmul-left-transpose-missing", lambda u: _left(u, u.g, u.other)),
        ("matmul-right-transpose-missing", lambda u: _right(u, u.other, u.g)),
        ("matmul-order-swapped", lambda u: _matmul(u.other.T, u.g, u.is_left)),
        ("matmul-transposes-swapped", lambda u: _matmul(u.g, u.x.T, u.is_left)),
        ("matmul-gradient-transposed", lambda u: _matmul(u.g, u.other.T, u.is_left).T),
        ("matmul-product-rule", lambda u: _entrywise(u.g, u.other)),
    ),
}
"""What one use sends to a node, by the mistake that is made in it."""

_OVERWRITES: dict[Op, str] = {
    "add": "add-overwrites-gradient",
    "mul": "overwrites-gradient",
    "relu": "relu-overwrites-gradient",
    "sum": "sum-overwrites-gradient",
    "matmul": "matmul-overwrites-gradient",
}
ORDER_REVERSED = "order-not-reversed"


def name_gradient(solved: Solved, name: str, given: Array) -> Diagnosis | None:
    """Name what gives this gradient of a node in place of the right one, None if nothing does."""
    return _named(_gradients(solved, name), given, solved.grads[name])


def name_value(solved: Solved, name: str, given: Array) -> Diagnosis | None:
    """Name what gives this value of a node in place of the right one, None if nothing does."""
    return _named(_values(solved, name), given, solved.values[name])


def is_reversed(graph: Graph, order: list[str]) -> bool:
    """Tell whether an order is that of a backward pass, not of a forward."""
    return first_too_early(graph, order[::-1]) is None


def first_too_early(graph: Graph, order: list[str]) -> tuple[str, str] | None:
    """Return the first node that comes before one that it needs, with that one."""
    seen: set[str] = set()
    for name in order:
        for parent in graph.node(name).parents:
            if parent in order and parent not in seen:
                return name, parent
        seen.add(name)
    return None


def gradient_mistakes() -> tuple[str, ...]:
    """Return the ids of the bugs that a wrong gradient may be named after."""
    sends = (bug for one in _SENDS.values() for bug, _ in one)
    reduced = (bug for bug, _ in _REDUCED)
    return (*sends, *_NOT_REDUCED.values(), *reduced, *_OVERWRITES.values())


def wrong_sends(solved: Solved, part: Part) -> Iterator[tuple[str, Array]]:
    """Yield what one use of a node sends to it, by the mistake that is made in it."""
    if part.full.shape != part.value.shape:
        for bug, reduce in _REDUCED:
            yield bug, reduce(part.full, part.value.shape)
    use = _use(solved, part)
    for bug, wrong in _SENDS[part.consumer.op]:
        sent = _sent_to(part, wrong, use)
        if sent is not None:
            yield bug, sent


def wrong_gradients(solved: Solved, name: str) -> Iterator[tuple[str, Array]]:
    """Yield what each mistake gives for a node, where it is not what is right."""
    right = solved.grads[name]
    for bug, array in _gradients(solved, name):
        if not _equal(array, right):
            yield bug, array


def _gradients(solved: Solved, name: str) -> Iterator[tuple[str, Array]]:
    """Yield each mistake and what it gives, the most likely first."""
    found = parts(solved, name)
    total = np.asarray(sum(one.value for one in found))
    if len(found) > 1:
        for one in reversed(found):
            yield _OVERWRITES[one.consumer.op], one.value
    for one in found:
        others = total - one.value
        if one.full.shape != one.value.shape and one.consumer.op in _NOT_REDUCED:
            yield _NOT_REDUCED[one.consumer.op], others + one.full
        for bug, sent in wrong_sends(solved, one):
            yield bug, np.asarray(others + sent) if len(found) > 1 else sent


def _values(solved: Solved, name: str) -> Iterator[tuple[str, Array]]:
    node = solved.graph.node(name)
    operands = [solved.values[one] for one in node.parents]
    if node.op == "matmul":
        one, other = operands
        if one.shape == other.shape:
            yield "matmul-elementwise-forward", one * other


def _named(mistakes: Iterator[tuple[str, Array]], given: Array, right: Array) -> Diagnosis | None:
    if _equal(given, right):
        return None
    ids = list(dict.fromkeys(bug for bug, array in mistakes if _equal(array, given)))
    bugs = [bug for bug in map(find_bug, ids) if bug is not None]
    if not bugs:
        return None
    first = bugs[0]
    also = tuple(one.id for one in bugs[1:])
    return Diagnosis(first.id, first.title, first.why, first.hint, also=also)


def _use(solved: Solved, part: Part) -> Use:
    node: Node = part.consumer
    values = [solved.values[name] for name in node.parents]
    x = values[part.slot]
    other = values[1 - part.slot] if len(values) > 1 else x
    return Use(solved.grads[node.name], x, other, solved.values[node.name], part.slot == 0)


def _sent_to(part: Part, wrong: Wrong, use: Use) -> Array | None:
    """Return what a mistake sends, None where its shapes do not fit together."""
    try:
        sent = np.asarray(wrong(use))
    except ValueError:
        return None
    own = part.value.shape
    return summed_to(sent, own) if sent.shape == part.full.shape else sent


def _equal(one: Array, other: Array) -> bool:
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=1e-9, atol=1e-9))


def _matmul(g: Array, other: Array, is_left: bool) -> Array:
    return np.asarray(g @ other if is_left else other @ g)


def _entrywise(g: Array, other: Array) -> Array:
    if g.shape != other.shape:
        raise ValueError("this mistake is made where the shapes hide it")
    return np.asarray(g * other)


def _left(use: Use, g: Array, other: Array) -> Array:
    if not use.is_left:
        raise ValueError("this mistake is made on the left only")
    return np.asarray(g @ other)


def _right(use: Use, other: Array, g: Array) -> Array:
    if use.is_left:
        raise ValueError("this mistake is made on the right only")
    return np.asarray(other @ g)


def _all(full: Array, shape: tuple[int, ...]) -> Array:
    return np.full(shape, full.sum())


def _mean(full: Array, shape: tuple[int, ...]) -> Array:
    copies = full.size / max(1, int(np.prod(shape)))
    return summed_to(full, shape) / copies


def _one_copy(full: Array, shape: tuple[int, ...]) -> Array:
    """Keep the first index of each axis along which a shape was copied."""
    prepended = full.ndim - len(shape)
    first = full[(0,) * prepended] if prepended else full
    return np.asarray(first[tuple(slice(0, n) for n in shape)])


_NOT_REDUCED: dict[Op, str] = {"add": "add-not-reduced", "mul": "mul-not-reduced"}
_REDUCED: tuple[tuple[str, Callable[[Array, tuple[int, ...]], Array]], ...] = (
    ("unbroadcast-mean", _mean),
    ("unbroadcast-one-copy", _one_copy),
    ("unbroadcast-sums-all", _all),
)
"""How the sum over a broadcast axis goes wrong."""
