"""The graders of the edge cases of `checkpoint`, for `autodrill check --strict`."""


def test_checkpoint_within_a_checkpoint(grade):
    grade("checkpoint_within_a_checkpoint", "n=3")


def test_checkpoint_of_constants_is_a_constant(grade):
    grade("checkpoint_gives_a_constant", "n=3")


def test_checkpoint_takes_a_single_number(grade):
    grade("checkpoint_of_one", "")
    grade("checkpoint_given_one_twice", "")
