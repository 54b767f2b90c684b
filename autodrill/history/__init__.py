"""The history: every text that was graded or reset, every verdict, and every timed attempt."""

from autodrill.history.answers import Answer, Answers
from autodrill.history.attempts import Attempt, Attempts, Save, Split
from autodrill.history.figures import Figures, Met, Tally, Try
from autodrill.history.texts import History, Kept, Snapshot

__all__ = [
    "Answer",
    "Answers",
    "Attempt",
    "Attempts",
    "Figures",
    "History",
    "Kept",
    "Met",
    "Save",
    "Snapshot",
    "Split",
    "Tally",
    "Try",
]
