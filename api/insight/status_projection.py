"""Updates the status table after new readings, and when a status changes by the clock alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from time import monotonic
from typing import Final

from api.insight.status import CHUNK, Statuses
from api.insight.worker_thread import WorkerThread
from api.store.base import Due, Status, Store
from api.timez import now_ms

POLL_S: Final = 0.5  # seconds until committed readings are noticed
TIME_S: Final = 5.0  # seconds between checks for statuses due by the clock
AT_ONCE: Final = 5 * CHUNK  # rows per transaction, so that others wait only briefly


class Projection:
    """Computes due statuses. Several may run at once: they write the same rows."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._statuses = Statuses(store)

    def after_readings(self, at_ms: int | None = None) -> int:
        """Updates the statuses of devices with new readings. Returns how many."""
        due_rows = self._store.due_by_reading(AT_ONCE)
        now = now_ms() if at_ms is None else at_ms
        for due in due_rows:
            self._statuses.forget(due.key, due.from_ms, now)
        return self._make([due.key for due in due_rows], due_rows, now)

    def by_time(self, at_ms: int | None = None) -> int:
        """Updates statuses that are due by the clock, and those of new or changed devices. Returns
        how many."""
        now = now_ms() if at_ms is None else at_ms
        return self._make(self._store.due_by_time(now, AT_ONCE), (), now)

    def all_due(self, at_ms: int | None = None) -> int:
        """Updates statuses until none is due. Returns how many."""
        made = 0
        for step in (self.after_readings, self.by_time):
            while count := step(at_ms):
                made += count
        return made

    def of(self, keys: Sequence[int], at_ms: int) -> list[Status]:
        """Computes statuses from the readings without saving them."""
        return Statuses(self._store).rows(self._store.devices_by_key(keys), at_ms)

    def rebuild(self, keys: Sequence[int], at_ms: int) -> int:
        self._statuses = Statuses(self._store)
        for start in range(0, len(keys), AT_ONCE):
            self._make(keys[start : start + AT_ONCE], (), at_ms)
        return len(keys)

    def _make(self, keys: Sequence[int], due: Sequence[Due], at_ms: int) -> int:
        if not keys:
            return 0
        devices = self._store.devices_by_key(keys)
        for key in set(keys) - {device.key for device in devices}:
            self._store.forget_device(key)  # readings that were being stored while it was deleted
        self._store.save_statuses(self._statuses.rows(devices, at_ms), due, self._statuses.maker)
        return len(keys)


def differing(stored: Status, made: Status) -> bool:
    """Whether a stored status differs from one computed as of the same instant. Sums of gallons may
    differ in their last digits."""
    volumes = (
        (stored.volume_today, made.volume_today),
        (stored.volume_month, made.volume_month),
        (stored.volume_usual, made.volume_usual),
    )
    same = replace(
        made,
        volume_today=stored.volume_today,
        volume_month=stored.volume_month,
        volume_usual=stored.volume_usual,
    )
    return same != stored or not all(near(one, other) for one, other in volumes)


def near(one: float | None, other: float | None) -> bool:
    if one is None or other is None:
        return one is other
    return abs(one - other) <= 1e-9 * max(1.0, abs(one), abs(other))


class ProjectionThread(WorkerThread):
    """Runs a projection beside a writer until it is stopped."""

    name, result = "status", "the status of devices"

    def __init__(self, store: Store) -> None:
        super().__init__()
        self._projection = Projection(store)
        self._by_time_s = 0.0  # when to search for due rows next, on the monotonic clock

    def step(self) -> float:
        """Updates the rows of devices with new readings and, from time to time, those due by the
        clock. Returns the seconds until the next step."""
        more = self._projection.after_readings() >= AT_ONCE
        if monotonic() >= self._by_time_s:
            full = self._projection.by_time() >= AT_ONCE
            self._by_time_s = monotonic() + (0.0 if full else TIME_S)
            more = more or full
        return 0.0 if more else POLL_S
