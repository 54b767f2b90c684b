"""Run graders with pytest inside this process and collect what each of them found.

Nothing of the learner's takes part: no conftest, no ini file, no plugin that loads itself,
no options from the environment.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast

import pytest

from autodrill.cases.probe import Probe
from autodrill.errors import AutodrillError, broken_track
from autodrill.grading.grade import Finding, Grade, NotGreen, Recorder
from autodrill.results import Measure

_IGNORED = ("PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DEBUG")
_UNUSED = (
    "assertion",
    "cacheprovider",
    "capture",
    "debugging",
    "doctest",
    "faulthandler",
    "junitxml",
    "legacypath",
    "logging",
    "monkeypatch",
    "pastebin",
    "pytester",
    "recwarn",
    "setuponly",
    "setupplan",
    "skipping",
    "stepwise",
    "subtests",
    "terminal",
    "terminalprogress",
    "tmpdir",
    "threadexception",
    "unittest",
    "unraisableexception",
    "warnings",
)
"""Plugins of pytest's own that grading has no use for, each of which costs its import."""


@dataclass(frozen=True)
class Graded:
    """What one test came to; `finding` is None where it passed.

    `measured` is what it has counted; `probes` gives all probes of the grader files that are
    run, for a diagnosis.
    """

    test: str
    function: str
    finding: Finding | None
    measured: tuple[Measure, ...]
    probes: Callable[[], list[Probe]]


def run_graders(
    files: Sequence[Path],
    grade: Grade,
    order: Callable[[str], int | None],
    wanted: Callable[[str], bool],
    record: Callable[[Graded], None],
) -> dict[str, int]:
    """Run the tests of some grader files.

    Parameters
    ----------
    files : sequence of Path
    grade : Grade
        What the tests' `grade` fixture gives them.
    order : callable
        Gives a test function's place in the run, None to leave it out.
    wanted : callable
        Asked about a test function right before each of its tests.
    record : callable
        Told what each test came to. A test that graded no probe is not reported.

    Returns
    -------
    dict
        How many tests each test function has that has a place in the run.

    Raises
    ------
    AutodrillError
        If the graders themselves are broken.
    KeyboardInterrupt
        If the run was interrupted.
    """
    plugin = _Plugin(grade, order, wanted, record)
    arguments = [str(file) for file in files]
    for name in _UNUSED:
        arguments += ["-p", f"no:{name}"]
    arguments += ["--noconftest", "--import-mode=importlib"]
    folder = files[0].parent  # no folder above is read, nor the names of all that lies in it
    arguments += [f"--rootdir={folder}", f"--confcutdir={folder}", "-c", os.devnull]
    arguments += ["--override-ini=addopts="]
    with _own_environment():
        code = pytest.main(arguments, plugins=[plugin])
    if plugin.error is not None:  # first: pytest calls its own stop at an error an interrupt
        raise plugin.error
    if plugin.interrupt is not None:
        raise plugin.interrupt
    if code not in (
        pytest.ExitCode.OK,
        pytest.ExitCode.TESTS_FAILED,
        pytest.ExitCode.NO_TESTS_COLLECTED,
    ):
        raise broken_track(f"the graders did not run (pytest ended with {int(code)})")
    return plugin.totals


@contextlib.contextmanager
def _own_environment() -> Iterator[None]:
    before = dict(os.environ)
    for name in _IGNORED:
        os.environ.pop(name, None)
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


class _Plugin:
    """The one plugin of a run: the `grade` fixture, the order, the record."""

    def __init__(
        self,
        grade: Grade,
        order: Callable[[str], int | None],
        wanted: Callable[[str], bool],
        record: Callable[[Graded], None],
    ) -> None:
        self._grade = grade
        self._order = order
        self._wanted = wanted
        self._record = record
        self.totals: dict[str, int] = {}
        self._items: list[pytest.Item] = []
        self._probes: list[Probe] | None = None
        self.error: Exception | None = None
        self.interrupt: BaseException | None = None

    @pytest.fixture(name="grade")
    def fixture(self) -> Recorder:
        """Give each test something to call that notes what it wants graded."""
        return self._grade.recorder()

    @pytest.hookimpl(wrapper=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> Generator[None, Any, Any]:
        """Grade all that a test wants graded, when it has said so."""
        done = yield
        self._grade.run(_recorded(pyfuncitem))
        return done

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the tests that are asked for, in the order of their targets."""
        self._items = list(items)
        placed = [(self._order(_function(item)), item) for item in items]
        chosen = [(place, item) for place, item in placed if place is not None]
        items[:] = [item for _, item in sorted(chosen, key=lambda pair: pair[0])]
        self.totals = dict(Counter(_function(item) for item in items))
        try:
            self._grade.expect(self._expected(items))
            self._grade.ready()
        except Exception as error:  # as of the graders: it is raised where pytest has ended
            self.error = error

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note a grader file that can't be collected."""
        if report.failed:
            self.error = broken_track(f"a grader can't be collected: {report.longrepr}")

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> bool | None:
        """Pass over a test that is no longer wanted."""
        if self.error is not None or not self._wanted(_function(item)):
            return True
        self._grade.measured.clear()
        return None

    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[Any]
    ) -> pytest.TestReport:
        """Record what a test came to, in place of the text that pytest would write of it."""
        error = call.excinfo.value if call.excinfo is not None else None
        try:
            if error is None:
                if call.when == "call" and _recorded(item):
                    self._note(item, None)
            elif isinstance(error, NotGreen):
                self._note(item, error.finding)
            elif isinstance(error, AutodrillError):
                self.error = error
            else:
                kind = type(error).__name__
                self.error = broken_track(f"the grader `{item.name}` itself raised {kind}: {error}")
        except Exception as fault:  # what is recorded is explained, and that may show one
            self.error = fault  # pytest would print the traceback of what leaves this hook
        outcome: Literal["passed", "failed"] = "passed" if error is None else "failed"
        when = cast("Literal['setup', 'call', 'teardown']", call.when)  # it is no collection
        return pytest.TestReport(item.nodeid, item.location, {}, outcome, None, when)

    def _note(self, item: pytest.Item, finding: Finding | None) -> None:
        measured = tuple(self._grade.measured)
        self._record(Graded(item.name, _function(item), finding, measured, self.probes))

    def probes(self) -> list[Probe]:
        """Read the probes off every test, wanted or not."""
        if self._probes is None:
            recorder = Recorder(self._grade.suite)
            for item in self._items:
                _read(item, recorder)
            self._probes = recorder.probes
        return self._probes

    def _expected(self, items: Iterable[pytest.Item]) -> list[Probe]:
        """Read off tests what they will want graded."""
        recorder = self._grade.recorder()
        for item in items:
            with contextlib.suppress(Exception):  # it will raise again, when its turn has come
                _read(item, recorder)
        return recorder.probes

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Note that the person at the keyboard has stopped the run."""
        self.interrupt = excinfo.value


def _read(item: pytest.Item, recorder: Recorder) -> None:
    """Call a test with a recorder, so that nothing is graded."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    item.obj(grade=recorder, **parameters)  # type: ignore[attr-defined]  # a function


def _recorded(item: pytest.Item) -> list[Probe]:
    recorder = getattr(item, "funcargs", {}).get("grade")
    return recorder.probes if isinstance(recorder, Recorder) else []


def _function(item: pytest.Item) -> str:
    return getattr(item, "originalname", None) or item.name
