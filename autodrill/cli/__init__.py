"""The command line: parse, one call, render, exit code."""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn

from autodrill.errors import BROKEN, INTERRUPTED, Terminated, is_interrupt


def main() -> NoReturn:
    """Run autodrill as a command, and end the process.

    A command is over before its garbage matters, so the collector does not run, and the
    process ends without taking NumPy and pytest apart: together a third of a check.
    """
    code: object = 1
    try:
        gc.disable()
        _stand_in_for_closed_streams()
        _trust_installed_modules_first()
        _end_as_asked()
        _ignore_warnings()
        from autodrill.cli.app import app

        app(prog_name="autodrill")
    except SystemExit as ended:
        code = ended.code
    except KeyboardInterrupt:
        code = INTERRUPTED
    except Exception as error:
        if not is_interrupt(error):
            raise
        code = INTERRUPTED
    os._exit(_written(code if isinstance(code, int) else code is not None))


def _written(code: int) -> int:
    """Write what is still buffered; return the exit code, another one where that fails."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:  # nobody reads on, as `| head -1` does not
        return code
    except (OSError, ValueError) as error:
        from autodrill.cli.gate import say_unwritten

        say_unwritten(error)
        return BROKEN
    return code


def _stand_in_for_closed_streams() -> None:
    """Open nothing in the place of a stream that was closed, as `>&-` does.

    The lowest free descriptor is the closed one, so that no pipe of ours takes its number.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def _end_as_asked() -> None:
    """Have a closed terminal or a `kill` end the command as Ctrl-C does: with its worker."""
    import signal  # here, as below, so that a Ctrl-C as early as this is caught

    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:
            signal.signal(number, _terminate)
    sys.unraisablehook = _interrupt_again


def _terminate(*_: object) -> NoReturn:
    raise Terminated


def _interrupt_again(dropped: sys.UnraisableHookArgs) -> None:
    """Let a Ctrl-C come again that fell into a callback, where Python drops exceptions."""
    import _thread
    import threading

    if isinstance(dropped.exc_value, KeyboardInterrupt):
        threading.Timer(0.01, _thread.interrupt_main).start()
    elif os.environ.get("AUTODRILL_DEBUG"):
        sys.__unraisablehook__(dropped)


def _ignore_warnings() -> None:
    """Keep to ourselves what libraries warn of, whatever PYTHONWARNINGS makes of it."""
    import warnings

    warnings.simplefilter("ignore")


def _trust_installed_modules_first() -> None:
    """Put what the environment or the current folder adds to the search path last.

    A `numpy.py` in a workspace, or on PYTHONPATH, must not stand in for NumPy here.
    """
    given = [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]
    last = {_absolute(one) for one in ("", *given)}
    path = [_absolute(one) for one in sys.path]
    sys.path[:] = [one for one in path if one not in last] + [one for one in path if one in last]


def _absolute(path: str) -> str:
    try:
        return os.path.abspath(path)
    except OSError:  # the current folder is gone
        return path
