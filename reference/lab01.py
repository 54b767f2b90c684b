"""Reverse-mode automatic differentiation on NumPy arrays, and a small network trained with it.

A `Tensor` holds an array and remembers how it was computed: its parents, and a function called
the VJP (vector-Jacobian product). Given the gradient of the loss with respect to the tensor, the
VJP returns the gradient with respect to each parent. `Tensor.backward` calls the VJPs from the
loss back to the leaves and adds up what arrives at each tensor.

Two rules hold everywhere:

- A gradient has the shape of the array it belongs to.
- A VJP never changes the array it is given, and returns new arrays; it may also hand on the array
  it was given, or a view of it.

Throughout, `x`, `a`, `b` are the operands of an operation, `y` is its result, `L` is the loss,
`dx` means dL/dx, and the upstream `g` means dL/dy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Axis = int | tuple[int, ...] | None
Vjp = Callable[[Array], tuple[Array | None, ...]]


def unbroadcast(grad: Array, shape: tuple[int, ...]) -> Array:
    """Reduce the gradient of a broadcast result to the shape of one operand.

    Parameters
    ----------
    grad : array
        Gradient in the broadcast shape.
    shape : tuple of int
        Shape of the operand before broadcasting.

    Returns
    -------
    array of shape `shape`
        `grad` itself where nothing was broadcast.

    Derivation
    ----------
    Broadcasting copies: each entry of the operand x is read once for every entry of the result it
    was copied to. Copying is linear, y_j = x_i for all j in copies(i), so by the chain rule
    dx_i = sum of g_j over copies(i). The adjoint of copying is summing.

    Copies are made along two kinds of axes: new axes put in front, and axes where the operand has
    length 1. Sum over both; reshaping then restores the axes of length 1.
    """
    if grad.shape == shape:
        return grad
    prepended = grad.ndim - len(shape)
    stretched = [prepended + i for i, n in enumerate(shape) if n == 1]
    copied: Array = grad.sum(axis=(*range(prepended), *stretched))
    return copied.reshape(shape)


class Tensor:
    """An array of float64 that records the operations applied to it.

    Parameters
    ----------
    data : array_like
        Converted to float64. A float64 array is used as it is, and never written to.
    requires_grad : bool
        Whether `backward` should fill `grad`.

    Attributes
    ----------
    data : array
    requires_grad : bool
    grad : array of data's shape, or None until `backward` reaches the tensor
    """

    # Makes `array * tensor` call `Tensor.__rmul__` instead of looping over the array's entries.
    __array_ufunc__ = None

    def __init__(
        self,
        data: ArrayLike,
        requires_grad: bool = False,
        _parents: tuple[Tensor, ...] = (),
        _op: str = "",
    ) -> None:
        self.data: Array = np.asarray(data, dtype=np.float64)
        self.requires_grad = requires_grad
        self.grad: Array | None = None
        self._parents = _parents
        self._op = _op
        self._vjp: Vjp | None = None

    @staticmethod
    def lift(x: Tensor | ArrayLike) -> Tensor:
        """Return `x` if it is a Tensor, else a constant Tensor of it."""
        return x if isinstance(x, Tensor) else Tensor(x)

    @staticmethod
    def _make(data: ArrayLike, parents: tuple[Tensor, ...], vjp: Vjp, op: str) -> Tensor:
        """Return the result of an operation, recorded only if some parent requires a gradient."""
        for parent in parents:
            if parent.requires_grad:
                out = Tensor(data, True, parents, op)
                out._vjp = vjp
                return out
        return Tensor(data)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape

    @property
    def ndim(self) -> int:
        return self.data.ndim

    def __repr__(self) -> str:
        return f"Tensor({self.data!r}, requires_grad={self.requires_grad})"

    # ------------------------------------------------------------------ backward

    def backward(self, grad: Tensor | ArrayLike | None = None) -> None:
        """Add the gradient of this tensor to `.grad` of every tensor it was computed from.

        Parameters
        ----------
        grad : array_like of this tensor's shape, optional
            The upstream. May be left out where this tensor has one element: then it is 1.

        Raises
        ------
        RuntimeError
            If `grad` is left out and this tensor does not have exactly one element.

        Notes
        -----
        Tensors that do not require a gradient keep `.grad` None. A second call on the same graph
        adds the same gradients again. No `.grad` shares memory with another array.

        Derivation
        ----------
        Multivariate chain rule: if x feeds the operations y_1 ... y_k, then

            dx = sum over i of (dL/dy_i)(dy_i/dx),

        and term i is what the VJP of y_i returns for x. The sum is whole only when every consumer
        of x has contributed, so tensors are visited in reverse topological order, consumers before
        producers. Each is visited once, with its whole gradient, so the cost is linear in the
        number of operations and not in the (possibly exponential) number of paths.
        """
        if grad is None:
            if self.data.size != 1:
                raise RuntimeError(f"backward() of shape {self.shape} needs a gradient")
            grad = 1.0
        if not self.requires_grad:
            return
        # What flows in this pass is kept apart from `.grad`: what an earlier pass left there must
        # be added to, but must not flow again.
        pending = {id(self): np.broadcast_to(Tensor.lift(grad).data, self.shape)}
        stored: set[int] = set()
        for node in reversed(_topological_order(self)):
            upstream = pending.pop(id(node), None)
            if upstream is None:
                continue
            # A VJP may hand on its upstream or a view of it. Such an array is copied; one that is
            # new becomes `.grad` as it is.
            if node.grad is not None:
                node.grad = np.asarray(node.grad + upstream)
            elif upstream.base is not None or id(upstream) in stored:
                node.grad = upstream.copy()
            else:
                node.grad = upstream
                stored.add(id(upstream))
            if node._vjp is None:
                continue
            for parent, grad_part in zip(node._parents, node._vjp(upstream), strict=True):
                if grad_part is None or not parent.requires_grad:
                    continue
                # Not `+=`, which would change an array that may be another tensor's `.grad`.
                earlier = pending.get(id(parent))
                total = grad_part if earlier is None else earlier + grad_part
                pending[id(parent)] = np.asarray(total)  # 0-d arithmetic gives NumPy scalars

    # ------------------------------------------------------------------ arithmetic

    def __add__(self, other: Tensor | ArrayLike) -> Tensor:
        """Add elementwise, with broadcasting.

        Derivation
        ----------
        y = a + b has dy/da = dy/db = 1, so da = g and db = g, each summed over the axes along
        which that operand was broadcast.
        """
        other = Tensor.lift(other)

        def vjp(g: Array) -> tuple[Array | None, ...]:
            return (
                unbroadcast(g, self.shape) if self.requires_grad else None,
                unbroadcast(g, other.shape) if other.requires_grad else None,
            )

        return Tensor._make(self.data + other.data, (self, other), vjp, "add")

    def __mul__(self, other: Tensor | ArrayLike) -> Tensor:
        """Multiply elementwise, with broadcasting.

        Derivation
        ----------
        Product rule: y = a b has dy/da = b and dy/db = a, so da = g b and db = g a, each summed
        over the axes along which that operand was broadcast. In x * x the one tensor is both
        parents, and `backward` adds the two: 2 g x.
        """
        other = Tensor.lift(other)
        a, b = self.data, other.data

        def vjp(g: Array) -> tuple[Array | None, ...]:
            return (
                unbroadcast(g * b, a.shape) if self.requires_grad else None,
                unbroadcast(g * a, b.shape) if other.requires_grad else None,
            )

        return Tensor._make(a * b, (self, other), vjp, "mul")

    def __truediv__(self, other: Tensor | ArrayLike) -> Tensor:
        """Divide elementwise, with broadcasting.

        Derivation
        ----------
        Quotient rule: y = a / b has dy/da = 1 / b and dy/db = -a / b^2 = -y / b. With
        r = g / b, then, da = r and db = -r y, each summed over the axes along which that operand
        was broadcast.
        """
        other = Tensor.lift(other)
        a, b = self.data, other.data
        y = a / b

        def vjp(g: Array) -> tuple[Array | None, ...]:
            r = g / b
            return (
                unbroadcast(r, a.shape) if self.requires_grad else None,
                unbroadcast(-r * y, b.shape) if other.requires_grad else None,
            )

        return Tensor._make(y, (self, other), vjp, "div")

    def __pow__(self, exponent: float) -> Tensor:
        """Raise each entry to a constant power.

        Parameters
        ----------
        exponent : int or float
            A number, not a Tensor.

        Derivation
        ----------
        Power rule: y = x^p has dy/dx = p x^(p-1), so dx = g p x^(p-1).

        For p = 0 the result is the constant 1 and its derivative is 0 everywhere, at x = 0 too,
        where the formula would give 0 times infinity.
        """
        x = self.data

        def vjp(g: Array) -> tuple[Array | None, ...]:
            return (g * (exponent * x ** (exponent - 1)) if exponent != 0 else np.zeros_like(x),)

        return Tensor._make(x**exponent, (self,), vjp, "pow")

    def __matmul__(self, other: Tensor | ArrayLike) -> Tensor:
        """Multiply matrices, as `numpy.matmul` does.

        Leading dimensions are a batch and broadcast: (..., n, k) @ (..., k, m) -> (..., n, m).
        A 1-D operand is a row on the left and a column on the right, and its extra axis is
        dropped from the result.

        Derivation
        ----------
        Write the first-order change of the loss as an inner product, dL = tr(G^T dC), for C = A B
        and upstream G. With dC = dA B + A dB and the trace's cyclic property,

            dL = tr(G^T dA B) + tr(G^T A dB) = tr((G B^T)^T dA) + tr((A^T G)^T dB),

        and what stands in front of dA and dB is the gradient: dA = G B^T, dB = A^T G. The shapes
        leave no other choice: (n, m)(m, k) and (k, n)(n, m).

        Each matrix of a batch is a product of its own, so only the last two axes are transposed;
        an operand shared by the batch was broadcast over it and its gradient is summed.
        """
        other = Tensor.lift(other)
        a, b = self.data, other.data

        def vjp(g: Array) -> tuple[Array | None, ...]:
            # Put back the axis that matmul dropped from a vector's product.
            row, column = a.ndim == 1, b.ndim == 1
            A = a[None, :] if row else a
            B = b[:, None] if column else b
            G = g[..., None] if column else g
            G = G[..., None, :] if row else G
            da = unbroadcast(G @ B.mT, a.shape) if self.requires_grad else None
            db = A.mT @ G if other.requires_grad else None
            if db is not None:
                db = unbroadcast(db[..., 0] if column else db, b.shape)
            return da, db

        return Tensor._make(a @ b, (self, other), vjp, "matmul")

    # Every other operator is made of the ones above and needs no rule of its own.

    def __neg__(self) -> Tensor:
        return self * -1.0

    def __sub__(self, other: Tensor | ArrayLike) -> Tensor:
        return self + -Tensor.lift(other)

    def __radd__(self, other: ArrayLike) -> Tensor:
        return self + other

    def __rsub__(self, other: ArrayLike) -> Tensor:
        return Tensor.lift(other) - self

    def __rmul__(self, other: ArrayLike) -> Tensor:
        return self * other

    def __rtruediv__(self, other: ArrayLike) -> Tensor:
        return Tensor.lift(other) / self

    def __rmatmul__(self, other: ArrayLike) -> Tensor:
        return Tensor.lift(other) @ self

    # ------------------------------------------------------------------ elementwise functions

    def exp(self) -> Tensor:
        """Return e^x of each entry.

        Derivation
        ----------
        The exponential is its own derivative: dy/dx = e^x = y, so dx = g y.
        """
        y = np.exp(self.data)
        return Tensor._make(y, (self,), lambda g: (g * y,), "exp")

    def log(self) -> Tensor:
        """Return the natural logarithm of each entry.

        Derivation
        ----------
        From e^y = x, differentiated: e^y dy/dx = 1, so dy/dx = 1 / x and dx = g / x.
        """
        x = self.data
        return Tensor._make(np.log(x), (self,), lambda g: (g / x,), "log")

    def relu(self) -> Tensor:
        """Return max(x, 0) of each entry; at exactly 0 the gradient is 0.

        Derivation
        ----------
        The slope is 1 where x > 0 and 0 where x < 0: dx = g where x > 0, else 0. At the kink any
        slope from 0 to 1 is a subgradient; like everyone, we take 0.
        """
        x = self.data
        return Tensor._make(np.maximum(x, 0.0), (self,), lambda g: (g * (x > 0),), "relu")

    def tanh(self) -> Tensor:
        """Return the hyperbolic tangent of each entry.

        Derivation
        ----------
        tanh = sinh / cosh; by the quotient rule its derivative is (cosh^2 - sinh^2) / cosh^2
        = 1 - tanh^2, so dx = g (1 - y^2).
        """
        y = np.tanh(self.data)
        return Tensor._make(y, (self,), lambda g: (g * (1.0 - y * y),), "tanh")

    # ------------------------------------------------------------------ reductions and shapes

    def sum(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """Sum over the given axes, or over all of them.

        Parameters
        ----------
        axis : int, tuple of int, or None
            Negative axes count from the end; an empty tuple sums over nothing.
        keepdims : bool
            Keep the summed axes with length 1.

        Derivation
        ----------
        y_i is the sum of a group of entries, so dy_i/dx_j = 1 for each j of the group, and every
        entry of the group receives g_i: summing is undone by copying, the mirror image of
        `unbroadcast`. To line g up with x, the summed axes first come back with length 1.
        """
        kept: Array = self.data.sum(axis=axis, keepdims=True)
        total = kept if keepdims else np.squeeze(kept, axis)

        def vjp(g: Array) -> tuple[Array | None, ...]:
            return (np.broadcast_to(g.reshape(kept.shape), self.shape),)

        return Tensor._make(total, (self,), vjp, "sum")

    def mean(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """Average over the given axes, or over all of them: a sum divided by a constant."""
        total = self.sum(axis, keepdims)
        return total / (self.data.size // max(total.data.size, 1))

    def reshape(self, *shape: Any) -> Tensor:
        """Return the same entries, in row-major order, in another shape.

        Takes `reshape(2, 3)` and `reshape((2, 3))`; one length may be -1.

        Derivation
        ----------
        No entry changes or moves in row-major order, so neither do the gradient's: reshape back.
        """
        y = self.data.reshape(*shape)
        return Tensor._make(y, (self,), lambda g: (g.reshape(self.shape),), "reshape")

    def transpose(self, *axes: Any) -> Tensor:
        """Permute the axes; with no argument, reverse them.

        Takes `transpose(1, 0)` and `transpose((1, 0))`; axes may be negative. Axis i of the
        result is axis `axes[i]` of the operand.

        Derivation
        ----------
        Entries move and do not change, so the gradient is moved back by the inverse permutation.
        A permutation's argsort is its inverse: it says at which place i each axis `axes[i]` went.
        The two differ as soon as three axes rotate: the inverse of (2, 0, 1) is (1, 2, 0).
        """
        y = self.data.transpose(*axes)
        # NumPy reads the arguments: an array of shape (0, 1, 2, ...) shows where each axis went.
        inverse = np.argsort(np.empty(range(self.ndim)).transpose(*axes).shape)
        return Tensor._make(y, (self,), lambda g: (g.transpose(inverse),), "transpose")

    @property
    def T(self) -> Tensor:
        """Return the tensor with its axes reversed."""
        return self.transpose()

    def __getitem__(self, index: Any) -> Tensor:
        """Select entries by anything NumPy takes as an index, or by a Tensor of integers.

        Derivation
        ----------
        y_i = x_p(i), where p(i) is the place that entry i was read from. By the chain rule
        dx_j = sum of g_i over all i with p(i) = j: a place read twice receives both gradients and
        a place never read receives 0. `full[index] += g` would write a repeated place once only;
        `np.add.at` adds every time.
        """
        index = _as_index(index)

        def vjp(g: Array) -> tuple[Array | None, ...]:
            full = np.zeros(self.shape)
            np.add.at(full, index, g)
            return (full,)

        return Tensor._make(self.data[index], (self,), vjp, "getitem")

    def logsumexp(self, axis: Axis = -1, keepdims: bool = False) -> Tensor:
        """Return log(sum(exp(x))) over the given axes, for entries of any size.

        A slice of nothing but -inf gives -inf.

        Parameters
        ----------
        axis : int, tuple of int, or None
        keepdims : bool
            Keep the reduced axes with length 1.

        Derivation
        ----------
        For any m, log sum_j e^(x_j) = m + log sum_j e^(x_j - m). With m the maximum of the slice
        no exponent is above 0, so nothing overflows, and the largest term is e^0 = 1, so the sum
        is at least 1 and its logarithm is safe.

        Chain rule: dy/dx_j = e^(x_j) / sum_k e^(x_k) = softmax(x)_j, so dx = g softmax(x). The m
        cancels in that quotient, and the exponentials of the forward serve again.
        """
        peak = self.data.max(axis=axis, keepdims=True, initial=-np.inf)
        # A slice of -inf has no finite maximum to subtract, and -inf - -inf would be nan.
        peak = np.where(np.isfinite(peak), peak, 0.0)
        terms = np.exp(self.data - peak)
        total: Array = terms.sum(axis=axis, keepdims=True)
        with np.errstate(divide="ignore"):  # log(0) = -inf is the answer there
            kept = peak + np.log(total)

        def vjp(g: Array) -> tuple[Array | None, ...]:
            # Only a slice of -inf has a total under 1; its terms are 0, and so is its gradient.
            return (g.reshape(kept.shape) * (terms / np.maximum(total, 1.0)),)

        return Tensor._make(kept if keepdims else np.squeeze(kept, axis), (self,), vjp, "logsumexp")


def _topological_order(root: Tensor) -> list[Tensor]:
    """List every tensor that `root` was computed from, parents first and `root` last.

    Depth first with a stack of its own, because a deep graph would exhaust Python's. Tensors are
    told apart by identity: two constants of equal value are two tensors.
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
            stack.extend([(parent, False) for parent in node._parents])
    return order


