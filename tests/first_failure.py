"""Run a track's graders on an engine up to the first test that fails, and explain that one."""

from functools import cache
from pathlib import Path

from autodrill.catalog import load_track
from autodrill.engines.engine import Engine, LocalEngine, module_from
from autodrill.engines.reference import load_suite, reference_engine
from autodrill.grading.failure import explain
from autodrill.grading.grade import Grade
from autodrill.grading.session import run_graders

ENGINES = Path(__file__).with_name("engines")


class Remembering(Engine):
    """An engine that never runs the same request twice: here, the reference."""

    def __init__(self, engine):
        self.engine = engine
        self.outcomes = {}

    def run(self, request, limit_s):
        upstream = request.upstream
        key = (
            request.scenario,
            repr(request.params),
            tuple((name, array.tobytes(), array.shape) for name, array in request.inputs.items()),
            upstream if isinstance(upstream, int) else (upstream.tobytes(), upstream.shape),
        )
        if key not in self.outcomes:
            self.outcomes[key] = self.engine.run(request, limit_s)
        return self.outcomes[key]


@cache
def reference(track):
    return Remembering(reference_engine(track))


def first_failure(track, engine, functions=None):
    """Return the failure of the first test that fails, in the track's order; None if none does.

    `functions` leaves out all other tests.
    """
    order = [function for target in track.targets for function in target.tests]
    grade = Grade(load_suite(track), engine, reference(track))
    found = []

    def record(graded):
        if graded.finding is not None:
            file = Path(track.engine_file)
            found.append(explain(track, grade, graded.finding, graded.test, file, graded.probes))

    graded = [one for one in track.targets if not functions or {*functions} & {*one.tests}]
    run_graders(
        track.tests_of(graded),
        grade,
        lambda function: None if functions and function not in functions else order.index(function),
        lambda _: not found,
        record,
    )
    return found[0] if found else None


def engine_of(track, name, *changes):
    """Return one of the engines beside this file, with (find, put) changes of its text."""
    path = ENGINES / f"{name}.py"
    text = path.read_text()
    for find, put in changes:
        assert text.count(find) == 1, f"{find!r} stands {text.count(find)} times in {name}"
        text = text.replace(find, put)
    return LocalEngine(load_suite(track), module_from(text, name, path), file=str(path))


def lab01():
    return load_track("lab01")
