"""The graders of `leaf_grad`. Each line runs one computation of scenarios.py, as in lab01."""


def test_is_leaf(grade):
    grade("leaves", "n=3")


def test_only_leaves_get_grad(grade):
    grade("leaves_only", "n=3, n")
    grade("leaf_is_the_root", "n=3")


def test_retain_grad(grade):
    grade("retained", "n=3, n")
    grade("retained_again", "n=3")
    grade("retained_adds_up", "n=3")
    grade("retained_constant", "n=3")


def test_leaf_grad_keeps_less_memory(grade):
    grade("leaf_grad_memory")
