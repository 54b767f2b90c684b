"""The graders of `no_grad`. Each line runs one computation of scenarios.py, as in lab01."""


def test_no_grad_records_nothing(grade):
    grade("no_grad_block", "n=3")
    grade("no_grad_keeps_no_graph", "n=3")
    grade("no_grad_result_is_a_constant", "n=3")
    grade("backward_within_no_grad", "n=3")


def test_no_grad_restores_what_was_before(grade):
    grade("no_grad_nested", "n=3")
    grade("no_grad_left_by_an_exception", "n=3")
    grade("no_grad_inner_left_by_an_exception", "n=3")


def test_no_grad_as_a_decorator(grade):
    grade("no_grad_decorator", "n=3")


def test_no_grad_keeps_less_memory(grade):
    grade("no_grad_memory")


def test_detach(grade):
    grade("detach", "n=3")
    grade("detach", "n=2 m=3")
    grade("detach_leaves_the_original", "n=3")
    grade("detach_shares_the_array", "n=3")
