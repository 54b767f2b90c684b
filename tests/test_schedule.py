"""The schedule: how a try is rated, when it is due again, and what comes first."""

import subprocess
import sys

import pytest

from autodrill.schedule import Card, Ended, order, rate, read_card, review, weakness

DAY_S = 86400
NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("ended", "rating"),
    [
        (Ended(True, 149.0, 300.0, 0), "easy"),
        (Ended(True, 150.0, 300.0, 0), "easy"),
        (Ended(True, 151.0, 300.0, 0), "good"),
        (Ended(True, 300.0, 300.0, 0), "good"),
        (Ended(True, 301.0, 300.0, 0), "hard"),
        (Ended(True, 10.0, 300.0, 1), "hard"),
        (Ended(False, 10.0, 300.0, 0), "again"),
        (Ended(True, 10.0, None, 0), "good"),
        (Ended(True, 10.0, None, 2), "hard"),
    ],
)
def test_a_try_is_rated_by_its_outcome(ended, rating):
    assert rate(ended) == rating


def test_the_better_a_try_the_later_it_is_due():
    due = [review(None, rating, NOW)[1] for rating in ("again", "hard", "good", "easy")]
    assert due == sorted(due)
    assert due[0] == NOW + 600
    assert due[2] > NOW + DAY_S


def test_what_is_known_grows_from_review_to_review():
    card, due = review(None, "good", NOW)
    longer = due - NOW
    for _ in range(3):
        before, at = longer, due
        card, due = review(card, "good", at)
        longer = due - at
        assert longer > before


def test_the_same_outcome_is_always_due_at_the_same_moment():
    assert len({review(None, "good", NOW)[1] for _ in range(5)}) == 1


def test_new_learners_get_the_ladder_in_order():
    assert [one.target for one in order(["a", "b", "c"], {}, NOW)] == ["a", "b", "c"]


def test_what_is_due_comes_first_the_weakest_before_the_others():
    cards = {
        "strong": Card(NOW - 1, 20.0),
        "weak": Card(NOW - 1, 0.5),
        "later": Card(NOW + DAY_S, 1.0),
    }
    found = order(["new", "later", "strong", "weak"], cards, NOW)
    assert [one.target for one in found] == ["weak", "strong", "new", "later"]
    assert [one.is_due for one in found] == [True, True, True, False]


def test_a_damaged_card_counts_as_weak():
    assert read_card("no JSON", NOW) == Card(NOW, 0.0)
    assert read_card('{"stability": null}', NOW) == Card(NOW, 0.0)


def test_weakness_sees_the_last_five_tries():
    given_up, easy = ("again", 300.0), ("easy", 100.0)
    assert weakness([given_up], 300.0) > weakness([("hard", 300.0)], 300.0)
    assert weakness([given_up, *[easy] * 5], 300.0) == weakness([easy] * 5, 300.0)
    assert weakness([("good", 299.0)], 300.0) > weakness([("good", 200.0)], 300.0)


def test_a_check_imports_no_scheduler():
    code = "import sys, autodrill.practice.check, autodrill.schedule; print('fsrs' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_damaged_card_is_scheduled_as_a_new_one():
    for damaged in ("", "{}", '{"stability": 1.0}', "[]"):
        assert review(damaged, "good", 1e9)[1] == review(None, "good", 1e9)[1]
