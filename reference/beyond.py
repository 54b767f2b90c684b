"""The engine of lab01, and what PyTorch and JAX do beyond it.

The engine is given, and works as in lab01. Where something new has to take part in it, it calls
a small function that a target owns, such as `_through_hooks`; until that target is written, the
function does nothing. So each target stands by itself.

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

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
Axis = int | tuple[int, ...] | None
Vjp = Callable[[Array], tuple[Array | None, ...]]
Hook = Callable[[Array], ArrayLike | None]


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
        Converted to float64. A float64 array is used as it is, and written to by `add_`, `mul_`
        and `tensor[index] = value` alone.
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
        self.data: Array = _array(data)
        self.requires_grad = requires_grad
        self.grad: Array | None = None
        self._parents = _parents
        self._op = _op
        self._vjp: Vjp | None = None
        self._args: tuple[Any, ...] = ()  # of the operation, besides its operands
        self._saved: list[tuple[Tensor, int]] = []  # what the VJP reads, and its version
        self._saves_result = False
        self._counter = [0]  # changes in place; the views of one array share it
        self._hooks: dict[object, Hook] = {}
        self._retains_grad = False

    @staticmethod
    def lift(x: Tensor | ArrayLike) -> Tensor:
        """Return `x` if it is a Tensor, else a constant Tensor of it."""
        return x if isinstance(x, Tensor) else Tensor(x)

    @staticmethod
    def _make(
        data: ArrayLike,
        parents: tuple[Tensor, ...],
        vjp: Vjp,
        op: str,
        *,
        args: tuple[Any, ...] = (),
        saves: Iterable[Tensor] = (),
        saves_result: bool = False,
    ) -> Tensor:
        """Return the result of an operation, recorded only if some parent requires a gradient.

        Parameters
        ----------
        data, parents, vjp, op
            The result, the operands, the rule and the name.
        args : tuple
            What else the operation was given, such as an axis.
        saves : iterable of Tensor
            The operands whose values the VJP reads.
        saves_result : bool
            Whether the VJP reads the result's own value.
        """
        out = Tensor._sharing(data, parents)
        if _is_recording() and any(parent.requires_grad for parent in parents):
            out.requires_grad = True
            out._parents, out._vjp, out._op, out._args = parents, vjp, op, args
            out._saved = [(one, one._counter[0]) for one in saves]
            out._saves_result = saves_result
        return out

    @staticmethod
    def _sharing(data: ArrayLike, sources: Iterable[Tensor]) -> Tensor:
        """Return a constant; where it is a view of a source, both count changes together."""
        out = Tensor(data)
        for source in sources:
            if out.data is source.data or (
                out.data.base is not None and np.may_share_memory(out.data, source.data)
            ):
                out._counter = source._counter
        return out

    @property
    def shape(self) -> tuple[int, ...]:
        return self.data.shape

    @property
    def ndim(self) -> int:
        return self.data.ndim

    def __repr__(self) -> str:
        return f"Tensor({self.data!r}, requires_grad={self.requires_grad})"

    # ------------------------------------------------------------------ backward

    def backward(self, grad: Tensor | ArrayLike | None = None, retain_graph: bool = False) -> None:
        """Add the gradient of this tensor to `.grad` of the tensors it was computed from.

        Parameters
        ----------
        grad : array_like of this tensor's shape, optional
            The upstream. May be left out where this tensor has one element: then it is 1.
        retain_graph : bool
            False frees each node as soon as it ran; a second backward through it then raises.

        Raises
        ------
        RuntimeError
            If `grad` is left out and this tensor does not have exactly one element, or if a node
            was freed before.
        """
        if grad is None:
            if self.data.size != 1:
                raise RuntimeError(f"backward() of shape {self.shape} needs a gradient")
            grad = 1.0
        if not self.requires_grad:
            return
        stored: set[int] = set()
        for node, whole in _gradients(self, Tensor.lift(grad).data, retain_graph):
            if not _keeps_grad(node):
                continue
            # A VJP may hand on its upstream or a view of it. Such an array is copied; one that is
            # new becomes `.grad` as it is.
            if node.grad is not None:
                node.grad = _array(node.grad + whole)
            elif whole.base is not None or id(whole) in stored:
                node.grad = whole.copy()
            else:
                node.grad = whole
                stored.add(id(whole))

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

        return Tensor._make(a * b, (self, other), vjp, "mul", saves=_factors(self, other))

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

        def vjp(g: Array) -> tuple[Array | None, ...]:
            r = g / b
            return (
                unbroadcast(r, a.shape) if self.requires_grad else None,
                unbroadcast(-r * (a / b), b.shape) if other.requires_grad else None,
            )

        saves = (self, other) if other.requires_grad else (other,)
        return Tensor._make(a / b, (self, other), vjp, "div", saves=saves)

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

        return Tensor._make(x**exponent, (self,), vjp, "pow", args=(exponent,), saves=(self,))

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

        return Tensor._make(a @ b, (self, other), vjp, "matmul", saves=_factors(self, other))

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
        return Tensor._make(y, (self,), lambda g: (g * y,), "exp", saves_result=True)

    def log(self) -> Tensor:
        """Return the natural logarithm of each entry.

        Derivation
        ----------
        From e^y = x, differentiated: e^y dy/dx = 1, so dy/dx = 1 / x and dx = g / x.
        """
        x = self.data
        return Tensor._make(np.log(x), (self,), lambda g: (g / x,), "log", saves=(self,))

    def relu(self) -> Tensor:
        """Return max(x, 0) of each entry; at exactly 0 the gradient is 0.

        Derivation
        ----------
        The slope is 1 where x > 0 and 0 where x < 0: dx = g where x > 0, else 0. At the kink any
        slope from 0 to 1 is a subgradient; like everyone, we take 0.
        """
        y = np.maximum(self.data, 0.0)
        return Tensor._make(y, (self,), lambda g: (g * (y > 0),), "relu", saves_result=True)

    def tanh(self) -> Tensor:
        """Return the hyperbolic tangent of each entry.

        Derivation
        ----------
        tanh = sinh / cosh; by the quotient rule its derivative is (cosh^2 - sinh^2) / cosh^2
        = 1 - tanh^2, so dx = g (1 - y^2).
        """
        y = np.tanh(self.data)
        return Tensor._make(y, (self,), lambda g: (g * (1.0 - y * y),), "tanh", saves_result=True)

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

        return Tensor._make(total, (self,), vjp, "sum", args=(axis, keepdims))

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
        return Tensor._make(y, (self,), lambda g: (g.transpose(inverse),), "transpose", args=axes)

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
            full = np.zeros_like(g, shape=self.shape)
            np.add.at(full, index, g)
            return (full,)

        return Tensor._make(self.data[index], (self,), vjp, "getitem", args=(index,))

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

        y = kept if keepdims else np.squeeze(kept, axis)
        return Tensor._make(y, (self,), vjp, "logsumexp", args=(axis, keepdims))

    # ------------------------------------------------------------------ max

    def max(self, axis: Axis = None, keepdims: bool = False) -> Tensor:
        """Return the largest entry over the given axes, or over all of them.

        Where several entries tie for the largest, the gradient goes to the first of them in
        row-major order, and to no other.

        Parameters
        ----------
        axis : int, tuple of int, or None
            Negative axes count from the end.
        keepdims : bool
            Keep the reduced axes with length 1.

        Derivation
        ----------
        Near x the largest entry of a slice stays the one at the same place k: y = x_k. So
        dy/dx_k = 1 and every other derivative is 0, and dx is g at k and 0 elsewhere: max is an
        index that looks at the values. At a tie y has a kink; any one of the tied places is a
        subgradient, and so is any average of them. Sending the whole of g to each would count it
        several times.

        Move the reduced axes to the end and flatten them: then a slice is a row, `argmax` gives
        the first of its largest entries, and the VJP fills rows of zeros at that place. Reshaping
        and moving back undo the rest.
        """
        axes = range(self.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
        reduced = [i % self.ndim for i in axes]
        order = [i for i in range(self.ndim) if i not in reduced] + reduced
        moved = self.data.transpose(order)
        rows = moved.reshape(*moved.shape[: self.ndim - len(reduced)], -1)
        first = rows.argmax(axis=-1)[..., None]
        y = np.take_along_axis(rows, first, axis=-1)[..., 0]

        def vjp(g: Array) -> tuple[Array | None, ...]:
            full = np.zeros_like(g, shape=rows.shape)
            np.put_along_axis(full, first, g.reshape(first.shape), axis=-1)
            return (full.reshape(moved.shape).transpose(np.argsort(order)),)

        if keepdims:
            y = y.reshape([1 if i in reduced else n for i, n in enumerate(self.shape)])
        return Tensor._make(y, (self,), vjp, "max")

    # ------------------------------------------------------------------ no_grad

    def detach(self) -> Tensor:
        """Return a constant of the same array: nothing flows back through it.

        The array is shared, not copied; this tensor stays as it was.

        Derivation
        ----------
        The derivative of a constant is 0, whatever it was computed from. A tensor without parents
        is a constant to `backward`.
        """
        return Tensor._sharing(self.data, (self,))

    # ------------------------------------------------------------------ leaf_grad

    @property
    def is_leaf(self) -> bool:
        """Tell whether the graph ends here: no recorded operation made this tensor.

        So every tensor that does not require a gradient is a leaf.

        Derivation
        ----------
        `_make` stores a VJP exactly where it records an operation.
        """
        return self._vjp is None

    def retain_grad(self) -> None:
        """Have `backward` fill `.grad` of this tensor too, though it is not a leaf.

        On a leaf, and a second time, it changes nothing.

        Raises
        ------
        RuntimeError
            If this tensor does not require a gradient.

        Derivation
        ----------
        No rule of calculus says what is kept: `backward` has the gradient of every tensor in its
        hands once, and drops it unless somebody wants it.
        """
        if not self.requires_grad:
            raise RuntimeError("retain_grad() of a tensor that does not require a gradient")
        self._retains_grad = True

    # ------------------------------------------------------------------ hooks

    def register_hook(self, hook: Hook) -> Handle:
        """Have `hook` called with the gradient of this tensor whenever it is computed.

        Parameters
        ----------
        hook : callable
            `hook(grad)` is given the whole gradient, once in each backward. What it returns takes
            the gradient's place, in `.grad` and in what flows on; None leaves it as it is. It
            must not change the array it is given.

        Returns
        -------
        Handle
            Its `remove()` takes this hook away and leaves the others.

        Raises
        ------
        RuntimeError
            If this tensor does not require a gradient.

        Derivation
        ----------
        Several hooks run in the order in which they were registered, each on what the one before
        it has left. A dict keeps that order and lets one of them go. One function may be
        registered twice, so the key is a new object for each time.
        """
        if not self.requires_grad:
            raise RuntimeError("register_hook() on a tensor that does not require a gradient")
        key = object()
        self._hooks[key] = hook
        return Handle(self._hooks, key)

    # ------------------------------------------------------------------ version_counter

    @property
    def _version(self) -> int:
        """Tell how often the array of this tensor was changed in place, through any view of it.

        Derivation
        ----------
        `_make` lets a view share the counter of what it is a view of: one list with one number.
        """
        return self._counter[0]

    def add_(self, other: Tensor | ArrayLike) -> Tensor:
        """Add to the entries of this tensor, in its own array, and return this tensor.

        Parameters
        ----------
        other : Tensor or array_like
            Broadcasts to the shape of this tensor, which stays as it is.

        Raises
        ------
        RuntimeError
            If this tensor is a leaf that requires a gradient, or a view of one, or if `other`
            requires a gradient.

        Derivation
        ----------
        For y = x + c with a constant c, dy/dx = 1: the gradient of the new value is that of the
        old one, so a recorded result keeps its rule.
        """
        other = Tensor.lift(other)
        _check_change(self, other, adds=True)
        self.data += other.data
        self._counter[0] += 1
        return self

    def mul_(self, other: Tensor | ArrayLike) -> Tensor:
        """Multiply the entries of this tensor, in its own array, and return this tensor.

        Parameters
        ----------
        other : Tensor or array_like
            Broadcasts to the shape of this tensor, which stays as it is.

        Raises
        ------
        RuntimeError
            If this tensor or `other` requires a gradient.

        Derivation
        ----------
        For y = x c, dy/dx = c: the rule of a recorded result would have to change with its value.
        """
        other = Tensor.lift(other)
        _check_change(self, other)
        self.data *= other.data
        self._counter[0] += 1
        return self

    def __setitem__(self, index: Any, value: Tensor | ArrayLike) -> None:
        """Write to some entries of this tensor, in its own array.

        Parameters
        ----------
        index
            Anything that `tensor[index]` takes.
        value : Tensor or array_like
            Broadcasts to the shape of `tensor[index]`.

        Raises
        ------
        RuntimeError
            If this tensor or `value` requires a gradient.

        Derivation
        ----------
        An entry that is written over no longer depends on what it was computed from: its
        derivative becomes 0, and the rule of a recorded result would have to say so.
        """
        value = Tensor.lift(value)
        _check_change(self, value)
        self.data[_as_index(index)] = value.data
        self._counter[0] += 1


# ---------------------------------------------------------------------- the backward pass


def _gradients(
    root: Tensor, upstream: Array, retain_graph: bool = True
) -> Iterator[tuple[Tensor, Array]]:
    """Yield each tensor that `root` was computed from with its whole gradient, `root` first.

    Nothing is stored in `.grad`. A tensor may be freed once it has been yielded.
    """
    pending = {id(root): np.broadcast_to(upstream, root.shape)}
    order = _topological_order(root)
    while order:
        node = order.pop()
        whole = pending.pop(id(node), None)
        if whole is None:
            continue
        whole = _through_hooks(node, whole)
        yield node, whole
        if node._vjp is None:
            continue
        _check_versions(node)
        for parent, part in zip(node._parents, node._vjp(whole), strict=True):
            if part is None or not parent.requires_grad:
                continue
            # Not `+=`, which would change an array that may be another tensor's `.grad`.
            earlier = pending.get(id(parent))
            pending[id(parent)] = _array(part if earlier is None else earlier + part)
        if not retain_graph:
            _release(node)


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


def _factors(a: Tensor, b: Tensor) -> list[Tensor]:
    """List the operands that a product's VJP reads: each where the other requires a gradient."""
    return [one for one, other in ((a, b), (b, a)) if other.requires_grad]


