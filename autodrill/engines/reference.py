"""A track's scenarios and its reference engine, in this process."""

from __future__ import annotations

from functools import cache

from autodrill.cases.scenario import Suite
from autodrill.catalog import Track
from autodrill.engines.engine import LocalEngine, module_from
from autodrill.errors import broken_track
from autodrill.worker.child import load_scenarios


@cache
def load_suite(track: Track) -> Suite:
    """Import a track's scenarios; a fault in them is ours (exit 3)."""
    try:
        return load_scenarios(track.scenarios)
    except Exception as error:
        raise broken_track(f"the scenarios of `{track.id}` can't be loaded: {error}") from error


@cache
def reference_engine(track: Track) -> LocalEngine:
    """Return the reference as an engine; a fault in it is ours (exit 3)."""
    try:
        source = track.reference.read_text(encoding="utf-8")
        module = module_from(source, f"autodrill_reference_{track.id}", track.reference)
    except Exception as error:
        raise broken_track(f"the reference of `{track.id}` can't be loaded: {error}") from error
    return LocalEngine(load_suite(track), module, file=str(track.reference))
