"""Prove the tracks."""

from __future__ import annotations

from collections.abc import Iterator

from autodrill.catalog import load_track, track_ids
from autodrill.results import TrackProof


def verify(track_id: str | None = None) -> Iterator[TrackProof]:
    """Prove one track, or all of them one after the other."""
    from autodrill.grading.proof import prove

    for one in (track_id,) if track_id is not None else track_ids():
        yield prove(load_track(one))
