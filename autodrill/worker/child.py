"""The child's main: hold NumPy, the scenarios and the learner's file, and run on request.

It is started as a script in isolated mode, with pipes as its stdin, stdout and stderr.
Before anything of the learner's is loaded, the first two move to private descriptors; then
0 points at nothing and 1 and 2 at the third pipe, where the grader keeps a capped amount.

When the process dies or hangs, `faulthandler` writes where it was to the channel, in the
place of the answer that will not come: what the file prints can't be mixed into it there.
"""

from __future__ import annotations

import faulthandler
import gc
import importlib.util
import io
import json
import linecache
import math
import os
import sys
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn, cast

if TYPE_CHECKING:
    from autodrill.cases.scenario import Suite
    from autodrill.worker.messages import Loaded

_COLLECT_AFTER = 10_000
"""Objects of a graph of thousands of operations are all alive: looking is for nothing."""

_SLACK_S = 0.5
"""How much longer than its limit a request may take, at most."""


def main() -> None:
    """Serve the grader until it closes the channel."""
    receive, send = _take_channel()
    hello = json.loads(receive.readline())
    sys.path[:] = [hello["content"], *hello["path"]]
    import autodrill  # noqa: F401 - this one, where another one is installed as well

    sys.path.pop(0)
    gc.disable()  # nothing that is imported here is garbage before the process ends
    from autodrill.cases import wire  # noqa: F401 - it brings NumPy
    from autodrill.worker import BROKEN_EXIT

    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER, 20, 20)
    gc.enable()
    faulthandler.enable(file=send, all_threads=False)
    _limit_memory()
    exit_now = _trace_exit(send)
    try:
        _serve(receive, send, exit_now)
    except BaseException:  # the file has patched or closed what this process itself needs
        exit_now(BROKEN_EXIT)
    exit_now(0)


def _serve(receive: BinaryIO, send: BinaryIO, exit_now: Callable[[int], NoReturn]) -> None:
    from autodrill.cases import wire

    state, me = _State(send), os.getpid()
    while True:
        try:
            message = wire.read(_exactly(receive))
        except EOFError:
            return
        answer = state.answer(message)
        if os.getpid() != me:  # a copy that the learner's file has forked
            exit_now(0)
        answer = {"number": message["number"], "answer": answer, "printed": _Printed.written}
        send.write(wire.pack(answer))
        send.flush()


class _Alarm:
    """Ends the process when its time is up, and has it say first where it was.

    To set one costs the start of a thread, so one that has just been set is left as it is.
    """

    def __init__(self, send: BinaryIO) -> None:
        self._send = send
        self._limit_s = 0.0
        self._set_at = -math.inf

    def set(self, limit_s: float) -> None:
        now = monotonic()
        if limit_s != self._limit_s or now > self._set_at + _SLACK_S:
            faulthandler.dump_traceback_later(limit_s + _SLACK_S, exit=True, file=self._send)
            self._limit_s, self._set_at = limit_s, now

    def clear(self) -> None:
        faulthandler.cancel_dump_traceback_later()
        self._set_at = -math.inf


class _State:
    """What is loaded so far: the scenarios of a track, and the learner's file."""

    def __init__(self, send: BinaryIO) -> None:
        self.alarm = _Alarm(send)
        self.suite: Suite | None = None
        self.lib: types.ModuleType | None = None
        self.file = ""

    def answer(self, message: dict[str, Any]) -> Any:
        """Do what one message asks for; soon after its `limit_s` the process ends itself."""
        do = message["do"]
        if do == "prepare":
            return self._prepare(message)
        if do == "rest":
            self.alarm.clear()
            return None
        self.alarm.set(message["limit_s"])
        answer = self._load(message) if do == "load" else self._run(message)
        if not message["more"]:
            self.alarm.clear()
        return answer

    def _prepare(self, message: dict[str, Any]) -> str | None:
        """Import all that is ours; return what is wrong with it."""
        try:
            _keep_freed_memory()
            self.suite = load_scenarios([Path(one) for one in message["scenarios"]])
            from autodrill.cases import run  # noqa: F401 - before the learner's file can patch it
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return None

    def _load(self, message: dict[str, Any]) -> Any:
        from autodrill.worker.messages import loaded_to_plain

        folder = os.path.dirname(message["path"])
        if os.path.isdir(folder):
            os.chdir(folder)
        self.file = message["file"]
        self.lib, loaded = load_engine(
            message["source"], self.file, message["path"], message["symbols"]
        )
        return loaded_to_plain(loaded)

    def _run(self, message: dict[str, Any]) -> Any:
        from autodrill.cases.run import run
        from autodrill.worker.messages import outcome_to_plain, request_from_plain

        if self.suite is None or self.lib is None:
            raise RuntimeError("nothing is loaded")
        request = request_from_plain(message["request"])
        return outcome_to_plain(run(self.suite, self.lib, request, file=self.file))


