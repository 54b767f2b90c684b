"""The command line: parse, one call, render, exit code."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run autodrill as a command."""
    _trust_installed_modules_first()
    from autodrill.cli.app import app

    app(prog_name="autodrill")


def _trust_installed_modules_first() -> None:
    """Put what the environment or the current folder adds to the search path last.

    A `numpy.py` in a workspace, or on PYTHONPATH, must not stand in for NumPy here.
    """
    given = [one for one in os.environ.get("PYTHONPATH", "").split(os.pathsep) if one]
    last = {os.path.abspath(one) for one in ("", *given)}
    path = [os.path.abspath(one) for one in sys.path]
    sys.path[:] = [one for one in path if one not in last] + [one for one in path if one in last]
