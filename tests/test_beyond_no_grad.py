"""`no_grad` and `detach` beside live torch: the same program runs on both."""

import numpy as np
import pytest
import torch

from autodrill.catalog import load_track
from autodrill.engines.reference import reference_engine

lib = reference_engine(load_track("beyond")).lib
X = np.array([1.0, 2.0, 3.0])


def ours():
    return lib, lib.Tensor(X, requires_grad=True)


def theirs():
    return torch, torch.tensor(X, requires_grad=True)


def states_of_blocks(lib, t):
    """Tell at each moment of nested and broken blocks whether a result would be recorded."""
    states = [(t * t).requires_grad]
    with lib.no_grad():
        states.append((t * t).requires_grad)
        with lib.no_grad():
            states.append((t * t).requires_grad)
        states.append((t * t).requires_grad)
        try:
            with lib.no_grad():
                raise LookupError
        except LookupError:
            states.append((t * t).requires_grad)
    states.append((t * t).requires_grad)

    @lib.no_grad()
    def decorated():
        return (t * t).requires_grad

    return [*states, decorated(), decorated(), (t * t).requires_grad]


def leaves_of_blocks(lib, t):
    with lib.no_grad():
        y = t * t
    d = (t * t).detach()
    return [y.is_leaf, y.requires_grad, d.is_leaf, d.requires_grad, t.requires_grad]


@pytest.mark.parametrize("program", [states_of_blocks, leaves_of_blocks])
def test_recording_is_on_and_off_as_in_torch(program):
    assert program(*ours()) == program(*theirs())


def test_gradients_through_constants_equal_torchs():
    def gradient(lib, t):
        with lib.no_grad():
            c = t * t
        (t * c + t * (t * t).detach()).sum().backward()
        return np.asarray(t.grad)

    assert np.array_equal(gradient(*ours()), gradient(*theirs()))


def test_a_detached_tensor_shares_its_memory_as_in_torch():
    (_, t), (_, u) = ours(), theirs()
    assert np.shares_memory(t.detach().data, t.data)
    assert u.detach().data_ptr() == u.data_ptr()


def test_a_detached_tensor_counts_changes_with_the_one_it_came_from():
    _, t = ours()
    assert t.detach()._counter is t._counter
    assert (t + 0.0)._counter is not t._counter
