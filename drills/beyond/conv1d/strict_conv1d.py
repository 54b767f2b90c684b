"""The graders of the edge cases of `conv1d`, for `autodrill check --strict`."""


def test_conv1d_of_single_entries(grade):
    grade("conv1d", "1 1 1, 1 1 1")
    grade("conv1d", "1 1 1, 1 1 1", stride=2, padding=2)
    grade("conv1d", "1 1 2, 1 1 6", padding=2)


def test_conv1d_whose_stride_is_longer_than_its_kernel(grade):
    for padding in (0, 1, 4):
        grade("conv1d", "n=2 c=2 l=9, o=3 c 2", stride=4, padding=padding)


def test_conv1d_takes_its_arguments_by_place(grade):
    grade("conv1d_by_place", "n=2 c=3 l=7, o=4 c 3")


def test_conv1d_of_a_tensor_with_itself(grade):
    grade("conv1d_of_itself", "n=2 c=3 l=4")


def test_conv1d_takes_what_makes_a_tensor(grade):
    grade("conv1d_of_constant_signals", "n=2 c=3 l=7, o=4 c 3")
    grade("conv1d_of_lists")


def test_conv1d_refuses_a_kernel_with_no_place_whatever_the_stride(grade):
    for stride in (1, 3, 7):
        grade("conv1d_of_a_long_kernel", "1 1 3, 1 1 5", stride=stride)
