"""`conv1d` beside live torch, and what is refused because it hides a rule of its own."""

import numpy as np
import pytest
import torch

from autodrill.cases.differences import central_differences
from autodrill.cases.judge import judge
from autodrill.cases.probe import probes
from autodrill.catalog import load_track
from autodrill.engines.engine import LocalEngine, module_from
from autodrill.engines.reference import load_suite, reference_engine

BEYOND = load_track("beyond")
lib = reference_engine(BEYOND).lib
PLACES = [
    (length, size, stride, padding)
    for length, size in [(7, 3), (8, 2), (5, 1), (4, 4), (3, 5)]
    for stride in (1, 2, 3, 5)
    for padding in (0, 1, 2)
    if size <= length + 2 * padding
]


@pytest.mark.parametrize(("length", "size", "stride", "padding"), PLACES)
def test_it_equals_torch(length, size, stride, padding):
    rng = np.random.default_rng(length)
    x, w = rng.standard_normal((2, 3, length)), rng.standard_normal((4, 3, size))
    ours = [lib.Tensor(one, requires_grad=True) for one in (x, w)]
    theirs = [torch.tensor(one, requires_grad=True) for one in (x, w)]
    y = lib.conv1d(*ours, stride=stride, padding=padding)
    z = torch.nn.functional.conv1d(*theirs, stride=stride, padding=padding)
    upstream = rng.standard_normal(y.shape)
    y.backward(upstream)
    z.backward(torch.tensor(upstream))
    np.testing.assert_allclose(y.data, z.detach().numpy(), rtol=1e-12, atol=1e-13)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one.grad, other.grad.numpy(), rtol=1e-12, atol=1e-13)


def test_its_gradients_equal_central_differences():
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((2, 3, 7)), rng.standard_normal((4, 3, 3))
    t, u = lib.Tensor(x, requires_grad=True), lib.Tensor(w, requires_grad=True)
    y = lib.conv1d(t, u, stride=2, padding=1)
    upstream = rng.standard_normal(y.shape)
    y.backward(upstream)
    for grad, at, f in (
        (t.grad, x, lambda x: lib.conv1d(x, w, 2, 1).data),
        (u.grad, w, lambda w: lib.conv1d(x, w, 2, 1).data),
    ):
        np.testing.assert_allclose(grad, central_differences(f, at, upstream), rtol=1e-6, atol=1e-8)


def test_both_refuse_other_channels_and_a_kernel_without_a_place():
    x = np.ones((1, 2, 3))
    for w in (np.ones((1, 3, 2)), np.ones((1, 1, 2)), np.ones((1, 2, 4))):
        with pytest.raises(ValueError, match=r"kernel|reshape"):
            lib.conv1d(x, w)
        with pytest.raises(RuntimeError):
            torch.nn.functional.conv1d(torch.tensor(x), torch.tensor(w))


@pytest.mark.parametrize("name", ["conv1d", "matmul"])
def test_a_rule_of_its_own_is_refused_under_any_name(name):
    """The gradients are right, so nothing but the graph tells."""
    engine = module_from(BEYOND.reference.read_text(), "disguised", BEYOND.reference)
    made_of = engine.conv1d

    def conv1d(x, w, stride=1, padding=0):
        x, w = engine.Tensor.lift(x), engine.Tensor.lift(w)
        y = made_of(x, w, stride, padding)

        def vjp(g):
            leaves = [engine.Tensor(one.data, requires_grad=True) for one in (x, w)]
            made_of(*leaves, stride, padding).backward(g)
            return tuple(one.grad for one in leaves)

        return engine.Tensor._make(y.data, (x, w), vjp, name)

    engine.conv1d = conv1d
    suite = load_suite(BEYOND)
    found = []
    for scenario in ("conv1d", "conv1d_graph"):
        (probe,) = probes(suite[scenario], "2 3 7, 4 3 3", {})
        request = probe.request()
        expected = reference_engine(BEYOND).run(request, 10.0)
        found.append(
            judge(suite[scenario], LocalEngine(suite, engine).run(request, 10.0), expected)
        )
    right, refused = found
    assert right is None
    assert "write no new VJP" in refused.message
