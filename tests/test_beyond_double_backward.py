"""Gradients of gradients, beside live torch and beside differences of the first gradient."""

import numpy as np
import pytest
import torch

from autodrill.cases.differences import central_differences
from autodrill.catalog import load_track
from autodrill.engines.reference import reference_engine

lib = reference_engine(load_track("beyond")).lib
RNG = np.random.default_rng(0)
X, W, V = RNG.standard_normal((4, 3)), RNG.standard_normal((3, 2)), RNG.standard_normal((3, 2))
A, B = RNG.standard_normal((2, 5)), RNG.standard_normal((5, 3))
TARGETS = np.array([0, 2, 1, 1])


def constant(like, array):
    return torch.tensor(array) if isinstance(like, torch.Tensor) else lib.Tensor(array)


def relu_squares(w):
    return ((constant(w, X) @ w).relu() ** 2).sum()


def everything(w):
    """Each operation of the engine, in one number."""
    y = (constant(w, X) @ w).tanh() * w[0] + w[1:].sum() / 3.0
    z = y.exp() / (1.0 + y * y) + (y * y + 1.0).log() - y**3 * 0.1
    s = torch.logsumexp(z, 1) if isinstance(z, torch.Tensor) else z.logsumexp(1)
    return (s * s).sum() + (z.reshape(2, 4).T @ constant(w, A)).relu().sum() ** 2


LOSSES = {"relu squares": relu_squares, "everything": everything}


def ours(loss, at, v):
    w = lib.Tensor(at, requires_grad=True)
    (dw,) = lib.grad(loss(w), [w], create_graph=True)
    (hv,) = lib.grad((dw * v).sum(), [w])
    assert w.grad is None
    return dw.data, hv.data


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_a_hessian_vector_product_equals_torch(loss):
    w = torch.tensor(W, requires_grad=True)
    (dw,) = torch.autograd.grad(loss(w), [w], create_graph=True)
    (hv,) = torch.autograd.grad((dw * torch.tensor(V)).sum(), [w])
    for mine, theirs in zip(ours(loss, W, V), (dw, hv), strict=True):
        np.testing.assert_allclose(mine, theirs.detach().numpy(), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_a_hessian_vector_product_equals_differences_of_the_gradient(loss):
    _, hv = ours(loss, W, V)
    e = 1e-6

    def gradient(at):
        w = lib.Tensor(at, requires_grad=True)
        return lib.grad(loss(w), [w])[0].data

    expected = (gradient(W + e * V) - gradient(W - e * V)) / (2.0 * e)
    np.testing.assert_allclose(hv, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
def test_a_hessian_is_symmetric(loss):
    rows = []
    for i in np.ndindex(W.shape):
        one = np.zeros(W.shape)
        one[i] = 1.0
        rows.append(ours(loss, W, one)[1].ravel())
    np.testing.assert_allclose(rows, np.transpose(rows), rtol=1e-10, atol=1e-10)


def test_the_gradient_with_a_graph_is_the_gradient_without():
    for loss in LOSSES.values():
        w = lib.Tensor(W, requires_grad=True)
        (plain,), (recorded,) = (lib.grad(loss(w), [w], create_graph=one) for one in (False, True))
        loss(w).backward()
        np.testing.assert_allclose(recorded.data, plain.data, rtol=1e-12, atol=1e-13)
        assert np.array_equal(plain.data, w.grad)


def test_a_network_with_cross_entropy_equals_torch_to_the_second_order():
    a, b = (lib.Tensor(one, requires_grad=True) for one in (A[:, :3], B[:3]))
    c, d = (torch.tensor(one, requires_grad=True) for one in (A[:, :3], B[:3]))
    loss = lib.cross_entropy((lib.Tensor(X[:, :2]) @ a).tanh() @ b, TARGETS)
    theirs = torch.nn.functional.cross_entropy(
        (torch.tensor(X[:, :2]) @ c).tanh() @ d, torch.tensor(TARGETS)
    )
    da, db = lib.grad(loss, [a, b], create_graph=True)
    dc, dd = torch.autograd.grad(theirs, [c, d], create_graph=True)
    ((da * da).sum() + (db**3).sum()).backward()
    ((dc * dc).sum() + (dd**3).sum()).backward()
    for mine, other in ((a, c), (b, d)):
        np.testing.assert_allclose(mine.grad, other.grad.numpy(), rtol=1e-10, atol=1e-12)


def test_the_fourth_derivative_equals_torch():
    x, y = lib.Tensor(X, requires_grad=True), torch.tensor(X, requires_grad=True)
    mine, theirs = (x.tanh() * x[[0, 0, 1, 3]]).sum(), (y.tanh() * y[[0, 0, 1, 3]]).sum()
    for _ in range(4):
        (mine,) = lib.grad(mine.sum(), [x], create_graph=True)
        (theirs,) = torch.autograd.grad(theirs.sum(), [y], create_graph=True)
        np.testing.assert_allclose(mine.data, theirs.detach().numpy(), rtol=1e-10, atol=1e-10)


def test_two_backwards_make_a_forward_mode():
    x, u = lib.Tensor(X, requires_grad=True), lib.Tensor(np.zeros(X.shape), requires_grad=True)
    (dx,) = lib.grad((x * x).tanh(), [x], grad=u, create_graph=True)
    (tangent,) = lib.grad(dx, [u], grad=np.ones(X.shape))
    _, expected = torch.autograd.functional.jvp(
        lambda t: (t * t).tanh(), torch.tensor(X), torch.ones(4, 3, dtype=torch.float64)
    )
    np.testing.assert_allclose(tangent.data, expected.numpy(), rtol=1e-12)


def test_both_refuse_a_missing_upstream_and_one_of_another_shape():
    for grad, tensor in ((lib.grad, lib.Tensor), (torch.autograd.grad, torch.tensor)):
        for create_graph in (False, True):
            x = tensor(X, requires_grad=True)
            with pytest.raises(RuntimeError):
                grad(x * x, [x], create_graph=create_graph)
            with pytest.raises(RuntimeError):
                grad(x * x, [x], tensor(X[:1]), create_graph=create_graph)


def test_the_gradient_of_a_sum_of_gradients_equals_central_differences():
    def penalty(at):
        x = lib.Tensor(at, requires_grad=True)
        (dx,) = lib.grad(everything(x), [x], create_graph=True)
        return x, (dx * dx).sum()

    x, total = penalty(W)
    total.backward()
    expected = central_differences(lambda at: penalty(at)[1].data, W, np.array(1.0))
    np.testing.assert_allclose(x.grad, expected, rtol=1e-5, atol=1e-4)
