"""Changes in place beside live torch: it raises where torch raises, and nowhere else."""

import numpy as np
import pytest
import torch

from autodrill.catalog import load_track
from autodrill.engines.reference import reference_engine

lib = reference_engine(load_track("beyond")).lib
X = np.array([[1.0, 2.0, 0.5], [1.5, 3.0, 2.0], [0.25, 1.0, 4.0]])


def ours(x=X, grad=False):
    return lib.Tensor(np.array(x), requires_grad=grad)


def theirs(x=X, grad=False):
    return torch.tensor(x, dtype=torch.float64, requires_grad=grad)


OURS, THEIRS = (lib, ours, lib.Function), (torch, theirs, torch.autograd.Function)


def raises(work):
    try:
        work()
    except RuntimeError:
        return True
    return False


def numbers(*tensors):
    return [np.asarray(getattr(one, "data", one)).tolist() for one in tensors]


def versions(tensor):
    c = tensor()
    counts = [c._version]
    for change in (
        lambda: c.add_(1.0),
        lambda: c.mul_(c),
        lambda: c.__setitem__(0, 5.0),
        lambda: c.__setitem__((slice(None), [0, 1]), 2.0),
        lambda: c[1].add_(1.0),
        lambda: c.T.mul_(2.0),
        lambda: c.reshape(-1).__setitem__(0, 1.0),
        lambda: c.detach().add_(1.0),
        lambda: c[[0, 1]].add_(1.0),
        lambda: (c + 0.0).add_(1.0),
        lambda: c[1:].T.reshape(-1).add_(1.0),
    ):
        change()
        counts.append(c._version)
    views = [c[0], c.T, c.reshape(-1), c.detach(), c[[0]], c * 1.0]
    return counts, [one._version for one in views], numbers(c)


def test_versions_count_as_in_torch():
    assert versions(ours) == versions(theirs)


OPERATIONS = {
    "add": lambda h, c: h + c,
    "sub": lambda h, c: c - h,
    "mul": lambda h, c: h * c,
    "square": lambda h, c: h * h,
    "div": lambda h, c: h / c,
    "reciprocal": lambda h, c: c / h,
    "matmul": lambda h, c: h @ c,
    "matmul of a constant": lambda h, c: c @ h,
    "matmul of both": lambda h, c: h @ h.T,
    "pow": lambda h, c: h**3,
    "pow 1": lambda h, c: h**1,
    "pow 0": lambda h, c: h**0,
    "neg": lambda h, c: -h,
    "exp": lambda h, c: h.exp(),
    "log": lambda h, c: h.log(),
    "relu": lambda h, c: h.relu(),
    "tanh": lambda h, c: h.tanh(),
    "sum": lambda h, c: h.sum(),
    "mean": lambda h, c: h.mean(),
    "reshape": lambda h, c: h.reshape(-1),
    "transpose": lambda h, c: h.T,
    "getitem": lambda h, c: h[1:],
    "selection": lambda h, c: h[[0, 2, 2]],
    "view of a constant": lambda h, c: h * c.T,
}