def _as_index(index: Any) -> tuple[Any, ...]:
    """Return an index as a tuple that NumPy takes: a Tensor in it becomes an array of integers."""
    parts = index if isinstance(index, tuple) else (index,)
    return tuple([p.data.astype(np.intp) if isinstance(p, Tensor) else p for p in parts])


# ---------------------------------------------------------------------- losses and checks


def log_softmax(x: Tensor, axis: int = -1) -> Tensor:
    """Return the logarithm of the softmax of `x` along `axis`, for entries of any size.

    Derivation
    ----------
    log(e^(x_i) / sum_j e^(x_j)) = x_i - logsumexp(x). Subtraction and logsumexp have their rules
    already; the chain rule makes dx = g - softmax(x) sum(g) of them.
    """
    x = Tensor.lift(x)
    return x - x.logsumexp(axis, keepdims=True)


def cross_entropy(logits: Tensor, targets: Tensor | ArrayLike) -> Tensor:
    """Return the mean negative log-probability of the target classes.

    Parameters
    ----------
    logits : Tensor of shape (n, classes)
    targets : array_like of int, of shape (n,)
        Class of each row, from 0 to classes - 1.

    Returns
    -------
    Tensor of shape ()

    Derivation
    ----------
    The model gives row i the probability softmax(logits_i)[t_i] of its target t_i. The loss is
    -1/n times the log-likelihood of the n independent rows, the mean of -log_softmax at the
    targets. Composing the rules gives d logits = (softmax - onehot) / n: each row's gradient is
    the probabilities less what they should have been.
    """
    logits = Tensor.lift(logits)
    classes = np.asarray(targets.data if isinstance(targets, Tensor) else targets, dtype=np.intp)
    rows = np.arange(logits.shape[0])
    return -log_softmax(logits)[rows, classes].mean()


