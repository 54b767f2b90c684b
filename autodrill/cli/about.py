"""`autodrill` alone, `autodrill tracks`, `autodrill where` and `autodrill doctor`."""

from __future__ import annotations

from typing import Annotated

import typer

from autodrill.cli.options import Json, print_json, say, screen
from autodrill.errors import BROKEN, PASSED


def overview() -> None:
    """Say where the learner is, and the next command to type."""
    from autodrill.practice.overview import overview as look
    from autodrill.render.workspace import show_overview

    seen = look()
    say(seen.notices)
    title, targets = (seen.track.title, seen.track.targets) if seen.track else ("", ())
    due = tuple(one.target for one in seen.due)
    show_overview(
        screen(),
        title,
        seen.folder,
        targets,
        seen.verdicts,
        seen.next_command,
        due,
        seen.interrupted,
        seen.there,
        estimates=seen.track is not None and seen.track.estimates,
        is_dated=seen.is_dated,
    )


def tracks(as_json: Json = False) -> None:
    """List the tracks and their targets.

    Example: autodrill tracks
    """
    from autodrill.practice.about import tracks as all_tracks

    found = all_tracks()
    if as_json:
        targets = [
            {
                "id": track.id,
                "title": track.title,
                "summary": track.summary,
                "engine_file": track.engine_file,
                "minutes_are": track.minutes_are,
                "targets": [
                    {
                        "id": target.id,
                        "step": target.step,
                        "title": target.title,
                        "symbols": list(target.symbols),
                        "needs": list(target.needs),
                        "minutes": target.minutes,
                    }
                    for target in track.targets
                ],
            }
            for track in found
        ]
        print_json({"schema": "autodrill.tracks/1", "tracks": targets})
        return
    from autodrill.render.lists import show_tracks

    rows = [(one.id, one.summary, f"{len(one.targets)} targets") for one in found]
    show_tracks(screen(), rows, f"autodrill start {found[0].id}" if found else None)


def where(as_json: Json = False) -> None:
    """Print every path that autodrill reads or writes.

    Example: autodrill where
    """
    from autodrill.practice.about import where as paths

    found = paths()
    if as_json:
        print_json({"schema": "autodrill.where/1", "paths": dict(found)})
        return
    from autodrill.render.lists import show_where

    show_where(screen(), found)


def doctor(as_json: Json = False) -> None:
    """Say what is installed and what is missing, and try a worker.

    Example: autodrill doctor
    """
    from autodrill.practice.about import doctor as examine

    findings = examine()
    well = all(one.state != "missing" for one in findings)
    if as_json:
        rows = [
            {"name": one.name, "text": one.text, "state": one.state, "hint": one.hint}
            for one in findings
        ]
        print_json({"schema": "autodrill.doctor/1", "well": well, "findings": rows})
    else:
        from autodrill.render.lists import show_doctor

        show_doctor(screen(), [(one.name, one.text, one.state, one.hint) for one in findings])
    raise typer.Exit(PASSED if well else BROKEN)


def verify(
    track: Annotated[
        str | None, typer.Argument(metavar="[TRACK]", help="The track; all if left out.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Prove the tracks: stubs fail, references pass, bugs are named.

    Example: autodrill verify TRACK_ID
    """
    from autodrill.practice.verify import verify as prove
    from autodrill.render import proof

    proofs = []
    for one in prove(track):
        proofs.append(one)
        if not as_json:
            proof.show(screen(), one)
    if as_json:
        print_json(proof.report(proofs))
    raise typer.Exit(PASSED if all(one.holds for one in proofs) else BROKEN)
