"""One worker process as the grader holds it: start, ask, kill.

Only light modules are imported here, so that a worker can be started before anything else
and import NumPy while the grader does its own imports.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autodrill.cases.outcome import Ended

CHILD = Path(__file__).resolve().parents[1] / "worker" / "child.py"
CONTENT_ROOT = Path(__file__).resolve().parents[2]

MEMORY_LIMIT = int(2.5 * 2**30)
"""Bytes in memory after which a worker is killed, where the system itself sets no limit."""

_HEAD_BYTES = 16 * 2**10
_TAIL_BYTES = 16 * 2**10
_GRACE_S = 1.0
_WATCH_S = 0.1
_MARK = "AUTODRILL_WORKER"
_FRAME = re.compile(r'File "(.*)", line (\d+) in (\S+)')
_FATAL = re.compile(r"^(?:Timeout \(|Fatal Python error)", re.MULTILINE)
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Gone(Exception):
    """The worker has ended instead of answering."""

    def __init__(self, ended: Ended) -> None:
        super().__init__(ended.message)
        self.ended = ended


class Worker:
    """A child process that runs the learner's file; it serves one import of one file."""

    def __init__(self) -> None:
        self.token = os.urandom(8).hex()
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(CHILD)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=_environment(self.token),
            start_new_session=True,
        )
        self.file = ""
        self.spawned = False
        self._unanswered = 0
        self._answers: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._capture = _Capture()
        self._reading = False
        self._write(json.dumps({"path": _search_path()}).encode() + b"\n")

    def tell(self, message: dict[str, Any]) -> None:
        """Send a message without waiting for its answer; the next `ask` skips it."""
        from autodrill.cases import wire

        self._start_reading()
        self._unanswered += 1
        self._write(wire.pack(message))

    def ask(self, message: dict[str, Any]) -> Any:
        """Send a message and wait for its answer, at most `message["limit_s"]`.

        Raises
        ------
        Gone
            If the process ended, or had to be killed for its time or its memory.
        """
        from autodrill.cases import wire

        self._start_reading()
        self._capture.clear()
        self._write(wire.pack(message))
        deadline = time.monotonic() + message["limit_s"] + _GRACE_S
        while True:
            answer = self._wait(deadline, message["limit_s"])
            if self._unanswered:
                self._unanswered -= 1
                continue
            self.spawned = self.spawned or answer.get("spawned") is not False
            return answer.get("answer")

    def printed(self) -> bool:
        """Tell whether anything has been printed since the last `ask` began."""
        return self._capture.total > 0

    def output(self) -> str:
        """Return what the learner's file has printed since the last `ask` began."""
        time.sleep(0.005)  # the last bytes may still be on their way through the pipe
        return _FATAL.split(self._capture.text())[0]

    def kill(self) -> None:
        """End the process and all that it started, in its process group or out of it."""
        descendants = self._descendants() if self.spawned else []
        with contextlib.suppress(OSError):
            if sys.platform == "win32":
                self.process.kill()
            else:
                os.killpg(self.process.pid, signal.SIGKILL)
        for one in descendants:
            with contextlib.suppress(Exception):  # it may be gone already
                one.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=2)
        with contextlib.suppress(OSError):
            if self.process.stdin is not None:
                self.process.stdin.close()

    def _descendants(self) -> list[Any]:
        """Find every process that carries this worker's token, whoever its parent is."""
        import psutil

        mine = []
        for one in psutil.process_iter():
            with contextlib.suppress(psutil.Error, OSError):
                if one.pid != self.process.pid and one.environ().get(_MARK) == self.token:
                    mine.append(one)
        return mine

    def _write(self, data: bytes) -> None:
        if self.process.stdin is None:
            return
        with contextlib.suppress(OSError):  # a dead worker is noticed when its answer is read
            self.process.stdin.write(data)
            self.process.stdin.flush()

    def _start_reading(self) -> None:
        if not self._reading:
            self._reading = True
            for target in (self._read_answers, self._drain_output):
                threading.Thread(target=target, daemon=True).start()

    def _read_answers(self) -> None:
        from autodrill.cases import wire

        stream = self.process.stdout
        assert stream is not None

        def receive(count: int) -> bytes:
            data = stream.read(count)
            if len(data) < count:
                raise EOFError
            return data

        try:
            while True:
                self._answers.put(wire.read(receive))
        except (EOFError, OSError, ValueError, wire.BadMessage):
            self._answers.put(None)

    def _drain_output(self) -> None:
        stream = self.process.stderr
        assert stream is not None
        with contextlib.suppress(OSError, ValueError):
            while data := os.read(stream.fileno(), 2**16):
                self._capture.add(data)

    def _wait(self, deadline: float, limit_s: float) -> dict[str, Any]:
        while True:
            try:
                answer = self._answers.get(timeout=_WATCH_S)
            except queue.Empty:
                if time.monotonic() > deadline:
                    self._end()
                    raise Gone(self._hang(limit_s)) from None
                if self._memory() > MEMORY_LIMIT:
                    self._end()
                    raise Gone(_memory_ended()) from None
                continue
            if isinstance(answer, dict):
                return answer
            raise Gone(self._ended(limit_s))

    def _end(self) -> None:
        self.spawned = True  # what it did is unknown, so look for what it left behind
        self.kill()

    def _memory(self) -> int:
        try:
            import psutil

            return int(psutil.Process(self.process.pid).memory_info().rss)
        except Exception:  # it has just ended, or the system does not tell
            return 0

    def _ended(self, limit_s: float) -> Ended:
        """Say why the process ended by itself."""
        from autodrill.cases.outcome import Ended

        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=1)
        code = self.process.poll()
        self._end()
        time.sleep(0.02)
        if "Timeout (" in self._capture.text() and code == 1:
            return self._hang(limit_s)
        line, function = self._where()
        if code is None or code >= 0:
            shown = "" if code is None else f" (exit code {code})"
            message = f"your file ended the process{shown}"
            return Ended("exit", message, line, function)
        name = signal.Signals(-code).name if -code in set(signal.Signals) else "unknown"
        place = f" in `{function}`" if function else ""
        return Ended("crash", f"crashed (signal {-code}, {name}){place}", line, function)

    def _hang(self, limit_s: float) -> Ended:
        from autodrill.cases.outcome import Ended

        line, function = self._where()
        place = f"; it was at line {line}, in `{function}`" if line else ""
        return Ended("hang", f"no end after {limit_s:g} s{place}", line, function)

    def _where(self) -> tuple[int | None, str | None]:
        """Find the learner's innermost line in what `faulthandler` wrote."""
        threads = re.split(r"\n(?=(?:Current thread|Thread) 0x)", self._capture.text())
        ours = [one for one in threads if "child.py" in one] or threads[-1:]
        for path, line, function in _FRAME.findall(ours[-1]):
            if path == self.file:
                return int(line), function
        return None, None


