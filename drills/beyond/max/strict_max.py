"""The graders of the edge cases of `max`, for `autodrill check --strict`."""


def test_max_takes_axes_in_any_order_and_from_the_end(grade):
    for axis in (-2, (-1,), (2, 0), (-1, 0), (-1, -3, 1)):
        for keepdims in (False, True):
            grade("max", "b=2 n=3 m=4", axis=axis, keepdims=keepdims)


def test_max_takes_a_single_number(grade):
    grade("max_default", "")
    grade("max", "", axis=None, keepdims=True)
    grade("max", "1 1", axis=0)


def test_max_of_minus_infinity_is_minus_infinity(grade):
    grade("max_of_minus_infinity")
