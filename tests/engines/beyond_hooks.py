"""`hooks` in a list of pairs, with a handle that is a function's attribute."""

from types import SimpleNamespace

import numpy as np


def rewrite(lib):
    def register_hook(self, hook):
        if not self.requires_grad:
            raise RuntimeError("no gradient will come")
        self.__dict__.setdefault("_listening", [])
        entry = [hook]
        self._listening.append(entry)

        def remove():
            self._listening = [one for one in self._listening if one is not entry]

        return SimpleNamespace(remove=remove)

    def through(node, grad):
        for (hook,) in tuple(getattr(node, "_listening", ())):
            answer = hook(grad)
            if answer is not None:
                grad = np.array(answer, dtype=float)
                if grad.shape != node.data.shape:
                    raise RuntimeError("another shape")
        return grad

    lib.Tensor.register_hook = register_hook
    lib._through_hooks = through
