"""What a computation costs in memory, counted by `tracemalloc`: NumPy tells it of every array."""

from __future__ import annotations

import gc

# Names are bound here, before the learner's file can patch them in a worker.
from collections.abc import Callable
from dataclasses import dataclass
from tracemalloc import get_traced_memory, is_tracing, reset_peak, start, stop


@dataclass(frozen=True)
class Memory:
    """Bytes beyond what was there before: kept by the result, and at most at any moment."""

    kept: int
    peak: int


def memory_of(work: Callable[[], object]) -> Memory:
    """Run `work` and count the bytes that its result keeps alive, and the most it held.

    What is garbage when it ends is not counted as kept.
    """
    was_tracing = is_tracing()
    gc.collect()
    if not was_tracing:
        start()
    try:
        reset_peak()
        before, _ = get_traced_memory()
        result = work()
        _, peak = get_traced_memory()
        gc.collect()
        after, _ = get_traced_memory()
        del result
        return Memory(max(after - before, 0), max(peak - before, 0))
    finally:
        if not was_tracing:
            stop()
