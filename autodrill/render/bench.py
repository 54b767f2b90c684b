"""What a training step costs: beside torch, by operation, in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from autodrill.render import report
from autodrill.render.inert import inert
from autodrill.render.layout import Line, blocks, fixed, line

if TYPE_CHECKING:
    from autodrill.practice.bench import Bench, GraphMemory, OperationCost
    from autodrill.render.console import Screen

_INDENT = 2
_NARROW = 76


def show(screen: Screen, found: Bench) -> None:
    """Show what was measured."""
    screen.write(lines(found, screen.width))


def lines(found: Bench, width: int) -> list[Line]:
    """Lay out what was measured."""
    title = line(
        (inert(found.track), "strong"),
        f" · {inert(found.engine)} · a step of the spirals MLP, 2-64-64-3, 300 points",
        hang=_INDENT,
    )
    if found.problem is not None:
        from autodrill.render.source import explain

        return blocks([title], explain(found.problem, width))
    return blocks(
        [title],
        _beside_torch(found),
        _costs(found.operations, width),
        _memory(found.memory, width) if found.memory else [],
    )


def _beside_torch(found: Bench) -> list[Line]:
    rows = [("this engine", _micro(found.step_s))]
    if found.torch_s is not None and found.ratio is not None:
        rows.append((f"torch {inert(found.torch or '')}", _micro(found.torch_s)))
        rows.append(("ratio", f"{found.ratio:.2f}"))
    names = max(len(name) for name, _ in rows)
    texts = max(len(text) for _, text in rows)
    times = "in turn, " if found.torch_s is not None else ""
    head = f"median of {found.steps} steps, {times}one thread, float64"
    shown = [fixed(f"{name:<{names}}  {text:>{texts}}", indent=_INDENT) for name, text in rows]
    return [line((head, "quiet"), hang=_INDENT), *shown]


def _costs(costs: Sequence[OperationCost], width: int) -> list[Line]:
    about = "where it goes, in µs; overhead: the same calls with next to nothing to compute"
    head = line((about, "quiet"), hang=_INDENT)
    names = max(len(inert(one.name)) for one in costs)
    if width < _NARROW:
        return [head, *(row for one in costs for row in _stacked(one))]
    labels = ("calls", "forward", "backward", "NumPy", "overhead")
    titles = f"{'':{names}}" + "".join(f"{label:>10}" for label in labels)
    rows = [fixed(_row(one, names), indent=_INDENT) for one in costs]
    return [head, fixed((titles, "quiet"), indent=_INDENT), *rows]


def _row(one: OperationCost, names: int) -> str:
    times = (one.forward_s, one.backward_s, one.numpy_s, one.overhead_s)
    cells = "".join(f"{1e6 * seconds:>10.1f}" for seconds in times)
    return f"{inert(one.name):<{names}}{one.calls:>10}{cells}"


def _stacked(one: OperationCost) -> Iterator[Line]:
    calls = "1 call" if one.calls == 1 else f"{one.calls} calls"
    yield line((inert(one.name), "strong"), f"  {calls}", indent=_INDENT)
    for pair in (
        (("forward", one.forward_s), ("backward", one.backward_s)),
        (("NumPy", one.numpy_s), ("overhead", one.overhead_s)),
    ):
        text = "".join(f"{name:<8}{1e6 * seconds:>7.1f}   " for name, seconds in pair)
        yield fixed(text.rstrip(), indent=2 * _INDENT)


def _memory(memory: GraphMemory, width: int) -> list[Line]:
    rows = [
        ("after the forward", memory.forward, f"{memory.nodes} nodes"),
        ("most in backward", memory.peak, ""),
        ("after it, gradients of all nodes", memory.all_nodes, ""),
        ("after it, gradients of leaves only", memory.leaves_only, f"{memory.inner} nodes without"),
    ]
    names = max(len(name) for name, *_ in rows)
    shown: list[Line] = [line(("what the graph keeps in memory", "quiet"))]
    for name, size, note in rows:
        text = f"{size / 2**20:.2f} MiB"
        if width < _NARROW:
            more = f", {note}" if note else ""
            shown.append(line(f"{name}: {text}{more}", indent=_INDENT, hang=_INDENT))
        else:
            row = f"{name:<{names}}  {text:>10}"
            shown.append(fixed(row, (f"  {note}" if note else "", "quiet"), indent=_INDENT))
    return shown


def _micro(seconds: float) -> str:
    return f"{1e6 * seconds:,.0f} µs"


def as_json(found: Bench) -> dict[str, Any]:
    """Return what was measured as plain data."""
    return {
        "schema": "autodrill.bench/1",
        "track": found.track,
        "engine": found.engine,
        "steps": found.steps,
        "step_s": found.step_s if found.problem is None else None,
        "torch": found.torch,
        "torch_s": found.torch_s,
        "ratio": found.ratio,
        "operations": [asdict(one) for one in found.operations],
        "memory": asdict(found.memory) if found.memory else None,
        "problem": report.problem(found.problem) if found.problem else None,
    }
