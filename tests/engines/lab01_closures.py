"""A lab01 engine as people write it by hand: closures, loops, operations made of others."""

from itertools import pairwise

import numpy as np


def unbroadcast(grad, shape):
    while grad.ndim > len(shape):
        grad = grad.sum(axis=0)
    for axis, size in enumerate(shape):
        if size == 1 and grad.shape[axis] != 1:
            grad = grad.sum(axis=axis, keepdims=True)
    return grad


class Tensor:
    __array_ufunc__ = None

    def __init__(self, data, requires_grad=False, _parents=(), _op=""):
        self.data = np.array(data, dtype=np.float64)
        self.requires_grad = requires_grad
        self.grad = None
        self._parents = tuple(_parents)
        self._op = _op
        self._vjp = None

    @staticmethod
    def lift(x):
        if isinstance(x, Tensor):
            return x
        return Tensor(x)

    @staticmethod
    def _make(data, parents, vjp, op):
        needed = any(p.requires_grad for p in parents)
        out = Tensor(data, requires_grad=needed, _parents=parents if needed else (), _op=op)
        if needed:
            out._vjp = vjp
        return out

    @property
    def shape(self):
        return self.data.shape

    @property
    def ndim(self):
        return len(self.data.shape)

    T = property(lambda self: self.transpose())

    def __repr__(self):
        return f"Tensor({self.data!r}, requires_grad={self.requires_grad})"

    def backward(self, grad=None):
        if grad is None and self.data.size > 1:
            raise RuntimeError("grad is needed for a tensor that is no scalar")
        seed = np.ones(self.shape) if grad is None else np.array(grad, dtype=np.float64)
        grads = {id(self): seed}
        for node in reversed(_topological_order(self)):
            if id(node) not in grads or not node.requires_grad:
                continue
            g = grads[id(node)]
            if node.grad is None:
                node.grad = np.zeros(node.shape)
            node.grad = node.grad + g
            if node._vjp is not None:
                for parent, part in zip(node._parents, node._vjp(g), strict=True):
                    if parent.requires_grad and part is not None:
                        if id(parent) in grads:
                            grads[id(parent)] = grads[id(parent)] + part
                        else:
                            grads[id(parent)] = part

    def __add__(self, other):
        other = Tensor.lift(other)

        def vjp(g):
            return unbroadcast(g, self.shape), unbroadcast(g, other.shape)

        return Tensor._make(self.data + other.data, (self, other), vjp, "+")

    def __mul__(self, other):
        other = Tensor.lift(other)

        def vjp(g):
            da = unbroadcast(g * other.data, self.shape)
            db = unbroadcast(g * self.data, other.shape)
            return da, db

        return Tensor._make(self.data * other.data, (self, other), vjp, "*")

    def __truediv__(self, other):
        other = Tensor.lift(other)

        def vjp(g):
            da = g / other.data
            db = -g * self.data / other.data**2
            return unbroadcast(da, self.shape), unbroadcast(db, other.shape)

        return Tensor._make(self.data / other.data, (self, other), vjp, "/")

    def __pow__(self, p):
        def vjp(g):
            return (g * p * self.data ** (p - 1),)

        return Tensor._make(self.data**p, (self,), vjp, "**")

    def __matmul__(self, other):
        other = Tensor.lift(other)

        def vjp(g):
            da = g @ np.swapaxes(other.data, -1, -2)
            db = np.swapaxes(self.data, -1, -2) @ g
            return unbroadcast(da, self.shape), unbroadcast(db, other.shape)

        return Tensor._make(self.data @ other.data, (self, other), vjp, "@")

    def __neg__(self):
        return self * -1.0

    def __sub__(self, other):
        return self + (-Tensor.lift(other))

    def __rsub__(self, other):
        return Tensor.lift(other) - self

    def __rtruediv__(self, other):
        return Tensor.lift(other) / self

    __radd__ = __add__
    __rmul__ = __mul__

    def exp(self):
        out = Tensor._make(np.exp(self.data), (self,), lambda g: (g * out.data,), "exp")
        return out

    def log(self):
        return Tensor._make(np.log(self.data), (self,), lambda g: (g / self.data,), "log")

    def relu(self):
        mask = self.data > 0
        return Tensor._make(np.where(mask, self.data, 0.0), (self,), lambda g: (g * mask,), "relu")

    def tanh(self):
        t = np.tanh(self.data)
        return Tensor._make(t, (self,), lambda g: ((1 - t**2) * g,), "tanh")

    def sum(self, axis=None, keepdims=False):
        def vjp(g):
            if axis is not None and not keepdims:
                g = np.expand_dims(g, axis)
            return (np.ones(self.shape) * g,)

        return Tensor._make(self.data.sum(axis=axis, keepdims=keepdims), (self,), vjp, "sum")

    def mean(self, axis=None, keepdims=False):
        total = self.sum(axis=axis, keepdims=keepdims)
        return total * (total.data.size / self.data.size)

    def reshape(self, *shape):
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
        old = self.shape
        return Tensor._make(self.data.reshape(shape), (self,), lambda g: (g.reshape(old),), "r")

    def transpose(self, *axes):
        axes = axes or tuple(reversed(range(self.ndim)))
        back = [axes.index(i) for i in range(len(axes))]
        return Tensor._make(
            np.transpose(self.data, axes), (self,), lambda g: (np.transpose(g, back),), "t"
        )

    def __getitem__(self, index):
        def vjp(g):
            full = np.zeros_like(self.data)
            np.add.at(full, index, g)
            return (full,)

        return Tensor._make(self.data[index], (self,), vjp, "[]")

    def logsumexp(self, axis=-1, keepdims=False):
        m = np.max(self.data, axis=axis, keepdims=True)
        out = (self - m).exp().sum(axis=axis, keepdims=True).log() + m
        return out if keepdims else out.reshape(*np.squeeze(out.data, axis).shape)


