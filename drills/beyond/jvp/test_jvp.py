"""The graders of `jvp`. Each line runs one computation of scenarios.py, as in lab01."""


def test_jvp_of_arithmetic(grade):
    for op in ("add", "sub", "mul", "truediv"):
        grade("jvp_of_arithmetic", "n=3, n, n, n", op=op)
        grade("jvp_of_arithmetic", "n=3 m=4, m, n m, m", op=op)
        grade("jvp_of_arithmetic", "n=3 1, m=4, n 1, m", op=op)
        for on_the_left in (False, True):
            grade("jvp_with_a_constant", "n=3, n", op=op, on_the_left=on_the_left)
    for exponent in (3, 2, 1, 0, -1, -2):
        grade("jvp_of_a_power", "n=3, n", exponent=exponent)
    grade("jvp_of_matmul", "n=3 k=4, k m=2, n k, k m")
    grade("jvp_of_matmul", "n=3 n, n n, n n, n n")
    grade("jvp_of_matmul", "b=2 n=3 k=4, k m=2, b n k, k m")
    grade("jvp_of_one_used_several_times", "n=3, n")


def test_jvp_of_functions(grade):
    for name in ("exp", "log", "tanh", "relu", "__neg__"):
        grade("jvp_of_a_function", "n=3, n", name=name)
    grade("jvp_of_relu", "n=5, n")
    grade("jvp_of_relu_at_zero", "n=5, n")


def test_jvp_of_what_is_linear(grade):
    for axis in (None, 0, 1):
        for keepdims in (False, True):
            grade("jvp_of_sum", "n=3 m=4, n m", axis=axis, keepdims=keepdims)
    for axes in ((), (1, 0)):
        grade("jvp_of_transpose", "n=3 m=4, n m", axes=axes)
    grade("jvp_of_transpose", "b=2 n=3 m=4, b n m", axes=(2, 0, 1))
    grade("jvp_of_reshape", "n=3 m=4, n m")
    grade("jvp_of_getitem", "n=4, n")
    grade("jvp_of_getitem", "n=3 m=2, n m")


def test_jvp_of_several_inputs(grade):
    grade("jvp_of_three_inputs", "n=3, n, n, n, n, n")
    grade("jvp_runs_once", "n=3, n, n, n")
    grade("jvp_of_the_identity", "n=3, n")
    grade("jvp_of_a_constant", "n=3, n")
    grade("jvp_through_a_new_tensor", "n=3, n")


def test_jvp_goes_through_a_network(grade):
    for axis in (-1, 0):
        grade("jvp_of_logsumexp", "n=3 m=4, n m", axis=axis)
    grade("jvp_of_a_network", "n=4 k=3, k h=5, h m=2, k h, h m")
    grade("backward_after_jvp", "n=3, n")


def test_jvp_over_backward(grade):
    grade("hessian_vector_product", "n=5 k=3, k, k")
    grade("hessian_vector_product", "n=4 k=3, k m=2, k m")
    for name in ("mul", "div", "pow", "exp", "log", "tanh", "matmul"):
        grade("hessian_vector_product_of", "n=3 m=2, n m", name=name)
    for name in ("shapes", "getitem", "broadcast", "logsumexp"):
        grade("hessian_vector_product_of", "n=3 m=2, n m", name=name)


def test_jvp_needs_a_tangent_for_each_input(grade):
    grade("jvp_with_a_tangent_of_another_shape", "n=3")
    grade("jvp_with_too_few_tangents", "n=3")
