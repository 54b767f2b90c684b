"""Functions of one's own beside `torch.autograd.Function`: the same programs run on both."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from autodrill.cases.run import Request
from autodrill.cases.snippet import snippet
from autodrill.catalog import load_track
from autodrill.engines.reference import load_suite, reference_engine

BEYOND = load_track("beyond")
lib = reference_engine(BEYOND).lib
X, Y = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]]), np.array([[2.0, 0.5, -1.0], [3.0, 1.5, 2.0]])


class Ours:
    Function = lib.Function

    @staticmethod
    def tensor(x, grad=False):
        return lib.Tensor(np.array(x), requires_grad=grad)


class Theirs:
    Function = torch.autograd.Function

    @staticmethod
    def tensor(x, grad=False):
        return torch.tensor(x, dtype=torch.float64, requires_grad=grad)


def gradients(*tensors):
    return [None if t.grad is None else np.asarray(t.grad).tolist() for t in tensors]


def function(engine, forward, backward):
    rules = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("F", (engine.Function,), rules)


def blend(engine):
    """A number between the tensors, one call on top of another, a constant, needs_input_grad."""
    needs = []

    def forward(ctx, x, part, y):
        needs.append(tuple(ctx.needs_input_grad))
        ctx.part = part
        ctx.save_for_backward(y, x)
        return x * y * part

    def backward(ctx, g):
        y, x = ctx.saved_tensors
        return g * y * ctx.part, None, g * x * ctx.part

    blend = function(engine, forward, backward)
    t, u, c = engine.tensor(X, True), engine.tensor(Y, True), engine.tensor(Y)
    h = blend.apply(t, 0.25, u)
    (blend.apply(h, 3.0, c) + blend.apply(c, 2.0, h) + blend.apply(t, 1.0, t)).sum().backward()
    constant = blend.apply(c, 1.0, c)
    return [needs, gradients(t, u, c), constant.requires_grad, h.requires_grad]


def none_for_one(engine):
    f = function(engine, lambda ctx, x, y: x * 2.0 + y, lambda ctx, g: (g * 2.0, None))
    t, u = engine.tensor(X, True), engine.tensor(Y, True)
    f.apply(t, u).sum().backward()
    return gradients(t, u)


def saved_again(engine):
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        ctx.save_for_backward(None, y)
        return x * y

    def backward(ctx, g):
        nothing, y = ctx.saved_tensors
        return g * y * float(nothing is None), g

    t, u = engine.tensor(X, True), engine.tensor(Y, True)
    function(engine, forward, backward).apply(t, u).sum().backward()
    return gradients(t, u)


def unrecorded_within(engine):
    within = []

    def forward(ctx, x):
        y = x * x
        within.append(y.requires_grad)
        return y

    t = engine.tensor(X, True)
    y = function(engine, forward, lambda ctx, g: g * 7.0).apply(t)
    y.sum().backward()
    return [within, y.requires_grad, gradients(t)]


def of_a_leaf_itself(engine):
    t = engine.tensor(X, True)
    function(engine, lambda ctx, x: x, lambda ctx, g: g * 3.0).apply(t).sum().backward()
    return gradients(t)


@pytest.mark.parametrize(
    "program", [blend, none_for_one, saved_again, unrecorded_within, of_a_leaf_itself]
)
def test_it_is_as_in_torch(program):
    assert program(Ours) == program(Theirs)


def double(ctx, x, *_):
    return x * 2.0


def saving(*what):
    def forward(ctx, x):
        ctx.save_for_backward(*what)
        return x * 2.0

    return forward


@pytest.mark.parametrize(
    ("forward", "backward", "others", "error"),
    [
        (double, lambda ctx, g: g, [2.0], RuntimeError),
        (double, lambda ctx, g: (g, g), [], RuntimeError),
        (double, lambda ctx, g: (g, g), [2.0], RuntimeError),
        (double, lambda ctx, g: [g, g], [2.0], RuntimeError),
        (double, lambda ctx, g: g[:1, :2], [], RuntimeError),
        (saving(2.0), lambda ctx, g: g, [], TypeError),
        (saving(np.ones(3)), lambda ctx, g: g, [], TypeError),
    ],
)
def test_both_refuse(forward, backward, others, error):
    for engine in (Ours, Theirs):
        with pytest.raises(error):
            f = function(engine, forward, backward)
            f.apply(engine.tensor(X, True), *others).sum().backward()


def fused_cross_entropy(engine, array, exp, log):
    """The same fused loss on both, with what each needs to reach its arrays handed in."""

    def forward(ctx, logits, classes):
        ctx.classes = classes
        e = exp(logits)
        p = e / e.sum(1).reshape(-1, 1)
        ctx.save_for_backward(p)
        return log(p[np.arange(len(classes)), classes]).sum() * (-1.0 / len(classes))

    def backward(ctx, g):
        (p,) = ctx.saved_tensors
        d = np.array(array(p))
        d[np.arange(len(d)), ctx.classes] -= 1.0
        return g * engine.tensor(d / len(d)), None

    return function(engine, forward, backward)


def test_a_fused_cross_entropy_equals_torchs_and_the_composed_ones():
    rng = np.random.default_rng(0)
    x, classes = rng.standard_normal((5, 4)), np.array([0, 3, 1, 3, 2])
    ours, theirs = Ours.tensor(x, True), Theirs.tensor(x, True)
    composed, built_in = Ours.tensor(x, True), Theirs.tensor(x, True)
    methods = (lambda t: t.exp()), (lambda t: t.log())
    losses = [
        fused_cross_entropy(Ours, lambda t: t.data, *methods).apply(ours, classes),
        fused_cross_entropy(Theirs, lambda t: t.detach().numpy(), *methods).apply(theirs, classes),
        lib.cross_entropy(composed, classes),
        torch.nn.functional.cross_entropy(built_in, torch.tensor(classes)),
    ]
    for loss in losses:
        (loss * 3.0).backward()
    for loss in losses[1:]:
        assert np.isclose(losses[0].data.item(), loss.data.item(), rtol=1e-12)
    for one in (theirs, composed, built_in):
        np.testing.assert_allclose(ours.grad, np.asarray(one.grad), rtol=1e-10, atol=1e-14)


def attention(engine, mt, exp):
    def forward(ctx, q, k, v, scale):
        e = exp(q @ mt(k) * scale)
        p = e / e.sum(-1).reshape(*e.shape[:-1], 1)
        ctx.scale = scale
        ctx.save_for_backward(q, k, v, p)
        return p @ v

    def backward(ctx, g):
        q, k, v, p = ctx.saved_tensors
        dp = g @ mt(v)
        ds = p * (dp - (p * dp).sum(-1).reshape(*p.shape[:-1], 1)) * ctx.scale
        return ds @ k, mt(ds) @ q, mt(p) @ g, None

    return function(engine, forward, backward)


def test_a_fused_attention_equals_torchs_and_the_composed_one():
    rng = np.random.default_rng(1)
    arrays = [rng.standard_normal(shape) for shape in ((2, 3, 4), (2, 5, 4), (2, 5, 6))]
    upstream = rng.standard_normal((2, 3, 6))
    scale = 0.5
    results = []
    for engine, mt in (
        (Ours, lambda t: t.transpose(0, 2, 1)),
        (Theirs, lambda t: t.transpose(1, 2)),
    ):
        for fused in (True, False):
            leaves = [engine.tensor(one, True) for one in arrays]
            if fused:
                out = attention(engine, mt, lambda t: t.exp()).apply(*leaves, scale)
            elif engine is Ours:
                q, k, v = leaves
                out = lib.log_softmax(q @ mt(k) * scale).exp() @ v
            else:
                out = torch.nn.functional.scaled_dot_product_attention(*leaves, scale=scale)
            out.backward(engine.tensor(upstream))
            results.append([out.data, *(one.grad for one in leaves)])
    for other in results[1:]:
        for mine, theirs in zip(results[0], other, strict=True):
            np.testing.assert_allclose(mine, np.asarray(theirs), rtol=1e-10, atol=1e-13)


def test_a_class_in_a_snippet_can_be_pasted_into_a_prompt():
    suite = load_suite(BEYOND)
    inputs = {"x": np.array([1.0, 2.0]), "y": np.array([3.0, 4.0])}
    request = Request("function_with_a_number_between", inputs, upstream=np.array([1.0, 2.0]))
    done = subprocess.run(
        [sys.executable, "-B", "-i", "-q"],
        cwd=BEYOND.reference.parent,
        input=snippet(suite, suite[request.scenario], request, "beyond") + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    assert "Error" not in done.stderr
    assert done.stdout.splitlines() == ["array([0.25, 0.5 ])", "array([0.75, 1.5 ])"]
