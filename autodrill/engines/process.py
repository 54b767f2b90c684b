"""One worker process as the grader holds it: start, ask, kill.

Only light modules are imported here, so that a worker can be started before anything else
and import NumPy while the grader does its own imports.
"""

from __future__ import annotations

import contextlib
import io
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
from typing import TYPE_CHECKING, Any, Literal

from autodrill.errors import BROKEN, AutodrillError
from autodrill.worker import BROKEN_EXIT, MEMORY_HEADROOM

if TYPE_CHECKING:
    import psutil

    from autodrill.cases.outcome import Ended

CHILD = Path(__file__).resolve().parents[1] / "worker" / "child.py"
CONTENT_ROOT = Path(__file__).resolve().parents[2]

MEMORY_LIMIT = MEMORY_HEADROOM + 2**29
"""Bytes in memory after which a worker is killed, where the system itself sets no limit."""

_HEAD_BYTES = 16 * 2**10
_TAIL_BYTES = 16 * 2**10
_LAST_WORDS_BYTES = 2**20
_START_S = 60.0
_GRACE_S = 1.0
_WATCH_S = 0.1
_DRAIN_S = 0.5
"""How long to wait for what is still in the pipes of a worker that has answered or ended."""
_SWEEPS = 4
_MARK = "AUTODRILL_WORKER"
_FRAME = re.compile(r'File "(.*)", line (\d+) in (\S+)')
_TRACE = re.compile(rb"Timeout \(|Fatal Python error|Stack \(most recent|Current thread ")
_ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")

