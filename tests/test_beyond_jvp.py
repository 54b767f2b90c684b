"""`jvp` beside live torch, its Hessian-vector products beside differences of the gradient too."""

import numpy as np
import pytest
import torch

from autodrill.catalog import load_track
from autodrill.engines.reference import reference_engine

# torch's own forward mode still goes through a function that torch has deprecated.
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script:DeprecationWarning")

lib = reference_engine(load_track("beyond")).lib
RNG = np.random.default_rng(0)
A, B = RNG.standard_normal((3, 4)), RNG.standard_normal((4, 3))
DA, DB = RNG.standard_normal((3, 4)), RNG.standard_normal((4, 3))
X, W, V = (RNG.standard_normal(shape) for shape in ((6, 3), (3, 2), (3, 2)))


def close(ours, theirs):
    np.testing.assert_allclose(ours, np.asarray(theirs), rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize(
    "f",
    [
        lambda a, b: a @ b,
        lambda a, b: a * b.T - b.T / (a * a + 1.0),
        lambda a, b: (a @ b).tanh() @ a,
        lambda a, b: (a.exp() + 1.0).log() * 3.0,
        lambda a, b: (a @ b).relu().sum(0),
        lambda a, b: (a**3)[[0, 2, 0]] * (a**-1),
        lambda a, b: a.logsumexp(-1) * a.sum(1),
        lambda a, b: a.T.reshape(-1) * b.reshape(-1),
    ],
)
def test_value_and_tangent_equal_torchs(f):
    ours = lib.jvp(f, (A, B), (DA, DB))
    at, along = map(torch.tensor, (A, B)), map(torch.tensor, (DA, DB))
    for mine, theirs in zip(ours, torch.func.jvp(f, tuple(at), tuple(along)), strict=True):
        close(mine, theirs)


def test_at_the_kink_relu_does_as_torch():
    x, v = np.array([-1.0, 0.0, 0.0, 2.0]), np.array([1.0, 2.0, -3.0, 4.0])
    theirs = torch.func.jvp(torch.relu, (torch.tensor(x),), (torch.tensor(v),))
    for mine, other in zip(lib.jvp(lambda t: t.relu(), (x,), (v,)), theirs, strict=True):
        close(mine, other)


def squares(lib, x, w):
    return ((x @ w).relu() ** 2).sum()


def network(lib, x, w):
    return ((x @ w).tanh().logsumexp(-1) * (x @ w).exp().sum(1)).sum()


def gradient(loss):
    def of(w):
        loss(lib, lib.Tensor(X), w).backward()
        return w.grad

    return of


@pytest.mark.parametrize("loss", [squares, network])
def test_a_hessian_vector_product_equals_torchs(loss):
    ours = lib.jvp(gradient(loss), (W,), (V,))
    of_torch = torch.func.grad(lambda w: loss(torch, torch.tensor(X), w))
    theirs = torch.func.jvp(of_torch, (torch.tensor(W),), (torch.tensor(V),))
    for mine, other in zip(ours, theirs, strict=True):
        close(mine, other)


@pytest.mark.parametrize("loss", [squares, network])
def test_a_hessian_vector_product_equals_a_difference_of_gradients(loss):
    _, hv = lib.jvp(gradient(loss), (W,), (V,))
    e = 1e-5
    above, below = (
        gradient(loss)(lib.Tensor(W + side * V, requires_grad=True)) for side in (e, -e)
    )
    np.testing.assert_allclose(hv, (above - below) / (2.0 * e), rtol=1e-7, atol=1e-7)


def test_a_maximum_moves_as_fast_as_the_fastest_of_those_that_tie():
    x, v = np.array([[2.0, 2.0, 1.0]]), np.array([[1.0, 5.0, 9.0]])
    dual = lib.Dual(x, v).max(axis=1)
    assert (dual.value.tolist(), dual.tangent.tolist()) == ([2.0], [5.0])


def test_largest_entries_carry_their_tangent():
    y, tangent = lib.jvp(lambda t: t.max(axis=1), (A,), (DA,))
    at = torch.func.jvp(lambda t: t.max(dim=1).values, (torch.tensor(A),), (torch.tensor(DA),))
    close(y, at[0])
    close(tangent, at[1])


@pytest.mark.parametrize("function", [np.sort, np.prod, np.linalg.norm])
def test_a_function_that_is_not_provided_for_is_refused(function):
    with pytest.raises(TypeError):
        function(lib.Dual([1.0, 2.0], [1.0, 0.0]))


def test_what_would_lose_the_tangent_is_refused():
    dual = lib.Dual([1.0, 2.0], [1.0, 0.0])
    with pytest.raises(TypeError):
        np.add.reduce(dual)
    with pytest.raises(ValueError, match="array element"):
        np.array(dual, dtype=float)


def test_a_choice_between_a_dual_and_a_constant_moves_where_the_dual_is():
    chosen = np.where([True, False], lib.Dual([1.0, 2.0], [3.0, 4.0]), 7.0)
    assert (chosen.value.tolist(), chosen.tangent.tolist()) == ([1.0, 7.0], [3.0, 0.0])
