"""A retype engine of einsum and rebinding: no gradient is ever changed in place."""

import numpy as np


def unbroadcast(grad, shape):
    lead = grad.ndim - len(shape)
    letters = "abcdefgh"[: grad.ndim]
    kept = "".join(c for c, n in zip(letters[lead:], shape, strict=True) if n != 1)
    return np.einsum(f"{letters}->{kept}", grad).reshape(shape)


def _as_tensor(x):
    if isinstance(x, Tensor):
        return x
    return Tensor(x)


def _topological_order(root):
    """Count the consumers of each tensor, then take away what has none left."""
    consumers, waiting = {id(root): 0}, [root]
    while waiting:
        for parent in waiting.pop()._prev:
            if id(parent) not in consumers:
                consumers[id(parent)] = 0
                waiting.append(parent)
            consumers[id(parent)] += 1
    order, ready = [], [root]
    while ready:
        node = ready.pop()
        order.append(node)
        for parent in node._prev:
            consumers[id(parent)] -= 1
            if consumers[id(parent)] == 0:
                ready.append(parent)
    order.reverse()
    return order


def _give(tensor, gradient):
    tensor.grad = np.asarray(tensor.grad + gradient)


class Tensor:
    __array_priority__ = 1000
    __array_ufunc__ = None

    def __init__(self, data, requires_grad=False, _children=(), _op=""):
        self.data = np.array(data, dtype="float64")
        self.requires_grad = requires_grad
        self._prev, self._op = tuple(_children), _op
        self._backward = _nothing
        self.zero_grad()

    @property
    def shape(self):
        return self.data.shape

    def zero_grad(self):
        self.grad = np.zeros_like(self.data)

    def __repr__(self):
        return f"Tensor({self.data})"

    def backward(self):
        assert self.data.size == 1, "backward starts from one number"
        self.grad = self.grad + 1
        for node in _topological_order(self)[::-1]:
            node._backward()

    def _made(self, data, parents, op, rules):
        """Make a result whose closure gives each parent what its rule says."""
        out = Tensor(data, _children=parents, _op=op)

        def run():
            for parent, rule in zip(parents, rules, strict=True):
                _give(parent, rule(out.grad))

        out._backward = run
        return out

    def __add__(self, other):
        other = _as_tensor(other)
        a, b = self.shape, other.shape
        rules = (lambda g: unbroadcast(g, a), lambda g: unbroadcast(g, b))
        return self._made(np.add(self.data, other.data), (self, other), "+", rules)

    def __mul__(self, other):
        other = _as_tensor(other)
        a, b = self.data, other.data
        rules = (
            lambda g: unbroadcast(b * g, a.shape),
            lambda g: unbroadcast(a * g, b.shape),
        )
        return self._made(np.multiply(a, b), (self, other), "*", rules)

    def __pow__(self, exponent):
        x = self.data
        rule = lambda g: exponent * np.power(x, exponent - 1) * g  # noqa: E731
        return self._made(np.power(x, exponent), (self,), "**", (rule,))

    def __matmul__(self, other):
        other = _as_tensor(other)
        a, b = self.data, other.data
        rules = (
            lambda g: unbroadcast(np.einsum("...ij,...kj->...ik", g, b), a.shape),
            lambda g: unbroadcast(np.einsum("...ji,...jk->...ik", a, g), b.shape),
        )
        out = np.einsum("...ij,...jk->...ik", a, b)
        return self._made(out, (self, other), "@", rules)

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + -_as_tensor(other)

    def __truediv__(self, other):
        return self * _as_tensor(other) ** -1.0

    def __radd__(self, other):
        return self + other

    def __rmul__(self, other):
        return self * other

    def __rsub__(self, other):
        return -self + other

    def __rtruediv__(self, other):
        return self**-1.0 * other

    def sum(self, axis=None, keepdims=False):
        kept = self.data.sum(axis=axis, keepdims=True).shape
        out = self.data.sum(axis=axis, keepdims=keepdims)
        rule = lambda g: np.broadcast_to(g.reshape(kept), self.shape)  # noqa: E731
        return self._made(out, (self,), "sum", (rule,))

    def mean(self, axis=None, keepdims=False):
        total = self.sum(axis=axis, keepdims=keepdims)
        return total * (total.data.size / self.data.size)

    def exp(self):
        y = np.exp(self.data)
        return self._made(y, (self,), "exp", (lambda g: y * g,))

    def log(self):
        x = self.data
        return self._made(np.log(x), (self,), "log", (lambda g: np.reciprocal(x) * g,))

    def relu(self):
        x = self.data
        return self._made(x.clip(min=0), (self,), "relu", (lambda g: np.heaviside(x, 0) * g,))

    def sigmoid(self):
        y = 1 / (1 + np.exp(-self.data))
        return self._made(y, (self,), "sigmoid", (lambda g: (y - y * y) * g,))

    def tanh(self):
        y = np.tanh(self.data)
        return self._made(y, (self,), "tanh", (lambda g: g - y * y * g,))

    def log_softmax(self, axis=-1):
        y = self.data - np.logaddexp.reduce(self.data, axis=axis, keepdims=True)
        rule = lambda g: g - np.exp(y) * g.sum(axis=axis, keepdims=True)  # noqa: E731
        return self._made(y, (self,), "log_softmax", (rule,))

    def softmax(self, axis=-1):
        y = np.exp(self.data - np.logaddexp.reduce(self.data, axis=axis, keepdims=True))

        def rule(g):
            weighted = y * g
            return weighted - y * weighted.sum(axis=axis, keepdims=True)

        return self._made(y, (self,), "softmax", (rule,))

    def reshape(self, *shape):
        rule = lambda g: np.reshape(g, self.shape)  # noqa: E731
        return self._made(self.data.reshape(*shape), (self,), "reshape", (rule,))

    def transpose(self, *axes):
        order = axes or tuple(reversed(range(self.data.ndim)))
        rule = lambda g: np.moveaxis(g, range(g.ndim), order)  # noqa: E731
        return self._made(self.data.transpose(order), (self,), "transpose", (rule,))

    T = property(lambda self: self.transpose())


def _nothing():
    pass


def cross_entropy(logits, y):
    n, classes = logits.shape
    onehot = (np.asarray(y)[:, None] == np.arange(classes)).astype(float)
    return -(logits.log_softmax() * onehot).sum() / n
