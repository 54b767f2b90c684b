"""`jvp` by partial derivatives: of each operand the slope, times its tangent, in a table."""

import numpy as np


def rewrite(lib):
    def slope(sign):
        return lambda y, *operands: sign

    partials = {
        "add": (slope(1.0), slope(1.0)),
        "subtract": (slope(1.0), slope(-1.0)),
        "negative": (slope(-1.0),),
        "multiply": (lambda y, a, b: b, lambda y, a, b: a),
        "divide": (lambda y, a, b: 1.0 / b, lambda y, a, b: -a / b**2),
        "power": (lambda y, a, p: p * a ** max(p - 1, p - 1.0) if p else 0.0, slope(0.0)),
        "maximum": (lambda y, a, b: 1.0 * (a > b), lambda y, a, b: 1.0 * (a <= b)),
        "exp": (lambda y, a: np.exp(a),),
        "log": (lambda y, a: 1.0 / a,),
        "tanh": (lambda y, a: np.cosh(a) ** -2.0,),
    }

    def tangent_of(ufunc, y, *pairs):
        operands, tangents = pairs[::2], pairs[1::2]
        if ufunc is np.matmul:
            (a, b), (da, db) = operands, tangents
            return np.matmul(da, b) + np.matmul(a, db)
        if ufunc.__name__ not in partials:
            raise TypeError(ufunc.__name__)
        total = np.zeros(np.shape(y))
        for partial, tangent in zip(partials[ufunc.__name__], tangents, strict=True):
            total = total + partial(y, *operands) * tangent
        return total

    def mapped(self, linear):
        return lib.Dual(linear(self.value), linear(self.value + self.tangent) - linear(self.value))

    def array(data):
        if type(data).__name__ == "Dual":
            return data
        return np.asarray(data, dtype=float)

    def jvp(f, xs, vs):
        if len(xs) != len(vs):
            raise ValueError("as many tangents as inputs")
        inputs = []
        for i in range(len(xs)):
            x, v = (lib.Tensor.lift(one[i]).data for one in (xs, vs))
            if np.shape(x) != np.shape(v):
                raise ValueError("another shape")
            inputs.append(lib.Tensor(lib.Dual(x, v), True))
        y = f(*inputs)
        y = y.data if isinstance(y, lib.Tensor) else y
        if isinstance(y, lib.Dual):
            return y.value.copy(), y.tangent.copy()
        return np.array(y), np.zeros(np.shape(y))

    lib._tangent_of, lib.Dual.mapped, lib._array, lib.jvp = tangent_of, mapped, array, jvp
