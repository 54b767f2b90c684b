"""Scenarios and cases: what a track's `scenarios.py` is written in.

A case is a function of an engine and some tensors that returns a tensor; its forward and
the gradient of every input are graded. A scenario is a function of an engine and some
arrays that returns named values. Both run unchanged on every engine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Lib = Any  # an engine: any module-like object with a Tensor
TOLERANCE = 1e-9
"""Largest error of an entry, relative to it and to the largest entry of its array."""

Domain = Literal["any", "positive", "nonzero", "signs"]
Values = Mapping[str, Any]
Complaint = tuple[str, str]
"""The name of the value that is wrong and a sentence that says so."""


@dataclass(frozen=True)
class Scenario:
    """One computation that is graded, on any engine.

    Attributes
    ----------
    id : str
        The name of the function in `scenarios.py`.
    build : callable
        `build(lib, *arrays, **params)` returning a mapping of names to values; of a case,
        `build(lib, *tensors, **params)` returning a tensor.
    symbols : tuple of str
        The symbols that it grades; the first is the one a failure is laid at.
    inputs : tuple of str
        Names of the inputs.
    domains : mapping
        What values an input may take, by name; `any` where it says nothing.
    what : str
        The kind of failure when a value is wrong (see `results.What`).
    says : mapping
        A sentence for the learner, by name of the value that is wrong.
    raises : str or None
        The built-in exception that the engine has to raise.
    measures : mapping
        The values that are numbers of bytes for a person to see, with what they are of. They are
        not compared, for they differ from engine to engine.
    judge : callable or None
        `judge(values)` returning the complaints, where nothing is compared with the reference.
    tolerance : float
        Largest relative error of a value; see `judge.differs`.
    limit_s : float
        Seconds after which it counts as a hang.
    example : str
        A snippet that shows the computation, where the inputs alone do not; `{module}` in it
        is the engine file's name, and the name of a parameter in braces is its value.
    """

    id: str
    build: Callable[..., Any]
    symbols: tuple[str, ...]
    inputs: tuple[str, ...]
    domains: Mapping[str, Domain] = field(default_factory=dict)
    what: str = "graph"
    says: Mapping[str, str] = field(default_factory=dict)
    raises: str | None = None
    measures: Mapping[str, str] = field(default_factory=dict)
    judge: Callable[[Values], list[Complaint]] | None = None
    tolerance: float = TOLERANCE
    limit_s: float = 10.0
    example: str = ""

    @property
    def options(self) -> tuple[str, ...]:
        """Return the names of the parameters that `build` takes besides engine and inputs."""
        code = self.build.__code__
        return code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]


@dataclass(frozen=True)
class Case(Scenario):
    """A scenario with the common shape: tensors in, one tensor out, forward and gradients."""


def _leaf(lib: Lib, array: Array) -> Any:
    return lib.Tensor(array, requires_grad=True)


def _backward(lib: Lib, out: Any, upstream: Array) -> None:
    out.backward(upstream)


def _backward_code(out: str, upstream: str) -> str:
    return f"{out}.backward(np.array({upstream}))"


@dataclass
class Suite:
    """All scenarios of one track, and how its engines are driven.

    Attributes
    ----------
    leaf : callable
        `leaf(lib, array)` makes the tensor of one input.
    backward : callable
        `backward(lib, out, upstream)` runs backward from `out`, of any shape.
    backward_code : callable
        The same as text for a snippet: `backward_code(out, upstream)`, where `out` is the
        expression that gives the tensor.
    backward_names : tuple of str
        Names of the engine that this text may use, besides `Tensor`.
    parents, rule : str
        The attributes in which a tensor of the track keeps its parents, and the function that
        backward calls to pass its gradient on to them. The name of its operation is `_op`.
    """

    leaf: Callable[[Lib, Array], Any] = _leaf
    backward: Callable[[Lib, Any, Array], None] = _backward
    backward_code: Callable[[str, str], str] = _backward_code
    backward_names: tuple[str, ...] = ()
    parents: str = "_parents"
    rule: str = "_vjp"
    scenarios: dict[str, Scenario] = field(default_factory=dict)

    def case(
        self, *symbols: str, **domains: Domain
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Register the decorated `build(lib, *tensors, **params) -> Tensor` as a case."""

        def register(build: Callable[..., Any]) -> Callable[..., Any]:
            self._add(Case(build.__name__, build, symbols, _input_names(build), domains))
            return build

        return register

    def scenario(
        self, *symbols: str, domains: Mapping[str, Domain] | None = None, **options: Any
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Register the decorated `build(lib, *arrays, **params) -> values` as a scenario."""

        def register(build: Callable[..., Any]) -> Callable[..., Any]:
            inputs = _input_names(build)
            self._add(Scenario(build.__name__, build, symbols, inputs, domains or {}, **options))
            return build

        return register

    def __getitem__(self, scenario_id: str) -> Scenario:
        """Return the scenario of that id; KeyError if there is none."""
        return self.scenarios[scenario_id]

    def include(self, other: Suite) -> None:
        """Add the scenarios of another suite; their ids have to be new."""
        for scenario in other.scenarios.values():
            self._add(scenario)

    def _add(self, scenario: Scenario) -> None:
        if scenario.id in self.scenarios:
            raise ValueError(f"two scenarios are called {scenario.id!r}")
        self.scenarios[scenario.id] = scenario


def _input_names(build: Callable[..., Any]) -> tuple[str, ...]:
    """Read the inputs from the signature: the positional parameters after the engine."""
    code = build.__code__
    return code.co_varnames[1 : code.co_argcount]


def draw(domain: Domain, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Draw one float64 input of `shape` from a domain, all entries between -3 and 3.

    `positive` and `nonzero` stay 0.3 away from zero; `signs` holds -1, 0 and 1.
    """
    if domain == "positive":
        return np.asarray(rng.uniform(0.3, 3.0, shape))
    if domain == "nonzero":
        return np.asarray(rng.uniform(0.3, 3.0, shape) * rng.choice([-1.0, 1.0], shape))
    if domain == "signs":
        signs = np.asarray(rng.integers(-1, 2, shape), dtype=np.float64)
        signs.flat[:1] = 0.0
        return signs
    return np.asarray(np.clip(rng.standard_normal(shape), -3.0, 3.0))
