"""Keeps the status table up: after each reading, and when time alone changes a row."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from threading import Event, Thread
from time import monotonic
from typing import Final

from api.errors import Unavailable
from api.insight.status import CHUNK, Statuses
from api.store.base import Due, Status, Store
from api.timez import now_ms

POLL_S: Final = 0.5  # readings that were committed are seen after at most this long
TIME_S: Final = 5.0  # between looks for what time changed
AT_ONCE: Final = 5 * CHUNK  # rows of one transaction: a bulk import must not keep others waiting
PAUSE_S: Final = 5.0  # while the store is away

_log = logging.getLogger(__name__)


class Projection:
    """Both kinds of due rows, in turns. Several may run: they write the same rows."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._statuses = Statuses(store)

    def after_readings(self, at_ms: int | None = None) -> int:
        """Rows of the devices that readings came of; how many."""
        found = self._store.due_by_reading(AT_ONCE)
        now = now_ms() if at_ms is None else at_ms
        for due in found:
            self._statuses.forget(due.key, due.from_ms, now)
        return self._make([due.key for due in found], found, now)

    def by_time(self, at_ms: int | None = None) -> int:
        """Rows that fell due, and those of devices that are new or changed; how many."""
        now = now_ms() if at_ms is None else at_ms
        return self._make(self._store.due_by_time(now, AT_ONCE), (), now)

    def all_due(self, at_ms: int | None = None) -> int:
        """Until nothing is due as of now; how many rows."""
        made = 0
        for step in (self.after_readings, self.by_time):
            while count := step(at_ms):
                made += count
        return made

    def of(self, keys: Sequence[int], at_ms: int) -> list[Status]:
        """Rows made anew from the readings, kept nowhere."""
        return Statuses(self._store).rows(self._store.devices_by_key(keys), at_ms)

    def rebuild(self, keys: Sequence[int], at_ms: int) -> int:
        self._statuses = Statuses(self._store)
        for start in range(0, len(keys), AT_ONCE):
            self._make(keys[start : start + AT_ONCE], (), at_ms)
        return len(keys)

    def _make(self, keys: Sequence[int], due: Sequence[Due], at_ms: int) -> int:
        if not keys:
            return 0
        rows = self._statuses.rows(self._store.devices_by_key(keys), at_ms)
        self._store.keep_statuses(rows, due, self._statuses.maker)
        return len(keys)


def differing(kept: Status, made: Status) -> bool:
    """Whether a kept row isn't what its readings say as of the same instant. Sums of gallons may
    differ in their last digits."""
    volumes = (
        (kept.volume_today, made.volume_today),
        (kept.volume_month, made.volume_month),
        (kept.volume_usual, made.volume_usual),
    )
    same = replace(
        made,
        volume_today=kept.volume_today,
        volume_month=kept.volume_month,
        volume_usual=kept.volume_usual,
    )
    return same != kept or not all(_near(one, other) for one, other in volumes)


def _near(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= 1e-9 * max(1.0, abs(one), abs(other))


class ProjectionThread:
    """Runs a projection beside a writer until it is stopped."""

    def __init__(self, store: Store) -> None:
        self._projection = Projection(store)
        self._stop = Event()
        self._thread = Thread(target=self._run, name="status", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        trouble, by_time_s = False, 0.0
        while not self._stop.is_set():
            try:
                busy = self._projection.after_readings() >= AT_ONCE
                if monotonic() >= by_time_s:
                    full = self._projection.by_time() >= AT_ONCE
                    by_time_s = monotonic() + (0.0 if full else TIME_S)
                    busy = busy or full
            except Unavailable as error:
                if not trouble:
                    _log.warning("the status of devices can't be updated: %s", error)
                trouble = True
                self._stop.wait(PAUSE_S)
            except Exception:  # noqa: BLE001 - nobody else would keep it up
                _log.exception("the status of devices can't be updated; retrying")
                self._stop.wait(PAUSE_S)
            else:
                if trouble:
                    _log.warning("the status of devices is updated again")
                trouble = False
                self._stop.wait(0.0 if busy else POLL_S)