def numerical_gradient(f: Callable[[Any], Tensor | ArrayLike], x: Any, eps: float = 1e-6) -> Array:
    """Estimate the gradient of a scalar function by central differences.

    Parameters
    ----------
    f : function of `x` that returns one number, as a float, an array or a Tensor
    x : array or Tensor
        Each entry is changed in place in turn, and restored, also where `f` raises.
    eps : float
        Step to either side.

    Returns
    -------
    array of x's shape

    Derivation
    ----------
    Taylor: f(x + e) = f + f' e + f'' e^2 / 2 + O(e^3). In f(x + e) - f(x - e) the even terms
    cancel and leave 2 e f' + O(e^3); divide by 2 e, and the error is O(e^2), where a one-sided
    difference has O(e). Rounding adds about 1e-16 |f| / e, so e must not be too small either.
    """
    x = x if isinstance(x, Tensor) else np.asarray(x, dtype=np.float64)
    values = x.data if isinstance(x, Tensor) else x
    grad = np.zeros(values.shape)
    for i in np.ndindex(values.shape):
        here = values[i]
        try:
            values[i] = here + eps
            above = Tensor.lift(f(x)).data.item()
            values[i] = here - eps
            below = Tensor.lift(f(x)).data.item()
        finally:
            values[i] = here
        grad[i] = (above - below) / (2.0 * eps)
    return grad


