"""The graders of the edge cases of `hooks`, for `autodrill check --strict`."""


def test_hook_may_not_change_the_shape(grade):
    grade("hook_returns_another_shape", "n=3")


def test_hook_may_return_an_array_that_somebody_holds(grade):
    grade("hook_returns_an_array_that_is_held", "n=3")


def test_hook_may_return_whatever_makes_an_array(grade):
    grade("hook_returns_a_list")


def test_hook_takes_a_single_number(grade):
    grade("hook_on_a_tensor_used_twice", ", ")
    grade("hook_replaces", ", , ")
