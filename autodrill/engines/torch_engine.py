"""torch as an engine: a thin adaptor with the names that cases use."""

from __future__ import annotations

import signal
import threading
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from autodrill.catalog import Track
from autodrill.engines.engine import LocalEngine
from autodrill.engines.reference import load_suite
from autodrill.engines.torch_function import function_class
from autodrill.errors import BROKEN, AutodrillError

Array = NDArray[Any]


def live_torch() -> Any:
    """Import torch.

    Raises
    ------
    AutodrillError
        If torch is not installed.
    """
    try:
        with _signals_held():
            import torch
    except ImportError as error:
        raise AutodrillError(
            "torch is not installed",
            hint="`pip install torch` brings it; no other grading needs it",
            exit_code=BROKEN,
        ) from error
    return torch


@contextmanager
def _signals_held() -> Iterator[None]:
    """Let a Ctrl-C take effect after an import: one in the middle of torch's aborts the process."""
    came: list[int] = []
    numbers = [getattr(signal, one, None) for one in ("SIGINT", "SIGTERM", "SIGHUP")]
    known = [one for one in numbers if one is not None and callable(signal.getsignal(one))]
    if threading.current_thread() is not threading.main_thread():
        known = []
    before = {one: signal.signal(one, lambda number, _: came.append(number)) for one in known}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if came:
        signal.raise_signal(came[0])


def torch_engine(track: Track) -> LocalEngine:
    """Return live torch as an engine for a track's cases, in float64; it has to be installed."""
    suite = load_suite(track)
    driven = type(suite)(backward=_backward, scenarios=suite.scenarios)
    return LocalEngine(driven, _adaptor(live_torch()))


def _backward(_: Any, out: Any, upstream: Array) -> None:
    out.backward(upstream)


def _adaptor(torch: Any) -> Any:
    """Make a module-like object whose Tensor wraps a torch tensor."""

    def unwrap(value: Any) -> Any:
        if isinstance(value, Tensor):
            return value.inner
        return torch.as_tensor(np.asarray(value, dtype=np.float64))

    class Tensor:
        """The part of an engine's interface that cases use, on a torch tensor."""

        __array_ufunc__ = None

        def __init__(self, data: Any, requires_grad: bool = False) -> None:
            if isinstance(data, torch.Tensor):
                self.inner = data
            else:
                array = np.array(data, dtype=np.float64)
                self.inner = torch.tensor(array, requires_grad=requires_grad)

        @property
        def data(self) -> Array:
            return np.asarray(self.inner.detach().numpy())

        @property
        def grad(self) -> Array | None:
            found = self.inner.grad
            return None if found is None else np.array(found.numpy())

        def backward(self, upstream: Array | None = None) -> None:
            if self.inner.requires_grad:
                self.inner.backward(None if upstream is None else torch.as_tensor(upstream))

        def __getitem__(self, index: Any) -> Tensor:
            return Tensor(self.inner[_index(index)])

        def __pow__(self, exponent: float) -> Tensor:
            return Tensor(self.inner**exponent)

        def __neg__(self) -> Tensor:
            return Tensor(-self.inner)

        def sum(self, axis: Any = None, keepdims: bool = False) -> Tensor:
            return Tensor(self.inner.sum(_axes(self, axis), keepdim=keepdims))

        def max(self, axis: Any = None, keepdims: bool = False) -> Tensor:
            return Tensor(self.inner.amax(_axes(self, axis), keepdim=keepdims))

        def mean(self, axis: Any = None, keepdims: bool = False) -> Tensor:
            return Tensor(self.inner.mean(_axes(self, axis), keepdim=keepdims))

        def reshape(self, *shape: Any) -> Tensor:
            return Tensor(self.inner.reshape(*shape))

        def transpose(self, *axes: Any) -> Tensor:
            order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
            return Tensor(self.inner.permute(tuple(order or range(self.inner.ndim)[::-1])))

        @property
        def T(self) -> Tensor:  # noqa: N802 - NumPy's name
            return self.transpose()

        @property
        def shape(self) -> tuple[int, ...]:
            return tuple(self.inner.shape)

        def logsumexp(self, axis: Any = -1, keepdims: bool = False) -> Tensor:
            return Tensor(torch.logsumexp(self.inner, _axes(self, axis), keepdim=keepdims))

        def log_softmax(self, axis: int = -1) -> Tensor:
            return Tensor(torch.log_softmax(self.inner, axis))

        def softmax(self, axis: int = -1) -> Tensor:
            return Tensor(torch.softmax(self.inner, axis))

    def _axes(tensor: Tensor, axis: Any) -> tuple[int, ...]:
        if axis is None:
            return tuple(range(tensor.inner.ndim))
        return tuple(axis) if isinstance(axis, Sequence) else (axis,)

    def _index(index: Any) -> Any:
        if isinstance(index, tuple):
            return tuple(_index(one) for one in index)
        if isinstance(index, Tensor):
            return index.inner.long()
        return torch.as_tensor(index) if isinstance(index, (list, np.ndarray)) else index

    for name in ("exp", "log", "relu", "tanh", "sigmoid"):
        setattr(Tensor, name, lambda self, op=name: Tensor(getattr(self.inner, op)()))
    for name in ("add", "sub", "mul", "truediv", "matmul"):
        method = f"__{name}__"
        setattr(
            Tensor, method, lambda self, b, op=method: Tensor(getattr(self.inner, op)(unwrap(b)))
        )
        setattr(
            Tensor,
            f"__r{name}__",
            lambda self, a, op=method: Tensor(getattr(unwrap(a), op)(self.inner)),
        )

    def cross_entropy(logits: Tensor, targets: Any) -> Tensor:
        classes = torch.as_tensor(np.asarray(targets)).long()
        return Tensor(torch.nn.functional.cross_entropy(logits.inner, classes))

    def conv1d(x: Tensor, w: Tensor, stride: int = 1, padding: int = 0) -> Tensor:
        found = torch.nn.functional.conv1d(x.inner, w.inner, stride=stride, padding=padding)
        return Tensor(found)

    def checkpoint(f: Any, *inputs: Any) -> Tensor:
        from torch.utils import checkpoint as again

        given = [unwrap(one) for one in inputs]
        return Tensor(
            again.checkpoint(
                lambda *inner: f(*map(Tensor, inner)).inner, *given, use_reentrant=False
            )
        )

    def grad(
        y: Tensor, xs: Sequence[Tensor], grad: Any = None, create_graph: bool = False
    ) -> tuple[Tensor, ...]:
        upstream = None if grad is None else unwrap(grad)
        inputs = [x.inner for x in xs]
        found = torch.autograd.grad(
            y.inner, inputs, upstream, create_graph=create_graph, materialize_grads=True
        )
        return tuple(map(Tensor, found))

    return types.SimpleNamespace(
        Tensor=Tensor,
        conv1d=conv1d,
        Function=function_class(torch, Tensor),
        checkpoint=checkpoint,
        cross_entropy=cross_entropy,
        grad=grad,
        log_softmax=lambda x, axis=-1: x.log_softmax(axis),
        softmax=lambda x, axis=-1: x.softmax(axis),
    )
