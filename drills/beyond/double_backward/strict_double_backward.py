"""The graders of the edge cases of `double_backward`, for `autodrill check --strict`."""


def test_second_derivative_of_products_with_vectors(grade):
    for of in (0, 1):
        grade("second_of_matmul", "k=3, k m=2, m", of=of)
        grade("second_of_matmul", "n=2 k=3, k, n", of=of)
        grade("second_of_matmul", "k=3, k, ", of=of)
        grade("second_of_matmul", "b=2 n=3 k=4, k, b n", of=of)
        grade("second_of_matmul", "k=3, b=2 k m=4, b m", of=of)
        grade("second_of_matmul", "1 n=2 k=3, b=2 k m=4, b n m", of=of)


def test_second_derivative_of_single_numbers(grade):
    grade("second_of_exp", ", ")
    grade("second_of_sum", ", ")
    grade("second_of_transpose", ", ")
    grade("second_of_broadcast", ", n=3, n", of=0)


def test_second_derivative_over_any_axes(grade):
    grade("second_of_sum", "n=2 m=3, n", axis=-1)
    grade("second_of_sum", "n=2 m=3, 1 m", axis=-2, keepdims=True)
    grade("second_of_sum", "n=2 m=3, ", axis=(1, 0))
    grade("second_of_logsumexp", "b=2 n=3 m=4, n", axis=(0, -1))
    grade("second_of_logsumexp", "n=2 m=3, ", axis=None)
    grade("second_of_transpose", "b=2 n=3 m=4, n m b", axes=(-2, -1, 0))


def test_second_derivative_of_entries_of_any_size(grade):
    grade("second_of_large_entries", "n=2 m=3, n")
    grade("second_of_minus_infinity", "2 3")


def test_operation_without_a_rule(grade):
    grade("second_of_an_unknown_operation", "n=3")
    grade("first_of_an_unknown_operation", "n=3")


def test_grad_of_what_is_no_computation(grade):
    grade("grad_of_itself", "n=3, n")
    for create_graph in (False, True):
        grade("grad_of_a_constant", "n=3", create_graph=create_graph)
        grade("grad_of_a_constant_operand", "n=3", create_graph=create_graph)
        grade("grad_of_the_root", "n=3", create_graph=create_graph)
        grade("grad_twice_over_one_graph", "n=3", create_graph=create_graph)
