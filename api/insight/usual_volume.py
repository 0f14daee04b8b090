"""The usual volume up to the current time of a local day: the mean of the same weekday in the last
four weeks."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final
from zoneinfo import ZoneInfo

from api.metering.usage import Day, day_of, hourly_sums, such_days, usual_by, usual_curve
from api.store.base import Store
from api.timez import DAY_MS

CACHED_DEVICES: Final = 120_000


class UsualVolumes:
    """Caches each device's curve until its local day is over. One per process; not thread-safe."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._curves: dict[int, tuple[int, list[float] | None]] = {}

    def forget(self, key: int, from_ms: int, now_ms: int) -> None:
        """Drops curves that new readings from ``from_ms`` on may change: those of an earlier
        day."""
        if from_ms < now_ms - DAY_MS:
            self._curves.pop(key, None)

    def by_now(self, keys: Sequence[int], tz: ZoneInfo, now_ms: int) -> dict[int, float]:
        """Returns gallons by device key, for the devices of that zone with at least two such
        days."""
        day = day_of(tz, now_ms)
        missing = [key for key in keys if self._curves.get(key, (None, None))[0] != day.ordinal]
        if missing:
            self._fill(missing, day)
        curves = {key: self._curves[key][1] for key in keys if key in self._curves}
        return {
            key: usual_by(curve, day.wall_ms) for key, curve in curves.items() if curve is not None
        }

    def _fill(self, keys: Sequence[int], day: Day) -> None:
        days: defaultdict[int, list[list[float] | None]] = defaultdict(list)
        for window, resolution in such_days(day):
            by_device = self._store.gallons(keys, resolution, window.from_ms, window.to_ms + 1)
            for key, rows in by_device.items():
                days[key].append(hourly_sums(rows, window, day.tz))
        for key in keys:
            self._curves.pop(key, None)
            self._curves[key] = (day.ordinal, usual_curve(days[key]))
        while len(self._curves) > CACHED_DEVICES + len(keys):
            self._curves.pop(next(iter(self._curves)))
