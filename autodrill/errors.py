"""The one kind of error that autodrill shows to a person."""

PASSED = 0
NOT_YET = 1
USAGE = 2
BROKEN = 3
INTERRUPTED = 130


class Terminated(KeyboardInterrupt):
    """A closed terminal or a `kill` ends the command: as Ctrl-C does, but nobody gave up."""


class AutodrillError(Exception):
    """Say in one sentence what is wrong and, as a hint, what to do about it.

    `exit_code` is 1 where the learner's file is at fault, 2 for a usage error and 3
    where autodrill, a track or the environment is broken.
    """

    def __init__(self, message: str, hint: str = "", exit_code: int = USAGE) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.exit_code = exit_code


def broken_track(message: str) -> AutodrillError:
    """Make the error for a fault in a track of ours, which never counts against a learner."""
    return AutodrillError(
        f"{message} (autodrill's fault, not yours)",
        hint="reinstall autodrill, or run `autodrill doctor` to see what is missing",
        exit_code=BROKEN,
    )


def is_interrupt(error: BaseException | None) -> bool:
    """Tell whether Ctrl-C is behind an exception: Python and others wrap it in theirs."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None
