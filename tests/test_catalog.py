"""The tracks as they are described: order, parts, and that every name leads somewhere."""

import pytest

from autodrill.bugs import load_bugs
from autodrill.catalog import load_track, track_ids
from autodrill.engines.reference import load_suite
from autodrill.stubs import symbols_in


def test_the_track_to_begin_with_comes_first():
    assert track_ids() == ("lab01", "retype", "beyond")


@pytest.mark.parametrize("track_id", track_ids())
def test_every_file_that_a_track_names_is_there(track_id):
    track = load_track(track_id)
    files = [*track.scenarios, *track.tests, *track.strict_tests, *track.bugs, *track.guides]
    files += [track.hints(target) for target in track.targets]
    assert [file for file in files if not file.is_file()] == []


@pytest.mark.parametrize("track_id", track_ids())
def test_every_symbol_can_be_graded_by_itself(track_id):
    graded = {
        one.symbols[0] for one in load_suite(load_track(track_id)).scenarios.values() if one.symbols
    }
    assert set(load_track(track_id).symbols) - graded == set()


@pytest.mark.parametrize("track_id", track_ids())
def test_what_a_stub_keeps_or_does_is_of_a_symbol_of_the_track(track_id):
    track = load_track(track_id)
    assert {*track.keep, *track.bodies} <= set(track.symbols)
    assert set(track.symbols) <= set(symbols_in(track.reference.read_text(encoding="utf-8")))


def test_a_track_in_parts_has_one_for_each_target():
    track = load_track("beyond")
    assert [part.name for part in track.parts] == [target.id for target in track.targets]
    assert [target.step for target in track.targets] == list(range(1, len(track.targets) + 1))
    for bug in load_bugs(track):
        assert bug.target in {part.name for part in track.parts}


def test_a_target_of_a_track_without_order_needs_no_other():
    for track in map(load_track, track_ids()):
        if not track.in_order:
            assert [target.id for target in track.targets if target.needs] == []
