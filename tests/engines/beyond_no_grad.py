"""`no_grad` as a class with a depth of its own, and `detach` by the constructor."""

from contextlib import ContextDecorator


def rewrite(lib):
    class Quiet(ContextDecorator):
        depth = 0

        def __enter__(self):
            Quiet.depth += 1
            return self

        def __exit__(self, *_):
            Quiet.depth -= 1

    lib.no_grad = Quiet
    lib._is_recording = lambda: Quiet.depth == 0
    lib.Tensor.detach = lambda self: lib.Tensor(self.data, requires_grad=False)
