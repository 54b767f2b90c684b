"""`autodrill hint` and `autodrill show`."""

import pytest

from autodrill.catalog import load_track, track_ids


@pytest.mark.parametrize("track_id", track_ids())
@pytest.mark.parametrize("level", [1, 2, 3])
def test_every_target_has_a_hint_of_every_level(autodrill, track_id, level):
    for target in load_track(track_id).targets:
        ran = autodrill.run("hint", target.id, "--track", track_id, "--level", level, "--json")
        assert ran.code == 0
        assert ran.json["level"] == level
        assert len(ran.json["text"]) > 40


def test_each_hint_goes_one_level_further_and_stays_at_the_last(lab01):
    levels = [lab01.run("hint", "matmul", "--json").json["level"] for _ in range(4)]
    assert levels == [1, 2, 3, 3]
    assert lab01.run("hint", "exp", "--json").json["level"] == 1


def test_without_a_target_the_first_that_is_not_green_is_meant(lab01):
    lab01.check("unbroadcast")
    assert lab01.run("hint", "--json").json["target"] == "backward"


def test_a_symbol_gets_what_concerns_it(lab01):
    exp = lab01.run("hint", "exp", "--level", "2", "--json").json
    assert exp["target"] == "elementwise"
    assert "exp" in exp["text"]
    assert "`tanh`" not in exp["text"]


def test_a_level_that_does_not_exist_is_a_usage_error(lab01):
    ran = lab01.run("hint", "matmul", "--level", "4")
    assert ran.code == 2
    assert "1 to 3" in ran.err


def test_show_prints_the_reference_with_its_derivation(lab01):
    ran = lab01.run("show", "matmul", "--yes")
    assert ran.code == 0
    assert "def __matmul__" in ran.out
    assert "Derivation" in ran.out


def test_show_does_not_give_away_what_is_not_green(lab01):
    ran = lab01.run("show", "matmul")
    assert ran.code == 2
    assert ran.out == ""
    assert "--yes" in ran.err
    lab01.check("matmul")
    assert lab01.run("show", "matmul").code == 0


def test_show_gives_one_symbol_or_all_of_a_target(lab01):
    one = lab01.run("show", "tanh", "--yes", "--json").json
    assert [each["symbol"] for each in one["symbols"]] == ["Tensor.tanh"]
    all_of_it = lab01.run("show", "elementwise", "--yes", "--json").json
    assert len(all_of_it["symbols"]) == 6
