"""What every engine can do, and the ones that run in this process."""

from __future__ import annotations

import types
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from autodrill.cases.outcome import Outcome
from autodrill.cases.run import Request, run
from autodrill.cases.scenario import Suite


class Engine(Protocol):
    """Anything that a request can be run on."""

    def run(self, request: Request, limit_s: float) -> Outcome:
        """Run one request; what goes wrong is part of the outcome, never an exception."""
        ...

    def run_all(self, requests: Sequence[tuple[Request, float]]) -> Generator[Outcome]:
        """Run requests in order, each with its limit in seconds."""
        __tracebackhide__ = True
        for request, limit_s in requests:
            yield self.run(request, limit_s)


@dataclass(frozen=True)
class LocalEngine(Engine):
    """An engine in this process: the reference, a bug variant, torch, or a file under `--pdb`.

    `catch=False` lets the engine's exceptions through to a debugger.
    """

    suite: Suite
    lib: Any
    file: str | None = None
    catch: bool = True

    def run(self, request: Request, limit_s: float) -> Outcome:
        """Run one request; there is no limit of time in this process."""
        __tracebackhide__ = True
        catch = Exception if self.catch else ()
        return run(self.suite, self.lib, request, file=self.file, catch=catch)


def module_from(source: str, name: str, path: Path) -> types.ModuleType:
    """Execute the text of an engine file that we trust as a module of its own."""
    module = types.ModuleType(name)
    module.__file__ = str(path)
    exec(compile(source, str(path), "exec", dont_inherit=True), module.__dict__)
    return module
