"""The signal that asks a process to stop."""

from __future__ import annotations

import os
import select
import signal


class StopSignal:
    """Whether one of these signals has arrived since this was made, in the main thread.

    It isn't an `Event`, whose ``set`` takes a lock. A handler runs in the main thread, which may
    hold that lock just then, inside ``wait``: it would wait for itself.
    """

    def __init__(self, *numbers: signal.Signals) -> None:
        self._arrivals, self._arrived = os.pipe()
        for number in numbers:
            signal.signal(number, lambda number, frame: os.write(self._arrived, b"."))

    def wait(self, within_s: float | None = None) -> bool:
        """Returns whether one has arrived, after ``within_s`` seconds at the latest."""
        return bool(select.select([self._arrivals], [], [], within_s)[0])
