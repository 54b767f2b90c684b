"""A freed graph beside live torch: the same program runs on both."""

import numpy as np
import pytest
import torch

from autodrill.catalog import load_track
from autodrill.engines.reference import reference_engine

lib = reference_engine(load_track("beyond")).lib
X = np.array([1.0, 2.0, 3.0])


def ours():
    return lib.Tensor(X, requires_grad=True)


def theirs():
    return torch.tensor(X, requires_grad=True)


def run(*backwards):
    """Tell of each backward whether it was refused."""
    refused = []
    for root, options in backwards:
        try:
            root.backward(**options)
        except RuntimeError as error:
            refused.append("retain_graph" in str(error))
        else:
            refused.append(None)
    return refused


def twice(t):
    y = (t * t).sum()
    return run((y, {}), (y, {}))


def retained_and_then_freed(t):
    y = (t * t).exp().sum()
    return run((y, {"retain_graph": True}), (y, {"retain_graph": True}), (y, {}), (y, {}))


def two_roots(t):
    shared = t * t
    one, other = (shared * 2.0).sum(), (shared * 3.0).sum()
    return run((one, {}), (other, {}))


def two_roots_the_first_retained(t):
    shared = t * t
    one, other = (shared * 2.0).sum(), (shared * 3.0).sum()
    return run((one, {"retain_graph": True}), (other, {}))


def made_of_a_freed_tensor(t):
    y = (t * t).sum()
    return run((y, {}), (y * y, {}))


def a_leaf_in_two_graphs(t):
    return run(((t * t).sum(), {}), ((t * t).sum(), {}))


@pytest.mark.parametrize(
    "program",
    [
        twice,
        retained_and_then_freed,
        two_roots,
        two_roots_the_first_retained,
        made_of_a_freed_tensor,
        a_leaf_in_two_graphs,
    ],
)
def test_what_is_refused_and_what_is_left_in_grad_is_as_in_torch(program):
    t, u = ours(), theirs()
    assert program(t) == program(u)
    assert np.array_equal(t.grad, np.asarray(u.grad))


def test_a_graph_is_freed_by_default():
    y = (ours() * 2.0).sum()
    y.backward()
    with pytest.raises(RuntimeError, match="retain_graph=True"):
        y.backward()
