"""The graders of the edge cases of `jvp`, for `autodrill check --strict`."""


def test_jvp_takes_a_single_number(grade):
    grade("jvp_of_arithmetic", ", , , ", op="mul")
    grade("jvp_of_a_function", ", ", name="tanh")
    grade("jvp_of_the_identity", ", ")


def test_jvp_takes_tensors_and_lists(grade):
    grade("jvp_of_tensors_and_lists", "n=3, n")


def test_jvp_refuses_what_it_has_no_rule_for(grade):
    grade("jvp_without_a_rule", "n=3")


def test_jvp_of_a_power_at_zero(grade):
    for exponent in (0, 1, 2, 3):
        grade("jvp_of_a_power_at_zero", "n=5, n", exponent=exponent)


def test_jvp_returns_new_arrays(grade):
    grade("jvp_returns_new_arrays", "n=3, n")


def test_jvp_of_logsumexp_of_one_entry(grade):
    grade("jvp_of_logsumexp", "n=3 1, n 1")
    grade("hessian_vector_product_of", "1 1, 1 1", name="logsumexp")


def test_jvp_leaves_other_arrays_as_they_were(grade):
    grade("arrays_are_what_they_were", "n=3")
