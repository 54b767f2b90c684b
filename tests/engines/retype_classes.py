"""A retype engine with a class for each operation; a gradient takes memory when it is asked for."""

import numpy as np


class Tensor:
    __array_ufunc__ = None

    def __init__(self, data, requires_grad=False, _children=(), _op=""):
        self.data = np.asarray(data).astype(np.float64)
        self.requires_grad = requires_grad
        self._grad = None
        self._prev = tuple(_children)
        self._op = _op
        self._rule = None

    @property
    def grad(self):
        if self._grad is None:
            self._grad = np.zeros(self.data.shape, dtype=np.float64)
        return self._grad

    @grad.setter
    def grad(self, value):
        self._grad = value

    @property
    def shape(self):
        return np.shape(self.data)

    @property
    def _backward(self):
        return self._noted if "_noted" in self.__dict__ else self._pass_on

    @_backward.setter
    def _backward(self, function):
        self._noted = function

    def _pass_on(self):
        if self._rule is None:
            return
        for parent, part in zip(self._prev, self._rule.backward(self.grad), strict=True):
            parent._receive(part)

    def _receive(self, part):
        self.grad = part.copy() if self._grad is None else self._grad + part

    def zero_grad(self):
        self.grad = np.zeros(self.shape)

    def backward(self):
        if self.data.size != 1:
            raise AssertionError("a loss is one number")
        self._receive(np.ones(self.shape))
        for node in reversed(_topological_order(self)):
            node._backward()

    def __add__(self, other):
        return Add()(self, other)

    def __mul__(self, other):
        return Multiply()(self, other)

    def __pow__(self, exponent):
        return Power(exponent)(self)

    def __matmul__(self, other):
        return Product()(self, other)

    def __neg__(self):
        return self * -1.0

    def __sub__(self, other):
        return self + (-_as_tensor(other))

    def __truediv__(self, other):
        return self * (_as_tensor(other) ** -1)

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other):
        return _as_tensor(other) - self

    def __rtruediv__(self, other):
        return _as_tensor(other) / self

    def sum(self, axis=None, keepdims=False):
        return Sum(axis, keepdims)(self)

    def mean(self, axis=None, keepdims=False):
        return Mean(axis, keepdims)(self)

    def exp(self):
        return Exp()(self)

    def log(self):
        return Log()(self)

    def relu(self):
        return Relu()(self)

    def sigmoid(self):
        return Sigmoid()(self)

    def tanh(self):
        return Tanh()(self)

    def log_softmax(self, axis=-1):
        return LogSoftmax(axis)(self)

    def softmax(self, axis=-1):
        return Softmax(axis)(self)

    def reshape(self, *shape):
        return Reshape(*shape)(self)

    def transpose(self, *axes):
        return Transpose(*axes)(self)

    T = property(transpose)


def _as_tensor(x):
    return Tensor(x) if not isinstance(x, Tensor) else x


def _topological_order(root):
    """Walk depth first with an iterator over the parents of each tensor on the way."""
    order, seen, path = [], {id(root)}, [(root, iter(root._prev))]
    while path:
        node, parents = path[-1]
        for parent in parents:
            if id(parent) not in seen:
                seen.add(id(parent))
                path.append((parent, iter(parent._prev)))
                break
        else:
            order.append(node)
            path.pop()
    return order


def unbroadcast(grad, shape):
    for _ in range(grad.ndim - len(shape)):
        grad = grad.sum(axis=0)
    for axis in range(len(shape)):
        if shape[axis] == 1 and grad.shape[axis] != 1:
            grad = grad.sum(axis=axis, keepdims=True)
    return grad


class Operation:
    def __call__(self, *operands):
        operands = [_as_tensor(one) for one in operands]
        self.shapes = [one.shape for one in operands]
        arrays = [one.data for one in operands]
        out = Tensor(self.forward(*arrays), _children=operands, _op=type(self).__name__)
        out._rule = self
        return out


class Add(Operation):
    def forward(self, a, b):
        return a + b

    def backward(self, g):
        return [unbroadcast(g, shape) for shape in self.shapes]


