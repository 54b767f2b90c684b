"""The graders of the edge cases of `version_counter`, for `autodrill check --strict`."""


def test_a_view_of_a_leaf_is_refused_as_the_leaf_is(grade):
    for times in (1, 2):
        grade("view_of_a_leaf_changed", "n=2 m=3", times=times)


def test_a_change_that_fails_does_not_count(grade):
    grade("change_of_a_wrong_shape", "n=3")


def test_any_index_can_be_written_to(grade):
    grade("set_by_any_index", "n=3 m=4")


def test_a_single_number_can_be_changed(grade):
    grade("add_in_place", ", ")
    grade("mul_in_place", ", ")
    grade("saved_constant_multiplied", ", ")
    grade("saved_result_changed", "", op="exp")
    grade("unread_constant_changed", ", , ")
