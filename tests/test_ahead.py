"""What is run before it is asked for: the cheap probes that come next, and nothing else."""

from collections import deque

import pytest

from autodrill.cases.outcome import Outcome
from autodrill.cases.probe import probes
from autodrill.catalog import load_track
from autodrill.engines.engine import Engine
from autodrill.engines.reference import load_suite
from autodrill.grading.ahead import Ahead

SUITE = load_suite(load_track("lab01"))


class TwoAhead(Engine):
    """Runs up to two requests ahead, as a worker does, and notes which."""

    def __init__(self):
        self.ran, self.left_off = [], 0

    def run_all(self, requests):
        left, done = deque(requests), deque()
        try:
            while left or done:
                while left and len(done) < 3:
                    request, _ = left.popleft()
                    self.ran.append(request.scenario)
                    done.append(Outcome(output=request.scenario))
                yield done.popleft()
        except GeneratorExit:
            self.left_off += 1


def asked(*ids):
    made = [probes(SUITE[one], None if one == "deep_graph" else "n=2", {})[0] for one in ids]
    return [(probe, probe.request()) for probe in made]


@pytest.fixture
def engine():
    return TwoAhead()


def test_every_probe_gets_its_own_outcome_and_none_is_run_twice(engine):
    ahead, every = Ahead(engine), asked("exp", "log", "relu", "tanh")
    ahead.expect(every)
    assert [ahead.outcome(*one).output for one in every] == ["exp", "log", "relu", "tanh"]
    assert engine.ran == ["exp", "log", "relu", "tanh"]


def test_what_comes_next_has_been_run_already(engine):
    ahead, every = Ahead(engine), asked("exp", "log", "relu", "tanh")
    ahead.expect(every)
    ahead.outcome(*every[0])
    assert ahead.is_first
    assert engine.ran == ["exp", "log", "relu"]
    ahead.outcome(*every[1])
    assert not ahead.is_first


def test_a_long_chain_waits_until_it_is_asked_for(engine):
    ahead, every = Ahead(engine), asked("exp", "deep_graph", "relu")
    ahead.expect(every)
    ahead.outcome(*every[0])
    assert engine.ran == ["exp"]
    ahead.outcome(*every[1])
    assert engine.ran == ["exp", "deep_graph", "relu"]


def test_what_is_left_out_is_passed_over(engine):
    ahead, every = Ahead(engine), asked("exp", "log", "relu", "tanh")
    ahead.expect(every)
    ahead.outcome(*every[0])
    assert ahead.outcome(*every[3]).output == "tanh"
    assert ahead.is_first
    assert engine.left_off == 1


def test_after_a_stop_it_goes_on_where_it_is_asked_to(engine):
    ahead, every = Ahead(engine), asked("exp", "log", "relu")
    ahead.expect(every)
    ahead.outcome(*every[0])
    ahead.stop()
    assert [ahead.outcome(*one).output for one in every[1:]] == ["log", "relu"]


def test_what_nobody_expected_is_run_by_itself(engine):
    ahead, every = Ahead(engine), asked("exp", "log")
    ahead.expect(every)
    [other] = asked("tanh")
    assert ahead.outcome(*other).output == "tanh"
    assert engine.ran == ["tanh"]
    assert [ahead.outcome(*one).output for one in every] == ["exp", "log"]
