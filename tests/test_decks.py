"""The decks are true: what a card says with a number, a shape or an error is run here."""

import re
import textwrap
import traceback
import warnings

import numpy as np
import pytest

from autodrill.catalog import load_track, track_ids
from autodrill.decks import Card, deck_ids, is_right, load_deck
from autodrill.engines.reference import reference_engine

DECKS = [load_deck(one) for one in deck_ids()]
CARDS = [card for deck in DECKS for card in deck.cards]
NUMERAL = re.compile(r"(?<![A-Za-z_\d.])\d[\d_]*(?:\.\d+)?(?:e[+-]?\d+)?")
IN_WORDS = r"\b(?:ten|twenty|hundred|thousand|million|billion)\b"
KINDS = r"\b[A-Z]\w*(?:Error|Warning|Exception)\b"


# What a check can use --------------------------------------------------------------------------


def same(got, right, tolerance=1e-6):
    got, right = (np.asarray(getattr(one, "detach", lambda one=one: one)()) for one in (got, right))
    np.testing.assert_allclose(got, right, rtol=tolerance, atol=tolerance)


def raised(call, words=""):
    """Return the name of the exception that a call raises, which has to say the words."""
    try:
        call()
    except Exception as error:
        assert words in str(error), error
        return type(error).__name__
    raise AssertionError("nothing was raised")


def vjp(function, rule, *shapes, low=-2.0, high=2.0):
    """Compare a rule (g, y, *inputs) -> gradients with torch's, at a random upstream."""
    import torch

    torch.manual_seed(0)
    inputs = [
        (torch.rand(shape, dtype=torch.float64) * (high - low) + low).requires_grad_()
        for shape in shapes
    ]
    y = function(*inputs)
    g = torch.randn_like(y)
    rights = torch.autograd.grad(y, inputs, g)
    gradients = rule(g, y.detach(), *(one.detach() for one in inputs))
    for gradient, right in zip(gradients, rights, strict=True):
        assert gradient.shape == right.shape
        same(gradient, right)


def space():
    import torch

    engine = reference_engine(load_track(track_ids()[0])).lib
    torch.manual_seed(0)
    return {
        "np": np,
        "torch": torch,
        "Tensor": engine.Tensor,
        "same": same,
        "raised": raised,
        "vjp": vjp,
        "result": None,
    }


# The truth -------------------------------------------------------------------------------------


@pytest.mark.parametrize("deck", DECKS, ids=lambda one: one.id)
def test_every_check_of_a_deck_holds_and_gives_the_answer(deck):
    wrong = []
    for card in deck.cards:
        names = space()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                exec(compile(textwrap.dedent(card.check), card.id, "exec"), names)
            if card.kind == "predict" and not is_right(card, str(names["result"])):
                wrong.append(f"{card.id}: the check gives {names['result']}, not {card.answer}")
        except Exception:
            wrong.append(f"{card.id}: {traceback.format_exc(limit=-2)}")
    assert not wrong, "\n".join(wrong)


def test_no_card_has_a_number_or_an_error_without_a_check():
    """A numeral of more than one digit has to stand in the check itself."""
    unproved = []
    for card in CARDS:
        said = f"{card.prompt} {card.answer} {card.follow_up}"
        is_bare = not card.check.strip()
        says = any(re.search(one, said) for one in (NUMERAL, IN_WORDS, KINDS))
        if is_bare and (says or card.kind == "predict"):
            unproved.append(f"{card.deck}/{card.id} has no check")
        if card.kind == "predict" and "result" not in card.check:
            unproved.append(f"{card.deck}/{card.id}: its check gives no result")
        claimed = NUMERAL.findall(
            f"{card.follow_up} {card.answer if card.kind == 'recall' else ''}"
        )
        proved = {value(one) for one in NUMERAL.findall(card.check)}
        for one in claimed:
            if len(one) > 1 and value(one) not in proved:
                unproved.append(f"{card.deck}/{card.id}: {one} is nowhere in its check")
    assert not unproved, "\n".join(unproved)


def value(numeral):
    return float(numeral.replace("_", ""))


def test_the_rule_about_numbers_would_notice_one():
    assert NUMERAL.findall("x^2 and 1e-10, but not x2 or float64") == ["2", "1e-10"]


# The form --------------------------------------------------------------------------------------


def test_there_are_enough_cards_of_both_kinds():
    assert len(CARDS) >= 80
    assert sum(one.kind == "predict" for one in CARDS) >= 30
    assert {"vjps", "check_yourself", "why_reverse", "pytorch", "jax"} <= set(deck_ids())
    assert {"interview", "failure_modes", "numerics"} <= set(deck_ids())


def test_each_card_says_what_it_has_to():
    for card in CARDS:
        assert re.fullmatch(r"[a-z0-9_]+", card.id)
        assert card.topic and card.prompt and card.answer
        assert card.deck != "interview" or card.follow_up
    prompts = [one.prompt for one in CARDS]
    assert len(set(prompts)) == len(prompts)


def test_a_folder_of_decks_is_no_track():
    assert "decks" not in track_ids()


# The judge of predictions ----------------------------------------------------------------------


def card(answer, judge="text", **more):
    return Card("an_id", "a_deck", "predict", "a topic", "?", answer, judge=judge, **more)


@pytest.mark.parametrize(
    ("answer", "judge", "given", "right"),
    [
        ("[2, 40]", "number", "2 40", True),
        ("[2, 40]", "number", "[2., 40.0]", True),
        ("[2, 40]", "number", "(2;40)", True),
        ("[2, 40]", "number", "tensor([2., 40.])", True),
        ("[2, 40]", "number", "np.array([2, 40])", True),
        ("-inf", "number", "-infinity", True),
        ("(32, 4)", "shape", "torch.Size([32, 4])", True),
        ("[2, 40]", "number", "40 2", False),
        ("[2, 40]", "number", "2", False),
        ("12", "number", "12.0", True),
        ("12", "number", "x = 12", False),
        ("12", "number", "", False),
        ("-inf", "number", "-inf", True),
        ("-inf", "number", "inf", False),
        ("-2", "number", "−2", True),
        ("2.8e14", "number", "2.8E14", True),
        ("(4,)", "shape", "4", True),
        ("(4,)", "shape", "[4]", True),
        ("(32, 4)", "shape", "32x4", True),
        ("(32, 4)", "shape", "(4, 32)", False),
        ("(32, 4)", "shape", "wide", False),
        ("()", "shape", "scalar", True),
        ("()", "shape", "", False),
        ("RuntimeError", "text", " runtime error ", True),
        ("RuntimeError", "text", "torch.RuntimeError.", True),
        ("RuntimeError", "text", "ValueError", False),
        ("None", "text", "`none`", True),
        ("None", "text", "", False),
    ],
)
def test_a_prediction_is_judged_by_what_it_means(answer, judge, given, right):
    assert is_right(card(answer, judge), given) is right


def test_a_number_may_be_off_by_its_tolerance_and_a_text_may_be_another():
    assert is_right(card("2.8e14", "number", tolerance=0.03), "2.81e14")
    assert not is_right(card("2.8e14", "number", tolerance=0.03), "3e14")
    assert is_right(card("True", accepts=("yes",)), "Yes")
