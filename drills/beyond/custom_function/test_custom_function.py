"""The graders of `custom_function`. Each line runs one computation of scenarios.py."""


def test_apply_records_one_operation(grade):
    grade("function_times_three", "n=2 m=3")
    grade("function_with_another_gradient", "n=3, n, n")
    grade("function_runs_forward_unrecorded", "n=3, n")
    grade("function_runs_once", "n=3, n")
    grade("function_called_by_another", "n=3")
    grade("function_of_constants", "n=3")


def test_save_for_backward(grade):
    grade("function_saves_an_operand", "n=2 m=3")
    grade("function_saves_its_result", "n=2 m=3")
    grade("function_saves_several", "n=2 m=3, n m")


def test_each_call_has_its_own_context(grade):
    grade("function_called_twice", "n=3, n")
    grade("function_of_its_own_result", "n=3")


def test_each_gradient_goes_to_its_argument(grade):
    grade("function_of_one_tensor_twice", "n=3")
    grade("function_with_a_number_between", "n=2 m=3, n m")
    grade("function_with_a_number_first", "n=2 m=3")
    for axis in (0, 1):
        grade("function_of_an_axis", "n=2 m=3", axis=axis)
    grade("function_gives_no_gradient", "n=3, n, n")
    grade("function_needs_input_grad", "n=3, n, n")


def test_backward_is_held_to_its_contract(grade):
    grade("function_gives_too_few", "n=3, n")
    grade("function_gives_too_many", "n=3, n")
    grade("function_gives_a_number_a_gradient", "n=3, n")
    grade("function_gives_another_shape", "n=3")


def test_fused_cross_entropy(grade):
    grade("fused_cross_entropy", "4 c=3", targets=[0, 2, 1, 2])
    grade("fused_cross_entropy", "3 c=3", targets=[2, 1, 1])
    grade("fused_beside_composed", "n=5 m=2, m c=4")


def test_fused_attention(grade):
    grade("fused_attention", "n=3 d=4, m=5 d, m e=2")
    grade("fused_attention", "b=2 n=3 d=4, b m=5 d, b m e=2")
