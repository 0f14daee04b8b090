"""Passes stored readings to publishers, after the commit and without delaying the writer."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Sequence
from threading import Condition, Thread
from typing import Final, NamedTuple

from api.errors import WeirError
from api.ingest.device_cache import DeviceCache
from api.ingest.submission import Submission
from api.store.base import ReadingRow

REST_S: Final = 3.0  # without readings; then hooks are called once with none
MOST_WAITING: Final = 100_000  # rows; beyond, the oldest are dropped: publishing isn't guaranteed

_log = logging.getLogger(__name__)


class Stored(NamedTuple):
    """A new reading, after its commit. ``device_id`` is the device's UUID."""

    organization_id: str
    device_id: str
    row: ReadingRow


Hook = Callable[[Sequence[Stored]], object]
"""Called with stored readings, several commits at a time, in the order of the commits, and once
with none when no more arrive: what a hook has put off is due then. Always called by the same
thread, which waits for it; its exceptions are logged."""

_Waiting = tuple[str, list[ReadingRow]]


class Announcer:
    """Calls hooks from a thread of its own. Without hooks it does nothing."""

    def __init__(self, device_cache: DeviceCache, hooks: Sequence[Hook]) -> None:
        self._device_cache, self._hooks = device_cache, tuple(hooks)
        self._waiting: deque[_Waiting] = deque()
        self._rows = self._dropped = 0
        self._closing = False
        self._changed = Condition()
        self._thread = Thread(target=self._run, name="announcer", daemon=True)
        if self._hooks:
            self._thread.start()

    def announce(self, submission: Submission, stored: list[ReadingRow]) -> None:
        """Queues readings. Returns at once, whatever the hooks do."""
        if not self._hooks or not stored:
            return
        with self._changed:
            self._waiting.append((submission.organization_id, stored))
            self._rows += len(stored)
            while self._rows > MOST_WAITING and len(self._waiting) > 1:
                gone = len(self._waiting.popleft()[1])
                self._rows -= gone
                self._dropped += gone
            self._changed.notify()

    def close(self, timeout_s: float) -> None:
        """Passes the waiting readings to the hooks, for at most this long."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join(timeout_s)

    def _run(self) -> None:
        rest_s: float | None = None  # None: the hooks have nothing put off
        while (batches := self._next(rest_s)) or rest_s is not None:
            rest_s = REST_S if batches else None
            try:
                stored = self._described(batches)
            except WeirError as error:
                _log.warning("stored readings can't be published: %s", error)
                continue
            for hook in self._hooks:
                _call(hook, stored)

    def _next(self, timeout_s: float | None) -> list[_Waiting]:
        """Returns all waiting readings; none once closed, or if none arrive in this time."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closing, timeout_s)
            batches = list(self._waiting)
            self._waiting.clear()
            self._rows, dropped, self._dropped = 0, self._dropped, 0
        if dropped:
            _log.warning("publishers are too slow: %d stored readings were not published", dropped)
        return batches

    def _described(self, batches: Sequence[_Waiting]) -> list[Stored]:
        return [
            Stored(organization_id, device_id, row)
            for organization_id, rows in batches
            for row in rows
            if (device_id := self._device_cache.device_id(organization_id, row[0])) is not None
        ]


def _call(hook: Hook, stored: Sequence[Stored]) -> None:
    try:
        hook(stored)
    except Exception:  # noqa: BLE001 - a publisher's own business: the readings are in
        _log.exception("a publisher failed")
