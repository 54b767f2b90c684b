"""A lab01 engine that uses einsum, fuses what can be fused, and orders nodes by their age."""

import heapq
import itertools

import numpy as np

_AGE = itertools.count()


def unbroadcast(grad, shape):
    lead = grad.ndim - len(shape)
    letters = "abcdefgh"[: grad.ndim]
    kept = "".join(c for c, n in zip(letters[lead:], shape, strict=True) if n != 1)
    return np.einsum(f"{letters}->{kept}", grad).reshape(shape)


class Tensor:
    __array_priority__ = 1000
    __array_ufunc__ = None

    def __init__(self, data, requires_grad=False, _parents=(), _op=""):
        self.data = np.asarray(data, dtype="float64")
        self.requires_grad = requires_grad
        self.grad = None
        self._parents, self._op, self._vjp = tuple(_parents), _op, None
        self._age = next(_AGE)

    @staticmethod
    def lift(x):
        return x if isinstance(x, Tensor) else Tensor(np.asarray(x, dtype="float64"))

    @staticmethod
    def _make(data, parents, vjp, op):
        requires_grad = any(p.requires_grad for p in parents)
        out = Tensor(data, requires_grad, parents if requires_grad else (), op)
        out._vjp = vjp if requires_grad else None
        return out

    @property
    def shape(self):
        return self.data.shape

    @property
    def ndim(self):
        return self.data.ndim

    T = property(lambda self: self.transpose())

    def backward(self, grad=None):
        """A result is younger than its parents, so the youngest is always ready."""
        if grad is None and self.data.size != 1:
            raise RuntimeError("backward needs a gradient of the root's shape")
        waiting = {self._age: self}
        flows = {self._age: np.full(self.shape, 1.0) if grad is None else np.array(grad, float)}
        ages = [-self._age]
        while ages:
            age = -heapq.heappop(ages)
            node, flow = waiting.pop(age), flows.pop(age)
            node.grad = (0 if node.grad is None else node.grad) + flow
            node.grad = np.asarray(node.grad)
            for parent, part in zip(
                node._parents, node._vjp(flow) if node._vjp else (), strict=True
            ):
                if part is None or not parent.requires_grad:
                    continue
                if parent._age not in waiting:
                    waiting[parent._age] = parent
                    flows[parent._age] = part
                    heapq.heappush(ages, -parent._age)
                else:
                    flows[parent._age] = flows[parent._age] + part

    def __add__(self, other):
        other = Tensor.lift(other)
        shapes = self.shape, other.shape
        return Tensor._make(
            np.add(self.data, other.data),
            (self, other),
            lambda g: tuple(unbroadcast(g, shape) for shape in shapes),
            "add",
        )

    def __mul__(self, other):
        other = Tensor.lift(other)
        a, b = self.data, other.data
        return Tensor._make(
            np.multiply(a, b),
            (self, other),
            lambda g: (unbroadcast(b * g, a.shape), unbroadcast(a * g, b.shape)),
            "mul",
        )

    def __truediv__(self, other):
        other = Tensor.lift(other)
        a, b = self.data, other.data

        def vjp(g):
            left = unbroadcast(g * b**-1.0, a.shape)
            right = unbroadcast(-a * g * b**-2.0, b.shape)
            return left, right

        return Tensor._make(a / b, (self, other), vjp, "div")

    def __pow__(self, exponent):
        def vjp(g):
            return (exponent * self.data ** (exponent - 1) * g,)

        return Tensor._make(self.data**exponent, (self,), vjp, "pow")

    def __matmul__(self, other):
        other = Tensor.lift(other)
        a, b = self.data, other.data

        def vjp(g):
            da = np.einsum("...ij,...kj->...ik", g, b)
            db = np.einsum("...ji,...jk->...ik", a, g)
            return unbroadcast(da, a.shape), unbroadcast(db, b.shape)

        return Tensor._make(np.einsum("...ij,...jk->...ik", a, b), (self, other), vjp, "matmul")

    def __neg__(self):
        return Tensor._make(-self.data, (self,), lambda g: (-g,), "neg")

    def __sub__(self, other):
        other = Tensor.lift(other)
        return Tensor._make(
            self.data - other.data,
            (self, other),
            lambda g: (unbroadcast(g, self.shape), unbroadcast(-g, other.shape)),
            "sub",
        )

    def __radd__(self, other):
        return self + other

    def __rmul__(self, other):
        return self * other

    def __rsub__(self, other):
        return Tensor.lift(other) - self

    def __rtruediv__(self, other):
        return Tensor.lift(other) / self

    def exp(self):
        y = np.exp(self.data)
        return Tensor._make(y, (self,), lambda g: (np.multiply(g, y),), "exp")

    def log(self):
        x = self.data
        return Tensor._make(np.log(x), (self,), lambda g: (g * x**-1.0,), "log")

    def relu(self):
        x = self.data
        return Tensor._make(
            np.clip(x, 0.0, None), (self,), lambda g: (g * np.heaviside(x, 0.0),), "relu"
        )

    def tanh(self):
        y = np.tanh(self.data)
        return Tensor._make(y, (self,), lambda g: (g - g * np.square(y),), "tanh")

    def sum(self, axis=None, keepdims=False):
        axes = range(self.ndim) if axis is None else np.atleast_1d(axis)
        axes = {int(i) % self.ndim for i in axes}
        kept = tuple(1 if i in axes else n for i, n in enumerate(self.shape))

        def vjp(g):
            return (
                np.tile(g.reshape(kept), [n if i in axes else 1 for i, n in enumerate(self.shape)]),
            )

        return Tensor._make(self.data.sum(tuple(axes), keepdims=keepdims), (self,), vjp, "sum")

    def mean(self, axis=None, keepdims=False):
        y = self.data.mean(axis=axis, keepdims=keepdims)
        return self.sum(axis, keepdims) * (y.size / self.data.size)

    def reshape(self, *shape):
        return Tensor._make(
            self.data.reshape(*shape), (self,), lambda g: (g.reshape(self.data.shape),), "reshape"
        )

    def transpose(self, *axes):
        axes = tuple(axes) if axes else tuple(range(self.ndim))[::-1]
        return Tensor._make(
            self.data.transpose(axes),
            (self,),
            lambda g: (np.moveaxis(g, range(self.ndim), axes),),
            "transpose",
        )

    def __getitem__(self, index):
        def vjp(g):
            full = np.zeros(self.shape)
            np.add.at(full, index, g)
            return (full,)

        return Tensor._make(self.data[index], (self,), vjp, "getitem")

    def logsumexp(self, axis=-1, keepdims=False):
        kept = np.logaddexp.reduce(self.data, axis=axis, keepdims=True)
        y = kept if keepdims else kept.squeeze(axis=axis)

        def vjp(g):
            return (np.exp(self.data - kept) * g.reshape(kept.shape),)

        return Tensor._make(y, (self,), vjp, "logsumexp")