# ---------------------------------------------------------------------- conv1d


def conv1d(
    x: Tensor | ArrayLike, w: Tensor | ArrayLike, stride: int = 1, padding: int = 0
) -> Tensor:
    """Slide kernels along signals, by the operations that there are: it has no VJP of its own.

    The kernel is not flipped: as in torch, this is what a signal processor calls correlation.

    Parameters
    ----------
    x : Tensor or array_like of shape (N, C_in, L)
        N signals of C_in channels each.
    w : Tensor or array_like of shape (C_out, C_in, K)
        C_out kernels that read all channels.
    stride : int, at least 1
        Steps from one place of the kernel to the next.
    padding : int, at least 0
        Zeros to put at both ends of each signal.

    Returns
    -------
    Tensor of shape (N, C_out, M)
        With M = (L + 2 padding - K) // stride + 1: the places where the kernel lies wholly within
        the padded signal.

    Raises
    ------
    ValueError
        If the numbers of channels differ, or the kernel is longer than the padded signal.

    Derivation
    ----------
        y[n, o, m] = sum over c and k of w[o, c, k] x[n, c, stride m + k - padding],

    where x is 0 outside of the signal. An index can lay out all windows beside each other,
    windows[n, c, m, k] = x[n, c, stride m + k - padding]. What lies outside reads some entry all
    the same and is multiplied by 0. Then the sum over the pairs (c, k) is a matrix product of the
    windows, as rows of C_in K numbers, with the kernels, flattened in the same order.

    The backward comes with it: `__getitem__` sends back what each entry gave to all the windows
    that it is in, added up, and `__matmul__` sums dw over all windows of all signals.
    """
    x, w = Tensor.lift(x), Tensor.lift(w)
    (n, channels, length), (kernels, _, size) = x.shape, w.shape
    places = (length + 2 * padding - size) // stride + 1
    if places < 1:
        raise ValueError(f"a kernel of {size} for signals of {length}, padded by {padding}")
    at = stride * np.arange(places)[:, None] + np.arange(size) - padding
    inside = (at >= 0) & (at < length)
    windows = x[:, :, np.where(inside, at, 0)] * inside
    rows = windows.transpose(0, 2, 1, 3).reshape(n, places, channels * size)
    # Kernels of other channels do not have the entries for this shape: NumPy's ValueError.
    y = rows @ w.reshape(kernels, channels * size).T
    return y.transpose(0, 2, 1)


