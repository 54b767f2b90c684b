"""`functional` with a class for the record of one call, and every gradient taken on the way."""

import numpy as np


def rewrite(lib):
    class Record:
        def __init__(self, f, xs):
            arrays = [x.data if isinstance(x, lib.Tensor) else np.asarray(x, float) for x in xs]
            self.leaves = tuple(lib.Tensor(one, requires_grad=True) for one in arrays)
            self.out = f(*self.leaves)
            if type(self.out) is not lib.Tensor:
                raise TypeError("no Tensor")

        def __call__(self, upstream):
            if isinstance(upstream, lib.Tensor):
                upstream = upstream.data
            upstream = np.array(upstream, dtype=float)
            if upstream.shape != self.out.data.shape:
                raise RuntimeError("another shape")
            arrived = list(lib._gradients(self.out, upstream))

            def of(leaf):
                found = [np.array(whole) for node, whole in arrived if node is leaf]
                return found[0] if found else 0.0 * leaf.data

            return tuple(of(leaf) for leaf in self.leaves)

    def vjp(f, *xs):
        record = Record(f, xs)
        return np.array(record.out.data), record

    def value_and_grad(f):
        def both(x, *rest):
            record = Record(lambda t: f(t, *rest), [x])
            if record.out.data.ndim:
                raise RuntimeError("not one number")
            return float(record.out.data), record(1.0)[0]

        return both

    def gradient_of(f):
        return lambda *xs: value_and_grad(f)(*xs)[1]

    def jacobian(f, x):
        record = Record(f, [x])
        out, (leaf,) = record.out.data, record.leaves
        rows = [record(row.reshape(out.shape))[0] for row in np.eye(out.size)]
        return np.array(rows, dtype=float).reshape(out.shape + leaf.data.shape)

    lib.vjp = vjp
    lib.value_and_grad = value_and_grad
    lib._grad_of_function = gradient_of
    lib.jacobian = jacobian