def log_softmax(x, axis=-1):
    x = Tensor.lift(x)
    y = x.data - np.logaddexp.reduce(x.data, axis=axis, keepdims=True)

    def vjp(g):
        return (g - np.exp(y) * g.sum(axis=axis, keepdims=True),)

    return Tensor._make(y, (x,), vjp, "log_softmax")


def cross_entropy(logits, targets):
    n = len(targets)
    logp = logits.data - np.logaddexp.reduce(logits.data, axis=1, keepdims=True)
    loss = -logp[np.arange(n), targets].sum() / n

    def vjp(g):
        delta = np.exp(logp)
        delta[np.arange(n), targets] -= 1.0
        return (delta * g / n,)

    return Tensor._make(loss, (logits,), vjp, "cross_entropy")


def numerical_gradient(f, x, eps=1e-6):
    grad = np.empty(x.shape)
    for index, here in np.ndenumerate(x.copy()):
        ends = []
        for step in (eps, -eps):
            x[index] = here + step
            ends.append(float(f(x)))
        x[index] = here
        grad[index] = (ends[0] - ends[1]) / (eps + eps)
    return grad


def sgd_step(params, lr):
    for p in params:
        p.data, p.grad = np.subtract(p.data, np.multiply(lr, p.grad)), None


def make_spirals(n_per_class=100, n_classes=3, noise=0.2, seed=0):
    rng = np.random.default_rng(seed)
    y = np.arange(n_classes).repeat(n_per_class)
    r = np.linspace(0.0, 1.0, n_per_class)[np.arange(y.size) % n_per_class]
    turn = 2j * np.pi * y / n_classes + 4j * r + 1j * rng.normal(0.0, noise, y.size)
    z = r * np.exp(turn)
    return np.stack([z.real, z.imag], axis=-1), y


def train_spirals(steps=600, lr=0.5, seed=0):
    x, y = make_spirals(seed=seed)
    rng = np.random.default_rng(seed)
    layers = []
    for n, m in itertools.pairwise([2, 64, 64, 3]):
        bound = (6.0 / n) ** 0.5
        layers.append((Tensor(rng.uniform(-bound, bound, (n, m)), True), Tensor(np.zeros(m), True)))

    def model():
        (w0, b0), (w1, b1), (w2, b2) = layers
        return ((Tensor(x) @ w0 + b0).relu() @ w1 + b1).relu() @ w2 + b2

    for _ in range(steps):
        cross_entropy(model(), y).backward()
        sgd_step([p for layer in layers for p in layer], lr)
    logits = model()
    return float(cross_entropy(logits, y).data), float(np.mean(logits.data.argmax(1) == y))
