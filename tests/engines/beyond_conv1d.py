"""`conv1d` as a sum of matrix products, one for each entry of the kernel, on signals that a
matrix of zeros and ones has padded."""

import numpy as np


def rewrite(lib):
    def conv1d(x, w, stride=1, padding=0):
        x, w = lib.Tensor.lift(x), lib.Tensor.lift(w)
        length, size = x.shape[2], w.shape[2]
        if x.shape[1] != w.shape[1] or size > length + 2 * padding:
            raise ValueError("these do not fit")
        padded = x @ np.eye(length, length + 2 * padding, padding)
        last = length + 2 * padding - size
        total = 0.0
        for k in range(size):
            total = w[:, :, k] @ padded[:, :, k : k + last + 1 : stride] + total
        return total

    lib.conv1d = conv1d