def load_scenarios(paths: Sequence[Path]) -> Suite:
    """Import a track's `scenarios.py` files by their paths; return the `suite` of all of them."""
    first, *others = map(_load_suite, paths)
    for other in others:
        first.include(other)
    return first


def _load_suite(path: Path) -> Suite:
    spec = importlib.util.spec_from_file_location(f"autodrill_scenarios_{path.parent.name}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"no scenarios at {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    suite: Suite = module.suite
    return suite


def load_engine(
    source: str, file: str, path: str, symbols: list[str]
) -> tuple[types.ModuleType | None, Loaded]:
    """Import the text of an engine file as a module.

    Parameters
    ----------
    source : str
        The text that is graded; the file itself is not read again.
    file : str
        The name for tracebacks, in ASCII because `faulthandler` writes nothing else.
    path : str
        Where the file lies, for `__file__`.
    symbols : list of str
        The track's symbols, to report those that are missing.
    """
    from autodrill.cases.run import describe
    from autodrill.worker.messages import Loaded

    # Lines as Python counts them: `splitlines` would end one at a form feed as well.
    lines = io.StringIO(source, newline=None).readlines()
    linecache.cache[file] = (len(source), None, lines, file)
    name = Path(file).stem
    name = f"{name}_" if name in sys.modules else name  # `json.py` must not hide a module
    module = types.ModuleType(name)
    module.__file__ = path
    sys.modules[name] = module
    try:
        exec(compile(source, file, "exec", dont_inherit=True), module.__dict__)
    except SyntaxError as error:
        if error.filename == file:
            where = (error.lineno or 0, error.offset or 0, (error.text or "").rstrip())
            return None, Loaded(syntax=(error.msg, *where))
        return None, Loaded(raised=describe(error, "import", file))
    except BaseException as error:  # an import may raise anything, SystemExit included
        return None, Loaded(raised=describe(error, "import", file))
    return module, Loaded(missing=tuple(one for one in symbols if not _has(module, one)))


def _has(module: types.ModuleType, symbol: str) -> bool:
    value: Any = module
    for name in symbol.split("."):
        space = getattr(value, "__dict__", {})
        if name not in space:
            return False
        value = space[name]
    return True


def _keep_freed_memory() -> None:
    """Let the allocator keep what training frees at every step, where it is glibc's.

    It hands a freed array of over 128 KiB straight back to the system until it has seen a
    larger one freed; paging everything in anew makes a step half as long again. The pages
    of this one are never touched.
    """
    import numpy as np

    np.empty(2**21)


def _take_channel() -> tuple[BinaryIO, BinaryIO]:
    """Move the pipes to private descriptors and point 0, 1 and 2 elsewhere."""
    receive, send = os.dup(0), os.dup(1)
    if sys.platform == "win32":
        import msvcrt

        for descriptor in (receive, send):
            msvcrt.setmode(descriptor, os.O_BINARY)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    sys.stdin = sys.__stdin__ = open(os.devnull, encoding="utf-8")  # type: ignore[misc]  # it is left open for the life of the process  # noqa: SIM115
    sys.stdout = sys.__stdout__ = _text_to(1)  # type: ignore[misc]  # the learner may use either
    sys.stderr = sys.__stderr__ = _text_to(2)  # type: ignore[misc]
    return os.fdopen(receive, "rb"), os.fdopen(send, "wb")


class _Printed(io.FileIO):
    """A descriptor that counts what is printed, so that the grader can wait for all of it."""

    written = 0

    def write(self, data: Any) -> int:
        """Write at once, so that a crash loses nothing."""
        count = super().write(data)
        _Printed.written += count
        return count


def _text_to(descriptor: int) -> io.TextIOWrapper:
    raw = _Printed(descriptor, "wb", closefd=False)
    return io.TextIOWrapper(
        cast("BinaryIO", raw), encoding="utf-8", errors="backslashreplace", write_through=True
    )


def _trace_exit(send: BinaryIO) -> Callable[[int], NoReturn]:
    """Have `os._exit` say the line it was called at, as a crash does; return what it was."""
    exit_now, me = os._exit, os.getpid()

    def exit_and_say(status: int) -> NoReturn:
        if os.getpid() == me:  # not in a copy that the learner's file has forked
            faulthandler.dump_traceback(send, all_threads=False)
        exit_now(status)

    os._exit = exit_and_say
    return exit_now


def _exactly(stream: BinaryIO) -> Callable[[int], bytes]:
    def receive(count: int) -> bytes:
        data = stream.read(count)
        if len(data) < count:
            raise EOFError
        return data

    return receive


def _limit_memory() -> None:
    """Cap the address space where the system can, so that an allocation fails by itself."""
    from autodrill.worker import MEMORY_HEADROOM

    try:
        import resource
    except ImportError:
        return
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except (OSError, ValueError, IndexError):
        return
    limit = pages * resource.getpagesize() + MEMORY_HEADROOM
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


if __name__ == "__main__":
    main()
