"""Assigns times to readings without one: the time of reception, never the same twice for one
sender.

Two rows of one device with equal instant and values count as one reading that was sent twice. A
broker may deliver many waiting messages with equal values within a millisecond. Each gets its own
millisecond, so that a burst may end slightly after now.
"""

from __future__ import annotations

from collections.abc import Hashable
from threading import Lock
from typing import Final

_MOST_SENDERS: Final = 10_000  # senders; beyond, those whose last instant has passed are dropped


class AssignedTimestamps:
    """Thread-safe. All times are at or after ``from_ms``."""

    def __init__(self, from_ms: int = 0) -> None:
        self._from_ms = from_ms
        self._next_ms: dict[Hashable, int] = {}
        self._full = _MOST_SENDERS
        self._lock = Lock()

    def take(self, sender: Hashable, now_ms: int, several: int = 1) -> int:
        """Returns the first of ``several`` successive milliseconds, from ``now_ms`` on, that no
        other row of ``sender`` has."""
        with self._lock:
            first_ms = max(now_ms, self._from_ms, self._next_ms.get(sender, 0))
            if len(self._next_ms) >= self._full:
                self._next_ms = {s: ms for s, ms in self._next_ms.items() if ms > now_ms}
                self._full = _MOST_SENDERS + 2 * len(self._next_ms)  # so that the cleanup is rare
            self._next_ms[sender] = first_ms + several
            return first_ms
