"""The process in which the learner's file runs."""

MEMORY_HEADROOM = 2 * 2**30
"""Bytes that the learner's file may use beyond what Python, NumPy and the scenarios need."""

BROKEN_EXIT = 70
"""The exit code of a worker that the learner's file has made unable to answer."""
