"""Hooks beside live torch: the same program runs on both."""

import numpy as np
import pytest
import torch

from autodrill.catalog import load_track
from autodrill.engines.reference import reference_engine

lib = reference_engine(load_track("beyond")).lib
X = np.array([1.0, 2.0, 3.0])


def ours(x=X, grad=True):
    return lib.Tensor(x, requires_grad=grad)


def theirs(x=X, grad=True):
    return torch.tensor(x, requires_grad=grad)


def watched(tensor):
    """A tensor used twice, a leaf, and the root."""
    t, seen = tensor(), []
    middle = t * 2.0
    root = (middle * middle + middle).sum()
    for name, one in (("t", t), ("middle", middle), ("root", root)):
        one.register_hook(lambda g, name=name: seen.append((name, np.asarray(g).tolist())))
    root.backward()
    return seen


def replaced(tensor):
    t = tensor()
    middle = t * 3.0
    middle.register_hook(lambda g: g + 1.0)
    middle.register_hook(lambda g: None)
    middle.register_hook(lambda g: 2.0 * g)
    t.register_hook(lambda g: 0.0 * g + 5.0)
    (middle * t).sum().backward()
    return np.asarray(t.grad).tolist()


def removed(tensor):
    t, calls = tensor(), []

    def hook(g):
        calls.append("hook")

    def once(g):
        calls.append("once")
        handle.remove()

    first, second = t.register_hook(hook), t.register_hook(hook)
    handle = t.register_hook(once)
    (t * t).sum().backward()
    first.remove()
    first.remove()
    (t * t).sum().backward()
    second.remove()
    (t * t).sum().backward()
    return calls


@pytest.mark.parametrize("program", [watched, replaced, removed])
def test_it_is_as_in_torch(program):
    assert program(ours) == program(theirs)


def test_both_refuse_a_hook_on_a_constant():
    for tensor in (ours, theirs):
        with pytest.raises(RuntimeError):
            tensor(grad=False).register_hook(lambda g: None)


def test_both_refuse_an_answer_of_another_shape():
    for tensor in (ours, theirs):
        t = tensor()
        t.register_hook(lambda g: g[:1])
        with pytest.raises(RuntimeError):
            (t * t).sum().backward()
