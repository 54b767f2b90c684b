"""`free_graph` with one VJP for all freed nodes, an object that is called."""


class _Spent:
    def __call__(self, g):
        raise RuntimeError("backward() ran here before, without retain_graph=True")


def rewrite(lib):
    spent = _Spent()

    def release(node):
        node.__dict__.update(_vjp=spent, _parents=(), _saved=[], _args=(), _op="freed")

    lib._release = release
