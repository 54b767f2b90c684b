"""Prove the tracks."""

from __future__ import annotations

import gc
from collections.abc import Iterator

from autodrill.catalog import load_track, track_ids
from autodrill.results import TrackProof


def verify(track_id: str | None = None) -> Iterator[TrackProof]:
    """Prove one track, or all of them one after the other."""
    from autodrill.engines.reference import reference_engine
    from autodrill.grading.proof import prove

    gc.enable()
    for one in (track_id,) if track_id is not None else track_ids():
        track = load_track(one)
        reference_engine(track)
        gc.collect()
        gc.freeze()  # a scenario that counts what is alive has the collector look through it all
        yield prove(track)
