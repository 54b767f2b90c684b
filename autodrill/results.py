"""What a use case gives back: frozen, complete, and known to every layer above."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]

Verdict = Literal["pass", "fail", "todo", "blocked", "error", "timeout", "crash"]

WORST_FIRST: tuple[Verdict, ...] = ("error", "crash", "timeout", "fail", "todo", "blocked")

What = Literal[
    "forward",
    "gradient",
    "shape",
    "type",
    "missing",
    "raised",
    "not-raised",
    "graph",
    "training",
    "hang",
    "crash",
]


@dataclass(frozen=True)
class Example:
    """A failing computation that can be pasted into a Python prompt in the workspace."""

    code: str
    inputs: Mapping[str, Array]
    upstream: Array | None = None


@dataclass(frozen=True)
class Diagnosis:
    """The name of a bug.

    `confidence` is `exact` where a bug of the catalogue gives the learner's outcome on
    every probe, `pattern` where a general pattern fits. `also` lists bugs that fit as well.
    """

    bug: str
    title: str
    why: str
    hint: str = ""
    confidence: Literal["exact", "pattern"] = "exact"
    also: tuple[str, ...] = ()


@dataclass(frozen=True)
class Failure:
    """Why one test is not green.

    `line` is a line of the learner's file. `yours` is an array, or a short text where what
    came back is not one; two entries differ where they do by more than `tolerance`,
    relatively. `trace` holds the learner's own frames, the outermost first.
    """

    test: str
    verdict: Verdict
    what: What
    message: str
    symbol: str | None = None
    of: str | None = None
    line: int | None = None
    trace: tuple[str, ...] = ()
    example: Example | None = None
    yours: Array | str | None = None
    expected: Array | str | None = None
    finite_differences: Array | None = None
    max_abs_diff: float | None = None
    tolerance: float = 1e-9
    diagnosis: Diagnosis | None = None
    output: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Measure:
    """A number of bytes that was counted, and its share of the one it is to be held against."""

    label: str
    bytes: float
    share: float | None = None


@dataclass(frozen=True)
class TargetResult:
    """The verdict on one target; `blocked_by` is the first target it needs that is not green.

    `measured` is what was counted on the way, for a person to see; `symbol` is the one function
    that was graded, where it was not the whole target.
    """

    id: str
    step: int
    title: str
    verdict: Verdict
    passed: int
    failed: int
    total: int
    blocked_by: str | None = None
    failures: tuple[Failure, ...] = ()
    measured: tuple[Measure, ...] = ()
    symbol: str | None = None

    @property
    def label(self) -> str:
        """Return what to call what was graded: the symbol's name, or the target's id."""
        return self.symbol.rpartition(".")[2] if self.symbol else self.id


@dataclass(frozen=True)
class Problem:
    """Why a file could not be graded at all: one sentence, a place, and what to do."""

    message: str
    hint: str = ""
    line: int | None = None
    column: int | None = None
    text: str = ""
    trace: tuple[str, ...] = ()
    output: str = ""


@dataclass(frozen=True)
class CheckResult:
    """One run of the grader over a file.

    `impl` is `exercise` for a learner's file and `solution` for the reference. `asked`
    names what was asked for, empty for the whole track in order.
    """

    track: str
    track_title: str
    file: str
    impl: str
    verdict: Verdict
    seconds: float
    targets: tuple[TargetResult, ...]
    asked: tuple[str, ...] = ()
    problem: Problem | None = None
    warnings: tuple[str, ...] = field(default=())


@dataclass(frozen=True)
class TargetProof:
    """What is proved of a target: its stub fails, its tests exist, it has three hints."""

    target: str
    stub_fails: bool
    stub_passes_tests: tuple[str, ...]
    tests_missing: tuple[str, ...]
    hints: bool

    @property
    def holds(self) -> bool:
        """Tell whether nothing falls short."""
        return self.stub_fails and self.hints and not self.tests_missing


@dataclass(frozen=True)
class BugProof:
    """The test that catches a bug and the name it is given; `fault` says what falls short."""

    bug: str
    target: str
    caught_by: str | None
    named: str | None
    fault: str = ""


@dataclass(frozen=True)
class TrackProof:
    """What is proved of a track; `failing` names the tests that its reference fails."""

    track: str
    targets: tuple[TargetProof, ...]
    tests: int
    strict_tests: int
    failing: tuple[str, ...]
    bugs: tuple[BugProof, ...]

    @property
    def holds(self) -> bool:
        """Tell whether nothing falls short."""
        return (
            all(one.holds for one in self.targets)
            and not self.failing
            and not any(one.fault for one in self.bugs)
        )


def worst(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst of several verdicts, `pass` where all are."""
    found = set(verdicts)
    return next((verdict for verdict in WORST_FIRST if verdict in found), "pass")
