"""The child's main: hold NumPy, the scenarios and the learner's file, and run on request.

It is started as a script in isolated mode, with pipes as its stdin, stdout and stderr.
Before anything of the learner's is loaded, the first two move to private descriptors; then
0 points at nothing and 1 and 2 at the third pipe, where the grader keeps a capped amount.
"""

from __future__ import annotations

import faulthandler
import gc
import importlib.util
import io
import json
import linecache
import os
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:
    from autodrill.cases.scenario import Suite
    from autodrill.worker.messages import Loaded

MEMORY_HEADROOM = 2 * 2**30
"""Bytes that the learner's file may use beyond what NumPy and the scenarios need."""

_SPAWNING = frozenset(
    {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "os.spawn"}
)


def main() -> None:
    """Serve the grader until it closes the channel."""
    receive, send, trace = _take_channel()
    hello = json.loads(receive.readline())
    sys.path[:] = hello["path"]
    gc.disable()  # nothing that is imported here is garbage before the process ends
    from autodrill.cases import wire

    gc.freeze()
    gc.enable()
    spawned = [False]
    sys.addaudithook(lambda event, _: spawned.__setitem__(0, spawned[0] or event in _SPAWNING))
    faulthandler.enable(file=trace, all_threads=False)
    _limit_memory()
    state = _State(trace)
    while True:
        try:
            message = wire.read(_exactly(receive))
        except EOFError:
            return
        answer = state.answer(message)
        faulthandler.cancel_dump_traceback_later()
        send.write(wire.pack({"answer": answer, "spawned": spawned[0]}))
        send.flush()


class _State:
    """What is loaded so far: the scenarios of a track, and the learner's file."""

    def __init__(self, trace: int) -> None:
        self.trace = trace
        self.suite: Suite | None = None
        self.lib: types.ModuleType | None = None
        self.file = ""

    def answer(self, message: dict[str, Any]) -> Any:
        """Do what one message asks for; `limit_s` after that the process ends itself."""
        do = message["do"]
        if do == "prepare":
            _keep_freed_memory()
            self.suite = load_scenarios(Path(message["scenarios"]))
            return None
        faulthandler.dump_traceback_later(message["limit_s"], exit=True, file=self.trace)
        if do == "load":
            return self._load(message)
        return self._run(message)

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


def load_scenarios(path: Path) -> Suite:
    """Import a track's `scenarios.py` by its path and return its `suite`."""
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

    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    name = Path(file).stem
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


def _take_channel() -> tuple[BinaryIO, BinaryIO, int]:
    """Move the pipes to private descriptors and point 0, 1 and 2 elsewhere."""
    receive, send, trace = os.dup(0), os.dup(1), os.dup(2)
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
    return os.fdopen(receive, "rb"), os.fdopen(send, "wb"), trace


def _text_to(descriptor: int) -> io.TextIOWrapper:
    raw = open(descriptor, "wb", buffering=0, closefd=False)  # noqa: SIM115 - open for good
    return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", write_through=True)


def _exactly(stream: BinaryIO) -> Callable[[int], bytes]:
    def receive(count: int) -> bytes:
        data = stream.read(count)
        if len(data) < count:
            raise EOFError
        return data

    return receive


def _limit_memory() -> None:
    """Cap the address space where the system can, so that an allocation fails by itself."""
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