# ---------------------------------------------------------------------- no_grad

_recording = True


@contextmanager
def no_grad() -> Iterator[None]:
    """Record no operation within a `with` block, or within a function that is decorated with it.

    Blocks may be nested. A block that is left, by an exception too, restores what was before it.

    Derivation
    ----------
    An inner block must not turn recording on when it ends, for the outer one goes on. So each
    block keeps what it found, and puts that back.
    """
    global _recording
    before, _recording = _recording, False
    try:
        yield
    finally:
        _recording = before


def _is_recording() -> bool:
    """Tell whether the operation that is being made should be recorded; `_make` asks."""
    return _recording


# ---------------------------------------------------------------------- leaf_grad


def _keeps_grad(node: Tensor) -> bool:
    """Tell whether `backward` fills `.grad` of this tensor; it asks once for each."""
    return node.is_leaf or node._retains_grad


# ---------------------------------------------------------------------- free_graph


def _release(node: Tensor) -> None:
    """Free what a node holds for backward, and have it refuse to run again.

    `_gradients` calls it as soon as a node's VJP ran, where the graph is not retained, and never
    for a leaf. The node's value and its `.grad` stay.

    Parameters
    ----------
    node : Tensor
        From now on its VJP raises RuntimeError, with a message that says why and names
        `retain_graph`.

    Derivation
    ----------
    A node runs once, when all its consumers have delivered, so after its own VJP nobody in this
    backward needs it again. What it holds is of three kinds: its parents; the arrays that the VJP
    has captured; and the tensors it noted as saved. Let go of all three, and an activation that
    nobody else holds is freed while the gradients of the layers below are still to be made.

    A VJP of None would make a leaf of the node, and the next backward would end there without a
    word. So a function stays in its place.
    """

    def freed(g: Array) -> tuple[Array | None, ...]:
        raise RuntimeError(
            "this graph was freed when backward() ran through it; "
            "call the first backward with retain_graph=True to run through it again"
        )

    node._vjp = freed
    node._parents = ()
    node._saved = []


