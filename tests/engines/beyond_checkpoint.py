"""`checkpoint` whose first run records nothing of the inputs, and that walks the graph itself."""

import numpy as np


def rewrite(lib):
    def parameters(root, seen):
        """Find by recursion the leaves that require a gradient."""
        if id(root) not in seen:
            seen[id(root)] = root
            for parent in root._parents:
                parameters(parent, seen)
        return [one for one in seen.values() if one.requires_grad and not one._parents]

    def checkpoint(f, *inputs):
        inputs = [x if isinstance(x, lib.Tensor) else lib.Tensor(x) for x in inputs]
        first = f(*(lib.Tensor(x.data) for x in inputs))
        used = parameters(first, {})
        value = np.array(first.data)
        del first

        def vjp(g):
            copies = [lib.Tensor(x.data, requires_grad=x.requires_grad) for x in inputs]
            whole = {}
            for node, grad in lib._gradients(f(*copies), g):
                whole[node] = grad
            return tuple(whole.get(one) for one in [*copies, *used])

        if not any(x.requires_grad for x in [*inputs, *used]):
            return lib.Tensor(value)
        return lib.Tensor._make(value, (*inputs, *used), vjp, "again")

    lib.checkpoint = checkpoint
