"""`max` beside live torch: `torch.max(dim)` on distinct values."""

import numpy as np
import pytest
import torch

from autodrill.catalog import load_track
from autodrill.engines.reference import reference_engine

lib = reference_engine(load_track("beyond")).lib


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_it_equals_torch_along_a_dimension(axis, keepdims):
    rng = np.random.default_rng(0)
    x = rng.permutation(24).reshape(2, 3, 4) / 4.0
    ours, theirs = lib.Tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    y = ours.max(axis=axis, keepdims=keepdims)
    z = theirs.max(dim=axis, keepdim=keepdims).values
    upstream = rng.standard_normal(y.shape)
    y.backward(upstream)
    z.backward(torch.tensor(upstream))
    assert np.array_equal(y.data, z.detach().numpy())
    assert np.array_equal(ours.grad, theirs.grad.numpy())


def test_it_equals_torch_over_everything():
    x = np.random.default_rng(1).standard_normal((3, 4))
    ours, theirs = lib.Tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    ours.max().backward(2.0)
    theirs.max().backward(torch.tensor(2.0, dtype=torch.float64))
    assert np.array_equal(ours.grad, theirs.grad.numpy())


def test_of_a_tie_the_first_gets_all_as_with_torch_along_a_dimension():
    x = np.array([[1.0, 2.0, 2.0], [3.0, 3.0, 3.0]])
    ours, theirs = lib.Tensor(x, requires_grad=True), torch.tensor(x, requires_grad=True)
    ours.max(axis=1).backward([1.0, 2.0])
    theirs.max(dim=1).values.backward(torch.tensor([1.0, 2.0], dtype=torch.float64))
    assert np.array_equal(ours.grad, theirs.grad.numpy())
