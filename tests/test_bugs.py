"""The proof of each catalogue: every bug is caught at its target, and named as itself."""

from functools import cache

import pytest
from first_failure import first_failure, reference

from autodrill.bugs import load_bugs
from autodrill.catalog import load_track, track_ids
from autodrill.engines.engine import Engine
from autodrill.engines.reference import load_suite, reference_engine
from autodrill.engines.variants import symbols_run, variant
from autodrill.grading.grade import Grade
from autodrill.grading.session import run_graders
from autodrill.stubs import symbols_in, text_of

TRACKS = track_ids()
BUGS = [(track_id, bug.id) for track_id in TRACKS for bug in load_bugs(load_track(track_id))]


@cache
def symbols_run_by(track):
    """For each test function, the symbols of the reference that it runs."""
    engine, suite = reference_engine(track), load_suite(track)
    found, so_far = {}, set()

    class Noting(Engine):
        def run(self, request, limit_s):
            if suite[request.scenario].judge is None:
                so_far.update(symbols_run(engine, request))
            return reference(track).run(request, limit_s)

    def record(graded):
        found.setdefault(graded.function, set()).update(so_far)
        so_far.clear()

    grade = Grade(suite, Noting(), reference(track))
    run_graders(track.tests, grade, lambda _: 0, lambda _: True, record)
    return found


def functions_up_to(track, bug):
    """The tests of the bug's target, and of the targets before it that the bug could reach."""
    target = track.target(bug.target)
    symbols = {patch.symbol for patch in bug.patches}
    ran = symbols_run_by(track)
    return [
        function
        for one in track.targets
        if one is target or (track.in_order and one.step < target.step)
        for function in one.tests
        if one is target or ran[function] & symbols
    ]


@pytest.mark.parametrize(("track_id", "bug_id"), BUGS)
def test_every_bug_is_caught_at_its_target_and_named_as_itself(track_id, bug_id):
    track = load_track(track_id)
    bug = next(one for one in load_bugs(track) if one.id == bug_id)

    failure = first_failure(track, variant(track, bug), functions_up_to(track, bug))

    assert failure is not None, "no test catches it"
    assert failure.test.partition("[")[0] in track.target(bug.target).tests
    assert failure.diagnosis is not None, failure.message
    assert (failure.diagnosis.bug, failure.diagnosis.confidence) == (bug_id, "exact")
    assert set(failure.diagnosis.also) <= set(bug.also)


@pytest.mark.parametrize("track_id", TRACKS)
def test_a_bug_says_what_it_is_in_whole_sentences(track_id):
    for bug in load_bugs(load_track(track_id)):
        assert bug.why.endswith("."), bug.id
        assert bug.hint.endswith("."), bug.id
        assert bug.title and not bug.title.endswith("."), bug.id
        assert len(bug.title) <= 72, bug.id


@pytest.mark.parametrize("track_id", TRACKS)
def test_a_patch_is_of_a_symbol_as_a_learner_sees_it(track_id):
    track = load_track(track_id)
    source = track.reference.read_text(encoding="utf-8")
    texts = {symbol: text_of(source, symbol) for symbol in symbols_in(source)}
    for bug in load_bugs(track):
        patched = dict(texts)
        for patch in bug.patches:
            assert patched[patch.symbol].count(patch.find) == 1, bug.id
            patched[patch.symbol] = patched[patch.symbol].replace(patch.find, patch.put)
