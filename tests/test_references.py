"""The references, judged from outside: live torch, central differences, the graders."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from autodrill.cases.differences import central_differences
from autodrill.cases.run import Request
from autodrill.cases.scenario import Case
from autodrill.catalog import load_track, track_ids
from autodrill.engines.engine import LocalEngine, module_from
from autodrill.engines.reference import load_suite, reference_engine
from autodrill.engines.torch_engine import torch_engine
from autodrill.grading.grade import Grade
from autodrill.grading.session import run_graders
from autodrill.workspace import stub_source

EXACT = 1e-12


@cache
def graded(track_id, *, strict=False):
    """Run a track's graders on its reference; return what they found and all probes."""
    track = load_track(track_id)
    engine = reference_engine(track)
    grade = Grade(load_suite(track), engine, engine, strict=strict)
    found = []
    files = track.strict_tests if strict else track.tests
    run_graders(files, grade, lambda _: 0, lambda _: True, found.append)
    return found, found[0].probes()


def cases(track_id):
    """Every probe of a case in a track, those of the edge cases included."""
    _, seed = graded(track_id)
    _, strict = graded(track_id, strict=True)
    return [one for one in (*seed, *strict) if isinstance(one.scenario, Case)]


def nearly(one, other, bound):
    """Tell whether two arrays agree to a bound, relative to the largest entry."""
    assert one.shape == other.shape
    finite = np.isfinite(other)
    assert np.array_equal(one[~finite], other[~finite], equal_nan=True)
    scale = max(1.0, np.abs(other[finite]).max(initial=0.0))
    return np.abs(one[finite] - other[finite]).max(initial=0.0) <= bound * scale


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("track_id", track_ids())
def test_the_reference_passes_every_test(track_id, strict):
    found, _ = graded(track_id, strict=strict)
    assert [(one.test, one.finding) for one in found if one.finding is not None] == []


@pytest.mark.parametrize(("track_id", "count"), [("lab01", 37), ("retype", 18)])
def test_a_track_has_the_promised_number_of_tests(track_id, count):
    found, _ = graded(track_id)
    assert len(found) == count


@pytest.mark.parametrize("track_id", track_ids())
def test_the_reference_equals_torch_on_every_case(track_id):
    track = load_track(track_id)
    reference, torch = reference_engine(track), torch_engine(track)
    compared = 0
    for probe in cases(track_id):
        request = probe.request()
        ours = reference.run(request, 10.0)
        theirs = torch.run(request, 10.0)
        assert ours.raised is None and theirs.raised is None, (probe, ours.raised, theirs.raised)
        assert ours.values.keys() == theirs.values.keys()
        for name, value in ours.values.items():
            assert nearly(value, theirs.values[name], EXACT), (probe, name)
            compared += 1
    assert compared > 100


@pytest.mark.parametrize("track_id", track_ids())
def test_the_reference_equals_central_differences_on_every_case(track_id):
    track = load_track(track_id)
    reference = reference_engine(track)
    for probe in cases(track_id):
        request = probe.request()
        outcome = reference.run(request, 10.0)
        out = outcome.values["out"]
        if not np.all(np.isfinite(out)) or "signs" in probe.scenario.domains.values():
            continue  # at a kink, and at infinity, there is no difference to take
        upstream = np.random.default_rng(request.upstream).standard_normal(out.shape)
        for name, at in request.inputs.items():

            def forward(array, name=name, request=request, upstream=upstream):
                moved = replace(request, inputs={**request.inputs, name: array}, upstream=upstream)
                return reference.run(moved, 10.0).values["out"]

            expected = central_differences(forward, at, upstream)
            assert nearly(outcome.values[f"{name}.grad"], expected, 1e-5), (probe, name)


@pytest.mark.parametrize("track_id", track_ids())
def test_the_stub_fails_every_target(track_id):
    track = load_track(track_id)
    stub = module_from(stub_source(track), "stub", track.reference)
    suite = load_suite(track)
    engine = LocalEngine(suite, stub, file=str(track.reference))
    found = {}
    run_graders(
        track.tests,
        Grade(suite, engine, reference_engine(track)),
        lambda _: 0,
        lambda _: True,
        lambda one: found.setdefault(one.function, []).append(one.finding),
    )
    for target in track.targets:
        findings = [one for function in target.tests for one in found[function]]
        if set(target.symbols) <= track.bodies.keys():
            # Nothing raises there, and a test that the engine without it passes is no fault.
            assert any(one is not None for one in findings), target.id
            continue
        assert all(one is not None for one in findings), target.id
        assert {one.mismatch.verdict for one in findings} == {"todo"}, target.id


def test_a_chain_of_a_hundred_thousand_operations_needs_no_recursion():
    for track_id in track_ids():
        track = load_track(track_id)
        engine = reference_engine(track)
        scenario = "deep_graph"
        if scenario in load_suite(track).scenarios:
            outcome = engine.run(Request(scenario, params={"length": 100_000}), 60.0)
            assert outcome.raised is None
