"""The clock: pauses and sleep are not counted, and are shown."""

import pytest

from autodrill.clock import ASLEEP_S, Clock


class Hands:
    """Two clocks that a test moves: one stops in a sleep, the other does not."""

    def __init__(self):
        self.now = self.through = 100.0

    def pass_by(self, seconds):
        self.now += seconds
        self.through += seconds

    def clock(self, **counted):
        usual = {"now": lambda: self.now, "through": lambda: self.through, "tells_sleep": False}
        return Clock(**usual | counted)


@pytest.fixture
def hands():
    return Hands()


def run_for(hands, clock, seconds):
    for _ in range(int(seconds * 4)):
        hands.pass_by(0.25)
        clock.read()


def test_it_counts_the_seconds_that_pass(hands):
    clock = hands.clock()
    run_for(hands, clock, 90)
    assert clock.read().run_s == 90


def test_a_pause_is_not_counted_and_is_shown(hands):
    clock = hands.clock()
    run_for(hands, clock, 5)
    clock.pause()
    run_for(hands, clock, 60)
    clock.resume()
    run_for(hands, clock, 5)
    reading = clock.read()
    assert (reading.run_s, reading.paused_s) == (10, 60)


def test_a_sleep_that_stops_the_clock_is_shown(hands):
    clock = hands.clock()
    run_for(hands, clock, 5)
    hands.through += 3600
    run_for(hands, clock, 5)
    reading = clock.read()
    assert (reading.run_s, reading.slept_s) == (10, 3600)


def test_a_sleep_that_does_not_stop_the_clock_is_not_counted(hands):
    clock = hands.clock()
    run_for(hands, clock, 5)
    hands.pass_by(3600)
    reading = clock.read()
    assert (reading.run_s, reading.slept_s) == (5, 3600)


def test_where_a_sleep_can_be_told_a_stopped_process_counts(hands):
    clock = hands.clock(tells_sleep=True)
    run_for(hands, clock, 5)
    hands.pass_by(3600)
    assert (clock.read().run_s, clock.read().slept_s) == (3605, 0)
    hands.through += 3600
    run_for(hands, clock, 5)
    assert (clock.read().run_s, clock.read().slept_s) == (3610, 3600)


def test_a_short_stall_counts(hands):
    clock = hands.clock()
    hands.pass_by(ASLEEP_S - 1)
    assert clock.read().run_s == ASLEEP_S - 1


def test_a_clock_that_is_set_back_changes_nothing(hands):
    clock = hands.clock()
    run_for(hands, clock, 5)
    hands.through -= 7200
    run_for(hands, clock, 5)
    assert clock.read().run_s == 10
    assert clock.read().slept_s == 0


def test_an_attempt_is_taken_up_where_it_was_left(hands):
    clock = hands.clock(run_s=30.0, paused_s=4.0)
    run_for(hands, clock, 2)
    assert clock.read().run_s == 32
    assert clock.read().paused_s == 4


def test_the_moment_of_a_save_is_told_to_the_millisecond(hands):
    clock = hands.clock()
    run_for(hands, clock, 3)
    hands.pass_by(0.2)
    assert clock.at(hands.now - 0.05) == pytest.approx(3.15)


def test_the_moment_of_a_save_is_told_also_after_later_readings_and_a_pause(hands):
    clock = hands.clock()
    run_for(hands, clock, 3)
    saved = hands.now - 0.6
    clock.pause()
    run_for(hands, clock, 60)
    clock.resume()
    run_for(hands, clock, 5)
    assert clock.at(saved) == pytest.approx(2.4)
    assert clock.at(saved + 10) == pytest.approx(3.0)
    assert clock.read().run_s == 8
