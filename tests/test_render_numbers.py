"""The table of the numbers: which entries, how many digits, and what is beside them."""

import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from autodrill.render.digits import aligned, digits_for, write_difference
from autodrill.render.layout import plain
from autodrill.render.numbers import comparison
from autodrill.results import Failure

NAN, INF = float("nan"), float("inf")
NUMBERS = st.floats(-1e300, 1e300)


def table(yours, expected, finite_differences=None, width=100, what="gradient", of="x", **more):
    more |= {"yours": yours, "expected": expected, "finite_differences": finite_differences}
    failure = Failure("test", "fail", what, "wrong", of=of, **more)
    return plain(comparison(failure, width), width)


def rows_of(text):
    return [re.split(" {2,}", line.strip()) for line in text.splitlines()]


def test_a_gradient_stands_beside_finite_differences():
    shown = table(np.array([[4.0]]), np.array([[5.0]]), np.array([[5.000000000139778]]))
    assert rows_of(shown) == [
        ["x.grad", "yours", "finite differences", "difference"],
        ["[0, 0]", "4.0", "5.0", "-1.0", "✗"],
    ]


def test_a_forward_stands_beside_what_was_expected():
    shown = table(np.array([1.5]), np.array([1.0]), what="forward", of=None)
    assert rows_of(shown)[0] == ["result", "yours", "expected", "difference"]
    assert rows_of(shown)[1] == ["[0]", "1.5", "1.0", "0.5", "✗"]


def test_a_scalar_has_no_index():
    assert rows_of(table(np.array(4.0), np.array(5.0)))[1] == ["4.0", "5.0", "-1.0", "✗"]


def test_a_small_array_is_shown_whole_and_in_order_with_its_wrong_entries_signed():
    yours, expected = np.arange(6.0).reshape(2, 3), np.arange(6.0).reshape(2, 3)
    yours[1, 0] = 30.0
    shown = rows_of(table(yours, expected))[1:]
    assert [row[0] for row in shown] == [str([i, j]) for i in range(2) for j in range(3)]
    assert [row[-1] == "✗" for row in shown] == [False, False, False, True, False, False]
    assert shown[0][-1] == "0.0"


def test_of_a_large_array_the_worst_entries_are_shown_and_the_rest_counted():
    yours, expected = np.zeros((4, 6)), np.zeros((4, 6))
    yours.flat[:12] = np.arange(1, 13)
    shown = rows_of(table(yours, expected))
    assert [row[3] for row in shown[1:-1]] == [f"{number}.0" for number in range(12, 4, -1)]
    assert shown[-1] == ["12 of 24 entries differ, worst 8 shown"]


def test_on_a_narrow_screen_fewer_of_the_worst_entries_are_shown():
    shown = table(np.arange(1.0, 13.0), np.zeros(12), width=40)
    assert shown.count("✗") == 4
    assert "12 of 12 entries differ" in shown
    assert "worst 4" in shown


def test_what_is_no_number_is_worst_of_all():
    yours, expected = np.zeros(24), np.zeros(24)
    yours[3], yours[7], yours[20] = 9.0, NAN, -INF
    shown = rows_of(table(yours, expected))
    assert [row[0] for row in shown[1:-1]] == ["[7]", "[20]", "[3]"]
    assert shown[-1] == ["3 of 24 entries differ, worst 3 shown"]


def test_nan_and_infinities_are_shown_as_such():
    shown = rows_of(table(np.array([NAN, INF, -INF, INF]), np.array([1.0, 2.0, INF, INF])))
    assert shown[1:] == [
        ["[0]", "nan", "1.0", "nan", "✗"],
        ["[1]", "inf", "2.0", "inf", "✗"],
        ["[2]", "-inf", "inf", "-inf", "✗"],
        ["[3]", "inf", "inf", "0.0"],
    ]


def test_a_tiny_difference_can_be_seen():
    shown = rows_of(table(np.array([3.00000003]), np.array([3.0]), np.array([3.0000000001])))
    assert shown[1] == ["[0]", "3.00000003", "3.0", "3.0e-08", "✗"]


def test_a_difference_that_finite_differences_cannot_see_is_shown_beside_the_exact_gradient():
    yours, expected = np.array([1.0 + 3e-9]), np.array([1.0])
    shown = table(yours, expected, np.array([1.0 + 5e-9]))
    assert "expected" in shown
    assert "finite differences can't tell here; this is the exact gradient" in shown


def test_at_a_kink_the_exact_gradient_is_shown():
    shown = rows_of(table(np.array([1.0]), np.array([0.0]), np.array([0.5])))
    assert shown[0][2] == "expected"
    assert shown[1] == ["[0]", "1.0", "0.0", "1.0", "✗"]


def test_decimal_points_are_below_each_other():
    shown = table(np.array([1.0, -22.25, 100.5]), np.array([2.0, 3.0, 4.0])).splitlines()[1:]
    assert len({line.index(".") for line in shown}) == 1


