"""The mistakes that nearly everybody makes: one check names the cause, at every width.

Each is checked as a learner would, the whole track in order up to what is not green, and the
screen that they would see is pinned.
"""

import io
from functools import cache
from pathlib import Path

import pytest
from first_failure import reference

from autodrill.bugs import load_bugs
from autodrill.catalog import load_track
from autodrill.engines.reference import load_suite
from autodrill.engines.variants import variant
from autodrill.grading.grade import Grade
from autodrill.grading.run import grade_targets
from autodrill.render.check import show
from autodrill.render.console import Screen
from autodrill.results import CheckResult, worst

WIDTHS = [100, 60, 40]

COMMON = {
    "the gradient of (3,4) + (4,) has the wrong shape": "unbroadcast-missing",
    "x * x gives x": "overwrites-gradient",
    "the diamond fails": "visits-too-early",
    "the gradient doubles in a loop": "sgd-not-cleared",
    "RecursionError on a long chain": "recursive-traversal",
    "x[[0, 0, 2]] gives 1 0 1 0": "scatter-drops-duplicates",
    "sum over axis 1": "sum-axis-not-restored",
    "transpose(2, 0, 1)": "transpose-forward-permutation",
    "a batched matmul": "matmul-batch-not-summed",
    "NaN in the cross-entropy": "softmax-unstable",
    "spirals stuck at 33% from a summed loss": "cross-entropy-sum",
    "constants are lifted wrong": "constant-gets-gradient",
    "finite differences are off in later entries": "finite-difference-not-restored",
}


@cache
def checked(bug_id):
    track = load_track("lab01")
    bug = next(one for one in load_bugs(track) if one.id == bug_id)
    grade = Grade(load_suite(track), variant(track, bug), reference(track))
    targets = grade_targets(track, grade, track.targets, Path(track.engine_file), go_on=False)
    return CheckResult(
        track=track.id,
        track_title=track.title,
        file=track.engine_file,
        impl="exercise",
        verdict=worst(one.verdict for one in targets),
        seconds=0.5,
        targets=targets,
    )


@pytest.mark.parametrize("mistake", COMMON)
def test_a_common_mistake_is_named_at_the_first_target_that_shows_it(mistake):
    failing = [one for one in checked(COMMON[mistake]).targets if one.verdict == "fail"]
    assert [one.failures[0].diagnosis.bug for one in failing] == [COMMON[mistake]]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("mistake", COMMON)
def test_its_screen_leads_to_the_cause(snapshot, mistake, width):
    stream = io.StringIO()
    show(Screen(stream, width=width), checked(COMMON[mistake]), None)
    assert stream.getvalue() == snapshot
