"""The graders of the edge cases of `free_graph`, for `autodrill check --strict`."""


def test_free_graph_refuses_what_is_made_of_a_freed_tensor(grade):
    grade("backward_of_what_was_made_of_a_freed_tensor", "n=3")


def test_free_graph_takes_a_single_number(grade):
    grade("freed_diamond", ", , ")
    grade("second_backward", "")
    grade("retained_graph", "")
