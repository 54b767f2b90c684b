"""The graders of the edge cases of `no_grad`, for `autodrill check --strict`."""


def test_no_grad_leaves_a_new_leaf_alone(grade):
    grade("leaf_made_within_no_grad", "n=3")


def test_no_grad_decorates_a_function_that_calls_itself(grade):
    grade("no_grad_decorator_of_a_recursion", "n=3")


def test_detach_of_a_single_number(grade):
    grade("detach", "")
    grade("detach_shares_the_array", "")
