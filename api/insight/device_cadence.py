"""How often each device reports, as estimated from its readings, and cached for the hour."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeVar

from api.metering.cadence import LOOKED_BACK_MS, UNKNOWN, Cadence, configured, estimated
from api.store.base import Device, Store
from api.timez import HOUR_MS, floor_to

MAX_DEVICES: Final = 120_000  # devices whose hours are cached, about 600 bytes each
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _HourCadence:
    """``settled``: estimated from readings before ``hour_ms``, and so valid for the hour."""

    hour_ms: int
    cadence: Cadence
    settled: bool


class Cadences:
    """One per process; not thread-safe."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._cached: dict[int, _HourCadence] = {}

    def forget(self, key: int) -> None:
        """Drops a device whose readings of earlier hours changed."""
        self._cached.pop(key, None)

    def of(self, device: Device, now_ms: int) -> Cadence:
        fixed = configured(device.reporting_interval_s)
        if fixed is not None:
            return fixed
        hour_ms = floor_to(now_ms, HOUR_MS)
        cached = self._cached.get(device.key)
        if cached is None or cached.hour_ms != hour_ms or not cached.settled:
            cached = self._measured(device.key, hour_ms, now_ms)
            cache(self._cached, device.key, cached)
        return cached.cadence

    def _measured(self, key: int, hour_ms: int, now_ms: int) -> _HourCadence:
        """Estimates the cadence from the 7 days before the hour; with fewer than two readings
        there, up to now; for a silent device, before its last hour with readings."""
        times = self._store.instants(key, hour_ms - LOOKED_BACK_MS, hour_ms)
        estimate = estimated(times)
        if estimate is not None:
            return _HourCadence(hour_ms, estimate, settled=True)
        estimate = estimated(self._store.instants(key, hour_ms - LOOKED_BACK_MS, now_ms + 1))
        if estimate is not None or times:
            return _HourCadence(hour_ms, estimate or UNKNOWN, settled=False)
        last = self._store.last_hour(key, hour_ms)
        if last is None:
            return _HourCadence(hour_ms, UNKNOWN, settled=False)
        end_ms = last + HOUR_MS
        estimate = estimated(self._store.instants(key, end_ms - LOOKED_BACK_MS, end_ms))
        return _HourCadence(hour_ms, estimate or UNKNOWN, settled=True)


def cache(values: dict[int, T], key: int, value: T) -> None:
    """Adds the newest value, and drops the oldest where there are too many."""
    values.pop(key, None)
    values[key] = value
    while len(values) > MAX_DEVICES:
        values.pop(next(iter(values)))
