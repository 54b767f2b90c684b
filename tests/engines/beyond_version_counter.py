"""`version_counter` with one function for all changes, and refusals asked for beforehand."""

import numpy as np


def rewrite(lib):
    def memory_of(tensor):
        """Every tensor behind this one that holds the same memory."""
        found, stack = [], [tensor]
        while stack:
            one = stack.pop()
            found.append(one)
            stack += [p for p in one._parents if p._counter is one._counter]
        return found

    def change(tensor, value, write, *, harmless):
        value = value if isinstance(value, lib.Tensor) else lib.Tensor(value)
        if lib._is_recording():
            touched = [one for one in memory_of(tensor) if one.requires_grad]
            leaves = [one for one in touched if not one._parents]
            if leaves or value.requires_grad or (touched and not harmless):
                raise RuntimeError("not in place")
        write(tensor.data, value.data)
        tensor._counter.append(tensor._counter.pop() + 1)
        return tensor

    def add_(self, other):
        return change(self, other, lambda a, b: np.add(a, b, out=a), harmless=True)

    def mul_(self, other):
        return change(self, other, lambda a, b: np.multiply(a, b, out=a), harmless=False)

    def setitem(self, index, value):
        where = lib._as_index(index)
        change(self, value, lambda a, b: a.__setitem__(where, b), harmless=False)

    def check(node):
        stale = [t for t, count in node._saved if t._counter != [count]]
        if stale or (node._saves_result and node._counter != [0]):
            raise RuntimeError("changed since it was saved")

    lib.Tensor.add_, lib.Tensor.mul_, lib.Tensor.__setitem__ = add_, mul_, setitem
    lib.Tensor._version = property(lambda self: sum(self._counter))
    lib._check_versions = check
    lib._check_change = None