# ---------------------------------------------------------------------- functional


def grad(of: Any, *args: Any, **options: Any) -> Any:
    """Return the gradient of a function, or the gradients of a tensor.

    `grad(f)` is that of JAX and `torch.func`: see `_grad_of_function`. `grad(y, xs, grad=None,
    create_graph=False)` is that of `torch.autograd`: see `_grad_of_tensor`.
    """
    if callable(of):
        return _grad_of_function(of, *args, **options)
    return _grad_of_tensor(of, *args, **options)


def _grad_of_function(f: Callable[..., Tensor]) -> Callable[..., Array]:
    """Return the function that gives the gradient of `f` with respect to its first argument.

    Parameters
    ----------
    f : callable
        `f(x, *rest)` is given `x` as a Tensor, and `rest` as it comes; it returns a Tensor of
        shape ().

    Returns
    -------
    callable
        `gradient(x, *rest)`, an array of x's shape.

    Raises
    ------
    TypeError, RuntimeError
        When it is called: as `value_and_grad` does.

    Derivation
    ----------
    The gradient comes with the value; here nobody asked for that.
    """
    both = value_and_grad(f)

    def gradient(x: Tensor | ArrayLike, *rest: Any) -> Array:
        return both(x, *rest)[1]

    return gradient


def value_and_grad(f: Callable[..., Tensor]) -> Callable[..., tuple[Array, Array]]:
    """Return the function that gives the value of `f` and its gradient, from one forward.

    Parameters
    ----------
    f : callable
        As for `_grad_of_function`.

    Returns
    -------
    callable
        `both(x, *rest)`, a pair: the value, an array of shape (), and the gradient, an array of
        x's shape.

    Raises
    ------
    TypeError
        When it is called, if `f` does not return a Tensor.
    RuntimeError
        When it is called, if what `f` returns is not of shape ().

    Derivation
    ----------
    To a function with one number as its result, the VJP at upstream 1 is the gradient. A result of
    any other shape is refused by the pullback, for which 1 has the wrong shape.
    """

    def both(x: Tensor | ArrayLike, *rest: Any) -> tuple[Array, Array]:
        value, pullback = vjp(lambda t: f(t, *rest), x)
        (dx,) = pullback(1.0)
        return value, dx

    return both


def vjp(
    f: Callable[..., Tensor], *xs: Tensor | ArrayLike
) -> tuple[Array, Callable[[Tensor | ArrayLike], tuple[Array, ...]]]:
    """Return the value of `f(*xs)`, and the function that pulls an upstream back through `f`.

    Nothing is left in any `.grad`: not of `xs`, and not of a tensor that `f` holds.

    Parameters
    ----------
    f : callable
        It is called once, with Tensors, and returns a Tensor.
    *xs : Tensor or array_like
        Each is an input of its own, also where the same object is given twice.

    Returns
    -------
    value : array
    pullback : callable
        `pullback(upstream)`, with an upstream of the value's shape, is a tuple with the gradient
        of each input: a new array of its shape, of zeros where the value does not depend on it.
        It may be called any number of times.

    Raises
    ------
    TypeError
        If `f` does not return a Tensor.
    RuntimeError
        When `pullback` is called, if the upstream is not of the value's shape.

    Derivation
    ----------
    What `f` is given has to be new: fresh leaves share nothing with the caller's tensors, so no
    other graph hangs on them, and two inputs stay apart though they are one object outside.

    `_gradients` walks back with no thought of `.grad`; we look for the inputs among what it
    yields. What it does not reach has no influence on the value: its derivative is 0.
    """
    inputs = [Tensor(Tensor.lift(x).data, requires_grad=True) for x in xs]
    y = f(*inputs)
    if not isinstance(y, Tensor):
        raise TypeError(f"the function returned a {type(y).__name__}, not a Tensor")

    def pullback(upstream: Tensor | ArrayLike) -> tuple[Array, ...]:
        g = Tensor.lift(upstream).data
        if g.shape != y.shape:
            raise RuntimeError(f"an upstream of shape {g.shape} for a value of shape {y.shape}")
        gradients = {id(x): np.zeros(x.shape) for x in inputs}
        for node, whole in _gradients(y, g):
            if id(node) in gradients:
                gradients[id(node)] = whole.copy()
        return tuple(gradients.values())

    return y.data.copy(), pullback


def jacobian(f: Callable[[Tensor], Tensor], x: Tensor | ArrayLike) -> Array:
    """Return the derivative of every entry of `f(x)` with respect to every entry of `x`.

    Parameters
    ----------
    f : callable
        It is called once, with a Tensor, and returns a Tensor of any shape.
    x : Tensor or array_like

    Returns
    -------
    array of shape (*f(x).shape, *x.shape)
        At `[i, j]`, for indices i of the result and j of `x`, stands df_i/dx_j.

    Raises
    ------
    TypeError
        If `f` does not return a Tensor.

    Derivation
    ----------
    A VJP gives v^T J without J. With v = 1 at i and 0 elsewhere that is row i of J. So reverse
    mode takes one pass for each entry of the result, over a graph that is recorded once.
    """
    value, pullback = vjp(f, x)
    rows = np.zeros((*value.shape, *Tensor.lift(x).shape))
    for i in np.ndindex(value.shape):
        one = np.zeros(value.shape)
        one[i] = 1.0
        (rows[i],) = pullback(one)
    return rows


# ---------------------------------------------------------------------- hooks


class Handle:
    """What `register_hook` returns: it takes that one hook away again."""

    def __init__(self, hooks: dict[object, Hook], key: object) -> None:
        self._hooks = hooks
        self._key = key

    def remove(self) -> None:
        """Take the hook away; a second time it changes nothing."""
        self._hooks.pop(self._key, None)


def _through_hooks(node: Tensor, grad: Array) -> Array:
    """Return what the node's hooks make of its gradient.

    `_gradients` calls it once for each node, when all its consumers have delivered.

    Parameters
    ----------
    node : Tensor
    grad : array of the node's shape

    Returns
    -------
    array of the node's shape
        `grad` itself where no hook returns anything.

    Raises
    ------
    RuntimeError
        If a hook returns an array of another shape.

    Derivation
    ----------
    What a hook returns may be an array that somebody holds, and `backward` is going to store it,
    so it is copied. While the hooks run, one of them may remove itself: they are listed before.
    """
    for hook in list(node._hooks.values()):
        changed = hook(grad)
        if changed is None:
            continue
        shape = np.shape(changed)
        if shape != node.shape:
            raise RuntimeError(f"a hook returned shape {shape}, not {node.shape}")
        grad = np.array(changed, dtype=np.float64)
    return grad


