"""Leaves and their gradients beside live torch: the same program runs on both."""

import warnings

import numpy as np
import pytest
import torch

from autodrill.catalog import load_track
from autodrill.engines.reference import reference_engine

lib = reference_engine(load_track("beyond")).lib
X = np.array([1.0, 2.0, 3.0])


def engines():
    def ours(x, grad):
        return lib.Tensor(x, requires_grad=grad)

    def theirs(x, grad):
        return torch.tensor(x, requires_grad=grad)

    return ours, theirs


def which_are_leaves(tensor):
    t, c = tensor(X, True), tensor(X, False)
    made = [t, c, t * t, t * c, c * c, t.reshape(-1), c.reshape(-1), (t * c).detach()]
    return [one.is_leaf for one in made]


def what_keeps_its_gradient(tensor):
    t, c = tensor(X, True), tensor(X, False)
    middle = t * c
    asked = middle * t
    root = (asked + middle).sum()
    asked.retain_grad()
    asked.retain_grad()
    t.retain_grad()
    root.backward()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch warns of reading .grad of what is no leaf
        grads = [one.grad for one in (t, c, middle, asked, root)]
    return [None if grad is None else np.asarray(grad).tolist() for grad in grads]


@pytest.mark.parametrize("program", [which_are_leaves, what_keeps_its_gradient])
def test_it_is_as_in_torch(program):
    ours, theirs = engines()
    assert program(ours) == program(theirs)


def test_both_refuse_to_retain_the_gradient_of_a_constant():
    for tensor in engines():
        with pytest.raises(RuntimeError):
            tensor(X, False).retain_grad()
