"""The signal that asks a process to stop."""

from __future__ import annotations

import os
import select
import signal
from math import inf
from time import monotonic


class StopSignal:
    """Whether one of these signals has arrived since this was made, in the main thread.

    It isn't an `Event`, whose ``set`` takes a lock: a handler runs in the main thread, which may
    hold that lock just then, inside ``wait``, and would wait for itself. And a handler runs only
    when the main thread does, but a signal may interrupt another one. So the interpreter itself
    writes the number of each signal into a pipe. A process has one such pipe.
    """

    def __init__(self, *numbers: signal.Signals) -> None:
        self._numbers, self._stopped = frozenset(numbers), False
        self._arrivals, arrived = os.pipe()
        os.set_blocking(arrived, False)
        signal.set_wakeup_fd(arrived, warn_on_full_buffer=False)
        for number in numbers:
            signal.signal(number, lambda number, frame: None)

    def wait(self, within_s: float | None = None) -> bool:
        """Returns whether one has arrived, after ``within_s`` seconds at the latest."""
        end_s = inf if within_s is None else monotonic() + within_s
        while not self._stopped:
            left_s = None if end_s == inf else max(0.0, end_s - monotonic())
            if not select.select([self._arrivals], [], [], left_s)[0]:
                break
            self._stopped = not self._numbers.isdisjoint(os.read(self._arrivals, 4_096))
        return self._stopped
