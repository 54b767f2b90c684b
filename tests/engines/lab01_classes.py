"""A lab01 engine with a class per operation, and a backward that counts consumers."""

from collections import Counter
from itertools import pairwise

import numpy as np


def unbroadcast(grad, shape):
    extra = grad.ndim - len(shape)
    padded = (1,) * extra + tuple(shape)
    axes = tuple(i for i, (n, m) in enumerate(zip(grad.shape, padded, strict=True)) if n != m)
    return grad.sum(axis=axes, keepdims=True).reshape(shape)


class Op:
    """One application of an operation: it remembers what its gradient needs."""

    def __call__(self, *tensors):
        self.shapes = [t.shape for t in tensors]
        value = self.forward(*[t.data for t in tensors])
        return Tensor._make(value, tensors, self.vjp, type(self).__name__)

    def vjp(self, g):
        grads = self.backward(g)
        return grads if isinstance(grads, tuple) else (grads,)


class Binary(Op):
    def vjp(self, g):
        da, db = self.backward(g)
        return unbroadcast(da, self.shapes[0]), unbroadcast(db, self.shapes[1])


class Add(Binary):
    def forward(self, a, b):
        return a + b

    def backward(self, g):
        return g, g


class Mul(Binary):
    def forward(self, a, b):
        self.a, self.b = a, b
        return a * b

    def backward(self, g):
        return self.b * g, self.a * g


class Div(Binary):
    def forward(self, a, b):
        self.b = b
        self.y = a / b
        return self.y

    def backward(self, g):
        return g / self.b, -(self.y / self.b) * g


class MatMul(Binary):
    def forward(self, a, b):
        self.a, self.b = a, b
        return np.matmul(a, b)

    def backward(self, g):
        return np.matmul(g, _flip(self.b)), np.matmul(_flip(self.a), g)


class Pow(Op):
    def __init__(self, p):
        self.p = p

    def forward(self, x):
        self.x = x
        return np.power(x, self.p)

    def backward(self, g):
        return g * self.p * np.power(self.x, self.p - 1.0)


class Exp(Op):
    def forward(self, x):
        self.y = np.exp(x)
        return self.y

    def backward(self, g):
        return self.y * g


class Log(Op):
    def forward(self, x):
        self.x = x
        return np.log(x)

    def backward(self, g):
        return np.reciprocal(self.x) * g


class Relu(Op):
    def forward(self, x):
        self.y = x * (x > 0)
        return self.y

    def backward(self, g):
        return np.where(self.y > 0, g, 0.0)


class Tanh(Op):
    def forward(self, x):
        self.x = x
        return np.tanh(x)

    def backward(self, g):
        return g / np.cosh(self.x) ** 2


class Sum(Op):
    def __init__(self, axis, keepdims):
        self.axis, self.keepdims = axis, keepdims

    def forward(self, x):
        self.kept = np.sum(x, axis=self.axis, keepdims=True).shape
        return np.sum(x, axis=self.axis, keepdims=self.keepdims)

    def backward(self, g):
        return np.broadcast_to(g.reshape(self.kept), self.shapes[0]).copy()


class Reshape(Op):
    def __init__(self, shape):
        self.shape = shape

    def forward(self, x):
        return np.reshape(x, self.shape)

    def backward(self, g):
        return np.reshape(g, self.shapes[0])


class Transpose(Op):
    def __init__(self, axes):
        self.axes = axes

    def forward(self, x):
        return np.transpose(x, self.axes)

    def backward(self, g):
        return np.transpose(g, None if self.axes is None else np.argsort(self.axes))


class Index(Op):
    def __init__(self, index):
        self.index = index

    def forward(self, x):
        return x[self.index]

    def backward(self, g):
        size = int(np.prod(self.shapes[0]))
        places = np.arange(size).reshape(self.shapes[0])[self.index]
        counts = np.bincount(np.ravel(places), weights=np.ravel(g), minlength=size)
        return counts.reshape(self.shapes[0])


class LogSumExp(Op):
    def __init__(self, axis, keepdims):
        self.axis, self.keepdims = axis, keepdims

    def forward(self, x):
        top = x.max(axis=self.axis, keepdims=True)
        kept = np.log(np.sum(np.exp(x - top), axis=self.axis, keepdims=True)) + top
        self.softmax = np.exp(x - kept)
        self.kept = kept.shape
        return kept if self.keepdims else kept.squeeze(self.axis)

    def backward(self, g):
        return self.softmax * g.reshape(self.kept)


def _flip(x):
    return np.moveaxis(x, -1, -2)


