"""Reverse-mode automatic differentiation in one file of NumPy: the engine to type from memory.

A `Tensor` holds an array, its gradient, and a closure `_backward` that adds what it has received
to the gradients of its parents. `Tensor.backward` runs those closures once each, from the loss
back to the leaves.

Throughout, `x`, `a`, `b` are the operands of an operation, `y` is its result, `L` is the loss,
`dx` means dL/dx, and `g` means dL/dy: what `y.grad` holds when y's closure runs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import proxy

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Axis = int | tuple[int, ...] | None


def unbroadcast(grad: Array, shape: tuple[int, ...]) -> Array:
    """Reduce the gradient of a broadcast result to the shape of one operand.

    Derivation
    ----------
    Broadcasting copies an entry of the operand to many entries of the result. By the chain rule
    the entry's gradient is the sum over its copies. Copies lie along axes put in front and along
    axes where the operand has length 1: sum over both, then reshape to restore the length-1 axes.
    """
    if grad.shape == shape:
        return grad
    prepended = grad.ndim - len(shape)
    stretched = [prepended + i for i, n in enumerate(shape) if n == 1]
    copied: Array = grad.sum(axis=(*range(prepended), *stretched))
    return copied.reshape(shape)


def _as_tensor(x: Tensor | ArrayLike) -> Tensor:
    """Return `x` if it is a Tensor, else a constant Tensor of it."""
    return x if isinstance(x, Tensor) else Tensor(x)


class Tensor:
    """An array of float64 with a gradient of the same shape, zeros from the start.

    Every tensor gets its gradient; `requires_grad` only marks the ones to train.
    """

    __array_ufunc__ = None  # so that `array * tensor` calls `Tensor.__rmul__`
    _ran = False  # whether a backward pass has been through this tensor

    def __init__(
        self,
        data: ArrayLike,
        requires_grad: bool = False,
        _children: tuple[Tensor, ...] = (),
        _op: str = "",
    ) -> None:
        """Wrap `data` as float64; `_children` are the tensors it was computed from.

        Sets `data`, `grad`, `requires_grad`, `_prev`, `_op` and `_backward`.

        Derivation
        ----------
        A gradient is a sum over uses, and the sum over none is 0. A leaf has nobody to pass it on
        to, so its closure does nothing.
        """
        self.data: Array = np.asarray(data, dtype=np.float64)
        self.grad: Array = np.zeros(self.data.shape)
        self.requires_grad = requires_grad
        self._prev = tuple(_children)
        self._op = _op
        self._backward: Callable[[], None] = lambda: None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape

    def zero_grad(self) -> None:
        """Set the gradient to a new array of zeros."""
        self.grad = np.zeros(self.data.shape)

    def __repr__(self) -> str:
        return f"Tensor({self.data!r}, op={self._op!r})"

    def backward(self) -> None:
        """Add the gradient of this one-element tensor to `.grad` of all it was computed from.

        Raises
        ------
        AssertionError
            If this tensor does not have exactly one element.

        Notes
        -----
        A second call on the same graph adds the same gradients again.

        Derivation
        ----------
        dL/dL = 1 is the seed. By the multivariate chain rule dx is a sum over all consumers of x,
        whole only when each has run: so run the closures in reverse topological order, once each.

        A closure passes on the whole gradient of its tensor. What an earlier pass left there must
        not flow again, so it is set aside and added back when this pass is done.
        """
        if self.data.size != 1:
            raise AssertionError(f"backward() needs one element, not shape {self.shape}")
        order = _topological_order(self)
        earlier = [(node, node.grad) for node in order if node._ran]
        for node, _ in earlier:
            node.zero_grad()
        self.grad += 1.0
        for node in reversed(order):
            node._backward()
            node._ran = True
        for node, grad in earlier:
            node.grad += grad

    # ------------------------------------------------------------------ arithmetic
    #
    # Each closure sees its result through a weak proxy, `y`. Holding `out` itself would close a
    # cycle, out -> out._backward -> out, and a graph would wait for the garbage collector instead
    # of going when the loss goes (a third slower to train).

    def __add__(self, other: Tensor | ArrayLike) -> Tensor:
        """Add elementwise, with broadcasting.

        Derivation
        ----------
        y = a + b: dy/da = dy/db = 1, so da = g and db = g, summed where broadcast.
        """
        other = _as_tensor(other)
        out = Tensor(self.data + other.data, _children=(self, other), _op="+")
        y = proxy(out)

        def _backward() -> None:
            self.grad += unbroadcast(y.grad, self.shape)
            other.grad += unbroadcast(y.grad, other.shape)

        out._backward = _backward
        return out

    def __mul__(self, other: Tensor | ArrayLike) -> Tensor:
        """Multiply elementwise, with broadcasting.

        Derivation
        ----------
        y = a b: dy/da = b and dy/db = a, so da = g b and db = g a, summed where broadcast.
        """
        other = _as_tensor(other)
        out = Tensor(self.data * other.data, _children=(self, other), _op="*")
        y = proxy(out)

        def _backward() -> None:
            self.grad += unbroadcast(y.grad * other.data, self.shape)
            other.grad += unbroadcast(y.grad * self.data, other.shape)

        out._backward = _backward
        return out

    def __pow__(self, exponent: float) -> Tensor:
        """Raise each entry to a constant power, given as a number.

        Derivation
        ----------
        y = x^p: dy/dx = p x^(p-1), so dx = g p x^(p-1). For p = 0, y is the constant 1 and
        dx = 0, at x = 0 too, where the formula would give 0 times infinity.
        """
        out = Tensor(self.data**exponent, _children=(self,), _op="**")
        y = proxy(out)

        def _backward() -> None:
            if exponent != 0:
                self.grad += y.grad * exponent * self.data ** (exponent - 1)

        out._backward = _backward
        return out

    def __matmul__(self, other: Tensor | ArrayLike) -> Tensor:
        """Multiply matrices as `numpy.matmul` does: batches broadcast, vectors are allowed.

        Derivation
        ----------
        C = A B, upstream G: dL = tr(G^T dC) = tr(G^T dA B) + tr(G^T A dB)
        = tr((G B^T)^T dA) + tr((A^T G)^T dB), so dA = G B^T and dB = A^T G. Each matrix of a batch
        is a product of its own: transpose the last two axes only, and sum where broadcast.
        """
        other = _as_tensor(other)
        out = Tensor(self.data @ other.data, _children=(self, other), _op="@")
        y = proxy(out)

        def _backward() -> None:
            # A vector is a row on the left, a column on the right; put its axis back into g.
            row, column = self.data.ndim == 1, other.data.ndim == 1
            a = self.data[None, :] if row else self.data
            b = other.data[:, None] if column else other.data
            g = y.grad[..., None] if column else y.grad
            g = g[..., None, :] if row else g
            da, db = g @ b.mT, a.mT @ g
            self.grad += unbroadcast(da, self.shape)
            other.grad += unbroadcast(db[..., 0] if column else db, other.shape)

        out._backward = _backward
        return out

    # Made of the operators above; they need no closures of their own.

    def __neg__(self) -> Tensor:
        return self * -1.0

    def __sub__(self, other: Tensor | ArrayLike) -> Tensor:
        return self + -_as_tensor(other)

    def __truediv__(self, other: Tensor | ArrayLike) -> Tensor:
        return self * _as_tensor(other) ** -1

    def __radd__(self, other: ArrayLike) -> Tensor:
        return self + other

    def __rsub__(self, other: ArrayLike) -> Tensor:
        return _as_tensor(other) - self

    def __rmul__(self, other: ArrayLike) -> Tensor:
        return self * other

    def __rtruediv__(self, other: ArrayLike) -> Tensor:
        return _as_tensor(other) / self

    def __rmatmul__(self, other: ArrayLike) -> Tensor:
        return _as_tensor(other) @ self

    # ------------------------------------------------------------------ reductions

    def sum(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """Sum over the given axes, or over all of them.

        Derivation
        ----------
        y is a sum of entries, each with dy/dx_j = 1: every entry receives the g of its sum. Give
        g the summed axes back with length 1, and broadcasting does the rest.
        """
        kept: Array = self.data.sum(axis=axis, keepdims=True)
        total = kept if keepdims else np.squeeze(kept, axis)
        out = Tensor(total, _children=(self,), _op="sum")
        y = proxy(out)

        def _backward() -> None:
            self.grad += y.grad.reshape(kept.shape)

        out._backward = _backward
        return out

    def mean(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """Average over the given axes, or over all of them.

        Derivation
        ----------
        A sum divided by the number n of its terms: dx_j = g / n.
        """
        kept: Array = self.data.mean(axis=axis, keepdims=True)
        count = self.data.size / max(kept.size, 1)
        average = kept if keepdims else np.squeeze(kept, axis)
        out = Tensor(average, _children=(self,), _op="mean")
        y = proxy(out)

        def _backward() -> None:
            self.grad += y.grad.reshape(kept.shape) / count

        out._backward = _backward
        return out

    # ------------------------------------------------------------------ elementwise functions

    def exp(self) -> Tensor:
        """Return e^x of each entry.

        Derivation
        ----------
        The exponential is its own derivative: dx = g y.
        """
        out = Tensor(np.exp(self.data), _children=(self,), _op="exp")
        y = proxy(out)

        def _backward() -> None:
            self.grad += y.grad * y.data

        out._backward = _backward
        return out

    def log(self) -> Tensor:
        """Return the natural logarithm of each entry.

        Derivation
        ----------
        Differentiate e^y = x: e^y dy/dx = 1, so dx = g / x.
        """
        out = Tensor(np.log(self.data), _children=(self,), _op="log")
        y = proxy(out)

        def _backward() -> None:
            self.grad += y.grad / self.data

        out._backward = _backward
        return out

    def relu(self) -> Tensor:
        """Return max(x, 0) of each entry; at exactly 0 the gradient is 0.

        Derivation
        ----------
        The slope is 1 for x > 0 and 0 for x < 0; at the kink take 0: dx = g where x > 0.
        """
        out = Tensor(np.maximum(self.data, 0.0), _children=(self,), _op="relu")
        y = proxy(out)

        def _backward() -> None:
            self.grad += y.grad * (self.data > 0)

        out._backward = _backward
        return out

    def sigmoid(self) -> Tensor:
        """Return 1 / (1 + e^-x) of each entry, for entries of any size.

        Derivation
        ----------
        y = 1 / (1 + e^-x): dy/dx = e^-x / (1 + e^-x)^2 = y (1 - y), so dx = g y (1 - y).
        e^-x overflows where x is very negative; log(e^0 + e^-x), logaddexp, does not.
        """
        out = Tensor(np.exp(-np.logaddexp(0.0, -self.data)), _children=(self,), _op="sigmoid")
        y = proxy(out)

        def _backward() -> None:
            self.grad += y.grad * y.data * (1.0 - y.data)

        out._backward = _backward
        return out

    def tanh(self) -> Tensor:
        """Return the hyperbolic tangent of each entry.

        Derivation
        ----------
        (sinh / cosh)' = (cosh^2 - sinh^2) / cosh^2 = 1 - tanh^2, so dx = g (1 - y^2).
        """
        out = Tensor(np.tanh(self.data), _children=(self,), _op="tanh")
        y = proxy(out)

        def _backward() -> None:
            self.grad += y.grad * (1.0 - y.data**2)

        out._backward = _backward
        return out

    # ------------------------------------------------------------------ softmax

    def log_softmax(self, axis: int = -1) -> Tensor:
        """Return the logarithm of the softmax along `axis`, for entries of any size.

        Derivation
        ----------
        y_i = x_i - log sum_k e^(x_k); subtracting the maximum from every x changes no y and keeps
        the exponentials from overflowing. dy_i/dx_j = [i = j] - s_j with s = softmax(x) = e^y, so
        dx_j = sum_i g_i dy_i/dx_j = g_j - s_j sum_i g_i.
        """
        shifted = self.data - self.data.max(axis=axis, keepdims=True)
        log_total = np.log(np.exp(shifted).sum(axis=axis, keepdims=True))
        out = Tensor(shifted - log_total, _children=(self,), _op="log_softmax")
        y = proxy(out)

        def _backward() -> None:
            total = y.grad.sum(axis=axis, keepdims=True)
            self.grad += y.grad - np.exp(y.data) * total

        out._backward = _backward
        return out

    def softmax(self, axis: int = -1) -> Tensor:
        """Return e^x divided by its sum along `axis`, for entries of any size.

        Derivation
        ----------
        y_i = e^(x_i) / sum_k e^(x_k): dy_i/dx_j = y_i ([i = j] - y_j) by the quotient rule, so
        dx_j = sum_i g_i dy_i/dx_j = y_j (g_j - sum_i g_i y_i).
        """
        shifted = self.data - self.data.max(axis=axis, keepdims=True)
        terms = np.exp(shifted)
        total = terms.sum(axis=axis, keepdims=True)
        out = Tensor(terms / total, _children=(self,), _op="softmax")
        y = proxy(out)

        def _backward() -> None:
            dot = (y.grad * y.data).sum(axis=axis, keepdims=True)
            self.grad += y.data * (y.grad - dot)

        out._backward = _backward
        return out

    # ------------------------------------------------------------------ shapes

    def reshape(self, *shape: Any) -> Tensor:
        """Return the same entries in another shape: `reshape(2, 3)` or `reshape((2, 3))`.

        Derivation
        ----------
        No entry changes or moves in row-major order: reshape g back.
        """
        out = Tensor(self.data.reshape(*shape), _children=(self,), _op="reshape")
        y = proxy(out)

        def _backward() -> None:
            self.grad += y.grad.reshape(self.shape)

        out._backward = _backward
        return out

    def transpose(self, *axes: Any) -> Tensor:
        """Permute the axes, or reverse them: `transpose(1, 0)`, `transpose((1, 0))`.

        Derivation
        ----------
        Entries only move, so g must move back, by the inverse permutation. Or, with no inverse
        to compute: permute x.grad as x was, and it lines up with g, entry for entry.
        """
        out = Tensor(self.data.transpose(*axes), _children=(self,), _op="transpose")
        y = proxy(out)

        def _backward() -> None:
            moved = self.grad.transpose(*axes)  # a view: adding to it adds to self.grad
            moved += y.grad

        out._backward = _backward
        return out

    @property
    def T(self) -> Tensor:
        """Return the tensor with its axes reversed."""
        return self.transpose()


def _topological_order(root: Tensor) -> list[Tensor]:
    """List every tensor that `root` was computed from, parents first and `root` last.

    Derivation
    ----------
    Depth first, each tensor after its parents. The stack is a list, because a deep graph would
    exhaust Python's own; the boolean says whether the parents have been listed. Tensors are told
    apart by identity: two constants of equal value are two tensors.
    """
    order: list[Tensor] = []
    seen: set[int] = set()
    stack = [(root, False)]
    while stack:
        node, parents_done = stack.pop()
        if parents_done:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            stack.append((node, True))
            stack.extend([(parent, False) for parent in node._prev])
    return order


def cross_entropy(logits: Tensor, y: Tensor | ArrayLike) -> Tensor:
    """Return the mean negative log-probability of the target classes.

    Parameters
    ----------
    logits : Tensor of shape (n, classes)
    y : array_like of int, of shape (n,)

    Derivation
    ----------
    The loss is -1/n sum_i log softmax(logits_i)[y_i]. A one-hot row is 1 at the target and 0
    elsewhere, so multiplying by it and summing picks that entry. The rules compose to
    d logits = (softmax - onehot) / n.
    """
    labels = np.asarray(y.data if isinstance(y, Tensor) else y, dtype=np.intp)
    n, classes = logits.shape
    onehot = np.eye(classes)[labels]
    return (logits.log_softmax() * onehot).sum() * (-1.0 / n)
