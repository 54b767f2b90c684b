"""`autodrill graph`, `autodrill agree` and `autodrill bench`: an engine looked at from outside."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from autodrill.cli.options import Json, TrackOption, print_json, say, screen
from autodrill.errors import NOT_YET, PASSED

FileOption = Annotated[
    Path | None, typer.Option("--file", help="Your engine file; the reference if left out.")
]


class Format(enum.StrEnum):
    """How a graph is drawn."""

    terminal = "terminal"
    mermaid = "mermaid"
    dot = "dot"
    svg = "svg"
    png = "png"


def graph(
    expression: Annotated[
        str, typer.Argument(metavar="EXPR", help="Such as (x*w + b).relu().sum()")
    ],
    values: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME=VALUE...", help="A number or lists for each name."),
    ] = None,
    file: FileOption = None,
    track: TrackOption = None,
    form: Annotated[Format | None, typer.Option("--format", help="How to draw it.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Write it to this file.")] = None,
    upstream: Annotated[
        str | None, typer.Option("--upstream", help="The gradient of a result that is no number.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Draw the graph of an expression, with values and gradients.

    Example: autodrill graph "(x*w + b).relu().sum()" x="[1, -2, 3]" w=2 b=0.5
    """
    from autodrill.practice import output
    from autodrill.practice.graph import GraphRequest
    from autodrill.practice.graph import graph as draw
    from autodrill.render import graph as shown

    chosen = output.form_of(form, out)
    found = draw(GraphRequest(expression, tuple(values or ()), upstream, file, track))
    if out is not None and found.problem is None:
        output.write(out, shown.as_file(found, chosen))
    if as_json:
        print_json(shown.as_json(found))
    elif found.problem is not None or (out is None and chosen == Format.terminal):
        shown.show(screen(), found)
    elif out is None:
        screen().print(shown.as_file(found, chosen).decode())
    raise typer.Exit(PASSED if found.problem is None else NOT_YET)


def agree(
    graphs: Annotated[int, typer.Option("--graphs", min=1, help="How many to compare.")] = 200,
    seed: Annotated[int, typer.Option("--seed", min=0, help="The first graph's seed.")] = 0,
    file: FileOption = None,
    track: TrackOption = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", help="Draw the histogram to this .svg or .png.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compare an engine with live torch on random graphs of two layers.

    Example: autodrill agree --file exercise.py
    """
    from autodrill.practice import output
    from autodrill.practice.agree import BAR, AgreeRequest
    from autodrill.practice.agree import agree as compare
    from autodrill.render import agree as shown

    form = ""
    if plot is not None:
        form = output.picture_of(plot)
        shown.need_pictures()
    found = compare(AgreeRequest(graphs, seed, file, track))
    if plot is not None and found.problem is None:
        output.write(plot, shown.as_picture(found, form))
    if as_json:
        print_json(shown.as_json(found, BAR))
    else:
        shown.show(screen(), found, BAR)
    raise typer.Exit(PASSED if found.passes else NOT_YET)


def bench(
    steps: Annotated[int, typer.Option("--steps", min=1, help="How many to time.")] = 100,
    file: FileOption = None,
    track: TrackOption = None,
    as_json: Json = False,
) -> None:
    """Time a training step beside torch, and say where time and memory go.

    Example: autodrill bench --file exercise.py
    """
    from autodrill.practice.bench import BenchRequest
    from autodrill.practice.bench import bench as measure
    from autodrill.render import bench as shown

    found = measure(BenchRequest(steps, file, track))
    say(found.notices)
    if as_json:
        print_json(shown.as_json(found))
    else:
        shown.show(screen(), found)
    raise typer.Exit(PASSED if found.problem is None else NOT_YET)
