"""`leaf_grad` with a set of identities in place of a flag, and leaves told by their parents."""

from weakref import WeakSet


def rewrite(lib):
    wanted = WeakSet()

    def retain_grad(self):
        if not self.requires_grad:
            raise RuntimeError("no gradient will come")
        if self._parents:
            wanted.add(self)

    lib.Tensor.is_leaf = property(lambda self: not self._parents)
    lib.Tensor.retain_grad = retain_grad
    lib._keeps_grad = lambda node: not node._parents or node in wanted