# ---------------------------------------------------------------------- version_counter


def _check_versions(node: Tensor) -> None:
    """Refuse to run a node whose saved values were changed; `_gradients` calls it before each.

    Parameters
    ----------
    node : Tensor
        `_saved` lists the tensors that its VJP reads, each with its version when the node was
        recorded; `_saves_result` tells whether the VJP reads the node's own value.

    Raises
    ------
    RuntimeError
        If one of them was changed in place since. A tensor that the VJP does not read may change.

    Derivation
    ----------
    A VJP is right at the values of the forward. It holds their arrays, not copies, so a change in
    place would make its result wrong without a word. To compare the values would take a copy of
    each; to compare how often they were changed takes a number. A result is new when its node is
    recorded: its version is 0 then.
    """
    watched = [*node._saved, (node, 0)] if node._saves_result else node._saved
    for tensor, saved in watched:
        if tensor._version != saved:
            raise RuntimeError(
                f"{node._op} saved a value at version {saved} that was changed in place: "
                f"it is at version {tensor._version}"
            )


def _check_change(tensor: Tensor, value: Tensor, adds: bool = False) -> None:
    """Refuse a change in place that backward would have to know of; the operations above call it.

    Where operations are not recorded, as within `no_grad`, nothing is refused.

    Parameters
    ----------
    tensor : Tensor
        What is going to be changed.
    value : Tensor
        What it is changed with.
    adds : bool
        Whether `value` is only added.

    Raises
    ------
    RuntimeError
        If `tensor` is a leaf that requires a gradient, or a view of one; if `value` requires a
        gradient; if `tensor` is a recorded result, unless a constant is added to it.

    Derivation
    ----------
    The gradient of a leaf belongs to the value with which it went into the graph.

    A change of a result is an operation like any other, x -> f(x, v), and torch records it: what
    was x is then another node. Here a tensor is its node, and what used it before still leads to
    it, so the change cannot be recorded. To leave it out of the graph is right only if
    df/dx = 1 and v is a constant.
    """
    if not _is_recording():
        return
    if tensor.requires_grad and tensor._vjp is None:
        raise RuntimeError("a leaf that requires a gradient can't be changed in place")
    if value.requires_grad or (tensor.requires_grad and not adds):
        raise RuntimeError("backward would have to know of this change in place")
    for parent in tensor._parents:
        if parent._counter is tensor._counter:  # a view of it, so that it is changed as well
            _check_change(parent, value, adds)


# ---------------------------------------------------------------------- custom_function