class Tensor:
    __array_ufunc__ = None

    def __init__(self, data, requires_grad=False, _parents=(), _op=""):
        self.data = np.asarray(data, dtype=float)
        self.requires_grad = bool(requires_grad)
        self.grad = None
        self._parents = _parents
        self._op = _op
        self._vjp = None

    @classmethod
    def lift(cls, x):
        return x if isinstance(x, cls) else cls(x)

    @staticmethod
    def _make(data, parents, vjp, op):
        if not any(p.requires_grad for p in parents):
            return Tensor(data)
        out = Tensor(data, True, tuple(parents), op)
        out._vjp = vjp
        return out

    shape = property(lambda self: self.data.shape)
    ndim = property(lambda self: self.data.ndim)
    T = property(lambda self: self.transpose())

    def backward(self, grad=None):
        if grad is None:
            if self.data.size != 1:
                raise RuntimeError("only a scalar has a gradient of its own")
            grad = 1.0
        consumers = Counter()
        for node in _topological_order(self):
            consumers.update(id(p) for p in node._parents)
        arrived = {id(self): np.ones(self.shape) * grad}
        ready = [self]
        while ready:
            node = ready.pop()
            g = arrived.pop(id(node), None)
            parts = [None] * len(node._parents)
            if g is not None:
                node.grad = g.copy() if node.grad is None else node.grad + g
                parts = node._vjp(g) if node._vjp else parts
            for parent, part in zip(node._parents, parts, strict=True):
                consumers[id(parent)] -= 1
                if part is not None and parent.requires_grad:
                    arrived[id(parent)] = arrived.get(id(parent), 0.0) + part
                if consumers[id(parent)] == 0:
                    ready.append(parent)

    def __add__(self, other):
        return Add()(self, Tensor.lift(other))

    def __mul__(self, other):
        return Mul()(self, Tensor.lift(other))

    def __truediv__(self, other):
        return Div()(self, Tensor.lift(other))

    def __matmul__(self, other):
        return MatMul()(self, Tensor.lift(other))

    def __pow__(self, exponent):
        return Pow(exponent)(self)

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + Tensor.lift(other) * -1

    def __radd__(self, other):
        return self + other

    def __rmul__(self, other):
        return self * other

    def __rsub__(self, other):
        return Tensor.lift(other) - self

    def __rtruediv__(self, other):
        return Tensor.lift(other) / self

    def exp(self):
        return Exp()(self)

    def log(self):
        return Log()(self)

    def relu(self):
        return Relu()(self)

    def tanh(self):
        return Tanh()(self)

    def sum(self, axis=None, keepdims=False):
        return Sum(axis, keepdims)(self)

    def mean(self, axis=None, keepdims=False):
        total = self.sum(axis, keepdims)
        return total / (self.data.size / total.data.size)

    def reshape(self, *shape):
        return Reshape(shape)(self)

    def transpose(self, *axes):
        return Transpose(axes or None)(self)

    def __getitem__(self, index):
        return Index(index)(self)

    def logsumexp(self, axis=-1, keepdims=False):
        return LogSumExp(axis, keepdims)(self)


def _topological_order(root):
    done, order, todo = set(), [], [root]
    while todo:
        node = todo[-1]
        fresh = [p for p in node._parents if id(p) not in done]
        if fresh:
            todo.extend(fresh)
            continue
        todo.pop()
        if id(node) not in done:
            done.add(id(node))
            order.append(node)
    return order


def log_softmax(x, axis=-1):
    x = Tensor.lift(x)
    z = x - x.data.max(axis=axis, keepdims=True)
    return z - z.exp().sum(axis=axis, keepdims=True).log()


def cross_entropy(logits, targets):
    n = logits.shape[0]
    return log_softmax(logits)[np.arange(n), np.asarray(targets)].sum() * (-1.0 / n)


def numerical_gradient(f, x, eps=1e-6):
    grad = np.zeros(x.shape)
    flat, out = x.reshape(-1), grad.reshape(-1)
    for i in range(flat.size):
        keep = flat[i]
        flat[i] = keep + eps
        high = float(f(x))
        flat[i] = keep - eps
        low = float(f(x))
        flat[i] = keep
        out[i] = 0.5 * (high - low) / eps
    return grad


def sgd_step(params, lr):
    for p in list(params):
        if p.grad is None:
            continue
        p.data = p.data - p.grad * lr
        p.grad = None


def make_spirals(n_per_class=100, n_classes=3, noise=0.2, seed=0):
    rng = np.random.default_rng(seed)
    label = np.arange(n_classes).repeat(n_per_class)
    r = np.tile(np.linspace(0, 1, n_per_class), n_classes)
    t = 4.0 * r + 2.0 * np.pi * label / n_classes + noise * rng.standard_normal(label.size)
    return np.c_[r * np.cos(t), r * np.sin(t)], label


def train_spirals(steps=600, lr=0.5, seed=0):
    x, y = make_spirals(seed=seed)
    rng = np.random.default_rng(seed)
    sizes = [2, 64, 64, 3]
    params = []
    for n, m in pairwise(sizes):
        params.append(Tensor(rng.uniform(-1, 1, (n, m)) * np.sqrt(6 / n), requires_grad=True))
        params.append(Tensor(np.zeros(m), requires_grad=True))

    def model():
        h = Tensor(x)
        for w, b in zip(params[:-2:2], params[1:-2:2], strict=True):
            h = (h @ w + b).relu()
        return h @ params[-2] + params[-1]

    for _ in range(steps):
        cross_entropy(model(), y).backward()
        sgd_step(params, lr)
    logits = model()
    return cross_entropy(logits, y).data.item(), np.mean(logits.data.argmax(axis=1) == y)
