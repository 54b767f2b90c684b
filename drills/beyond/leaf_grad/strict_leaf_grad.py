"""The graders of the edge cases of `leaf_grad`, for `autodrill check --strict`."""


def test_retain_grad_of_a_result_of_constants_is_refused(grade):
    grade("retained_result_of_constants", "n=3")


def test_leaves_and_results_may_be_single_numbers(grade):
    grade("leaves", "")
    grade("leaves_only", ", ")
    grade("retained", ", ")
