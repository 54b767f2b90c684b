"""The history: every text that was graded or reset, every verdict, and every timed attempt."""

from autodrill.history.attempts import Attempt, Attempts, Save, Split, Try
from autodrill.history.texts import History, Kept, Snapshot

__all__ = ["Attempt", "Attempts", "History", "Kept", "Save", "Snapshot", "Split", "Try"]
