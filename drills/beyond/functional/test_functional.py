"""The graders of `functional`. Each line runs one computation of scenarios.py, as in lab01."""


def test_vjp(grade):
    grade("vjp_of_one_input", "n=3 m=4, n m")
    grade("vjp_of_a_product", "n=3 k=4, k m=2, n m")
    grade("vjp_of_three_inputs", "n=3 m=4, m, n 1, n m")
    grade("vjp_of_one_tensor_twice", "n=3, n")
    grade("vjp_of_a_constant_tensor", "n=3, n")
    grade("vjp_of_a_result", "n=3, n")
    grade("vjp_of_an_unused_input", "n=3, m=2 k=4, n")
    grade("vjp_of_a_constant_function", "n=3, n")


def test_vjp_pulls_back_again(grade):
    grade("vjp_pulled_back_twice", "n=3, n")
    grade("vjp_calls_the_function_once", "n=3, n")


def test_vjp_leaves_no_gradient_behind(grade):
    grade("vjp_leaves_no_grad", "n=3, n, n")


def test_vjp_refuses(grade):
    grade("vjp_of_another_upstream", "n=3")
    grade("vjp_of_an_array_function", "n=3")


def test_value_and_grad(grade):
    grade("value_and_grad", "n=3 m=4")
    grade("value_and_grad_with_more_arguments", "k=4 m=2, n=3 k")
    grade("value_and_grad_calls_once", "n=3")
    grade("value_and_grad_of_many_values", "n=3")


def test_grad_of_a_function(grade):
    grade("grad_of_a_function", "n=3 m=4")
    grade("grad_with_more_arguments", "k=4 m=2, n=3 k")
    grade("grad_leaves_no_grad", "n=3 m=4, m")
    grade("grad_of_many_values", "n=3")
    grade("grad_of_a_gradient", "n=3")


def test_jacobian(grade):
    grade("jacobian_of_powers", "n=3")
    grade("jacobian_of_powers", "n=2 m=3")
    grade("jacobian_of_a_product", "n=3 k=4, k m=2")
    grade("jacobian_of_sums", "n=3 m=4")
    grade("jacobian_of_an_outer_product", "n=3")
    grade("jacobian_of_a_total", "n=3 m=2")
    grade("jacobian_of_a_constant", "n=3")
    grade("jacobian_calls_once", "n=3")
