"""`torch.autograd.Function` with the interface of an engine's own: written on its Tensor."""

from __future__ import annotations

from typing import Any


def function_class(torch: Any, tensor: Any) -> Any:
    """Make a Function whose subclasses torch runs; `tensor` wraps a torch tensor as `.inner`."""

    def inner(value: Any) -> Any:
        return value.inner if isinstance(value, tensor) else value

    def wrapped(value: Any) -> Any:
        return tensor(value) if isinstance(value, torch.Tensor) else value

    class Context:
        """torch's context, which keeps everything: this one only wraps and unwraps."""

        def __init__(self, theirs: Any) -> None:
            self.__dict__["theirs"] = theirs

        def save_for_backward(self, *tensors: Any) -> None:
            self.theirs.save_for_backward(*map(inner, tensors))

        @property
        def saved_tensors(self) -> tuple[Any, ...]:
            return tuple(map(wrapped, self.theirs.saved_tensors))

        def __getattr__(self, name: str) -> Any:
            return getattr(self.theirs, name)

        def __setattr__(self, name: str, value: Any) -> None:
            setattr(self.theirs, name, value)

    class Function:
        """The base of a function that defines `forward` and `backward`."""

        forward: Any
        backward: Any

        @classmethod
        def apply(cls, *args: Any) -> Any:
            """Run it as a function of torch's."""

            def forward(ctx: Any, *args: Any) -> Any:
                return inner(cls.forward(Context(ctx), *map(wrapped, args)))

            def backward(ctx: Any, grad: Any) -> Any:
                grads = cls.backward(Context(ctx), wrapped(grad))
                return tuple(map(inner, grads)) if isinstance(grads, tuple) else inner(grads)

            rules = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
            theirs = type(cls.__name__, (torch.autograd.Function,), rules)
            return wrapped(theirs.apply(*map(inner, args)))  # type: ignore[attr-defined]  # of torch's

    return Function
