"""`autodrill quiz` in a pseudo-terminal and in a pipe: cards, ratings, decks, Anki."""

import json
import re
import sqlite3
import sys
import time
import zipfile

import pytest
from terminal import Terminal

from autodrill.decks import deck_ids, load_deck
from autodrill.history import Attempts, History

SCHEDULED = '{"stability": 1.0}'
PREDICTIONS = [one for one in load_deck("pytorch").cards if one.kind == "predict"]


@pytest.fixture
def quizzing(autodrill):
    opened = []

    def start(*arguments, size=(50, 100), **extra):
        environment = autodrill.environment(TERM="xterm-256color", COLUMNS=None, **extra)
        command = [sys.executable, "-m", "autodrill", "quiz", *arguments]
        opened.append(Terminal(command, autodrill.folder, environment, size))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def schedule(autodrill, deck, cards, due):
    """Note that cards were seen, and when they are due."""
    with History(autodrill.home / "history.db") as history:
        for one in cards:
            Attempts(history).review(f"deck:{deck}", one, lambda _: (SCHEDULED, due))


def only(autodrill, deck, *cards):
    """Leave nothing of a deck but these cards, which are due."""
    rest = [one.id for one in load_deck(deck).cards if one.id not in cards]
    schedule(autodrill, deck, rest, time.time() + 1e6)
    schedule(autodrill, deck, cards, 0.0)


@pytest.mark.parametrize("columns", [100, 40])
def test_a_card_is_recalled_revealed_and_rated_with_single_keys(autodrill, quizzing, columns):
    terminal = quizzing("--deck", "vjps", "--cards", "1", size=(50, columns))
    terminal.shows("y = a + b", "0:00  any key")
    terminal.shows("0:01  any key")
    terminal.press(" ")
    terminal.shows("answer", "da = g", "a again")
    terminal.press("x")
    terminal.press("e")
    terminal.shows("easy, back in", "1 of 1 cards", "1 easy")
    assert terminal.ends() == 0
    assert all(len(row.rstrip()) <= columns for row in terminal.screen.display)
    seen = autodrill.run("history", "show", "1", "--json").json
    assert (seen["attempt"]["track"], seen["attempt"]["target"]) == ("quiz", "vjps")
    assert [one["question"] for one in seen["answers"]] == ["vjps/add"]
    assert [one["verdict"] for one in seen["answers"]] == ["easy"]
    assert seen["answers"][0]["took_s"] > 0.9


def test_a_prediction_is_typed_and_judged(autodrill, quizzing):
    only(autodrill, "pytorch", "intermediate_grad")
    terminal = quizzing("--deck", "pytorch")
    terminal.shows("What is h.grad?", "> ")
    terminal.press("none\r")
    terminal.shows("✓ none", "retain_grad", "good, back in")
    assert terminal.ends() == 0


def test_q_ends_a_session_and_ctrl_c_too_and_the_terminal_is_in_order(autodrill, quizzing):
    terminal = quizzing("--deck", "vjps")
    terminal.shows("any key")
    terminal.press("q")
    assert terminal.ends() == 0
    terminal = quizzing("--deck", "vjps")
    terminal.shows("any key")
    terminal.press(" ")
    terminal.shows("a again")
    terminal.press("g")
    terminal.shows("2 of 10")
    terminal.child.sendintr()
    terminal.shows("1 of 10 cards")
    assert terminal.ends() == 130
    assert any(row.startswith("1 of 10 cards") for row in terminal.screen.display)
    assert not terminal.screen.cursor.hidden
    listed = autodrill.run("history", "--json").json["attempts"]
    assert [one["state"] for one in listed] == ["passed", "closed"]
    found = autodrill.run("quiz", "--list", "--json").json["decks"]
    assert next(one["new"] for one in found if one["id"] == "vjps") == 23


def test_in_a_pipe_cards_are_answered_line_by_line(autodrill):
    only(autodrill, "pytorch", "graph_links", "accumulates")
    ran = autodrill.run("quiz", "--deck", "pytorch", stdin="grad_fn\nperhaps\nhard\n11.0\n")
    assert ran.code == 0
    assert "\x1b" not in ran.out
    assert "AccumulateGrad node" in " ".join(ran.out.split())
    assert "? a again" in ran.out
    assert "hard, back in" in ran.out
    assert "✗ 11.0" in ran.out
    assert "missed: pytorch/accumulates" in ran.out


def test_json_is_one_object_with_each_answer_and_when_it_is_due(autodrill):
    cards = [one.id for one in PREDICTIONS]
    only(autodrill, "pytorch", *cards)
    answers = "".join(f"{one.answer}\n" for one in PREDICTIONS[:-1]) + "wrong\n"
    ran = autodrill.run("quiz", "--deck", "pytorch", "--cards", "99", "--json", stdin=answers)
    assert ran.code == 0
    assert len(ran.out.splitlines()) == 1
    data = ran.json
    assert (data["schema"], data["state"], data["asked"]) == (
        "autodrill.quiz/1",
        "passed",
        len(cards),
    )
    assert [one["right"] for one in data["cards"]] == [*[True] * (len(cards) - 1), False]
    good, again = data["cards"][0], data["cards"][-1]
    assert (good["rating"], again["rating"]) == ("good", "again")
    assert good["due"] > again["due"] > time.time() + 60