@pytest.mark.parametrize("changed", ["operand", "constant", "result", "nothing"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_backward_raises_exactly_where_torch_does(name, changed):
    found = []
    for tensor in (ours, theirs):
        t, c = tensor(grad=True), tensor()
        h = t * 2.0
        out = OPERATIONS[name](h, c)
        {"operand": h, "constant": c, "result": out, "nothing": tensor()}[changed].add_(1.0)
        raised = raises(lambda out=out: (out * 3.0).sum().backward())
        found.append((raised, None if raised else numbers(t.grad)))
    assert found[0][0] == found[1][0]
    if not found[0][0]:
        np.testing.assert_allclose(*(gradient for _, gradient in found), rtol=1e-9)


def on_a_leaf(lib, tensor):
    """A leaf and its views, by each operation, and within no_grad."""
    found = []
    for change in (
        lambda w: w.add_(1.0),
        lambda w: w.mul_(2.0),
        lambda w: w.__setitem__(0, 1.0),
        lambda w: w[1:].add_(1.0),
        lambda w: w.T.reshape(3, 3).add_(1.0),
        lambda w: w.T[0].mul_(2.0),
    ):
        w = tensor(grad=True)
        found.append((raises(lambda w=w, change=change: change(w)), w._version, numbers(w)))
        y = (w * w).sum()
        with lib.no_grad():
            change(w)
        found.append((raises(y.backward), w._version, numbers(w)))
    return found


def steps_of_sgd(lib, tensor):
    """The update that everybody writes: in place, within no_grad."""
    w = tensor(grad=True)
    for _ in range(3):
        w.grad = None
        (w * w).sum().backward()
        with lib.no_grad():
            w.add_(w.grad * -0.25)
    return numbers(w)


def through_detach(lib, tensor):
    t = tensor(grad=True)
    y, z = t.exp(), t * 2.0
    y.detach().mul_(2.0)
    z.detach().mul_(2.0)
    return raises(y.sum().backward), raises(z.sum().backward), numbers(t.grad, z.detach())


@pytest.mark.parametrize("program", [on_a_leaf, steps_of_sgd, through_detach])
def test_it_is_as_in_torch(program):
    assert program(*OURS[:2]) == program(*THEIRS[:2])


def random_program(tensor, seed):
    """Grow a pool of tensors, change some of them, run back from one; tell all that was seen."""
    rng = np.random.default_rng(seed)
    t = tensor(rng.uniform(0.5, 1.5, (3, 3)), grad=True)
    pool = [t, t * 1.0, tensor(rng.uniform(0.5, 1.5, (3, 3)))]
    grow = [
        lambda a, b: a + b,
        lambda a, b: a * b,
        lambda a, b: a @ b,
        lambda a, b: a / (b * b + 1.0),
        lambda a, b: a - b,
        lambda a, b: a.tanh(),
        lambda a, b: a.relu(),
        lambda a, b: (a * 0.1).tanh().exp(),
        lambda a, b: a**2,
        lambda a, b: a.T,
        lambda a, b: a.reshape(3, 3),
        lambda a, b: a[:],
        lambda a, b: a[[2, 0, 1]],
    ]
    seen = []
    for _ in range(12):
        a, b = pool[rng.integers(len(pool))], pool[rng.integers(len(pool))]
        if rng.random() < 0.7:
            pool.append(grow[rng.integers(len(grow))](a, b))
            continue
        value = rng.uniform(0.5, 1.5, (3, 3))
        seen.append(raises(lambda a=a, value=value: a.add_(tensor(value))))
        if not b.requires_grad:
            b.mul_(0.5)
            b[1:, 0] = 0.25
    seen.append([one._version for one in pool])
    root = pool[-1] * 1.0 + t
    raised = raises(lambda: root.sum().backward())
    return [*seen, raised], None if raised else numbers(t.grad)


def test_random_programs_do_as_in_torch():
    raised = 0
    for seed in range(400):
        (seen, gradient), (wanted, right) = random_program(ours, seed), random_program(theirs, seed)
        assert seen == wanted, seed
        raised += seen[-1]
        if right is not None:
            np.testing.assert_allclose(gradient, right, rtol=1e-9, err_msg=str(seed))
    assert 40 < raised < 360, "there is something of either kind"


@pytest.mark.parametrize("saved", ["operand", "result"])
@pytest.mark.parametrize("changed", ["operand", "result"])
def test_what_a_function_has_saved_is_watched_as_in_torch(saved, changed):
    raised = []
    for _, tensor, function in (OURS, THEIRS):

        class Exp(function):
            @staticmethod
            def forward(ctx, x):
                y = x.exp()
                ctx.save_for_backward(x if saved == "operand" else y)
                return y

            @staticmethod
            def backward(ctx, g):
                (one,) = ctx.saved_tensors
                return g * (one.exp() if saved == "operand" else one)

        h = tensor(grad=True) * 1.0
        y = Exp.apply(h)
        (h if changed == "operand" else y).add_(1.0)
        raised.append(raises(y.sum().backward))
    assert raised == [saved == changed] * 2
