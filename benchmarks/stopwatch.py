"""What a second is: a wall clock's, or one thread's on the processor.

On a machine that others use too, the processor's seconds leave their turns out. They leave out
waiting as well, so they are for questions that one thread answers from memory, never for a server,
several threads or a disk.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter, thread_time
from typing import Any

_VARIABLE = "WEIR_BENCHMARK_CLOCK"  # the floors' processes inherit it
_CPU = "cpu"


def clock() -> Callable[[], float]:
    return thread_time if os.environ.get(_VARIABLE) == _CPU else perf_counter


@contextmanager
def cpu_seconds(wanted: bool) -> Iterator[None]:
    """Whether stopwatches that are made in the block count the processor's seconds."""
    os.environ[_VARIABLE] = _CPU if wanted else ""
    try:
        yield
    finally:
        del os.environ[_VARIABLE]


def timed(answer: Callable[[Any], object]) -> Callable[[Any], float]:
    """The seconds that answering an argument takes."""
    now = clock()

    def run(argument: Any) -> float:
        start = now()
        answer(argument)
        return now() - start

    return run
