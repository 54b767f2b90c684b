"""Named dimensions: shapes written as words, so that a failing input can be made smaller.

`"b=2 n=3 m=4, m p=5"` is two inputs of shapes (2, 3, 4) and (4, 5) that share `m`.
A number alone (`1`) is a fixed dimension, and an empty input is a scalar.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

Dim = str | int


@dataclass(frozen=True)
class Dims:
    """A shape in named dimensions, such as `("b", 1, "m")`, given a size later."""

    names: tuple[Dim, ...]

    def at(self, sizes: Mapping[str, int]) -> tuple[int, ...]:
        """Give every named dimension its size."""
        return tuple(sizes[name] if isinstance(name, str) else name for name in self.names)


def dims(text: str) -> Dims:
    """Read one shape, such as `"b 1 m"`, whose sizes are given elsewhere."""
    return Dims(tuple(int(word) if word.isdigit() else word for word in text.split()))


@dataclass(frozen=True)
class Shapes:
    """The shapes of all inputs of a scenario and the size of each named dimension."""

    inputs: tuple[Dims, ...] = ()
    sizes: Mapping[str, int] = field(default_factory=dict)

    def at(self, sizes: Mapping[str, int]) -> Shapes:
        """Return the same shapes with other sizes."""
        return Shapes(self.inputs, dict(sizes))

    def concrete(self) -> tuple[tuple[int, ...], ...]:
        """Return one tuple of integers for each input."""
        return tuple(one.at(self.sizes) for one in self.inputs)


@cache
def parse_shapes(text: str | None) -> Shapes:
    """Read `"b=2 n=3 m=4, m p=5"`; None is a scenario without inputs."""
    if text is None:
        return Shapes()
    sizes: dict[str, int] = {}
    inputs: list[Dims] = []
    for part in text.split(","):
        names: list[Dim] = []
        for word in part.split():
            name, _, size = word.partition("=")
            if size and sizes.setdefault(name, int(size)) != int(size):
                raise ValueError(f"dimension {name!r} has two sizes in {text!r}")
            names.append(int(name) if name.isdigit() else name)
        inputs.append(Dims(tuple(names)))
    missing = {n for one in inputs for n in one.names if isinstance(n, str)} - sizes.keys()
    if missing:
        raise ValueError(f"dimensions without a size in {text!r}: {sorted(missing)}")
    return Shapes(tuple(inputs), sizes)