class Context:
    """What one call of a `Function` carries from its forward to its backward.

    `forward` may also put attributes of any other name on it, for what is not a Tensor.

    Attributes
    ----------
    needs_input_grad : tuple of bool
        For each argument of `apply`, whether its gradient is wanted.
    saved_tensors : tuple
        What `save_for_backward` was given.
    """

    def __init__(self, needs_input_grad: tuple[bool, ...]) -> None:
        self.needs_input_grad = needs_input_grad
        self.saved_tensors: tuple[Tensor | None, ...] = ()

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for `backward`, which finds them in `saved_tensors`, in this order.

        A second call takes the place of the first.

        Parameters
        ----------
        tensors : Tensor or None
            Operands or results of `forward`, or what it computed between them.

        Raises
        ------
        TypeError
            If something else is given: that belongs into an attribute of the context.

        Derivation
        ----------
        The context is made for one call, so what is stored on it belongs to that call alone.
        """
        for one in tensors:
            if not isinstance(one, Tensor | None):
                raise TypeError(f"save_for_backward() takes tensors, not {type(one).__name__}")
        self.saved_tensors = tensors


class Function:
    """An operation with a rule of its own: a subclass writes `forward` and `backward`.

    Both are static methods, and `apply` calls them; nobody else does.
    """

    @staticmethod
    def forward(ctx: Context, *args: Any) -> Tensor:
        """Return the result of the arguments that `apply` was given."""
        raise TypeError("a Function has to define forward")

    @staticmethod
    def backward(ctx: Context, grad: Tensor) -> Any:
        """Return the gradient of each argument of `forward`, given that of its result.

        A tuple of Tensor, array or None, or without a tuple where there is one argument.
        """
        raise TypeError("a Function has to define backward")

    @classmethod
    def apply(cls, *args: Any) -> Tensor:
        """Run `forward` and record it as a single operation, with `backward` for its rule.

        Parameters
        ----------
        args
            Tensors, and whatever else `forward` takes. It gets the tensors as constants of the
            same arrays, so that nothing is recorded within it, and all else as it is.

        Returns
        -------
        Tensor
            What `forward` returned, recorded if some argument requires a gradient.

        Raises
        ------
        RuntimeError
            In the backward pass, if `backward` does not return as many gradients as there are
            arguments, if one of them is of another shape than its argument, or if an argument that
            is not a Tensor gets any.

        Derivation
        ----------
        A function that is differentiated by hand is one node of the graph: its parents are the
        arguments that are tensors, and its VJP is `backward`. What `forward` computes on the way
        must stay out of the graph, or the chain rule would be applied to it a second time.

        `backward` answers for every argument, the parents are the tensors among them: each
        gradient is dropped or handed on by the place of its argument. It may be an array that
        somebody holds, and `backward()` is going to store it, so it is copied.
        """
        ctx = Context(tuple([isinstance(x, Tensor) and x.requires_grad for x in args]))
        tensors = tuple([x for x in args if isinstance(x, Tensor)])
        result = cls.forward(
            ctx, *[Tensor._sharing(x.data, (x,)) if isinstance(x, Tensor) else x for x in args]
        )

        def vjp(g: Array) -> tuple[Array | None, ...]:
            grads = cls.backward(ctx, Tensor(g))
            grads = grads if isinstance(grads, tuple) else (grads,)
            if len(grads) != len(args):
                raise RuntimeError(f"{len(grads)} gradients for {len(args)} arguments")
            parts: list[Array | None] = []
            for x, grad in zip(args, grads, strict=True):
                part = None if grad is None else Tensor.lift(grad).data.copy()
                shape = x.shape if isinstance(x, Tensor) else None
                if part is not None and part.shape != shape:
                    raise RuntimeError(f"a gradient of shape {part.shape}, not {shape}")
                if isinstance(x, Tensor):
                    parts.append(part)
            return tuple(parts)

        saved = [x for x in ctx.saved_tensors if x is not None]
        out = Tensor._make(result.data, tensors, vjp, cls.__name__, saves=saved)
        out._counter = result._counter  # so that a saved result is watched as well
        return out


# ---------------------------------------------------------------------- checkpoint


def checkpoint(f: Callable[..., Tensor], *inputs: Tensor | ArrayLike) -> Tensor:
    """Return `f(*inputs)`, keeping the inputs only: backward runs `f` again for the rest.

    Parameters
    ----------
    f : callable
        Takes as many Tensors as there are inputs and returns one. It has to compute the same
        each time, and is run once here and once in each backward. It may use parameters that it
        is not given; a result, or a tensor with hooks, has to be handed in.
    *inputs : Tensor or array_like

    Returns
    -------
    Tensor
        One node of the graph. Gradients reach the inputs and the parameters that `f` used, the
        same as without `checkpoint`.

    Raises
    ------
    RuntimeError
        In backward, if nothing is recorded then, so that `f` can't be run back.

    Derivation
    ----------
    The VJP of y = f(x) needs what was computed between x and y, but not before backward gets
    here. So throw it away and make it anew from x: one more forward, for less memory. Of L layers
    in sqrt(L) segments, the inputs of all segments are kept and the inside of one at a time:
    2 sqrt(L) arrays in place of L.

    `f` is run on copies of the inputs that are leaves, so that the graph of the second run ends
    at them, and what arrives there is the gradient of this node's parents and no more than that.
    The parameters that `f` used are the other leaves of its graph. They are parents of this node
    as well: then backward waits for what the rest of the graph has for them, and adds.
    """
    given = [Tensor.lift(one) for one in inputs]

    def run() -> tuple[list[Tensor], Tensor]:
        copies = [Tensor(one.data, one.requires_grad) for one in given]
        return copies, f(*copies)

    copies, y = run()
    if not y.requires_grad:
        return y
    leaves = [node for node in _topological_order(y) if node._vjp is None and node.requires_grad]
    used = [leaf for leaf in leaves if leaf not in copies]

    def vjp(g: Array) -> tuple[Array | None, ...]:
        copies, y = run()
        if not y.requires_grad:
            raise RuntimeError("backward() through a checkpoint must not run within no_grad()")
        grads = {id(node): whole for node, whole in _gradients(y, g) if node._vjp is None}
        return tuple([grads.get(id(leaf)) for leaf in (*copies, *used)])

    parents = (*given, *used)
    return Tensor._make(y.data, parents, vjp, "checkpoint", saves=parents)


# ---------------------------------------------------------------------- double_backward


def _grad_of_tensor(
    y: Tensor,
    xs: Tensor | Sequence[Tensor],
    grad: Tensor | ArrayLike | None = None,
    create_graph: bool = False,
) -> tuple[Tensor, ...]:
    """Return the gradient of `y` with respect to each of `xs`, and leave every `.grad` alone.

    Parameters
    ----------
    y : Tensor
    xs : Tensor or sequence of Tensor
        Leaves or results; a Tensor alone is a sequence of one.
    grad : Tensor or array_like of y's shape, optional
        The upstream. May be left out where `y` has one element: then it is 1.
    create_graph : bool
        Whether the gradients are recorded, so that they can be differentiated again, with respect
        to `xs`, to whatever else `y` was computed from, and to `grad`. If not, they are constants.

    Returns
    -------
    tuple of Tensor
        One for each of `xs`, of its shape; zeros where `y` does not depend on it, or where it does
        not require a gradient.

    Raises
    ------
    RuntimeError
        If `grad` is left out and `y` does not have exactly one element, or if it is not of y's
        shape; with `create_graph`, if `y` was computed by an operation that has no rule.

    Derivation
    ----------
    A gradient is a function of the same x as the value. To have its derivative, build it out of
    Tensors: then it has a graph, and that is all that differentiating takes. The derivative along
    v of the gradient of L is the Hessian-vector product H v, and grad(grad L, x, grad=v) gives it
    without H, for H is symmetric: v^T H is what the VJP of the gradient computes.
    """
    wanted = (xs,) if isinstance(xs, Tensor) else xs
    if grad is None and y.data.size != 1:
        raise RuntimeError(f"the gradient of shape {y.shape} needs an upstream")
    upstream = Tensor(np.ones(y.shape)) if grad is None else Tensor.lift(grad)
    if upstream.shape != y.shape:
        raise RuntimeError(f"an upstream of shape {upstream.shape} for shape {y.shape}")
    found = {id(x): Tensor(np.zeros(x.shape)) for x in wanted}
    if create_graph:
        found.update(_gradients_in_tensors(y, upstream))
    else:
        found.update(
            (id(node), Tensor(whole.copy())) for node, whole in _gradients(y, upstream.data)
        )
    return tuple([found[id(x)] for x in wanted])


def _gradients_in_tensors(root: Tensor, upstream: Tensor) -> dict[int, Tensor]:
    """Map the id of each tensor that `root` was computed from to its whole gradient, a Tensor.

    Only those that require a gradient are in it, and `root`. Hooks are not called.

    Derivation
    ----------
    The walk of `_gradients`, with the VJPs and the sums made of Tensors. Tensors are never changed,
    so no sum can spoil what another node holds.
    """
    gradients = {id(root): upstream}
    for node in reversed(_topological_order(root)):
        if node._vjp is None:
            continue
        _check_versions(node)
        parts = _vjp_in_tensors(node, gradients[id(node)])
        for parent, part in zip(node._parents, parts, strict=True):
            if parent.requires_grad:
                earlier = gradients.get(id(parent))
                gradients[id(parent)] = part if earlier is None else earlier + part
    return gradients


def _vjp_in_tensors(node: Tensor, g: Tensor) -> tuple[Tensor, ...]:
    """Return the gradient with respect to each parent of a node, made of Tensor operations.

    Parameters
    ----------
    node : Tensor
        The result of an operation: `_op` names it, `_parents` are its operands, `_args` what else
        it was given.
    g : Tensor of the node's shape
        The upstream.

    Raises
    ------
    RuntimeError
        If there is no rule for the operation.

    Derivation
    ----------
    The rules are those of the methods above. What changes is what they are made of: an operand or
    a result that a rule reads has to come in as the *Tensor*. dx = g y of the exponential depends
    on x twice, through g and through y. With `y.data` in its place the value is the same, and the
    second derivative has lost y's part, without a word.

    Where the derivative of a factor is 0 everywhere, an array is right: relu's mask is a step, and
    the peak that softmax subtracts cancels.
    """
    match node._op, node._parents, node._args:
        case "add", (a, b), _:
            return _sum_to(g, a.shape), _sum_to(g, b.shape)
        case "mul", (a, b), _:
            return _sum_to(g * b, a.shape), _sum_to(g * a, b.shape)
        case "div", (a, b), _:
            r = g / b
            return _sum_to(r, a.shape), _sum_to(-r * node, b.shape)
        case "pow", (x,), (p,):
            return (g * (p * x ** (p - 1)) if p != 0 else g * 0.0,)
        case "matmul", (a, b), _:
            A = a[None, :] if a.ndim == 1 else a
            B = b[:, None] if b.ndim == 1 else b
            G = g[..., None] if b.ndim == 1 else g
            G = G[..., None, :] if a.ndim == 1 else G
            dA, dB = G @ _swapped(B), _swapped(A) @ G
            return _sum_to(dA, A.shape).reshape(a.shape), _sum_to(dB, B.shape).reshape(b.shape)
        case "exp", _, _:
            return (g * node,)
        case "log", (x,), _:
            return (g / x,)
        case "relu", _, _:
            return (g * (node.data > 0),)
        case "tanh", _, _:
            return (g * (1.0 - node * node),)
        case "sum", (x,), (axis, _):
            kept = x.data.sum(axis=axis, keepdims=True).shape
            return (g.reshape(kept) * np.ones(x.shape),)
        case "reshape", (x,), _:
            return (g.reshape(x.shape),)
        case "transpose", (x,), axes:
            inverse = np.argsort(np.empty(range(x.ndim)).transpose(*axes).shape)
            return (g.transpose(*inverse),)
        case "getitem", (x,), (index,):
            return (_put(g, index, x.shape),)
        case "put", _, (index,):
            return (g[index],)
        case "logsumexp", (x,), (axis, _):
            kept = x.data.sum(axis=axis, keepdims=True).shape
            peak = np.where(np.isfinite(node.data), node.data, 0.0).reshape(kept)
            terms = (x - peak).exp()
            total = terms.sum(axis, keepdims=True)
            # Only a slice of -inf has a total of 0; its terms are 0, and so is its gradient.
            return (g.reshape(kept) * (terms / (total + (total.data == 0.0))),)
    raise RuntimeError(f"no rule to differentiate {node._op!r} twice")


def _sum_to(g: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Do what `unbroadcast` does, by Tensor operations.

    Derivation
    ----------
    As of `unbroadcast`; the adjoint of this sum is the copying that `sum` sends back.
    """
    if g.shape == shape:
        return g
    prepended = g.ndim - len(shape)
    stretched = [prepended + i for i, n in enumerate(shape) if n == 1]
    return g.sum((*range(prepended), *stretched)).reshape(shape)


