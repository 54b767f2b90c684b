"""The learner's editor: found in the environment, and given the terminal while it runs."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from pathlib import Path

from autodrill.errors import AutodrillError


def editor_command() -> list[str]:
    """Return the command of `$VISUAL` or `$EDITOR`; empty if neither is set."""
    try:
        return shlex.split(os.environ.get("VISUAL") or os.environ.get("EDITOR") or "")
    except ValueError:
        return []


class Editor:
    """An editor that runs on this terminal; Ctrl-C is its own meanwhile."""

    def __init__(self, file: Path, line: int | None = None) -> None:
        command = editor_command()
        if not command:
            raise AutodrillError(
                "neither `$VISUAL` nor `$EDITOR` says which editor to open",
                "set one, as in `EDITOR=nano autodrill time --edit`",
            )
        self._before = signal.signal(signal.SIGINT, _leave_it_to_the_editor)
        try:
            self._process = subprocess.Popen([*command, *_at(command[0], line), str(file)])
        except OSError as error:
            signal.signal(signal.SIGINT, self._before)
            raise AutodrillError(
                f"the editor `{command[0]}` can't be started: {error.strerror or error}",
                "`$VISUAL` or `$EDITOR` names it",
            ) from error

    def has_closed(self) -> bool:
        """Tell whether the editor has ended; Ctrl-C is ours again if so."""
        if self._process.poll() is None:
            return False
        signal.signal(signal.SIGINT, self._before)
        return True


def _at(editor: str, line: int | None) -> list[str]:
    """Return what makes an editor begin at a line, for those that are known to take it."""
    takes = Path(editor).name in ("vi", "vim", "nvim", "nano", "emacs", "emacsclient")
    return [f"+{line}"] if takes and line is not None else []


def _leave_it_to_the_editor(*_: object) -> None:
    """Do nothing: a handler, since what is ignored would be ignored by the editor too."""
