"""Run one scenario on one engine and write down what came of it."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field

# Names are bound here, before the learner's file can patch NumPy in a worker.
from random import seed as seed_python
from typing import Any
from warnings import WarningMessage, catch_warnings, simplefilter

from numpy import array as copy_of
from numpy import errstate, may_share_memory, ndarray
from numpy.random import default_rng
from numpy.random import seed as seed_numpy
from numpy.typing import NDArray

from autodrill.cases.outcome import (
    NO_TENSOR,
    Frame,
    Odd,
    Outcome,
    Raised,
    Value,
    plain,
    start_of,
)
from autodrill.cases.scenario import Case, Lib, Scenario, Suite

Array = NDArray[Any]

_WARNINGS_KEPT = 3
_WARNINGS_READ = 1000
_LONGEST_MESSAGE = 2000
_LONGEST_NAME = 100
_RECURSION_LIMIT = 1000
_NUMPY_DEFAULT = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}


@dataclass(frozen=True)
class Request:
    """One scenario with everything it needs to run.

    `upstream` is the gradient fed to the output of a case, or the seed to draw one of the
    output's shape; scenarios without an output do not use it.
    """

    scenario: str
    inputs: Mapping[str, Array] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)
    upstream: Array | int = 0


class _Recorder:
    """What a run has produced so far, also when it ends in an exception."""

    def __init__(self) -> None:
        self.stage = "forward"
        self.values: dict[str, Value] = {}
        self.arrays: dict[str, Any] = {}
        self.measured: dict[str, float] = {}
        self.changed: list[str] = []


def run(
    suite: Suite,
    lib: Lib,
    request: Request,
    *,
    file: str | None = None,
    catch: type[BaseException] | tuple[()] = BaseException,
) -> Outcome:
    """Run a scenario on an engine.

    Parameters
    ----------
    suite, lib, request
        The track's scenarios, the engine, and what to run.
    file : str, optional
        The engine's file: only its frames are kept of a traceback.
    catch : class of exceptions, or ()
        What becomes part of the outcome; all else is let through: Ctrl-C from an engine that
        is ours, everything under a debugger.
    """
    __tracebackhide__ = True
    _same_start()
    engines_own = dict(lib.__dict__)
    recorder = _Recorder()
    scenario = _find(suite, request.scenario)
    raised = None
    with catch_warnings(record=True) as caught, errstate(**_NUMPY_DEFAULT):  # type: ignore[arg-type]  # a mapping of literals
        simplefilter("always")
        try:
            _run(suite, scenario, lib, request, recorder)
        except BaseException as error:  # an engine may raise anything, SystemExit included
            if not isinstance(error, catch) and not _is_expected(scenario, error):
                raise
            raised = describe(error, recorder.stage, file)
        finally:  # a flag of the engine's that was left set costs this run and no other
            lib.__dict__.update(engines_own)
    return Outcome(
        values=recorder.values,
        measured=recorder.measured,
        raised=raised,
        changed=tuple(recorder.changed),
        aliases=_aliases(recorder.arrays),
        readonly=_readonly(recorder.arrays),
        warnings=_messages(caught),
    )


def _find(suite: Suite, scenario_id: str) -> Scenario:
    """Return a scenario of the track, or one of those that every track has."""
    if scenario_id in suite.scenarios:
        return suite[scenario_id]
    from autodrill.cases.builtin import builtin  # here: no check needs them

    return builtin(suite, scenario_id)


def _same_start() -> None:
    """Give each run the same start, whatever earlier runs or the engine's import have set."""
    seed_python(0)
    seed_numpy(0)
    sys.setrecursionlimit(max(_RECURSION_LIMIT, _depth() + _RECURSION_LIMIT // 2))


def _depth() -> int:
    frame, depth = sys._getframe(), 0
    while frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1
    return depth


def _run(suite: Suite, scenario: Scenario, lib: Lib, request: Request, recorder: _Recorder) -> None:
    __tracebackhide__ = True
    given = {name: copy_of(array) for name, array in request.inputs.items()}
    if isinstance(scenario, Case):
        _run_case(suite, scenario, lib, request, given, recorder)
    else:
        recorder.stage = "run"
        result = dict(scenario.build(lib, *given.values(), **request.params))
        recorder.measured = {name: float(result.pop(name)) for name in scenario.measures}
        recorder.arrays = dict(result)
        recorder.values = {name: plain(value) for name, value in result.items()}
    recorder.changed += [
        name for name, array in given.items() if not _same(array, request.inputs[name])
    ]


def _run_case(
    suite: Suite,
    scenario: Scenario,
    lib: Lib,
    request: Request,
    given: Mapping[str, Array],
    recorder: _Recorder,
) -> None:
    __tracebackhide__ = True
    leaves = {name: suite.leaf(lib, array) for name, array in given.items()}
    out = scenario.build(lib, *leaves.values(), **request.params)
    if not isinstance(out, lib.Tensor):
        recorder.values["out"] = Odd(type(out).__name__, NO_TENSOR)
        return
    forward = recorder.values["out"] = plain(out.data)
    if not isinstance(forward, ndarray):
        return
    upstream = request.upstream
    if isinstance(upstream, int):
        upstream = default_rng(upstream).standard_normal(forward.shape)
    elif upstream.shape != forward.shape:
        return
    recorder.stage = "backward"
    fed = copy_of(upstream)
    suite.backward(lib, out, fed)
    for name, leaf in leaves.items():
        grad = recorder.arrays[f"{name}.grad"] = leaf.grad
        recorder.values[f"{name}.grad"] = plain(grad)
    if not _same(fed, upstream):
        recorder.changed.append("upstream")
    recorder.arrays["upstream"] = fed


def _same(one: Array, other: Array) -> bool:
    return one.shape == other.shape and one.tobytes() == other.tobytes()


def _aliases(arrays: Mapping[str, Any]) -> tuple[str, ...]:
    own = [(name, array) for name, array in arrays.items() if type(array) is ndarray]
    return tuple(
        f"{own[i][0]} and {own[j][0]}"
        for j in range(len(own))
        for i in range(j)
        if may_share_memory(own[i][1], own[j][1])
    )


def _readonly(arrays: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(
        name
        for name, array in arrays.items()
        if type(array) is ndarray and not array.flags.writeable
    )


def _messages(caught: list[WarningMessage]) -> tuple[str, ...]:
    unique = dict.fromkeys(
        f"{one.category.__name__}: {_said(one.message)}" for one in caught[:_WARNINGS_READ]
    )
    return tuple(unique)[:_WARNINGS_KEPT]


def _is_expected(scenario: Scenario, error: BaseException) -> bool:
    names = [one.__name__ for one in type(error).__mro__]
    return scenario.raises in names and "NotImplementedError" not in names


def describe(error: BaseException, stage: str, file: str | None) -> Raised:
    """Describe an exception as plain data, with the frames that lie in `file`."""
    try:
        names = tuple(start_of(one.__name__, _LONGEST_NAME) for one in type(error).__mro__)
        return Raised(names, _said(error), stage, _frames(error, file))
    except BaseException:  # the learner's class may be anything
        return Raised(("Exception",), "an exception that can't be described", stage)


def _said(error: BaseException | str) -> str:
    try:
        return start_of(str(error), _LONGEST_MESSAGE)
    except BaseException:  # the learner's __str__ may raise anything
        return ""


def _frames(error: BaseException, file: str | None) -> tuple[Frame, ...]:
    summary = traceback.StackSummary.extract(
        traceback.walk_tb(error.__traceback__), lookup_lines=True
    )
    own = [one for one in summary if file is not None and one.filename == file]
    return tuple(Frame(one.lineno or 0, one.name, one.line or "") for one in own[-20:])
