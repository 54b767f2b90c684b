"""The graders of the edge cases of `functional`, for `autodrill check --strict`."""


def test_vjp_takes_single_numbers_and_lists(grade):
    grade("vjp_of_one_input", ", ")
    grade("vjp_of_lists")
    grade("vjp_takes_a_tensor_as_upstream", "n=3, n")


def test_vjp_gives_arrays_of_their_own(grade):
    grade("vjp_of_the_identity", "n=3, n")
    grade("vjp_value_changed_by_the_caller", "n=3, n")


def test_gradient_refuses_a_single_entry_that_is_no_number(grade):
    grade("value_and_grad_of_many_values", "1")
    grade("grad_of_many_values", "1 1")


def test_jacobian_takes_single_numbers_lists_and_nothing(grade):
    grade("jacobian_of_a_list")
    grade("jacobian_of_powers", "")
    grade("jacobian_of_nothing", "n=3")
