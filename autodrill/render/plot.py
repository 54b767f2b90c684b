"""Pictures by matplotlib, which is an extra: a graph, and a histogram."""

from __future__ import annotations

import io
import logging
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

from autodrill.errors import BROKEN, AutodrillError
from autodrill.render.diagram import edges, label, layout

if TYPE_CHECKING:
    from autodrill.practice.graph import Graph

_BOX = (2.3, 0.8)
"""Inches of a box; the gap between two is a part of it."""
_GAP = (0.6, 0.35)
_PER_CHARACTER = 0.075
_MOST_LEVEL = 10
"""So many names fit side by side below a histogram."""
_INK, _LEAF, _EDGE, _BAR = "#1f2933", "#e3effb", "#7b8794", "#2b6cb0"


def need_matplotlib() -> Any:
    """Import matplotlib, or say how to get it."""
    logging.getLogger("matplotlib").setLevel(logging.ERROR)  # such as a cache it can't write
    try:
        import matplotlib.figure
        import matplotlib.style
    except ImportError as error:
        raise AutodrillError(
            "matplotlib is not installed",
            "`pip install matplotlib` brings it; only pictures need it",
            exit_code=BROKEN,
        ) from error
    return matplotlib


def graph(found: Graph, form: str) -> bytes:
    """Draw a graph from left to right, as `svg` or `png`."""
    matplotlib = need_matplotlib()
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

    plan = layout(found)
    longest = max(len(text) for node in found.nodes for text in label(node))
    box = max(_BOX[0], longest * _PER_CHARACTER), _BOX[1]
    step = box[0] + _GAP[0], box[1] + _GAP[1]
    heights = [row for way in plan.ways for _, row in way]
    heights += [row for _, row in plan.places.values()]
    low, high = min(heights), max(heights)
    size = plan.columns * step[0], (high - low + 1) * step[1]
    with _settings(matplotlib):
        figure = matplotlib.figure.Figure(figsize=size, facecolor="white")
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(0, size[0]), ylim=(size[1], 0))
        axes.axis("off")

        def at(place: tuple[int, float]) -> tuple[float, float]:
            return (place[0] + 0.5) * step[0], (place[1] - low + 0.5) * step[1]

        for (above, below), way in zip(dict.fromkeys(edges(found)), plan.ways, strict=True):
            points = [at(place) for place in way]
            points[0] = points[0][0] + box[0] / 2, points[0][1]
            points[-1] = points[-1][0] - box[0] / 2, points[-1][1]
            path = matplotlib.path.Path(points)
            arrow = FancyArrowPatch(path=path, arrowstyle="-|>", mutation_scale=12, color=_EDGE)
            arrow.set_gid(f"edge {above} {below}")
            axes.add_patch(arrow)
        for node in found.nodes:
            x, y = at(plan.places[node.number])
            patch = FancyBboxPatch(
                (x - box[0] / 2, y - box[1] / 2),
                *box,
                boxstyle="round,pad=0,rounding_size=0.1",
                facecolor="white" if node.parents else _LEAF,
                edgecolor=_INK,
            )
            patch.set_gid(f"node {node.number}")
            axes.add_patch(patch)
            for row, text in enumerate(label(node)):
                axes.text(
                    x,
                    y + (row - 1) * box[1] * 0.29,
                    text,
                    ha="center",
                    va="center",
                    fontsize=9,
                    color=_INK,
                    weight="bold" if row == 0 else "normal",
                    parse_math=False,
                )
        return _saved(figure, form)


def histogram(bars: Sequence[tuple[str, int]], title: str, x_label: str, form: str) -> bytes:
    """Draw counts as bars, as `svg` or `png`."""
    matplotlib = need_matplotlib()
    with _settings(matplotlib):
        figure = matplotlib.figure.Figure(figsize=(7, 3.5), facecolor="white", layout="tight")
        axes = figure.add_subplot()
        drawn = axes.bar([name for name, _ in bars], [count for _, count in bars], color=_BAR)
        axes.bar_label(drawn)
        axes.tick_params(axis="x", labelrotation=45 if len(bars) > _MOST_LEVEL else 0)
        axes.set(title=title, xlabel=x_label, ylabel="graphs")
        axes.spines[["top", "right"]].set_visible(False)
        return _saved(figure, form)


def _settings(matplotlib: Any) -> AbstractContextManager[None]:
    """Keep text as text, and the same picture the same file."""
    own = {"svg.fonttype": "none", "svg.hashsalt": "autodrill", "font.family": "sans-serif"}
    settings: AbstractContextManager[None] = matplotlib.style.context(["default", own])
    return settings


def _saved(figure: Any, form: str) -> bytes:
    with io.BytesIO() as stream:
        metadata = {"Date": None} if form == "svg" else None
        figure.savefig(stream, format=form, metadata=metadata, dpi=150)
        return stream.getvalue()