def _topological_order(root):
    order, visited, stack = [], set(), [root]
    while stack:
        node = stack[-1]
        visited.add(id(node))
        waiting = [p for p in node._parents if id(p) not in visited]
        if waiting:
            stack.append(waiting[0])
        else:
            stack.pop()
            order.append(node)
    return order


def log_softmax(x, axis=-1):
    return x - x.logsumexp(axis=axis, keepdims=True)


def cross_entropy(logits, targets):
    n, c = logits.shape
    onehot = np.zeros((n, c))
    onehot[np.arange(n), targets] = 1.0
    picked = (log_softmax(logits, axis=-1) * onehot).sum(axis=1)
    return -picked.mean()


def numerical_gradient(f, x, eps=1e-6):
    grad = np.zeros_like(x)
    it = np.nditer(x, flags=["multi_index"])
    while not it.finished:
        i = it.multi_index
        old = float(x[i])
        x[i] = old + eps
        plus = float(f(x))
        x[i] = old - eps
        minus = float(f(x))
        x[i] = old
        grad[i] = (plus - minus) / (2 * eps)
        it.iternext()
    return grad


def sgd_step(params, lr):
    for p in params:
        p.data = p.data - lr * p.grad
        p.grad = None


class Linear:
    def __init__(self, n_in, n_out, rng):
        limit = np.sqrt(6.0 / n_in)
        self.w = Tensor(rng.uniform(-limit, limit, size=(n_in, n_out)), requires_grad=True)
        self.b = Tensor(np.zeros(n_out), requires_grad=True)

    def __call__(self, x):
        return x @ self.w + self.b


class MLP:
    def __init__(self, sizes, rng):
        self.layers = [Linear(a, b, rng) for a, b in pairwise(sizes)]

    def __call__(self, x):
        x = Tensor.lift(x)
        for layer in self.layers[:-1]:
            x = layer(x).relu()
        return self.layers[-1](x)

    def parameters(self):
        return [p for layer in self.layers for p in (layer.w, layer.b)]


def make_spirals(n_per_class=100, n_classes=3, noise=0.2, seed=0):
    rng = np.random.default_rng(seed)
    xs, ys = [], []
    for k in range(n_classes):
        r = np.linspace(0.0, 1.0, n_per_class)
        t = 2 * np.pi * k / n_classes + 4 * r + rng.normal(0.0, noise, n_per_class)
        xs.append(np.stack([r * np.cos(t), r * np.sin(t)], axis=1))
        ys += [k] * n_per_class
    return np.concatenate(xs), np.array(ys)


def train_spirals(steps=600, lr=0.5, seed=0):
    x, y = make_spirals(seed=seed)
    model = MLP([2, 64, 64, 3], np.random.default_rng(seed))
    for _ in range(steps):
        cross_entropy(model(x), y).backward()
        sgd_step(model.parameters(), lr)
    logits = model(x)
    return float(cross_entropy(logits, y).data), float((logits.data.argmax(1) == y).mean())