MEMORY_FULL = f"out of memory: it needs more than the {MEMORY_HEADROOM / 2**30:g} GiB it may use"
FORGED = "your file closed the channel between it and the grader, or wrote to it"


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
        self._sent = 0
        self._answered = 0
        self._busy = False
        self._answers: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._last_words = b""
        self._capture = _Capture()
        self._readers: list[threading.Thread] = []
        self._prepared: Path | None = None
        hello = {"path": [str(one) for one in sys.path], "content": str(CONTENT_ROOT)}
        self._write(json.dumps(hello).encode() + b"\n")

    def prepare(self, scenarios: Path, *, watch: bool = True) -> None:
        """Have the process import a track's scenarios, once, without waiting for it.

        Without `watch` it does not look out for processes that the file starts, which makes
        every call of `id` five times as long; at its end all of them are looked for.
        """
        if self._prepared != scenarios:
            self._prepared = scenarios
            self._send({"do": "prepare", "scenarios": str(scenarios), "watch": watch})

    def _send(self, message: dict[str, Any]) -> None:
        from autodrill.cases import wire

        self._start_reading()
        self._sent += 1
        self._write(wire.pack({**message, "number": self._sent}))

    def ask(self, message: dict[str, Any]) -> Any:
        """Send a message and wait for its answer, at most `message["limit_s"]`.

        Raises
        ------
        Gone
            If the process ended, or had to be killed for its time or its memory.
        AutodrillError
            If the process could not be prepared, which is no fault of the learner's.
        """
        self._wait_until_prepared()
        self._capture.clear()
        was_busy, self._busy = self._busy, True  # what it starts from here on is not known yet
        self._send(message)
        deadline = time.monotonic() + message["limit_s"] + _GRACE_S
        while True:
            answer = self._wait(deadline, message["limit_s"])
            if answer.get("number") == self._sent:  # else it is one of a forked copy, and late
                break
        self._answered = self._sent
        self._busy = was_busy or answer.get("busy") is not False
        self._capture.wait_for(answer.get("printed"))
        return answer.get("answer")

    def _wait_until_prepared(self) -> None:
        """Wait for what runs before anything of the learner's; no limit of theirs counts here."""
        try:
            while self._answered < self._sent:
                answer = self._wait(time.monotonic() + _START_S, _START_S)
                self._answered += 1
                if answer.get("answer") is not None:
                    raise _cannot_run(str(answer["answer"]))
        except Gone as gone:
            code = self.process.poll()
            is_slow = gone.ended.how == "hang"
            why = gone.ended.message if is_slow else f"it ended with code {code}"
            raise _cannot_run(why) from gone

    def output(self) -> str:
        """Return what the learner's file has printed since the last `ask` began."""
        return self._capture.text()

    def kill(self) -> None:
        """End the process and all that it started, in its process group or out of it."""
        started = self._started() if self._busy else []
        with contextlib.suppress(OSError):
            if sys.platform == "win32":
                self.process.kill()
            else:
                os.killpg(self.process.pid, signal.SIGKILL)
        for _ in range(_SWEEPS):  # what is ended here may just have started another
            if not started:
                break
            for one in started:
                with contextlib.suppress(Exception):  # it may be gone already
                    one.kill()
            started = self._started()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=2)
        self._close()

    def _close(self) -> None:
        """Close the pipes; those that are being read are closed by their readers."""
        streams = [self.process.stdin]
        if not self._readers:
            streams += [self.process.stdout, self.process.stderr]
        for stream in streams:
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()

    def _started(self) -> list[psutil.Process]:
        """Find what the worker has started: below it, in its session, or with its mark."""
        import psutil

        below: set[psutil.Process] = set()
        with contextlib.suppress(psutil.Error):
            below.update(psutil.Process(self.process.pid).children(recursive=True))
        return [one for one in psutil.process_iter() if one in below or self._is_mine(one)]

    def _is_mine(self, one: psutil.Process) -> bool:
        import psutil

        with contextlib.suppress(psutil.Error, OSError):
            is_near = sys.platform != "win32" and os.getsid(one.pid) == self.process.pid
            if is_near or one.environ().get(_MARK) == self.token:
                return one.pid != self.process.pid and one.status() != psutil.STATUS_ZOMBIE
        return False

    def _write(self, data: bytes) -> None:
        if self.process.stdin is None:
            return
        with contextlib.suppress(OSError):  # a dead worker is noticed when its answer is read
            self.process.stdin.write(data)
            self.process.stdin.flush()

    def _start_reading(self) -> None:
        if self._readers:
            return
        for target in (self._read_answers, self._drain_output):
            thread = threading.Thread(target=target, daemon=True)
            thread.start()
            self._readers.append(thread)

    def _read_answers(self) -> None:
        """Read messages and, where they stop, what the process says of its end."""
        from autodrill.cases import wire

        stream = self.process.stdout
        assert isinstance(stream, io.BufferedReader)

        def receive(count: int) -> bytes:
            data = stream.read(count)
            if len(data) < count:
                raise EOFError
            return data

        with stream, contextlib.suppress(EOFError, OSError, ValueError):
            try:
                # A message begins with its length, which is smaller than any text would be.
                while stream.peek(1)[:1] in (b"\0", b"\1"):
                    answer = wire.read(receive)
                    self._answers.put(answer if isinstance(answer, dict) else None)
            except wire.BadMessage:
                self._last_words = FORGED.encode()
            self._answers.put(None)
            self._last_words += stream.read(_LAST_WORDS_BYTES)
        self._answers.put(None)

    def _drain_output(self) -> None:
        stream = self.process.stderr
        assert stream is not None
        with stream, contextlib.suppress(OSError, ValueError):
            while data := os.read(stream.fileno(), 2**16):
                self._capture.add(data)

    def _wait(self, deadline: float, limit_s: float) -> dict[str, Any]:
        while True:
            try:
                answer = self._answers.get(timeout=_WATCH_S)
            except queue.Empty:
                if self.process.poll() is not None:
                    answer = None
                elif time.monotonic() > deadline:
                    self._stop()
                    raise Gone(self._hang(limit_s)) from None
                elif self._memory() > MEMORY_LIMIT:
                    self._stop()
                    raise Gone(self._ended_as("memory", MEMORY_FULL)) from None
                else:
                    continue
            if answer is not None:
                return answer
            raise Gone(self._ended(limit_s))

    def _stop(self) -> None:
        """End a process that goes on, and have it say first where it is."""
        if sys.platform != "win32":
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                self.process.send_signal(signal.SIGABRT)
                self.process.wait(timeout=_DRAIN_S)
        self._end()

    def _end(self) -> None:
        """End what is left, which is unknown, and read the pipes to their ends."""
        self._busy = True
        self.kill()
        for reader in self._readers:
            reader.join(timeout=_DRAIN_S)

    def _memory(self) -> int:
        try:
            import psutil

            return int(psutil.Process(self.process.pid).memory_info().rss)
        except Exception:  # it has just ended, or the system does not tell
            return 0

    def _ended(self, limit_s: float) -> Ended:
        """Say why the process ended by itself, or can't be heard any more."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=_DRAIN_S)
        code = self.process.poll()
        self._end()
        if self._last_words.startswith(b"Timeout ("):
            return self._hang(limit_s)
        if code is None or (self._last_words and not _TRACE.match(self._last_words)):
            return self._ended_as("crash", FORGED)
        if code == BROKEN_EXIT:
            return self._ended_as("crash", "your file broke the process that it runs in")
        if code >= 0:
            return self._ended_as("exit", f"your file ended the process (exit code {code})")
        name = signal.Signals(-code).name if -code in set(signal.Signals) else "unknown"
        return self._ended_as("crash", f"crashed (signal {-code}, {name})", in_function=True)

    def _ended_as(
        self, how: Literal["crash", "exit", "memory"], message: str, *, in_function: bool = False
    ) -> Ended:
        from autodrill.cases.outcome import Ended

        line, function = self._where()
        place = f" in `{function}`" if in_function and function else ""
        return Ended(how, f"{message}{place}", line, function)

    def _hang(self, limit_s: float) -> Ended:
        from autodrill.cases.outcome import Ended

        line, function = self._where()
        place = f"; it was at line {line}, in `{function}`" if line else ""
        return Ended("hang", f"no end after {limit_s:g} s{place}", line, function)

    def _where(self) -> tuple[int | None, str | None]:
        """Find the learner's innermost line in what `faulthandler` wrote."""
        text = self._last_words.decode("utf-8", "replace")
        threads = re.split(r"\n(?=(?:Current thread|Thread) 0x)", text)
        ours = [one for one in threads if "child.py" in one] or threads[-1:]
        for path, line, function in _FRAME.findall(ours[-1]):
            if path == self.file:
                return int(line), function
        return None, None


