"""The network of the spirals in torch, eager and on one thread, to be timed beside an engine."""

from __future__ import annotations

from time import perf_counter

from autodrill.cases.network import POINTS, RATE, SIZES, WARM_UP, parameters, spirals
from autodrill.engines.torch_engine import live_torch


class TorchNetwork:
    """The same network from the same parameters in float64; it has to be installed."""

    def __init__(self) -> None:
        self.torch = torch = live_torch()
        torch.set_num_threads(1)
        self.version = str(torch.__version__)
        self.points, self.classes = (torch.as_tensor(one) for one in spirals(POINTS))
        self.layers = [
            tuple(torch.tensor(one, requires_grad=True) for one in layer)
            for layer in parameters(SIZES)
        ]
        self.steps(WARM_UP)

    def steps(self, count: int) -> list[float]:
        """Train for some steps and return the seconds of each."""
        return [self._step() for _ in range(count)]

    def _step(self) -> float:
        torch = self.torch
        started = perf_counter()
        h = self.points
        for w, b in self.layers[:-1]:
            h = (h @ w + b).relu()
        w, b = self.layers[-1]
        torch.nn.functional.cross_entropy(h @ w + b, self.classes).backward()
        with torch.no_grad():
            for one in (one for layer in self.layers for one in layer):
                one.sub_(RATE * one.grad)
                one.grad = None
        return perf_counter() - started
