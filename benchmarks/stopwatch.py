"""Measures seconds by the wall clock, or by one thread's processor time.

On a shared machine the processor's seconds leave out the turns of other programs. They leave out
waiting as well, so they are only for work that one thread does from memory, never for a server,
several threads or a disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter, thread_time
from typing import Any

_VARIABLE = "WEIR_BENCHMARK_CLOCK"  # inherited by the floors' processes
_CPU = "cpu"


def clock() -> Callable[[], float]:
    return thread_time if os.environ.get(_VARIABLE) == _CPU else perf_counter


@contextmanager
def cpu_seconds(wanted: bool) -> Iterator[None]:
    """Makes the stopwatches created in the block count the processor's seconds, if ``wanted``."""
    os.environ[_VARIABLE] = _CPU if wanted else ""
    try:
        yield
    finally:
        del os.environ[_VARIABLE]


def timed(answer: Callable[[Any], object]) -> Callable[[Any], float]:
    """Returns a function that measures the seconds for an argument."""
    now = clock()

    def run(argument: Any) -> float:
        start = now()
        answer(argument)
        return now() - start

    return run
