"""Gradients as functions, beside live `torch.func`: the same function goes through both."""

import numpy as np
import pytest
import torch

from autodrill.cases.differences import central_differences
from autodrill.catalog import load_track
from autodrill.engines.reference import reference_engine

lib = reference_engine(load_track("beyond")).lib
RNG = np.random.default_rng(0)
X, W, Y = RNG.standard_normal((3, 4)), RNG.standard_normal((4, 2)), RNG.standard_normal((3, 2))
FUNCTIONS = {
    "product": lambda x: (x @ (tensor_like(x, W))).tanh(),
    "cubes": lambda x: x * x * x,
    "sums": lambda x: (x * x).sum(0),
    "total": lambda x: x.exp().sum(),
    "outer": lambda x: x.reshape(-1, 1) * x[0],
}


def tensor_like(x, array):
    return torch.tensor(array) if isinstance(x, torch.Tensor) else lib.Tensor(array)


def close(ours, theirs):
    np.testing.assert_allclose(ours, theirs.detach().numpy(), rtol=1e-12, atol=1e-13)
    assert ours.shape == tuple(theirs.shape)


@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)
def test_the_jacobian_equals_jacrev(f):
    close(lib.jacobian(f, X), torch.func.jacrev(f)(torch.tensor(X)))


@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)
def test_the_jacobian_equals_central_differences(f):
    rows = lib.jacobian(f, X)
    value = f(lib.Tensor(X)).data
    for i in np.ndindex(value.shape):
        one = np.zeros(value.shape)
        one[i] = 1.0
        expected = central_differences(lambda x: f(lib.Tensor(x)).data, X, one)
        np.testing.assert_allclose(rows[i], expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)
def test_the_vjp_equals_torch(f):
    value, pullback = lib.vjp(f, X)
    theirs, their_pullback = torch.func.vjp(f, torch.tensor(X))
    close(value, theirs)
    for scale in (1.0, -2.0):
        upstream = scale * np.random.default_rng(1).standard_normal(value.shape)
        (ours,) = pullback(upstream)
        close(ours, their_pullback(torch.tensor(upstream))[0])


def test_the_vjp_of_several_inputs_equals_torch():
    def f(a, b, c):
        return a @ b * 2.0

    _, pullback = lib.vjp(f, X, W, Y)
    _, theirs = torch.func.vjp(f, *map(torch.tensor, (X, W, Y)))
    for ours, expected in zip(pullback(Y), theirs(torch.tensor(Y)), strict=True):
        close(ours, expected)


def test_the_value_and_the_gradient_of_a_loss_equal_torch():
    def loss(w, x, y, power):
        return ((tensor_like(w, x) @ w - tensor_like(w, y)) ** power).sum()

    value, dw = lib.value_and_grad(loss)(W, X, Y, 2)
    theirs, expected = torch.func.grad_and_value(loss)(torch.tensor(W), X, Y, 2)[::-1]
    close(value, theirs)
    close(dw, expected)
    close(lib.grad(loss)(W, X, Y, 2), expected)


def test_of_one_tensor_given_twice_each_input_has_its_own_gradient_as_in_torch():
    def f(a, b):
        return (a * b.exp()).sum()

    ours, theirs = lib.Tensor(X, requires_grad=True), torch.tensor(X, requires_grad=True)
    _, pullback = lib.vjp(f, ours, ours)
    _, expected = torch.func.vjp(f, theirs, theirs)
    one = torch.tensor(1.0, dtype=torch.float64)
    for mine, other in zip(pullback(1.0), expected(one), strict=True):
        close(mine, other)
    assert ours.grad is None and theirs.grad is None


def test_both_refuse_the_gradient_of_many_values():
    for grad, x in ((lib.grad, X), (torch.func.grad, torch.tensor(X))):
        with pytest.raises(RuntimeError):
            grad(lambda t: t * t)(x)
        with pytest.raises(RuntimeError):
            grad(lambda t: t[:1, 0])(x)


def test_both_refuse_an_upstream_of_another_shape():
    for vjp, make in ((lib.vjp, np.asarray), (torch.func.vjp, torch.tensor)):
        _, pullback = vjp(lambda t: t * t, make(X))
        with pytest.raises(RuntimeError):
            pullback(make(1.0))


def test_both_leave_nothing_in_grad_of_a_tensor_that_the_function_holds():
    for grad, tensor in ((lib.grad, lib.Tensor), (torch.func.grad, torch.tensor)):
        held = tensor(W, requires_grad=True)
        grad(lambda x, held=held: (x @ held).sum())(tensor(X))
        assert held.grad is None
