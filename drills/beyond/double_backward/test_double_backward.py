"""The graders of `double_backward`. Each line runs one computation of scenarios.py, as in lab01."""


def test_grad_of_a_tensor(grade):
    grade("grad_of_tensor", "n=3 k=4, k m=2, n m")
    grade("grad_of_tensor_default", "n=3")
    grade("grad_of_tensor_alone", "n=3")
    grade("grad_records_where_it_is_told", "n=3")
    for create_graph in (False, True):
        grade("grad_with_respect_to_results", "n=3, n", create_graph=create_graph)
        grade("grad_of_the_unused", "n=3, m=2 k=4", create_graph=create_graph)


def test_grad_leaves_no_gradient_behind(grade):
    for create_graph in (False, True):
        grade("grad_of_tensor_leaves_no_grad", "n=3, n", create_graph=create_graph)


def test_grad_refuses(grade):
    for create_graph in (False, True):
        grade("grad_of_many_entries", "2", create_graph=create_graph)
        grade("grad_of_another_upstream", "n=3", create_graph=create_graph)


def test_second_derivative_of_arithmetic(grade):
    for of in (0, 1):
        grade("second_of_add", "n=2 m=3, n m, n m", of=of)
        grade("second_of_mul", "n=2 m=3, n m, n m", of=of)
        grade("second_of_div", "n=2 m=3, n m, n m", of=of)
    for exponent in (0, 1, 2, 3, 0.5, -1, -1.5):
        grade("second_of_pow", "n=3, n", exponent=exponent)
    for exponent in (0, 1, 2, 3):
        grade("derivatives_of_pow_at_zero", "n=3, n", exponent=exponent)


def test_second_derivative_of_functions(grade):
    for name in ("exp", "log", "tanh", "relu"):
        grade(f"second_of_{name}", "n=2 m=3, n m")


def test_second_derivative_with_broadcasting(grade):
    for of in (0, 1):
        grade("second_of_broadcast", "n=2 m=3, m, n m", of=of)
        grade("second_of_broadcast", "n=2 1, m=3, n m", of=of)
        grade("second_of_broadcast", "b=2 n=3 m=4, n 1, b n m", of=of)
        grade("second_of_broadcast_div", "n=2 m=3, n 1, n m", of=of)
        grade("second_of_broadcast_div", "n=2 1, n m=3, n m", of=of)
        grade("second_of_add", "n=2 m=3, 1, n m", of=of)
        grade("second_of_add", "n=2 1, m=3, n m", of=of)


def test_second_derivative_of_products(grade):
    for of in (0, 1):
        grade("second_of_matmul", "n=2 k=3, k m=4, n m", of=of)
        grade("second_of_matmul", "b=2 n=3 k=4, k m=2, b n m", of=of)
    grade("second_of_matmul_alone", "n=2 k=3, k m=4, n m")
    grade("second_of_matmul_alone", "b=2 n=3 k=4, b k m=2, b n m")


def test_second_derivative_of_reductions_and_shapes(grade):
    grade("second_of_sum", "n=2 m=3, ")
    grade("second_of_sum", "n=2 m=3, m", axis=0)
    grade("second_of_sum", "n=2 m=3, n 1", axis=1, keepdims=True)
    grade("second_of_sum", "b=2 n=3 m=4, n", axis=(0, 2))
    grade("second_of_mean", "n=2 m=3, n", axis=1)
    grade("second_of_logsumexp", "n=2 m=3, n")
    grade("second_of_logsumexp", "n=2 m=3, 1 m", axis=0, keepdims=True)
    grade("second_of_reshape", "2 3, 3 2", shape=(3, 2))
    grade("second_of_transpose", "n=2 m=3, m n")
    grade("second_of_transpose", "b=2 n=3 m=4, m b n", axes=(2, 0, 1))


def test_second_derivative_of_an_index(grade):
    grade("second_of_index", "3 2, 3")
    grade("second_of_slice", "3 5, 2 3")
    grade("second_of_rows", "3 m=2, 3 m")


def test_second_derivative_of_shared_tensors(grade):
    grade("second_of_diamond", "n=3, n")
    grade("second_of_uneven_paths", "n=3, n")
    grade("second_of_doubled", "n=3, n")
    grade("second_beside_constants", "n=3, 2 n")
    grade("second_of_a_deep_graph", length=1200)


def test_higher_derivatives(grade):
    grade("third_of_a_power", "n=3")
    for of in ("tanh", "exp", "logsumexp"):
        grade("third_of_functions", "n=2 m=3", of=of)
    grade("third_of_a_product", "n=2 k=3, k m=2")
    grade("third_of_an_index", "3 m=2")


def test_hessian_vector_products(grade):
    grade("hessian_vector_of_relu_squares", "n=4 k=3, k m=2, k m")
    grade("hessian_vector_of_a_network", "n=4 i=2, i h=5, h c=3, i h, h c")
    grade("gradient_penalty", "k=3 m=2, n=4 k")
    grade("forward_by_two_backwards", "n=3, n")
