"""Probes: a scenario at given shapes, and the requests that are made of it."""

from __future__ import annotations

import zlib
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from autodrill.cases.run import Request
from autodrill.cases.scenario import Scenario, draw
from autodrill.cases.shapes import Dims, Shapes, parse_shapes

SQUARE = 3


@dataclass(frozen=True)
class Probe:
    """A scenario at one choice of sizes; `seed` makes its values repeatable."""

    scenario: Scenario
    shapes: Shapes
    params: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0

    @cached_property
    def key(self) -> Hashable:
        """Return what tells this probe from every other of its track."""
        return self.scenario.id, self.seed, tuple(self.shapes.sizes.items()), repr(self.params)

    @property
    def is_cheap(self) -> bool:
        """Tell whether it takes no time to speak of: it is no long chain and no training run."""
        return bool(self.scenario.inputs) and self.scenario.judge is None

    def request(self) -> Request:
        """Draw the inputs and give every parameter in named dimensions its sizes."""
        rng = np.random.default_rng(self.seed)
        shapes = self.shapes.concrete()
        if len(shapes) != len(self.scenario.inputs):
            raise ValueError(
                f"{self.scenario.id} has {len(self.scenario.inputs)} inputs, not {len(shapes)}"
            )
        inputs = {
            name: draw(self.scenario.domains.get(name, "any"), shape, rng)
            for name, shape in zip(self.scenario.inputs, shapes, strict=True)
        }
        return Request(self.scenario.id, inputs, self.sized(self.params), upstream=self.seed)

    def sized(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Give parameters in named dimensions their sizes."""
        return {
            name: value.at(self.shapes.sizes) if isinstance(value, Dims) else value
            for name, value in params.items()
        }

    def at(self, sizes: Mapping[str, int]) -> Probe:
        """Return the same probe with other sizes."""
        return Probe(self.scenario, self.shapes.at(sizes), self.params, self.seed)


def probes(scenario: Scenario, shapes: str | None, params: Mapping[str, Any]) -> list[Probe]:
    """Return the probes of one line of a grader: as written, and with all sizes equal.

    Equal sizes stand beside the written ones because a wrong axis or a missing transpose
    raises on an oblong shape and goes through on a square.
    """
    parsed = parse_shapes(shapes)
    seed = zlib.crc32(f"{scenario.id} {shapes} {sorted(params.items(), key=repr)}".encode())
    written = Probe(scenario, parsed, params, seed)
    square = dict.fromkeys(parsed.sizes, SQUARE)
    if square == parsed.sizes:
        return [written]
    return [written, Probe(scenario, parsed.at(square), params, seed + 1)]