def sgd_step(params: Iterable[Tensor], lr: float) -> None:
    """Move each parameter one step down its gradient, and clear the gradient.

    Parameters
    ----------
    params : iterable of Tensor
        Each gets a new `data` and `grad` None; one without a gradient stays as it is.
    lr : float
        Learning rate.

    Derivation
    ----------
    To first order L(w - lr g) = L(w) - lr |g|^2 for the gradient g: against the gradient the loss
    falls, and no direction of that length makes it fall faster.
    """
    for param in params:
        if param.grad is not None:
            # Not in place: the caller may hold the array that the parameter was made of.
            param.data = np.asarray(param.data - lr * param.grad)
            param.grad = None


# ---------------------------------------------------------------------- a network


class Linear:
    """The map x W + b from (n, n_in) to (n, n_out).

    The weights are Kaiming-uniform: uniform in +-sqrt(6 / n_in), the range at which ReLU layers
    keep the variance of what passes through them. The bias is zero.
    """

    def __init__(self, n_in: int, n_out: int, rng: np.random.Generator) -> None:
        bound = np.sqrt(6.0 / n_in)
        self.weight = Tensor(rng.uniform(-bound, bound, (n_in, n_out)), requires_grad=True)
        self.bias = Tensor(np.zeros(n_out), requires_grad=True)

    def __call__(self, x: Tensor | ArrayLike) -> Tensor:
        return Tensor.lift(x) @ self.weight + self.bias

    def parameters(self) -> list[Tensor]:
        """List the tensors to train."""
        return [self.weight, self.bias]


