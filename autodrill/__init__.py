"""A terminal drill ground for building an autograd engine in NumPy."""

__version__ = "0.1.0"
