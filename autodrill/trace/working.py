"""The working of each answer, as it would stand on a whiteboard: symbols, then numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from autodrill.trace.graph import Array, Graph, Node, Solved


@dataclass(frozen=True)
class Part:
    """What one consumer sends to a node: `full` before, `value` after it is summed to fit."""

    consumer: Node
    slot: int
    full: Array
    value: Array


def number(array: Array) -> str:
    """Write numbers as on a whiteboard, without the points of floats."""
    if array.ndim == 0:
        return f"{array.item() + 0.0:g}"  # the sum makes a plain zero of a negative one
    return f"[{', '.join(number(one) for one in array)}]"


def parts(solved: Solved, name: str) -> tuple[Part, ...]:
    """Return what each consumer of a node sends to it, in the order of the graph."""
    found = []
    shape = solved.values[name].shape
    for consumer, slot in solved.graph.uses(name):
        full = _sent(solved, consumer, slot)
        found.append(Part(consumer, slot, full, summed_to(full, shape)))
    return tuple(found)


def summed_to(array: Array, shape: tuple[int, ...]) -> Array:
    """Sum an array over the axes along which an operand of a shape was broadcast."""
    if array.shape == shape:
        return array
    summed = array.sum(axis=_copied_axes(array.shape, shape), keepdims=True)
    return np.asarray(summed.reshape(shape))


def order_working(graph: Graph) -> tuple[str, ...]:
    """Say why an order of the nodes is right: of each node what it waits for."""
    lines = []
    computed = {one.name for one in graph.ops}
    for one in graph.ops:
        waits = [name for name in dict.fromkeys(one.parents) if name in computed]
        after = f" after {' and '.join(waits)}" if waits else " needs leaves only"
        lines.append(f"{one.name} = {one.written()}:{after}")
    return (*lines, "order: " + " ".join(one.name for one in graph.ops))


def value_working(solved: Solved, name: str) -> tuple[str, ...]:
    """Write the forward of one node: the rule, the numbers put in, the result."""
    node, values = solved.graph.node(name), solved.values
    own = [_factor(values[parent], node) for parent in node.parents]
    result = number(values[name])
    match node.op:
        case "matmul":
            return (f"{name} = {node.written()}", *_products(node, solved), f"{name} = {result}")
        case "relu":
            inner = number(values[node.parents[0]])
            return (f"{name} = max({node.parents[0]}, 0)", f"{name} = max({inner}, 0) = {result}")
        case "sum":
            terms = [_signed(float(one)) for one in values[node.parents[0]].ravel()]
            return (f"{name} = {node.written()}", f"{name} = {' + '.join(terms)} = {result}")
        case _:
            notes = [
                f"{parent} of shape {_shape(values[parent])} is copied to {_shape(values[name])}"
                for parent in dict.fromkeys(node.parents)
                if values[parent].shape != values[name].shape
            ]
            put_in = node.written(own)
            return (f"{name} = {node.written()}", *notes, f"{name} = {put_in} = {result}")


def gradient_working(solved: Solved, name: str) -> tuple[str, ...]:
    """Write dL/d(node): what each consumer sends, and their sum."""
    found = parts(solved, name)
    lines: list[str] = []
    symbols = [_summed(one) for one in found]
    if len(found) > 1:
        uses = ", ".join(
            dict.fromkeys(f"{p.consumer.name} = {p.consumer.written()}" for p in found)
        )
        lines.append(f"{name} is used {len(found)} times ({uses}): add what each use sends")
    lines.append(f"d{name} = {' + '.join(symbols)}")
    for one in found:
        lines += _sending(solved, name, one)
    if len(found) > 1:
        terms = " + ".join(_bracketed(one.value) for one in found)
        lines.append(f"d{name} = {terms} = {number(solved.grads[name])}")
    return tuple(lines)


def _sending(solved: Solved, name: str, part: Part) -> list[str]:
    """Write what one consumer sends, with numbers; where the node was broadcast, the sum too."""
    node, upstream = part.consumer, f"d{part.consumer.name}"
    g, values = solved.grads[node.name], solved.values
    other = values[node.parents[1 - part.slot]] if len(node.parents) > 1 else g
    head, put_in = f"{upstream} = {number(g)}", ""
    match node.op:
        case "add":
            lines = [head]
        case "sum":
            each = f" for each entry of {name}: {number(part.full)}" if part.full.ndim else ""
            lines = [head + each]
        case "mul":
            put_in = f"{number(g)} * {_bracketed(other)}"
        case "matmul" if part.slot == 0:
            put_in = f"{number(g)} @ {number(other.T)}"
        case "matmul":
            put_in = f"{number(other.T)} @ {number(g)}"
        case _:
            mask = (values[name] > 0).astype(float)
            put_in = f"{number(g)} * {number(mask)}"
    if put_in:
        lines = [f"{head}, so {_rule(part)} = {put_in} = {number(part.full)}"]
    if part.full.shape != part.value.shape:
        axes = ", ".join(map(str, _copied_axes(part.full.shape, part.value.shape)))
        lines.append(
            f"{name} of shape {_shape(part.value)} was copied along axis {axes}: "
            f"summed over it {number(part.value)}"
        )
    return lines


def _sent(solved: Solved, consumer: Node, slot: int) -> Array:
    g = solved.grads[consumer.name]
    operands = [solved.values[name] for name in consumer.parents]
    match consumer.op:
        case "add":
            return g
        case "mul":
            return np.asarray(g * operands[1 - slot])
        case "matmul":
            return np.asarray(g @ operands[1].T if slot == 0 else operands[0].T @ g)
        case "relu":
            return np.asarray(g * (operands[0] > 0))
        case _:
            return np.broadcast_to(g, operands[0].shape).copy()


def _rule(part: Part) -> str:
    node, upstream = part.consumer, f"d{part.consumer.name}"
    other = node.parents[1 - part.slot] if len(node.parents) > 1 else ""
    match node.op:
        case "mul":
            return f"{upstream} * {other}"
        case "matmul":
            return f"{upstream} @ {other}^T" if part.slot == 0 else f"{other}^T @ {upstream}"
        case "relu":
            return f"{upstream} * ({node.parents[0]} > 0)"
        case _:
            return upstream


def _summed(part: Part) -> str:
    is_reduced = part.full.shape != part.value.shape
    return f"summed({_rule(part)})" if is_reduced else _rule(part)


def _products(node: Node, solved: Solved) -> list[str]:
    """Write each entry of a matrix product as row times column."""
    a, b = (solved.values[name] for name in node.parents)
    out, lines = solved.values[node.name], []
    for i, j in np.ndindex(*out.shape):
        pairs = zip(a[i].tolist(), b[:, j].tolist(), strict=True)
        terms = " + ".join(f"{_signed(x)}*{_signed(y)}" for x, y in pairs)
        lines.append(f"[{i}, {j}]: {terms} = {number(out[i, j])}")
    return lines


def _copied_axes(shape: tuple[int, ...], own: tuple[int, ...]) -> tuple[int, ...]:
    prepended = len(shape) - len(own)
    stretched = (prepended + i for i, n in enumerate(own) if n == 1 and shape[prepended + i] != 1)
    return (*range(prepended), *stretched)


def _factor(array: Array, node: Node) -> str:
    return _bracketed(array) if node.op in ("add", "mul") else number(array)


def _bracketed(array: Array) -> str:
    text = number(array)
    return f"({text})" if text.startswith("-") else text


def _signed(value: float) -> str:
    return _bracketed(np.asarray(value))


def _shape(array: Array) -> str:
    return str(array.shape)
