"""Times and dates as people read them."""

from __future__ import annotations

import time


def clock(seconds: float) -> str:
    """Write a time that goes on: `3:07`, `1:02:03`."""
    whole = int(seconds)
    hours, minutes = divmod(whole // 60, 60)
    return f"{hours}:{minutes:02d}:{whole % 60:02d}" if hours else f"{minutes}:{whole % 60:02d}"


def figure(seconds: float) -> str:
    """Write a time that has ended, to a tenth of a second: `3:07.4`."""
    tenths = int(seconds * 10 + 0.5)
    return f"{clock(tenths // 10)}.{tenths % 10}"


def apart(seconds: float, from_s: float | None) -> str:
    """Write how far a time is behind another (`+`) or ahead of it (`-`); nothing for none."""
    if from_s is None:
        return ""
    difference = round(seconds - from_s, 1)
    sign = "+" if difference > 0 else "-" if difference < 0 else ""
    return f"{sign}{figure(abs(difference))}"


def day(at: float, now: float | None = None) -> str:
    """Write when something was: the time of today, the date of any other day."""
    today = time.strftime("%Y-%m-%d", time.localtime(now))
    date, hour = time.strftime("%Y-%m-%d %H:%M", time.localtime(at)).split()
    return f"today {hour}" if date == today else f"{date} {hour}"


def until(seconds: float) -> str:
    """Write how long something is away: `in 3 days`, `in 10 minutes`."""
    for size, name in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= 0.9 * size:
            count = round(seconds / size)
            return f"in {count} {name}{'' if count == 1 else 's'}"
    return "in a moment"
