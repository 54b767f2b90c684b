"""The command line: parse, one call, render, exit code."""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from typing import NoReturn

from autodrill.errors import INTERRUPTED


def main() -> NoReturn:
    """Run autodrill as a command, and end the process.

    A command is over before its garbage matters, so the collector does not run, and the
    process ends without taking NumPy and pytest apart: together a third of a check.
    """
    gc.disable()
    _trust_installed_modules_first()
    code: object = 1
    try:
        from autodrill.cli.app import app

        app(prog_name="autodrill")
    except SystemExit as ended:
        code = ended.code
    except KeyboardInterrupt:
        code = INTERRUPTED
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(code if isinstance(code, int) else code is not None)


def _trust_installed_modules_first() -> None:
    """Put what the environment or the current folder adds to the search path last.

    A `numpy.py` in a workspace, or on PYTHONPATH, must not stand in for NumPy here.
    """
    given = [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]
    last = {os.path.abspath(one) for one in ("", *given)}
    path = [os.path.abspath(one) for one in sys.path]
    sys.path[:] = [one for one in path if one not in last] + [one for one in path if one in last]
