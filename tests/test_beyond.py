"""The track of independent targets: any of them alone, any of them last, and written otherwise."""

import importlib.util
from pathlib import Path

import pytest
from first_failure import ENGINES

from autodrill.catalog import load_track
from autodrill.engines.engine import LocalEngine, module_from
from autodrill.engines.reference import load_suite, reference_engine
from autodrill.grading.grade import Grade
from autodrill.grading.session import run_graders
from autodrill.stubs import blank

BEYOND = load_track("beyond")
SOURCE = BEYOND.reference.read_text(encoding="utf-8")
TARGETS = [target.id for target in BEYOND.targets]
KNOWN = {}  # what the reference makes of each probe, for all engines


def verdicts(lib, target_id, *, strict=False):
    """Return what each test of a target came to, on an engine."""
    suite, part = load_suite(BEYOND), BEYOND.folder / target_id
    engine = LocalEngine(suite, lib, file=str(BEYOND.reference))
    grade = Grade(suite, engine, reference_engine(BEYOND), strict=strict, known=KNOWN)
    found = []
    file = part / f"{'strict' if strict else 'test'}_{target_id}.py"
    run_graders([file], grade, lambda _: 0, lambda _: True, found.append)
    assert found
    return [(one.test, one.finding and one.finding.mismatch.verdict) for one in found]


def stub(*target_ids):
    """Make the engine with the symbols of some targets blanked."""
    symbols = [one for target in target_ids for one in BEYOND.target(target).symbols]
    return module_from(blank(SOURCE, symbols, "beyond", {}, BEYOND.bodies), "stub", Path("stub"))


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("target_id", TARGETS)
def test_a_target_is_green_with_all_others_blank(target_id, strict):
    others = [one for one in TARGETS if one != target_id]
    for test, verdict in verdicts(stub(*others), target_id, strict=strict):
        assert verdict is None, test


@pytest.mark.parametrize("target_id", TARGETS)
def test_a_blank_target_leaves_all_others_green(target_id):
    engine = stub(target_id)
    blanked = {verdict for _, verdict in verdicts(engine, target_id)}
    if set(BEYOND.target(target_id).symbols) <= BEYOND.bodies.keys():
        # Nothing raises there: the engine is lab01's, and a test that it passes is no fault.
        assert blanked == {"fail", None}
    else:
        assert blanked == {"todo"}
    for other in TARGETS:
        if other != target_id:
            for test, verdict in verdicts(engine, other):
                assert verdict is None, test


@pytest.mark.parametrize("target_id", TARGETS)
def test_a_target_written_differently_is_green(target_id):
    path = ENGINES / f"beyond_{target_id}.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    other = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(other)
    engine = module_from(SOURCE, path.stem, path)
    other.rewrite(engine)
    for strict in (False, True):
        for test, verdict in verdicts(engine, target_id, strict=strict):
            assert verdict is None, test


def test_the_engine_that_is_given_does_what_lab01_promises():
    lab01 = load_track("lab01")
    suite = load_suite(lab01)
    engine = LocalEngine(suite, stub(*TARGETS))
    found = []
    for files, strict in ((lab01.tests, False), (lab01.strict_tests, True)):
        grade = Grade(suite, engine, reference_engine(lab01), strict=strict)
        run_graders(files, grade, lambda _: 0, lambda _: True, found.append)
    assert [(one.test, one.finding) for one in found if one.finding is not None] == []