class _Capture:
    """The first and the last bytes of a stream, and how many there were in all."""

    def __init__(self) -> None:
        self._lock = threading.Condition()
        self._seen = 0
        self.clear()

    def clear(self) -> None:
        with self._lock:
            self.total = 0
            self._head = bytearray()
            self._tail: deque[bytes] = deque()
            self._tail_size = 0

    def add(self, data: bytes) -> None:
        with self._lock:
            self._seen += len(data)
            self._lock.notify()
            self.total += len(data)
            room = _HEAD_BYTES - len(self._head)
            self._head += data[:room]
            if rest := data[room:]:
                self._tail.append(rest)
                self._tail_size += len(rest)
                while self._tail_size - len(self._tail[0]) > _TAIL_BYTES:
                    self._tail_size -= len(self._tail.popleft())

    def wait_for(self, count: Any) -> None:
        """Wait until `count` bytes have come in all, for as long as is decent."""
        if isinstance(count, int) and count > self._seen:
            with self._lock:
                self._lock.wait_for(lambda: self._seen >= count, timeout=_DRAIN_S)

    def text(self) -> str:
        with self._lock:
            tail = b"".join(self._tail)[-_TAIL_BYTES:]
            left_out = self.total - len(self._head) - len(tail)
            gap = f"\n… {left_out:,} bytes left out …\n".encode() if left_out else b""
            return (bytes(self._head) + gap + tail).decode("utf-8", "replace")


def _cannot_run(why: str) -> AutodrillError:
    return AutodrillError(
        f"the process that runs your file can't start: {why} (autodrill's fault, not yours)",
        hint="`autodrill doctor` looks for what is missing",
        exit_code=BROKEN,
    )


def _environment(token: str) -> dict[str, str]:
    """Return the environment without Python's own settings, and with one thread for BLAS."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return kept | dict.fromkeys(_ONE_THREAD, "1") | {_MARK: token}
