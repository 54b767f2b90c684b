"""The graders of `free_graph`. Each line runs one computation of scenarios.py, as in lab01."""


def test_free_graph_leaves_the_gradients_as_they_are(grade):
    grade("freed_diamond", "n=3, n, n")
    grade("freed_chain", "n=3 m=4, m m, n m")
    grade("freed_graph_leaves_its_leaves", "n=3")
    grade("freed_graph_leaves_the_values", "n=3")


def test_free_graph_refuses_a_second_backward(grade):
    grade("second_backward", "n=3")
    grade("second_backward_when_told_to_free", "n=3")
    grade("second_backward_from_another_root", "n=3")
    grade("second_backward_from_within", "n=3")


def test_free_graph_retains_when_asked(grade):
    grade("retained_graph", "n=3")
    grade("held_while_retained", "n=3")


def test_free_graph_frees_each_node_as_it_ran(grade):
    for op in ("mul", "add"):
        grade("freed_as_it_ran", "n=3", op=op)


def test_free_graph_lowers_the_peak(grade):
    grade("free_graph_memory")
