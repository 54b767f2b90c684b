"""A retype engine of plain functions and lambdas that write into the gradients in place."""

import numpy as np


class Tensor:
    __array_ufunc__ = None

    def __init__(self, data, requires_grad=False, _children=(), _op=""):
        self.data = np.asarray(data, float)
        self.grad = np.zeros_like(self.data)
        self.requires_grad = requires_grad
        self._prev = tuple(_children)
        self._op = _op
        self._backward = lambda: None

    shape = property(lambda self: self.data.shape)
    T = property(lambda self: self.transpose())

    def zero_grad(self):
        self.grad[...] = 0.0

    def backward(self):
        assert self.data.size == 1
        self.grad[...] += 1.0
        order = _topological_order(self)
        while order:
            order.pop()._backward()

    def __add__(self, other):
        other = _as_tensor(other)
        return _binary(self, other, "+", self.data + other.data, lambda g: (g, g))

    def __mul__(self, other):
        other = _as_tensor(other)
        a, b = self.data, other.data
        return _binary(self, other, "*", a * b, lambda g: (g * b, g * a))

    def __pow__(self, p):
        x = self.data
        return _unary(self, "**", x**p, lambda g, y: g * p * x ** (p - 1))

    def __matmul__(self, other):
        other = _as_tensor(other)
        a, b = self.data, other.data
        swap = lambda m: np.moveaxis(m, -1, -2)  # noqa: E731
        return _binary(self, other, "@", a @ b, lambda g: (g @ swap(b), swap(a) @ g))

    def __neg__(self):
        return self * -1.0

    def __sub__(self, other):
        return self + _as_tensor(other) * -1.0

    def __truediv__(self, other):
        return self * _as_tensor(other) ** -1

    def __radd__(self, other):
        return _as_tensor(other) + self

    def __rsub__(self, other):
        return _as_tensor(other) - self

    def __rmul__(self, other):
        return _as_tensor(other) * self

    def __rtruediv__(self, other):
        return _as_tensor(other) / self

    def sum(self, axis=None, keepdims=False):
        y = self.data.sum(axis=axis, keepdims=keepdims)
        return _unary(self, "sum", y, lambda g, y: _restored(g, axis, keepdims))

    def mean(self, axis=None, keepdims=False):
        y = self.data.mean(axis=axis, keepdims=keepdims)
        n = self.data.size // y.size
        return _unary(self, "mean", y, lambda g, y: _restored(g, axis, keepdims) / n)

    def exp(self):
        return _unary(self, "exp", np.exp(self.data), lambda g, y: g * y)

    def log(self):
        x = self.data
        return _unary(self, "log", np.log(x), lambda g, y: g / x)

    def relu(self):
        x = self.data
        return _unary(self, "relu", x * (x > 0), lambda g, y: g * (x > 0))

    def sigmoid(self):
        z = np.exp(-np.abs(self.data))
        y = np.where(self.data < 0, z, 1.0) / (1.0 + z)
        return _unary(self, "sigmoid", y, lambda g, y: g * y * (1.0 - y))

    def tanh(self):
        return _unary(self, "tanh", np.tanh(self.data), lambda g, y: g * (1.0 - y * y))

    def log_softmax(self, axis=-1):
        z = self.data - self.data.max(axis, keepdims=True)
        y = z - np.log(np.exp(z).sum(axis, keepdims=True))
        rule = lambda g, y: g - np.exp(y) * g.sum(axis, keepdims=True)  # noqa: E731
        return _unary(self, "log_softmax", y, rule)

    def softmax(self, axis=-1):
        e = np.exp(self.data - self.data.max(axis, keepdims=True))
        y = e / e.sum(axis, keepdims=True)
        rule = lambda g, y: y * (g - (g * y).sum(axis, keepdims=True))  # noqa: E731
        return _unary(self, "softmax", y, rule)

    def reshape(self, *shape):
        before = self.shape
        return _unary(self, "reshape", self.data.reshape(shape), lambda g, y: g.reshape(before))

    def transpose(self, *axes):
        axes = axes or tuple(range(self.data.ndim))[::-1]
        back = tuple(axes.index(i) for i in range(len(axes)))
        y = self.data.transpose(axes)
        return _unary(self, "transpose", y, lambda g, y: g.transpose(back))


def _unary(x, op, data, rule):
    out = Tensor(data, _children=(x,), _op=op)

    def add():
        x.grad[...] += rule(out.grad, out.data)

    out._backward = add
    return out


def _binary(a, b, op, data, rule):
    out = Tensor(data, _children=(a, b), _op=op)

    def add():
        da, db = rule(out.grad)
        a.grad[...] += unbroadcast(da, a.shape)
        b.grad[...] += unbroadcast(db, b.shape)

    out._backward = add
    return out


def _restored(g, axis, keepdims):
    return g if keepdims or axis is None else np.expand_dims(g, axis)


def _as_tensor(x):
    return x if isinstance(x, Tensor) else Tensor(x)


def unbroadcast(grad, shape):
    while grad.ndim > len(shape):
        grad = grad.sum(0)
    ones = tuple(axis for axis, n in enumerate(shape) if n == 1)
    return grad.sum(ones, keepdims=True)


def _topological_order(root):
    """Push each tensor again when it is met, and list it when it is met for the second time."""
    order, met, listed, stack = [], set(), set(), [root]
    while stack:
        node = stack.pop()
        key = id(node)
        if key not in met:
            met.add(key)
            stack.append(node)
            stack.extend(parent for parent in node._prev if id(parent) not in met)
        elif key not in listed:
            listed.add(key)
            order.append(node)
    return order


def cross_entropy(logits, y):
    n, classes = logits.shape
    picked = logits.log_softmax(axis=1) * np.eye(classes)[np.asarray(y)]
    return picked.sum() * (-1.0 / n)