class Multiply(Operation):
    def forward(self, a, b):
        self.a, self.b = a, b
        return a * b

    def backward(self, g):
        da = unbroadcast(self.b * g, self.shapes[0])
        db = unbroadcast(self.a * g, self.shapes[1])
        return da, db


class Power(Operation):
    def __init__(self, p):
        self.p = p

    def forward(self, x):
        self.x = x
        return x**self.p

    def backward(self, g):
        return (self.p * g * self.x ** (self.p - 1),)


class Product(Operation):
    def forward(self, a, b):
        self.a, self.b = a, b
        return np.matmul(a, b)

    def backward(self, g):
        da = np.matmul(g, turned(self.b))
        db = np.matmul(turned(self.a), g)
        return unbroadcast(da, self.shapes[0]), unbroadcast(db, self.shapes[1])


def turned(x):
    return np.swapaxes(x, -2, -1)


class Reduction(Operation):
    def __init__(self, axis, keepdims):
        self.axis, self.keepdims = axis, keepdims

    def spread(self, g):
        if self.axis is not None and not self.keepdims:
            g = np.expand_dims(g, self.axis)
        return np.broadcast_to(g, self.shapes[0])


class Sum(Reduction):
    def forward(self, x):
        return np.sum(x, axis=self.axis, keepdims=self.keepdims)

    def backward(self, g):
        return (self.spread(g),)


class Mean(Reduction):
    def forward(self, x):
        y = np.mean(x, axis=self.axis, keepdims=self.keepdims)
        self.share = y.size / x.size
        return y

    def backward(self, g):
        return (self.share * self.spread(g),)


class Exp(Operation):
    def forward(self, x):
        self.y = np.exp(x)
        return self.y

    def backward(self, g):
        return (self.y * g,)


class Log(Operation):
    def forward(self, x):
        self.x = x
        return np.log(x)

    def backward(self, g):
        return (g / self.x,)


class Relu(Operation):
    def forward(self, x):
        self.on = x > 0
        return np.where(self.on, x, 0.0)

    def backward(self, g):
        return (np.where(self.on, g, 0.0),)


class Sigmoid(Operation):
    def forward(self, x):
        self.y = 0.5 * (np.tanh(0.5 * x) + 1.0)
        return self.y

    def backward(self, g):
        return (g * self.y * (1 - self.y),)


class Tanh(Operation):
    def forward(self, x):
        self.x = x
        return np.tanh(x)

    def backward(self, g):
        return (g / np.cosh(self.x) ** 2,)


class AlongAxis(Operation):
    def __init__(self, axis):
        self.axis = axis

    def total(self, x):
        return np.sum(x, axis=self.axis, keepdims=True)

    def normalised(self, x):
        e = np.exp(x - np.max(x, axis=self.axis, keepdims=True))
        return e / self.total(e)


class LogSoftmax(AlongAxis):
    def forward(self, x):
        self.p = self.normalised(x)
        top = np.max(x, axis=self.axis, keepdims=True)
        return x - top - np.log(self.total(np.exp(x - top)))

    def backward(self, g):
        return (g - self.p * self.total(g),)


class Softmax(AlongAxis):
    def forward(self, x):
        self.p = self.normalised(x)
        return self.p

    def backward(self, g):
        return (self.p * (g - self.total(g * self.p)),)


class Reshape(Operation):
    def __init__(self, *shape):
        self.shape = shape

    def forward(self, x):
        return np.reshape(x, self.shape)

    def backward(self, g):
        return (np.reshape(g, self.shapes[0]),)


class Transpose(Operation):
    def __init__(self, *axes):
        self.axes = axes or None

    def forward(self, x):
        return np.transpose(x, self.axes)

    def backward(self, g):
        return (np.transpose(g, None if self.axes is None else np.argsort(self.axes)),)


def cross_entropy(logits, y):
    chosen = np.zeros(logits.shape)
    chosen[np.arange(len(chosen)), np.asarray(y)] = 1.0
    return -(logits.log_softmax() * chosen).sum(axis=1).mean()