def _swapped(x: Tensor) -> Tensor:
    """Return each matrix of a batch transposed."""
    return x.transpose(*range(x.ndim - 2), -1, -2)


def _put(g: Tensor, index: Any, shape: tuple[int, ...]) -> Tensor:
    """Return zeros of `shape` with `g` added at `index`, recorded as the operation "put".

    Derivation
    ----------
    It is the adjoint of `x[index]`, which reads. The adjoint of an adjoint is what it was: the
    gradient of each entry of g is read from the place to which it was added. So there is no third
    rule to write, however often one differentiates.
    """
    full = np.zeros(shape)
    np.add.at(full, index, g.data)
    return Tensor._make(full, (g,), lambda gg: (gg[index],), "put", args=(index,))


# ---------------------------------------------------------------------- jvp


class Dual(NDArrayOperatorsMixin):
    """A value and its tangent, in the place of an array: x + e v for an e so small that e^2 is 0.

    NumPy asks an operand that defines `__array_ufunc__` and `__array_function__` to do its work.
    What is not provided for is a TypeError, never a tangent that is wrong.
    """

    def __init__(self, value: ArrayLike, tangent: ArrayLike) -> None:
        self.value: Array = np.asarray(value, dtype=np.float64)
        self.tangent: Array = np.asarray(tangent, dtype=np.float64)

    def __repr__(self) -> str:
        return f"Dual({self.value!r}, {self.tangent!r})"

    def mapped(self, linear: Callable[[Array], Array]) -> Dual:
        """Return what a linear function of arrays, such as a sum or a reshape, makes of both.

        Derivation
        ----------
        A linear function has A(x + e v) = A(x) + e A(v): it is its own derivative, so it does to
        the tangent what it does to the value.
        """
        return Dual(linear(self.value), linear(self.tangent))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *operands: Any, **options: Any) -> Any:
        values = [_value(one) for one in operands]
        tangents = [_tangent(one) for one in operands]
        if ufunc is np.add and method == "at":  # adds in place, as the VJP of an index does
            ufunc.at(values[0], operands[1], values[2])
            ufunc.at(tangents[0], operands[1], tangents[2])
            return None
        if method != "__call__" or options:
            return NotImplemented
        y = np.asarray(ufunc(*values))
        if y.dtype == np.bool_:
            return y
        pairs = zip(values, tangents, strict=True)
        return Dual(y, _tangent_of(ufunc, y, *[one for pair in pairs for one in pair]))

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        values = function(*map(_value, args), **options)
        if function in (np.shape, np.may_share_memory):
            return values
        if function is np.where:
            return Dual(values, np.where(args[0], *map(_tangent, args[1:])))
        if function not in _LINEAR:
            return NotImplemented
        moved = [one.tangent if isinstance(one, Dual) else one for one in args]
        tangents = function(*moved, **options)
        return None if values is None else Dual(values, tangents)

    def __getitem__(self, index: Any) -> Dual:
        return self.mapped(lambda a: a[index])

    def sum(self, axis: Axis = None, keepdims: bool = False) -> Dual:
        return self.mapped(lambda a: a.sum(axis=axis, keepdims=keepdims))

    def reshape(self, *shape: Any) -> Dual:
        return self.mapped(lambda a: a.reshape(*shape))

    def transpose(self, *axes: Any) -> Dual:
        return self.mapped(lambda a: a.transpose(*axes))

    def copy(self) -> Dual:
        return self.mapped(np.copy)

    def max(self, axis: Axis = None, keepdims: bool = False, initial: float = -np.inf) -> Dual:
        """Along v, the maximum changes as fast as the fastest of those that are largest."""
        peak = self.value.max(axis=axis, keepdims=True, initial=initial)
        fastest = np.where(self.value == peak, self.tangent, -np.inf)
        return Dual(
            self.value.max(axis=axis, keepdims=keepdims, initial=initial),
            fastest.max(axis=axis, keepdims=keepdims, initial=-np.inf),
        )

    def argmax(self, axis: int | None = None) -> Any:
        return self.value.argmax(axis=axis)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.value.shape

    @property
    def ndim(self) -> int:
        return self.value.ndim

    @property
    def size(self) -> int:
        return self.value.size

    @property
    def base(self) -> Any:
        return self.value.base

    @property
    def mT(self) -> Dual:
        return self.mapped(lambda a: a.mT)


