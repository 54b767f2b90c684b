"""`autodrill check`."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from autodrill.cli.options import Json, TrackOption, print_json, say, screen
from autodrill.errors import NOT_YET, PASSED


class Impl(enum.StrEnum):
    """What is graded: the learner's file, or the reference."""

    exercise = "exercise"
    solution = "solution"


def check(
    targets: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TARGET]...", help="Target ids, step numbers or symbols."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--file", help="Grade this file, wherever it lies.")
    ] = None,
    track: TrackOption = None,
    impl: Annotated[Impl, typer.Option("--impl", help="Grade the reference.")] = Impl.exercise,
    go_on: Annotated[
        bool, typer.Option("--all", help="Go on after a target that is not green.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Add the edge cases beyond the contract.")
    ] = False,
    torch: Annotated[bool, typer.Option("--torch", help="Also compare with live torch.")] = False,
    full: Annotated[
        bool, typer.Option("--full", help="Measure memory at full size; this takes longer.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Grade your file: all targets in order, or those you name.

    Example: autodrill check matmul
    """
    from autodrill.practice.check import CheckRequest, save
    from autodrill.practice.check import check as run_check

    request = CheckRequest(
        tuple(targets or ()),
        file,
        track,
        solution=impl is Impl.solution,
        go_on=go_on,
        strict=strict,
        torch=torch,
        full=full,
        every_example=as_json,
    )
    checked = run_check(request)
    try:
        if as_json:
            from autodrill.render import report

            print_json(report.check(checked.result))
        else:
            from autodrill.render.check import show

            show(screen(), checked.result, checked.next_command)
    finally:  # also where nobody reads on
        say(save(checked))
    raise typer.Exit(PASSED if checked.result.verdict == "pass" else NOT_YET)
