"""What `verify` shows: of each track what is proved, and every bug with the name it is given."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from autodrill.render.layout import BLANK, Line, blocks, line

if TYPE_CHECKING:
    from autodrill.render.console import Screen
    from autodrill.render.layout import Part
    from autodrill.results import BugProof, TargetProof, TrackProof

SCHEMA = "autodrill.verify/1"


def show(screen: Screen, proof: TrackProof) -> None:
    """Show the proof of one track."""
    head = [line((proof.track, "strong"), ": ", *_holds(proof.holds))]
    tests = [
        line(
            *_sign(not proof.failing),
            f" the reference passes {proof.tests} tests and {proof.strict_tests} of edge cases",
            hang=4,
        ),
        *(line(("✗", "bad"), f" {one} fails on the reference", hang=4) for one in proof.failing),
    ]
    targets = [_target(one) for one in proof.targets]
    bugs = [_bug(one) for one in proof.bugs]
    good = sum(not one.fault for one in proof.bugs)
    total = line(
        *_sign(good == len(proof.bugs)), f" {good} of {len(proof.bugs)} bugs caught and named"
    )
    screen.write([*blocks(head, [*tests, *targets], [*bugs, total]), BLANK])


def report(proofs: Iterable[TrackProof]) -> dict[str, Any]:
    """Turn proofs into a JSON object of the schema `autodrill.verify/1`."""
    tracks = [asdict(proof) | {"holds": proof.holds} for proof in proofs]
    return {
        "schema": SCHEMA,
        "holds": all(track["holds"] for track in tracks),
        "tracks": tracks,
    }


def _target(proof: TargetProof) -> Line:
    faults = []
    if not proof.stub_fails:
        faults.append("the stub passes")
    if proof.tests_missing:
        faults.append(f"missing: {', '.join(proof.tests_missing)}")
    if not proof.hints:
        faults.append("three hints are due")
    text = "; ".join(faults) or "the stub fails, its tests exist, it has three hints"
    return line(*_sign(proof.holds), f" {proof.target}: {text}", hang=4)


def _bug(proof: BugProof) -> Line:
    text = proof.fault or f"caught by {proof.caught_by}, named"
    return line(*_sign(not proof.fault), f" {proof.bug}: {text}", hang=4)


def _holds(holds: bool) -> tuple[Part, ...]:
    return (("holds", "good"),) if holds else (("falls short", "bad"),)


def _sign(good: bool) -> tuple[Part, ...]:
    return (("✓", "good"),) if good else (("✗", "bad"),)
