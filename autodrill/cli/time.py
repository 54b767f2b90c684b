"""`autodrill time` and `autodrill next`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from autodrill.cli.options import Json, TrackOption, ask, play, print_json, say, screen
from autodrill.errors import NOT_YET, PASSED, AutodrillError, Terminated

if TYPE_CHECKING:
    from autodrill.history import Attempt
    from autodrill.practice.timed_run import Run
    from autodrill.practice.timed_view import View
    from autodrill.practice.timing import TimeRequest


def time(
    target: Annotated[
        str | None,
        typer.Argument(metavar="[TARGET]", help="A target or step; the whole ladder if left out."),
    ] = None,
    full: Annotated[bool, typer.Option("--full", help="All of it, from an empty engine.")] = False,
    edit: Annotated[
        bool, typer.Option("--edit", help="Open the attempt in $VISUAL or $EDITOR.")
    ] = False,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with an attempt that was interrupted.")
    ] = False,
    close: Annotated[
        bool, typer.Option("--close", help="Close an attempt that was interrupted.")
    ] = False,
    poll: Annotated[
        bool, typer.Option("--poll", help="Look at the file; do not wait for system events.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Time an attempt; the clock stops by itself when it is green.

    Example: autodrill time matmul
    """
    from autodrill.practice import timing

    if sum((target is not None, full, resume, close)) > 1:
        raise AutodrillError("TARGET, --full, --resume and --close exclude each other")
    if close:
        _close(as_json)
        return
    request = timing.TimeRequest(target, full, edit, poll, _is_live() and not as_json)
    run = timing.resume(request) if resume else timing.begin(request, _resumes(request))
    _show(run, request, as_json)


def next_(track: TrackOption = None, as_json: Json = False) -> None:
    """Say which drill is due, and start it on Enter.

    Example: autodrill next
    """
    from autodrill.practice import stats, timing

    found = stats.next_drill(track)
    say(found.notices)
    if as_json:
        print_json({"schema": "autodrill.next/1"} | _without_notices(asdict(found)))
        return
    from autodrill.render.records import show_next

    show_next(screen(), found.order, found.there, found.now)
    if found.order and timing.is_startable(found.track) and _is_live():
        ask("Enter starts it, Ctrl-C leaves. ")
        request = timing.TimeRequest(found.order[0].target, live=True)
        _show(timing.begin(request, _resumes(request)), request, as_json)


def _resumes(request: TimeRequest) -> Callable[[Attempt], bool] | None:
    """Return what asks whether to go on with an attempt that was interrupted."""
    if not request.live:
        return None

    def asked(attempt: Attempt) -> bool:
        from autodrill.render.records import show_interrupted

        show_interrupted(screen(), attempt)
        answer = "?"
        while answer not in ("", "r", "c"):
            answer = ask("r resumes it, c closes it [r] ").strip().lower()
        return answer != "c"

    return asked


def _show(run: Run, request: TimeRequest, as_json: bool) -> None:
    if request.live:
        from autodrill.render.records import show_left
        from autodrill.render.timed import LiveRun

        out = screen()
        try:
            with run, LiveRun(out) as live:
                for view in run.views():
                    live.show(view)
                    say(view.notices)
        except KeyboardInterrupt as stop:
            if run.left is not None and not isinstance(stop, Terminated):
                show_left(out, run.left)
            raise
    else:
        _show_lines(run, as_json)
    raise typer.Exit(PASSED if run.passed else NOT_YET)


def _show_lines(run: Run, as_json: bool) -> None:
    from autodrill.render.console import Screen
    from autodrill.render.timed import show_event

    out = Screen(sys.stderr) if as_json else screen()

    def show(view: View) -> None:
        show_event(out, view)
        say(view.notices)
        if as_json and view.event == "end":
            from autodrill.render.records import timed

            print_json(timed(view), at_once=True)

    with run:
        play(run, show)


def _close(as_json: bool) -> None:
    from autodrill.practice import timing

    attempt = timing.close()
    if as_json:
        print_json({"schema": "autodrill.time/1"} | asdict(attempt))
        return
    from autodrill.render.records import show_closed

    show_closed(screen(), attempt)


def _is_live() -> bool:
    from autodrill.keys import can_read_keys

    return screen().is_live and can_read_keys()


def _without_notices(data: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in data.items() if name not in ("notices", "now")}
