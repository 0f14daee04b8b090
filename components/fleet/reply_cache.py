"""A cache of what was made of the service's replies, of one process. Every key carries the
principal. Losing it loses no data."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock
from typing import Any, Final

MAX_LOCAL: Final = 4_000
SET_BACK_MS: Final = 10_000  # of a clock: less is what clocks do


class Memory:
    """Bounded: what was used least lately goes first."""

    def __init__(self) -> None:
        self._local: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = Lock()
        self._latest_ms = 0

    def look(self, now_ms: int) -> None:
        """Told before it is used what time it is. If the clock was set back, entries are of a time
        to come, and would count as fresh until then: they are dropped."""
        with self._lock:
            set_back = now_ms < self._latest_ms - SET_BACK_MS
            self._latest_ms = now_ms if set_back else max(self._latest_ms, now_ms)
            if set_back:
                self._local.clear()

    def local(self, key: Hashable) -> Any:
        with self._lock:
            if key in self._local:
                self._local.move_to_end(key)
            return self._local.get(key)

    def keep(self, key: Hashable, value: Any) -> None:
        with self._lock:
            self._local[key] = value
            self._local.move_to_end(key)
            if len(self._local) > MAX_LOCAL:
                self._local.popitem(last=False)
