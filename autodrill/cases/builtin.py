"""Scenarios that every track has: an expression with its graph, and a network to be timed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from numpy import generic, ndarray

from autodrill.cases.expression import evaluate
from autodrill.cases.network import memory, profile, steps
from autodrill.cases.scenario import Array, Lib, Scenario, Suite

EXPRESSION = "an expression"
GRAPH = "the graph of an expression"
STEPS = "steps of the network"
PROFILE = "operations of the network"
MEMORY = "memory of the network"

NO_SEED = "no seed"
"""The value that says that the result is no single number, and no upstream was given."""

_MOST_NODES = 2000


def builtin(suite: Suite, scenario_id: str) -> Scenario:
    """Return one of these scenarios for a track; KeyError if there is none of that id."""
    builds: Mapping[str, Callable[..., Any]] = {
        EXPRESSION: _expression,
        GRAPH: _graph,
        STEPS: steps,
        PROFILE: profile,
        MEMORY: memory,
    }
    return Scenario(scenario_id, partial(builds[scenario_id], suite), (), ())


def _expression(
    suite: Suite, lib: Lib, *arrays: Array, code: str, names: Sequence[str]
) -> dict[str, Any]:
    """Compute a scalar expression, and the gradients of its leaves by the engine's backward."""
    leaves = _leaves(suite, lib, names, arrays)
    out = _result(lib, code, leaves)
    if out.data.size != 1:
        return {"out": out.data, NO_SEED: True}
    out.backward()
    return {"out": out.data} | {f"{name}.grad": leaf.grad for name, leaf in leaves.items()}


def _graph(
    suite: Suite,
    lib: Lib,
    *arrays: Array,
    code: str,
    names: Sequence[str],
    upstream: Array | None = None,
) -> dict[str, Any]:
    """Compute an expression, run one backward, and describe every node, parents first."""
    leaves = _leaves(suite, lib, names, arrays)
    out = _result(lib, code, leaves)
    if upstream is None and out.data.size != 1:
        return {NO_SEED: True, "out": out.data}
    if upstream is not None and upstream.shape != out.data.shape:
        return {NO_SEED: True, "out": out.data}
    order = list(parents_first(out, lib, suite.parents))  # some engines cut the graph in backward
    place = {id(node): number for number, node in enumerate(order, 1)}
    values: dict[str, Any] = {"count": len(order), "linked": hasattr(out, suite.parents)}
    titles = {id(leaf): name for name, leaf in leaves.items()}
    for number, node in enumerate(order, 1):
        values[f"name {number}"] = titles.get(id(node))
        values[f"op {number}"] = getattr(node, "_op", None)
        values[f"value {number}"] = node.data
        above = [place[id(one)] for one in parents_of(node, lib, suite.parents)]
        values[f"parents {number}"] = above
    if upstream is None:
        out.backward()
    else:
        suite.backward(lib, out, upstream)
    return values | {f"gradient {place[id(node)]}": node.grad for node in order}


def _leaves(
    suite: Suite, lib: Lib, names: Sequence[str], arrays: Sequence[Array]
) -> dict[str, Any]:
    return {name: suite.leaf(lib, array) for name, array in zip(names, arrays, strict=True)}


def _result(lib: Lib, code: str, leaves: Mapping[str, Any]) -> Any:
    out = evaluate(code, lib, leaves)
    if not isinstance(out, lib.Tensor):
        raise TypeError(f"the expression gives {type(out).__name__}, not a Tensor")
    if not isinstance(out.data, (ndarray, generic)):
        raise TypeError(f"the result's data is {type(out.data).__name__}, not a NumPy array")
    return out


def parents_of(node: Any, lib: Lib, attribute: str) -> list[Any]:
    """Return the tensors that a tensor was computed from, as it says itself."""
    return [one for one in getattr(node, attribute, None) or () if isinstance(one, lib.Tensor)]


def parents_first(root: Any, lib: Lib, attribute: str) -> Iterator[Any]:
    """Yield every tensor that `root` was computed from, each once, and `root` last."""
    seen: set[int] = set()
    stack = [(root, False)]
    while stack and len(seen) <= _MOST_NODES:
        node, parents_done = stack.pop()
        if parents_done:
            yield node
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            above = reversed(parents_of(node, lib, attribute))
            stack += [(parent, False) for parent in above]
