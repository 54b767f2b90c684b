"""Why a worker ended: what its exit code and its last words say.

The last words are what `faulthandler` wrote to the channel in place of an answer. Only light
modules are imported here, as `process` needs these names before NumPy is there.
"""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from autodrill.worker import BROKEN_EXIT, MEMORY_HEADROOM

if TYPE_CHECKING:
    from autodrill.cases.outcome import Ended

MEMORY_FULL = f"out of memory: it needs more than the {MEMORY_HEADROOM / 2**30:g} GiB it may use"
FORGED = "your file closed the channel between it and the grader, or wrote to it"

_FRAME = re.compile(r'File "(.*)", line (\d+) in (\S+)')
_TRACE = re.compile(rb"Timeout \(|Fatal Python error|Stack \(most recent|Current thread ")


@dataclass(frozen=True)
class LastWords:
    """What a process wrote at its end; `file` is the learner's, as it is named in a trace."""

    words: bytes
    file: str

    def of_hang(self, limit_s: float) -> Ended:
        """Say where it was when its time was up."""
        line, function = self._where()
        place = f"; it was at line {line}, in `{function}`" if line else ""
        return self._ended("hang", f"no end after {limit_s:g} s{place}")

    def of_memory(self) -> Ended:
        """Say where it was when it was ended for its memory."""
        return self._ended("memory", MEMORY_FULL)

    def of_death(self, code: int | None, limit_s: float) -> Ended:
        """Say why it ended by itself; with the code None it lives and can't be heard any more."""
        if self.words.startswith(b"Timeout ("):
            return self.of_hang(limit_s)
        if code is None or (self.words and not _TRACE.match(self.words)):
            return self._ended("crash", FORGED)
        if code == BROKEN_EXIT:
            return self._ended("crash", "your file broke the process that it runs in")
        if code >= 0:
            return self._ended("exit", f"your file ended the process (exit code {code})")
        name = signal.Signals(-code).name if -code in set(signal.Signals) else "unknown"
        _, function = self._where()
        place = f" in `{function}`" if function else ""
        return self._ended("crash", f"crashed (signal {-code}, {name}){place}")

    def _ended(self, how: Literal["hang", "crash", "exit", "memory"], message: str) -> Ended:
        from autodrill.cases.outcome import Ended

        return Ended(how, message, *self._where())

    def _where(self) -> tuple[int | None, str | None]:
        """Find the learner's innermost line in the trace."""
        text = self.words.decode("utf-8", "replace")
        threads = re.split(r"\n(?=(?:Current thread|Thread) 0x)", text)
        ours = [one for one in threads if "child.py" in one] or threads[-1:]
        for path, line, function in _FRAME.findall(ours[-1]):
            if path == self.file:
                return int(line), function
        return None, None
