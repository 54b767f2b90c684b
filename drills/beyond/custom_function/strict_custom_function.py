"""The graders of the edge cases of `custom_function`, for `autodrill check --strict`."""


def test_save_for_backward_is_as_in_torch(grade):
    grade("function_saves_again", "n=3, n")
    grade("function_saves_none", "n=3, n")
    grade("function_saves_a_number", "n=3")


def test_backward_may_return_an_array_that_somebody_holds(grade):
    grade("function_gives_an_array_that_is_held", "n=3")


def test_forward_may_return_what_it_was_given(grade):
    grade("function_that_does_nothing", "n=2 m=3")


def test_a_function_takes_a_single_number(grade):
    grade("function_saves_an_operand", "")
    grade("function_with_a_number_between", ", ")
    grade("function_gives_no_gradient", ", , ")
