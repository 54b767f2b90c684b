"""`checkpoint` beside live torch: the same program runs on both."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch
from torch.utils.checkpoint import checkpoint

from autodrill.catalog import load_track
from autodrill.engines.reference import reference_engine

lib = reference_engine(load_track("beyond")).lib
theirs = SimpleNamespace(
    checkpoint=lambda f, *inputs: checkpoint(f, *inputs, use_reentrant=False),
    Tensor=lambda x, requires_grad=False: torch.tensor(x, requires_grad=requires_grad),
)
RNG = np.random.default_rng(0)
X, W = RNG.standard_normal((2, 3)), RNG.standard_normal((3, 3))


def inputs(lib, x, w):
    y = lib.checkpoint(lambda t, u: (t @ u).tanh(), x, w)
    return y * y


def a_parameter_from_outside(lib, x, w):
    return (lib.checkpoint(lambda t: (t @ w).tanh() @ w, x) @ w).exp()


def a_constant_and_a_parameter(lib, x, w):
    return lib.checkpoint(lambda t: (t @ w).relu(), lib.Tensor(X)) + x


def one_tensor_in_two_places(lib, x, w):
    return lib.checkpoint(lambda t, u: t * u * u, x, x) @ w


def segments(lib, x, w):
    for _ in range(4):
        x = lib.checkpoint(lambda t: (t @ w).tanh(), x)
    return x


def nested(lib, x, w):
    def inner(t):
        return (t @ w).tanh()

    return lib.checkpoint(lambda t: lib.checkpoint(inner, t) * t, x)


@pytest.mark.parametrize(
    "program",
    [
        inputs,
        a_parameter_from_outside,
        a_constant_and_a_parameter,
        one_tensor_in_two_places,
        segments,
        nested,
    ],
)
def test_values_and_gradients_equal_torchs(program):
    results = []
    for engine in (lib, theirs):
        x, w = engine.Tensor(X, requires_grad=True), engine.Tensor(W, requires_grad=True)
        y = program(engine, x, w)
        y.sum().backward()
        results.append([y.detach().data, x.grad, w.grad])
    for ours, other in zip(*results, strict=True):
        np.testing.assert_allclose(ours, np.asarray(other), rtol=1e-12, atol=1e-12)


def runs_of(lib):
    """Count the runs of the function: after the forward, and after each of two backwards."""
    runs, counts = [], []

    def f(t):
        runs.append(1)
        return t * t

    y = lib.checkpoint(f, lib.Tensor(X, requires_grad=True)).sum()
    counts.append(len(runs))
    for _ in range(2):
        y.backward(retain_graph=True)
        counts.append(len(runs))
    return counts


def test_the_function_runs_as_often_as_in_torch():
    assert runs_of(lib) == runs_of(theirs) == [1, 2, 3]


def test_without_recording_nothing_is_to_be_run_again():
    x = lib.Tensor(X, requires_grad=True)
    with lib.no_grad():
        assert not lib.checkpoint(lambda t: t * t, x).requires_grad
    y = lib.checkpoint(lambda t: t * t, x)
    with lib.no_grad(), pytest.raises(RuntimeError, match="no_grad"):
        y.backward(np.ones_like(X))


def test_a_changed_parameter_is_noticed_where_it_is_saved():
    w = lib.Tensor(W, requires_grad=True)
    y = lib.checkpoint(lambda t: t @ w, lib.Tensor(X))
    assert w in [one for one, _ in y._saved]
