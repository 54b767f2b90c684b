"""Where autodrill keeps its own files."""

from __future__ import annotations

import os
from pathlib import Path


def data_folder() -> Path:
    """Return the folder of the history: `AUTODRILL_HOME`, or the user's data folder."""
    home = os.environ.get("AUTODRILL_HOME")
    if home:
        return Path(home).expanduser().absolute()
    import platformdirs  # here, because few commands need it

    return Path(platformdirs.user_data_dir("autodrill", appauthor=False))


def history_file() -> Path:
    """Return the file of the history."""
    return data_folder() / "history.db"