class MLP:
    """Linear layers of the given sizes with ReLU between them, and none after the last."""

    def __init__(self, sizes: Sequence[int], rng: np.random.Generator) -> None:
        self.layers = [Linear(n, m, rng) for n, m in pairwise(sizes)]

    def __call__(self, x: Tensor | ArrayLike) -> Tensor:
        *hidden, last = self.layers
        x = Tensor.lift(x)
        for layer in hidden:
            x = layer(x).relu()
        return last(x)

    def parameters(self) -> list[Tensor]:
        """List the tensors to train, layer by layer."""
        return [p for layer in self.layers for p in layer.parameters()]


def make_spirals(
    n_per_class: int = 100, n_classes: int = 3, noise: float = 0.2, seed: int = 0
) -> tuple[Array, NDArray[np.int64]]:
    """Return points on interleaved spirals, one arm per class: x of shape (n, 2), y of shape (n,).

    An arm leaves the origin at an angle of its own and turns by four radians on its way to radius
    1; `noise` is the standard deviation of the angle.
    """
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_classes), n_per_class)
    radius = np.tile(np.linspace(0.0, 1.0, n_per_class), n_classes)
    angle = 2.0 * np.pi * y / n_classes + 4.0 * radius + rng.normal(0.0, noise, y.size)
    x = radius[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    return x, y


def train_spirals(steps: int = 600, lr: float = 0.5, seed: int = 0) -> tuple[float, float]:
    """Train a 2-64-64-3 network on the spirals, full batch; return its loss and accuracy."""
    x, y = make_spirals(seed=seed)
    model = MLP([2, 64, 64, 3], np.random.default_rng(seed))
    for _ in range(steps):
        loss = cross_entropy(model(x), y)
        loss.backward()
        sgd_step(model.parameters(), lr)
    logits = model(x)
    accuracy = np.mean(logits.data.argmax(axis=1) == y)
    return cross_entropy(logits, y).data.item(), float(accuracy)


if __name__ == "__main__":
    loss, accuracy = train_spirals()
    print(f"spirals: loss {loss:.3f}, accuracy {accuracy:.1%}")
