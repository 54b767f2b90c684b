"""The graders of `conv1d`. Each line runs one computation of scenarios.py, as in lab01."""


def test_conv1d(grade):
    grade("conv1d_default", "n=2 c=3 l=7, o=4 c k=3")
    grade("conv1d", "n=2 c=3 l=5, o=4 c 1")
    grade("conv1d", "n=1 c=2 6, o=3 c 4")
    grade("conv1d", "n=2 c=3 4, o=2 c 4")


def test_conv1d_with_stride_and_padding(grade):
    for stride, padding in ((2, 0), (3, 0), (1, 1), (1, 2), (2, 1), (3, 2), (2, 3)):
        grade("conv1d", "n=2 c=3 l=7, o=4 c 3", stride=stride, padding=padding)
    grade("conv1d", "n=2 c=2 l=8, o=3 c 2", stride=2, padding=1)
    grade("conv1d", "n=2 c=2 l=3, o=3 c 5", padding=1)
    grade("conv1d_twice", "n=2 c=2 l=6, o=3 c 3, p=2 o 2")


def test_conv1d_has_no_rule_of_its_own(grade):
    grade("conv1d_graph", "n=2 c=3 l=7, o=4 c 3")
    grade("conv1d_graph", "n=2 c=3 l=7, o=4 c 3", stride=2, padding=1)


def test_conv1d_refuses(grade):
    grade("conv1d_of_other_channels", "n=2 2 l=5, o=4 3 k=3")
    grade("conv1d_of_other_channels", "n=2 2 l=5, o=4 1 k=3")
    grade("conv1d_of_a_long_kernel", "n=2 c=2 3, o=4 c 4")
    grade("conv1d_of_a_long_kernel", "n=2 c=2 3, o=4 c 6", stride=2, padding=1)
