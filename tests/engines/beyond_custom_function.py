"""`custom_function` in two passes over pairs, with the record made by hand and no `_make`."""

import numpy as np


def rewrite(lib):
    def save_for_backward(self, *tensors):
        if any(one is not None and type(one) is not lib.Tensor for one in tensors):
            raise TypeError("tensors only")
        self.__dict__.update(saved_tensors=(*tensors,))

    def apply(cls, *args):
        where = [i for i, one in enumerate(args) if isinstance(one, lib.Tensor)]
        needs = [i in where and bool(args[i].requires_grad) for i in range(len(args))]
        ctx = lib.Context(tuple(needs))
        plain = list(args)
        for i in where:
            plain[i] = lib.Tensor(args[i].data)
        y = cls.forward(ctx, *plain).data
        if not any(needs):
            return lib.Tensor(y)

        def rule(g):
            answer = cls.backward(ctx, lib.Tensor(g))
            if type(answer) is not tuple:
                answer = (answer,)
            given = {i: one for i, one in enumerate(answer) if one is not None}
            if len(answer) != len(args) or not set(given) <= set(where):
                raise RuntimeError("the gradients do not fit the arguments")
            arrays = {
                i: np.array(one.data if isinstance(one, lib.Tensor) else one)
                for i, one in given.items()
            }
            if any(array.shape != args[i].data.shape for i, array in arrays.items()):
                raise RuntimeError("a gradient of another shape")
            return [arrays.get(i) for i in where]

        out = lib.Tensor(y, True, tuple(args[i] for i in where), cls.__name__)
        out._vjp = rule
        return out

    lib.Context.save_for_backward = save_for_backward
    lib.Function.apply = classmethod(apply)
