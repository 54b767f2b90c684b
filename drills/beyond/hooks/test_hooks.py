"""The graders of `hooks`. Each line runs one computation of scenarios.py, as in lab01."""


def test_hook_sees_the_whole_gradient_once(grade):
    grade("hook_on_a_tensor_used_twice", "n=3, n")
    grade("hook_on_a_leaf_used_twice", "n=3, n")
    grade("hook_on_the_root", "n=2 m=3, n m")
    grade("hook_in_every_backward", "n=3")


def test_hook_may_replace_the_gradient(grade):
    grade("hook_replaces", "n=3, n, n")
    grade("hook_replaces_on_a_leaf", "n=3, n")
    grade("hook_that_counts", "n=3, n")
    grade("hook_stops_the_gradient", "n=3, n")


def test_hooks_run_in_order(grade):
    grade("hooks_in_order", "n=3, n")
    grade("hook_registered_twice", "n=3, n")


def test_hook_can_be_removed(grade):
    grade("hook_removed", "n=3, n")
    grade("hook_removed_twice", "n=3, n")
    grade("hook_removes_itself", "n=3, n")


def test_hook_needs_a_gradient(grade):
    grade("hook_on_a_constant", "n=3")