def test_arrays_of_different_shapes_are_both_shown():
    shown = table(np.array(3.0), np.array([[3.0, 4.0]]), what="shape")
    assert rows_of(shown) == [
        ["yours", "shape ()", "3.0"],
        ["expected", "shape (1, 2)", "[[3.0, 4.0]]"],
    ]


def test_a_large_array_of_the_wrong_shape_is_only_described():
    shown = table(np.zeros((3, 1000)), np.zeros((1000, 3)), what="shape")
    assert rows_of(shown) == [["yours", "shape (3, 1000)"], ["expected", "shape (1000, 3)"]]


def test_a_wrong_dtype_is_named():
    shown = table(np.array([1.0], dtype=np.float32), np.array([1.0]), what="type")
    assert "float32, shape (1,)" in shown
    assert "float64, shape (1,)" in shown


def test_what_is_no_array_is_shown_as_text():
    shown = rows_of(table("Tensor Tensor(array([1.]))\x1b", np.array([1.0]), what="type"))
    assert shown == [
        ["yours", "Tensor Tensor(array([1.]))\\x1b"],
        ["expected", "shape (1,)", "[1.0]"],
    ]


def test_a_gradient_that_never_arrived_is_none():
    assert rows_of(table(None, np.array([-1.0])))[0] == ["yours", "None"]


def test_nothing_is_shown_where_nothing_came_back_and_nothing_was_due():
    assert table(None, None, what="raised") == ""


def test_nothing_is_shown_where_the_numbers_are_right():
    assert table(np.zeros(24), np.zeros(24), what="graph") == ""


def test_a_stricter_scenario_signs_what_others_let_through():
    yours, expected = np.array([1.0 + 1e-10]), np.array([1.0])
    assert table(yours, expected) == ""
    assert rows_of(table(yours, expected, tolerance=1e-11))[1][-1] == "✗"


def test_integers_and_truths_are_written_as_they_are():
    shown = rows_of(table(np.array([3, 4]), np.array([3, 5]), what="graph"))
    assert shown[1:] == [["[0]", "3", "3", "0"], ["[1]", "4", "5", "-1", "✗"]]
    shown = rows_of(table(np.array([True]), np.array([False]), what="graph"))
    assert shown[1] == ["[0]", "True", "False", "1", "✗"]


@pytest.mark.parametrize("width", [59, 40, 30, 20])
def test_on_a_narrow_screen_the_entries_are_stacked(width):
    yours, expected = np.array([4.0, -12.25]), np.array([5.0, -12.25])
    shown = table(yours, expected, expected, width)
    assert "✗ x.grad [0]" in shown
    assert "✓ x.grad [1]  -12.25" in shown
    words = shown.split()
    assert words[words.index("yours") + 1] == "4.0"
    assert words[words.index("difference") + 1] == "-1.0"


@pytest.mark.parametrize("width", [100, 60, 40, 20])
@settings(deadline=None)
@given(values=st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=20))
def test_no_number_is_ever_cut_and_wrong_ones_can_be_told_apart(width, values):
    yours, expected = (np.array(one) for one in zip(*values, strict=True))
    shown = table(yours, expected, width=width, what="forward")
    for line in shown.splitlines():
        numbers = [word for word in line.split() if re.fullmatch(r"-?[\d.]+(e[+-]\d+)?", word)]
        assert all(np.isfinite(float(number)) for number in numbers)
        if line.rstrip().endswith("✗") and width == 100 and len(numbers) == 3:
            assert numbers[0] != numbers[1]


@settings(deadline=None)
@given(values=st.lists(NUMBERS, min_size=1, max_size=8))
def test_aligned_numbers_have_one_width_and_keep_their_text(values):
    digits = digits_for(values)
    texts = [digits.write(value) for value in values]
    padded = aligned(texts)
    assert [one.strip() for one in padded] == texts
    assert len({len(one) for one in padded}) == 1


@settings(deadline=None)
@given(values=st.lists(st.integers(-1000, 1000).map(lambda n: n / 2), min_size=1, max_size=8))
def test_small_integers_and_halves_are_written_with_one_decimal(values):
    digits = digits_for(values)
    assert all(re.fullmatch(r"-?\d+\.[05]", digits.write(value)) for value in values)


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0.0"), (-1.0, "-1.0"), (1 / 3, "0.33"), (2.5e-10, "2.5e-10"), (4e12, "4.0e+12")],
)
def test_a_difference_has_at_least_two_digits(value, text):
    assert write_difference(value, digits_for([4.0, 5.0])) == text


def test_what_rounds_to_zero_has_no_sign():
    assert digits_for([5.0]).write(-1e-12) == "0.0"


def test_large_and_small_numbers_are_scientific():
    assert rows_of(table(np.array([1e9]), np.array([3e9]), what="forward"))[1] == [
        "[0]",
        "1.0e+09",
        "3.0e+09",
        "-2.0e+09",
        "✗",
    ]
