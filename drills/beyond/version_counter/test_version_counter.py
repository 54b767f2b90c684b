"""The graders of `version_counter`. Each line runs one computation of scenarios.py."""


def test_changes_in_place(grade):
    grade("add_in_place", "n=2 m=3, m")
    grade("mul_in_place", "n=2 m=3, m")
    grade("set_in_place", "n=2 m=3, m")


def test_version_counts_changes(grade):
    grade("versions_of_one", "n=3")


def test_views_share_the_counter(grade):
    grade("views_count_together", "n=2 m=3")


def test_backward_raises_if_a_saved_value_was_changed(grade):
    for left in (True, False):
        for op in ("__mul__", "__truediv__", "__matmul__"):
            grade("saved_constant_changed", "3 3, 3 3", op=op, left=left)
    grade("saved_constant_multiplied", "n=3, n")
    grade("saved_constant_written_to", "n=3, n")
    for changed in ("base", "view"):
        grade("saved_through_a_view", "n=2 m=3, n m", changed=changed)
    for op in ("exp", "relu", "tanh"):
        grade("saved_result_changed", "n=3", op=op)
    for op in ("log", "pow", "square"):
        grade("saved_operand_changed", "n=3", op=op)
    grade("saved_value_changed_and_restored", "n=3, n")
    grade("saved_value_changed_deep_in_the_graph", "n=3, n")
    grade("saved_before_and_after_a_change", "n=3, n")
    grade("saved_value_changed_between_two_backwards", "n=3, n, n")


def test_backward_does_not_mind_other_changes(grade):
    grade("unread_constant_changed", "n=3, n, n")
    for op in ("mul", "div", "add", "exp", "tanh", "sum", "reshape", "transpose", "getitem"):
        grade("unread_operand_changed", "n=2 m=3, n m, n m", op=op)
    for op in ("mul", "div", "add", "pow", "log"):
        grade("unread_result_changed", "n=3, n, n", op=op)
    grade("changed_before_it_was_used", "n=3, n, n")
    grade("changed_behind_another_root", "n=3, n, n")
    grade("result_added_to", "n=3, n, n")


def test_change_that_would_have_to_be_recorded(grade):
    grade("leaf_added_to", "n=3")
    grade("leaf_multiplied", "n=3")
    grade("leaf_written_to", "n=3")
    grade("leaf_is_left_alone", "n=3, n")
    grade("recorded_result_multiplied", "n=3, n")
    grade("recorded_result_written_to", "n=3, n")
    grade("recorded_result_added_to_result", "n=3, n")
    grade("constant_multiplied_by_a_leaf", "n=3, n")
    grade("leaf_written_to_a_constant", "n=3, n")