_LINEAR = (
    np.broadcast_to,
    np.put_along_axis,
    np.reshape,
    np.squeeze,
    np.sum,
    np.take_along_axis,
    np.transpose,
    np.zeros_like,
)


def _value(x: Any) -> Any:
    """Return the value of a Dual; anything else is its own."""
    return x.value if isinstance(x, Dual) else x


def _tangent(x: Any) -> Any:
    """Return the tangent of a Dual; a constant does not move, so it has zeros."""
    return x.tangent if isinstance(x, Dual) else np.zeros(np.shape(x))


def _tangent_of(
    ufunc: np.ufunc, y: Array, a: Any, da: Array, b: Any = None, db: Any = None
) -> Array:
    """Return the tangent of `y = ufunc(a)` or of `y = ufunc(a, b)`.

    `Dual` calls it for every arithmetic operation and every elementwise function of the engine.

    Parameters
    ----------
    ufunc : ufunc
        add, subtract, multiply, divide, power (to a constant `b`), matmul or maximum of two;
        negative, exp, log or tanh of one.
    y : array
        The result, already computed.
    a, da, b, db : array or number, and array
        Each operand and its tangent, of the same shape; zeros where it is a constant. The two
        operands broadcast.

    Returns
    -------
    array of y's shape

    Raises
    ------
    TypeError
        If there is no rule for the ufunc.

    Derivation
    ----------
    Put a + e da for a and b + e db for b, multiply out, and drop e^2: what stands beside e is the
    tangent. So (a + e da)(b + e db) = a b + e (da b + a db), and the same for matrices, in this
    order. With y = a / b, from a = y b: da = dy b + y db, so dy = (da - y db) / b. A function of
    one operand has f(a + e da) = f(a) + e f'(a) da. No transpose and no unbroadcasting: nothing is
    handed back.

    A maximum moves with the larger operand. At a tie it moves with `b`: in relu that is the
    constant 0, so that at the kink forward and reverse agree.
    """
    match ufunc:
        case np.add:
            return da + db
        case np.subtract:
            return da - db
        case np.negative:
            return -da
        case np.multiply:
            return da * b + a * db
        case np.divide:
            return (da - y * db) / b
        case np.power:
            return da * (b * a ** (b - 1)) if b != 0 else np.zeros_like(da)
        case np.matmul:
            return da @ b + a @ db
        case np.maximum:
            return np.where(a > b, da, db)
        case np.exp:
            return y * da
        case np.log:
            return da / a
        case np.tanh:
            return (1.0 - y * y) * da
    raise TypeError(f"there is no rule for the tangent of numpy.{ufunc.__name__}")


def _array(data: ArrayLike | Dual) -> Array | Dual:
    """Return what a tensor holds of some data: float64, and a float64 array as it is.

    A `Dual` stays what it is: so whatever is made of tensors carries its tangent, `.grad` too.

    Derivation
    ----------
    The engine computes with arrays and never asks what they are. Let a Dual in where an array
    would stand, and every operation of the forward, and of the VJPs as well, computes a tangent
    beside its value.
    """
    return data if isinstance(data, Dual) else np.asarray(data, dtype=np.float64)


def jvp(
    f: Callable[..., Any], xs: Sequence[Tensor | ArrayLike], vs: Sequence[Tensor | ArrayLike]
) -> tuple[Array, Array]:
    """Return `f(*xs)` and its derivative along `vs`, in one run of `f`.

    Parameters
    ----------
    f : callable
        Takes as many Tensors as there are `xs`, which require a gradient, so that it may run
        backward within. It returns a Tensor, or what backward left in a `.grad`.
    xs, vs : sequences of Tensor or array_like
        Where, and along which direction: for each x a tangent v of its shape.

    Returns
    -------
    y, tangent : arrays of one shape
        The value, and the sum of (df/dx) v over the inputs.

    Raises
    ------
    ValueError
        If there are not as many tangents as inputs, or one has another shape than its input.

    Notes
    -----
    One jvp within another is not provided for.

    Derivation
    ----------
    f(x + e v) = f(x) + e J v for a small e, with the Jacobian J. One run gives one product J v,
    for whatever number of outputs, where reverse mode gives one product u^T J for whatever number
    of inputs: a column for a row.

    Forward over reverse: let f be the function that runs backward and returns the gradient g(w).
    Its Jacobian is the Hessian H, so jvp(g, (w,), (v,)) is (g(w), H v), without any H.
    """
    duals = []
    for x, v in zip(xs, vs, strict=True):
        value, tangent = Tensor.lift(x).data, Tensor.lift(v).data
        if value.shape != tangent.shape:
            raise ValueError(f"a tangent of shape {tangent.shape} for an input of {value.shape}")
        duals.append(Tensor(Dual(value, tangent), requires_grad=True))
    y = Tensor.lift(f(*duals)).data
    return np.array(_value(y)), np.array(_tangent(y))


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