class _Capture:
    """The first and the last bytes of a stream, and how many there were in all."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        with self._lock:
            self.total = 0
            self._head = bytearray()
            self._tail: deque[bytes] = deque()
            self._tail_size = 0

    def add(self, data: bytes) -> None:
        with self._lock:
            self.total += len(data)
            room = _HEAD_BYTES - len(self._head)
            self._head += data[:room]
            if rest := data[room:]:
                self._tail.append(rest)
                self._tail_size += len(rest)
                while self._tail_size - len(self._tail[0]) > _TAIL_BYTES:
                    self._tail_size -= len(self._tail.popleft())

    def text(self) -> str:
        with self._lock:
            tail = b"".join(self._tail)[-_TAIL_BYTES:]
            left_out = self.total - len(self._head) - len(tail)
            gap = f"\n… {left_out:,} bytes left out …\n".encode() if left_out else b""
            return (bytes(self._head) + gap + tail).decode("utf-8", "replace")


def _memory_ended() -> Ended:
    from autodrill.cases.outcome import Ended

    figure = f"{MEMORY_LIMIT / 2**30:.1f} GiB"
    return Ended("memory", f"out of memory: it used more than {figure} and was stopped")


def _environment(token: str) -> dict[str, str]:
    """Return the environment without Python's own settings, and with one thread for BLAS."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return kept | dict.fromkeys(_ONE_THREAD, "1") | {_MARK: token}


def _search_path() -> list[str]:
    """Return where the child may import from: where the grader does, and autodrill itself."""
    content = str(CONTENT_ROOT)
    return [*(one for one in sys.path if one != content), content]
