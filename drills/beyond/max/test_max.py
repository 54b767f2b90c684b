"""The graders of `max`. Each line runs one computation of scenarios.py, as in lab01."""


def test_max(grade):
    grade("max_default", "n=3 m=4")
    for keepdims in (False, True):
        for axis in (None, 0, 1, -1, (0, 1)):
            grade("max", "n=3 m=4", axis=axis, keepdims=keepdims)
        for axis in (0, 1, 2, (0, 2), (1, 2), (0, 1)):
            grade("max", "b=2 n=3 m=4", axis=axis, keepdims=keepdims)
    for axis in (None, 0, 1):
        grade("max_scaled", "n=3 m=4", axis=axis)
    grade("max_of_constant", "n=3")


def test_max_sends_a_tie_to_the_first(grade):
    for keepdims in (False, True):
        for axis in (None, 0, 1, (0, 1)):
            grade("max_of_ties", "n=4 m=5", axis=axis, keepdims=keepdims)
    for axis in (0, 1, 2, (0, 2)):
        grade("max_of_ties", "b=3 n=4 m=5", axis=axis)
    for axis in (None, 0, 1):
        grade("max_of_equals", shape=(2, 3), axis=axis)


def test_max_looks_at_the_values_exactly(grade):
    grade("max_of_near_ties", "n=4")
    for axis in (0, 1):
        grade("max_of_near_ties", "n=3 m=4", axis=axis)
