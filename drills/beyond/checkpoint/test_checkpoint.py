"""The graders of `checkpoint`. Each line runs one computation of scenarios.py, as in lab01."""


def test_checkpoint_gradients(grade):
    grade("checkpoint_of_one", "n=3")
    grade("checkpoint_of_one", "n=2 m=3")
    grade("checkpoint_of_two", "n=2 k=3, k m=4")
    grade("checkpoint_of_two", "n=3 n, n n")
    grade("checkpoint_within_a_graph", "n=3")
    grade("checkpoint_given_one_twice", "n=3")
    grade("checkpoints_in_a_row", "n=3")
    grade("checkpoint_changes_the_shape", "n=2 m=3")
    grade("checkpoint_of_constants_and_others", "n=3, n")


def test_checkpoint_reaches_the_parameters_that_are_used(grade):
    grade("checkpoint_uses_a_parameter", "n=2 m=3, m m, n m")
    grade("checkpoint_of_a_constant", "n=2 m=3, m k=4, n k")
    grade("checkpoints_share_a_parameter", "n=2 m=3, m m, n m")
    grade("checkpoint_uses_its_own_input", "n=3, n")
    grade("checkpoint_before_backward", "n=3")


def test_checkpoint_runs_once_and_once_again(grade):
    grade("checkpoint_counts_runs", "n=3")


def test_checkpoint_keeps_no_graph(grade):
    grade("checkpoint_keeps_nothing_within", "n=3")


def test_checkpoint_lowers_the_peak(grade):
    grade("checkpoint_memory")
