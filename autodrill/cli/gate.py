"""The one place where errors become a sentence and an exit code."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import Any

import typer
import typer.core

from autodrill.errors import BROKEN, INTERRUPTED, NOT_YET, AutodrillError, is_interrupt


class Gate(typer.core.TyperGroup):
    """The group of all commands; what goes wrong in any of them ends here."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command, and say what went wrong without a traceback."""
        try:
            _need_a_folder()
            return super().invoke(ctx)
        except BrokenPipeError:
            _drop_output()
            raise typer.Exit(NOT_YET) from None
        except (KeyboardInterrupt, Exception) as error:
            if is_interrupt(error):
                with contextlib.suppress(OSError):
                    print(file=sys.stderr)
                raise typer.Exit(INTERRUPTED) from None
            if isinstance(error, AutodrillError):
                _show(error)
                raise typer.Exit(error.exit_code) from None
            if os.environ.get("AUTODRILL_DEBUG") or _is_usage(error):
                raise
            _show(_own_fault(error))
            raise typer.Exit(BROKEN) from None


def say_unwritten(error: Exception) -> None:
    """Say that the output could not be written; on stderr, which may be as full."""
    why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    _show(AutodrillError(f"the output can't be written: {why}", exit_code=BROKEN))


def _need_a_folder() -> None:
    try:
        os.getcwd()
    except OSError as error:
        raise AutodrillError("the current folder is gone", "`cd` to one that exists") from error


def _is_usage(error: BaseException) -> bool:
    """Tell whether it is the parser's own exception, which says what it has to say itself."""
    return isinstance(error, (typer.Exit, typer.Abort)) or hasattr(error, "exit_code")


def _own_fault(error: BaseException) -> AutodrillError:
    return AutodrillError(
        f"autodrill itself failed: {type(error).__name__}: {error}",
        hint="set AUTODRILL_DEBUG=1 to see where, and please report it",
        exit_code=BROKEN,
    )


def _show(error: AutodrillError) -> None:
    from autodrill.render.errors import show

    with contextlib.suppress(OSError):
        show(sys.stderr, error)


def _drop_output() -> None:
    """Let what is still to be written go nowhere, since nobody reads it."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    with contextlib.suppress(OSError, ValueError):
        os.dup2(nowhere, sys.stdout.fileno())