def test_what_is_due_comes_first_then_a_new_card_of_each_deck(autodrill):
    schedule(autodrill, "numerics", ["shift"], 2.0)
    schedule(autodrill, "jax", ["hvp"], 1.0)
    schedule(autodrill, "vjps", ["add"], time.time() + 1e6)
    ran = autodrill.run("quiz", "--cards", "10", stdin="", COLUMNS="100")
    assert "1 of 10 · jax" in ran.out
    ran = autodrill.run("quiz", "--cards", "10", stdin="x\ngood\nx\ngood\n" + "x\ngood\n" * 9)
    decks = re.findall(r"\d+ of 10 · (\w+) ", ran.out)
    assert decks[:2] == ["jax", "numerics"]
    assert decks[2 : 2 + len(deck_ids())] == list(deck_ids())[: len(decks) - 2]


def test_after_the_minutes_no_new_card_is_asked(autodrill):
    ran = autodrill.run("quiz", "--deck", "vjps", "--minutes", "0", "--json")
    assert ran.code == 0
    assert ran.json["cards"] == []


def test_where_nothing_is_due_it_says_when_the_next_is(autodrill):
    only(autodrill, "vjps")
    ran = autodrill.run("quiz", "--deck", "vjps")
    assert ran.code == 0
    assert re.search(r"no card is due, the next in \d+ days", ran.out)
    assert autodrill.run("history", "--json").json["attempts"] == []


def test_the_decks_are_listed_with_what_is_due_and_new(autodrill):
    schedule(autodrill, "vjps", ["add", "mul"], 0.0)
    schedule(autodrill, "vjps", ["exp"], time.time() + 1e6)
    found = autodrill.run("quiz", "--list", "--json").json["decks"]
    assert [one["id"] for one in found] == list(deck_ids())
    own = next(one for one in found if one["id"] == "vjps")
    cards = len(load_deck("vjps").cards)
    assert (own["cards"], own["due"], own["new"]) == (cards, 2, cards - 3)
    assert f"{cards} cards, 2 due, {cards - 3} new" in autodrill.run("quiz", "--list").out


def test_due_cards_are_mentioned_where_one_looks_and_counted_in_the_figures(lab01):
    schedule(lab01, "vjps", ["add", "mul"], 0.0)
    for command in ((), ("next",)):
        assert "2 cards due: autodrill quiz" in lab01.run(*command).out
    lab01.run("quiz", "--deck", "vjps", "--cards", "2", stdin="x\nagain\nx\ngood\n")
    assert lab01.run("stats", "--json").json["decks"] == [
        {"deck": "vjps", "answers": 2, "again": 1}
    ]
    assert "vjps  2 answers, 1 in vain" in lab01.run("stats").out
    assert "vjps/add = x  again" in lab01.run("history", "show", "1").out


def test_an_export_is_a_file_that_anki_can_read(autodrill, tmp_path):
    ran = autodrill.run("quiz", "--export", "cards.apkg", "--json")
    assert ran.code == 0
    cards = [card for one in deck_ids() for card in load_deck(one).cards]
    assert ran.json["cards"] == len(cards)
    with zipfile.ZipFile(autodrill.folder / "cards.apkg") as package:
        package.extract("collection.anki2", tmp_path)
    with sqlite3.connect(tmp_path / "collection.anki2") as collection:
        notes = dict(collection.execute("SELECT guid, flds FROM notes"))
        assert collection.execute("SELECT count(*) FROM cards").fetchone() == (len(cards),)
        (decks,) = collection.execute("SELECT decks FROM col").fetchone()
    collection.close()
    names = {one["name"] for one in json.loads(decks).values()}
    assert {f"autodrill::{load_deck(one).title}" for one in deck_ids()} <= names
    assert set(notes) == {f"autodrill-{one.deck}/{one.id}" for one in cards}
    front, back = notes["autodrill-vjps/relu"].split("\x1f")
    assert front.startswith("y = max(x, 0)")
    assert "(x &gt; 0)" in back


def test_an_export_overwrites_nothing_and_needs_the_right_name(autodrill):
    kept = autodrill.folder / "mine.apkg"
    kept.write_text("mine")
    assert autodrill.run("quiz", "--export", "mine.apkg").code == 2
    assert kept.read_text() == "mine"
    assert autodrill.run("quiz", "--export", "mine.txt").code == 2
    ran = autodrill.run("quiz", "--export", "no/such/folder.apkg")
    assert ran.code == 3
    assert "can't be written" in ran.err


def test_every_card_fits_on_a_narrow_screen_in_ascii_with_no_escape(autodrill):
    every = "".join("x\ngood\n" for _ in range(200))
    ran = autodrill.run(
        "quiz", "--cards", "500", stdin=every, PYTHONIOENCODING="ascii", COLUMNS="40"
    )
    assert "\\u" not in ran.out
    assert "\\x" not in ran.out
    assert max(map(len, ran.out.splitlines())) <= 60  # a line of code stays whole


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--deck", "vjp"], "did you mean `vjps`?"),
        (["--list", "--export", "x.apkg"], "exclude"),
        (["--cards", "0"], "0"),
    ],
)
def test_what_makes_no_sense_is_refused(autodrill, arguments, said):
    ran = autodrill.run("quiz", *arguments)
    assert ran.code == 2
    assert said in ran.err


def test_a_session_in_which_nothing_was_right_is_not_shown_as_passed(autodrill):
    only(autodrill, "pytorch", "accumulates")
    autodrill.run("quiz", "--deck", "pytorch", stdin="11.0\n")
    shown = autodrill.run("history").out
    assert "done" in shown
    assert "✓" not in shown
