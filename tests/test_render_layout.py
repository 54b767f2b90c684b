"""How lines are fitted to a width."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autodrill.render.layout import (
    blocks,
    fixed,
    glued,
    len_cells,
    line,
    plain,
    rows,
    spread,
)

WORDS = st.lists(st.text("abcd", min_size=1, max_size=12), min_size=1, max_size=30)


def test_words_wrap_below_the_first_one():
    assert plain([line("one two three four", indent=2, hang=2)], 12) == (
        "  one two\n    three\n    four\n"
    )


def test_a_fixed_line_is_never_wrapped():
    assert plain([fixed("one two three four")], 5) == "one two three four\n"


def test_glued_words_stay_together():
    assert plain([line("a ", glued("b c"), " d")], 4) == "a\nb c\nd\n"


def test_wide_characters_take_two_columns_and_combining_ones_none():
    assert len_cells("中文") == 4
    assert len_cells("e\u0301") == 1
    assert plain([line("中文 中文")], 8) == "中文\n中文\n"


def test_styles_survive_a_wrap():
    shown = list(rows(line("one ", ("two three", "bad")), 8))
    assert shown == [(("one ", ""), ("two", "bad")), (("three", "bad"),)]


def test_blocks_have_one_blank_line_between_those_that_are_not_empty():
    shown = blocks([], [line("a")], [], [line("b"), line("c")], [])
    assert plain(shown, 80) == "a\n\nb\nc\n"


def test_two_ends_of_a_line_stand_below_each_other_where_they_do_not_fit():
    left, right = line("left"), line("right")
    assert plain(spread(left, right, 20), 20) == "left           right\n"
    assert plain(spread(left, right, 10), 10) == "left\nright\n"


@pytest.mark.parametrize("width", [1, 5, 20, 60])
@settings(deadline=None)
@given(words=WORDS, indent=st.integers(0, 4), hang=st.integers(0, 30))
def test_no_word_is_lost_or_cut_and_only_a_long_word_is_wider_than_the_screen(
    width, words, indent, hang
):
    shown = plain([line(" ".join(words), indent=indent, hang=hang)], width)
    assert shown.split() == words
    for row in shown.splitlines():
        assert len(row) <= width or " " not in row.strip()
