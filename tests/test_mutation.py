"""Mechanical mutation: every small change of a reference is caught, or listed with a reason.

A mutant that lives is a hole in the graders, unless nobody could tell it from the original
within the contract; `equivalent_mutants.toml` says why of each of those.
"""

import signal
import tomllib
from functools import cache
from pathlib import Path

import pytest
from mutants import mutants

from autodrill.bugs import Bug, Patch
from autodrill.catalog import load_track, track_ids
from autodrill.engines.engine import LocalEngine
from autodrill.engines.reference import load_suite, reference_engine
from autodrill.engines.variants import variant
from autodrill.grading.grade import Grade
from autodrill.grading.session import run_graders
from autodrill.stubs import text_of

EQUIVALENT = {}
for file in sorted(Path(__file__).parent.glob("equivalent_mutants*.toml")):
    for name, symbols in tomllib.loads(file.read_text(encoding="utf-8")).items():
        EQUIVALENT.setdefault(name, {}).update(symbols)
SYMBOLS = [
    (track_id, symbol) for track_id in track_ids() for symbol in load_track(track_id).symbols
]
HANG_S = 5
"""Seconds of processor time, so that other work on the machine does not count."""
AGAIN_S = 1
"""Python drops what is raised in a callback of its collector, so the alarm rings until heard."""


def engine_of(track, symbol, text, mutant):
    """Make the reference with one function exchanged, as a bug variant is made."""
    bug = Bug(mutant.id, "", "", "", "", (Patch(symbol, text, mutant.source),))
    return LocalEngine(load_suite(track), variant.__wrapped__(track, bug).lib, file="mutant")


class Quick(Grade):
    """Leaves out what judges itself: a whole training run, of which five steps tell as much."""

    def run(self, probes):
        super().run([probe for probe in probes if probe.scenario.judge is None])


@cache
def known_of(track):
    """What the reference makes of each probe, for all mutants."""
    return {}


def is_caught(track, symbol, engine):
    """Run the graders, those of the symbol's own target first, until one fails.

    Where the targets are independent, it has to be its own that catches it.
    """
    caught = []
    homes = [target for target in track.targets if symbol in target.symbols]
    own = {f for target in homes for f in target.tests}
    targets = track.targets if track.in_order else homes

    def record(graded):
        if graded.finding is not None:
            caught.append(graded.test)

    for kind, strict in (("test", False), ("strict", True)):
        files = track.tests_of(targets, kind)
        suite, right = load_suite(track), reference_engine(track)
        grade = Quick(suite, engine, right, strict=strict, known=known_of(track))
        run_graders(files, grade, lambda name: int(name not in own), lambda _: not caught, record)
        if caught:
            return True
    return False


@pytest.fixture
def alarm():
    """Turn an endless loop into an exception that no engine swallows, and pytest lets through."""

    class Hang(KeyboardInterrupt):
        pass

    def ring(*_):
        raise Hang

    before = signal.signal(signal.SIGVTALRM, ring)
    yield Hang
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    signal.signal(signal.SIGVTALRM, before)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("track_id", "symbol"), SYMBOLS)
def test_every_mutant_is_caught_or_listed_as_equivalent(track_id, symbol, alarm):
    track = load_track(track_id)
    listed = EQUIVALENT.get(track_id, {}).get(symbol, {})
    alive = set()
    text = text_of(track.reference.read_text(), symbol)
    for mutant in mutants(text):
        signal.setitimer(signal.ITIMER_VIRTUAL, HANG_S, AGAIN_S)
        try:
            caught = is_caught(track, symbol, engine_of(track, symbol, text, mutant))
        except alarm:
            caught = True
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        if not caught:
            alive.add(mutant.id)
    assert alive - set(listed) == set(), "these mutants live"
    assert set(listed) - alive == set(), "these are listed as equivalent and are not"


def test_every_reason_is_a_sentence():
    for symbols in EQUIVALENT.values():
        for reasons in symbols.values():
            assert all(len(reason.split()) >= 4 for reason in reasons.values())
