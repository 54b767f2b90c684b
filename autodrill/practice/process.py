"""Which process runs an attempt, so that one whose process is gone is known as interrupted."""

from __future__ import annotations

import os

from autodrill.history import Attempt


def own_process() -> tuple[int, float]:
    """Return the number of this process and when it began."""
    import psutil

    return os.getpid(), psutil.Process().create_time()


def is_running(attempt: Attempt) -> bool:
    """Tell whether the process that runs an attempt is still there."""
    import psutil

    try:
        process = psutil.Process(attempt.pid)
        return abs(process.create_time() - attempt.born) < 1 and process.is_running()
    except psutil.Error:
        return False
