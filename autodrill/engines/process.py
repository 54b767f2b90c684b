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
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from autodrill.engines.capture import Capture
from autodrill.engines.ending import FORGED, LastWords
from autodrill.errors import BROKEN, AutodrillError
from autodrill.worker import MEMORY_HEADROOM

if TYPE_CHECKING:
    import psutil

    from autodrill.cases.outcome import Ended

CHILD = Path(__file__).resolve().parents[1] / "worker" / "child.py"
CONTENT_ROOT = Path(__file__).resolve().parents[2]

MEMORY_LIMIT = MEMORY_HEADROOM + 2**29
"""Bytes in memory after which a worker is killed, where the system itself sets no limit."""

_LAST_WORDS_BYTES = 2**20
_START_S = 60.0
_GRACE_S = 1.0
_WATCH_S = 0.1
_DRAIN_S = 0.5
"""How long to wait for what is still in the pipes of a worker that has answered or ended."""
_SETTLE_S = 0.05
_AHEAD = 16
"""So many messages are sent ahead of their answers: few enough for what a pipe can hold."""
_SWEEPS = 4
_MARK = "AUTODRILL_WORKER"
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
        self._sent = 0
        self._answered = 0
        self._preparing = 0
        self._answers: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._words = b""
        self._capture = Capture()
        self._readers: list[threading.Thread] = []
        self._prepared: tuple[Path, ...] | None = None
        hello = {"path": [str(one) for one in sys.path], "content": str(CONTENT_ROOT)}
        self._write(json.dumps(hello).encode() + b"\n")

    def prepare(self, scenarios: tuple[Path, ...]) -> None:
        """Have the process import a track's scenarios, once, without waiting for it."""
        if self._prepared != scenarios:
            self._prepared = scenarios
            self._send({"do": "prepare", "scenarios": [str(one) for one in scenarios]})
            self._preparing = self._sent

    def _send(self, *messages: dict[str, Any]) -> None:
        """Send messages in one go, so that the process is woken once for all of them."""
        from autodrill.cases import wire

        self._start_reading()
        packed = []
        for message in messages:
            self._sent += 1
            packed.append(wire.pack({**message, "number": self._sent}))
        self._write(b"".join(packed))

    def post(self, message: dict[str, Any]) -> None:
        """Send one message whose answer `answer` waits for."""
        self._capture.clear()
        self._send({**message, "more": False})

    def answer(self, limit_s: float) -> Any:
        """Wait for the answer to the message that was posted last; see `ask_all`."""
        self._wait_until_prepared()
        return self._answer(self._sent, limit_s)

    def ask_all(self, messages: Sequence[dict[str, Any]]) -> Iterator[Any]:
        """Send messages ahead of their answers, and yield the answers in order.

        While one answer is looked at, the process is at work on the next.

        Raises
        ------
        Gone
            If the process ended, or had to be killed for its memory or its time: an answer may
            take `limit_s` of its message.
        AutodrillError
            If the process could not be prepared, which is no fault of the learner's.
        """
        self._wait_until_prepared()
        self._capture.clear()
        first, sent = self._sent + 1, 0
        for done, message in enumerate(messages):
            if sent < len(messages) and sent - done <= _AHEAD // 2:
                upto = min(done + _AHEAD, len(messages))
                some = [{**messages[i], "more": i + 1 < len(messages)} for i in range(sent, upto)]
                self._send(*some)
                sent = upto
            yield self._answer(first + done, message["limit_s"])

    def _answer(self, number: int, limit_s: float) -> Any:
        deadline = time.monotonic() + limit_s + _GRACE_S
        answer: dict[str, Any] = {}
        while self._answered < number:
            answer = self._note(self._wait(deadline, limit_s))
        self._capture.wait_for(answer.get("printed"))
        return answer.get("answer")

    def settle(self) -> bool:
        """Pass over the answers that nobody waits for; False if they take long to come."""
        if self._answered == self._sent:
            return True
        self._send({"do": "rest"})
        deadline = time.monotonic() + _SETTLE_S
        with contextlib.suppress(queue.Empty):
            while self._answered < self._sent:
                answer = self._answers.get(timeout=max(0.0, deadline - time.monotonic()))
                if answer is None:
                    return False
                self._note(answer)
            return True
        return False

    def _note(self, answer: dict[str, Any]) -> dict[str, Any]:
        """Note which message an answer is to; one of a forked copy may come late, or twice."""
        number = answer.get("number")
        if number == self._answered + 1:
            self._answered = number
        return answer

    def _wait_until_prepared(self) -> None:
        """Wait for what runs before anything of the learner's; no limit of theirs counts here."""
        try:
            while self._answered < self._preparing:
                answer = self._note(self._wait(time.monotonic() + _START_S, _START_S))
                if answer.get("answer") is not None:
                    raise _cannot_run(str(answer["answer"]))
        except Gone as gone:
            code = self.process.poll()
            is_slow = gone.ended.how == "hang"
            why = gone.ended.message if is_slow else f"it ended with code {code}"
            raise _cannot_run(why) from gone

    @property
    def is_alive(self) -> bool:
        """Tell whether the process has not ended yet."""
        return self.process.poll() is None

    def output(self) -> str:
        """Return what the learner's file has printed since it was last sent something new."""
        return self._capture.text()

    def kill(self) -> None:
        """End the process and all that it started, in its process group or out of it."""
        started = self._started()
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
        threading.Thread(target=self._reap, name="autodrill-reap", daemon=True).start()

    def _reap(self) -> None:
        """Wait for the end, and close the pipes; those that are read their readers close."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=2)
        streams = [self.process.stdin]
        if not self._readers:
            streams += [self.process.stdout, self.process.stderr]
        for stream in streams:
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()

    def _started(self) -> list[psutil.Process]:
        """Find what the worker has started: below it, in its session, or with its mark.

        Numbers are given to processes in order, so only larger ones than the worker's are looked
        at; among them what one process has started comes after it.
        """
        later = sorted(one for one in _pids() if one > self.process.pid)
        if not later:
            return []
        import psutil  # here: it takes longer to import than a test to grade

        found: dict[int, psutil.Process] = {}
        for pid in later:
            with contextlib.suppress(psutil.Error, OSError):
                one = psutil.Process(pid)
                if one.status() != psutil.STATUS_ZOMBIE and self._is_mine(one, found):
                    found[pid] = one
        return list(found.values())

    def _is_mine(self, one: psutil.Process, found: Container[int]) -> bool:
        parent = one.ppid()
        if parent == self.process.pid or parent in found:
            return True
        is_near = sys.platform != "win32" and os.getsid(one.pid) == self.process.pid
        return is_near or one.environ().get(_MARK) == self.token

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
                    self._answers.put(wire.read(receive))
            except wire.BadMessage:
                self._words = FORGED.encode()
            self._answers.put(None)
            self._words += stream.read(_LAST_WORDS_BYTES)
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
                    raise Gone(self._last_words().of_hang(limit_s)) from None
                elif self._memory() > MEMORY_LIMIT:
                    self._stop()
                    raise Gone(self._last_words().of_memory()) from None
                else:
                    continue
            if answer is not None:
                return answer
            raise Gone(self._death(limit_s))

    def _stop(self) -> None:
        """End a process that goes on, and have it say first where it is."""
        if sys.platform != "win32":
            with contextlib.suppress(OSError, subprocess.TimeoutExpired):
                self.process.send_signal(signal.SIGABRT)
                self.process.wait(timeout=_DRAIN_S)
        self._end()

    def _end(self) -> None:
        """End what is left, and read the pipes to their ends."""
        self.kill()
        for reader in self._readers:
            reader.join(timeout=_DRAIN_S)

    def _memory(self) -> int:
        try:
            import psutil

            return int(psutil.Process(self.process.pid).memory_info().rss)
        except Exception:  # it has just ended, or the system does not tell
            return 0

    def _death(self, limit_s: float) -> Ended:
        """Say why the process ended by itself, or can't be heard any more."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(timeout=_DRAIN_S)
        code = self.process.poll()
        self._end()
        return self._last_words().of_death(code, limit_s)

    def _last_words(self) -> LastWords:
        return LastWords(self._words, self.file)


def _pids() -> list[int]:
    """Return the numbers of all processes."""
    with contextlib.suppress(OSError):
        if numbers := [int(name) for name in os.listdir("/proc") if name.isdecimal()]:
            return numbers
    import psutil

    return psutil.pids()


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
