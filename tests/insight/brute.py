"""A device's status by brute force from its raw readings, by the definitions alone."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any
from zoneinfo import ZoneInfo

from api.catalog import METRICS
from api.store.base import Device, ReadingRow

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
USUAL_S = (10, 30, 60, 300, 600, 900, 1800, 3600, 6 * 3600, 12 * 3600, 24 * 3600)
WINDOWS = (HOUR, DAY, 7 * DAY, 30 * DAY)
BUCKETS = (MINUTE, 5 * MINUTE, 10 * MINUTE, HOUR)
_AT = {metric.name: 2 + index for index, metric in enumerate(METRICS)}


def cadence(device: Device, times: Sequence[int], now: int) -> tuple[int, bool]:
    """(ms, event-driven)"""
    if device.reporting_interval_s:
        return max(10_000, round(device.reporting_interval_s * 1000)), False
    hour = now - now % HOUR
    before = [t for t in times if hour - 7 * DAY <= t < hour]
    for some in (before, [t for t in times if hour - 7 * DAY <= t <= now]):
        if len(set(some)) > 1:
            return _cadence(some)
    if not before and (old := [t for t in times if t < hour]) and old[-1] < hour - 7 * DAY:
        end = old[-1] - old[-1] % HOUR + HOUR
        some = [t for t in old if t >= end - 7 * DAY]
        if len(set(some)) > 1:
            return _cadence(some)
    return MINUTE, False


def _cadence(times: Sequence[int]) -> tuple[int, bool]:
    steps = sorted(b - a for a, b in pairwise(sorted(set(times))))
    middle = statistics.median(steps)
    nearest = min(USUAL_S, key=lambda usual: abs(usual * 1000 - middle)) * 1000
    cadence_ms = nearest if abs(nearest - middle) <= 0.2 * nearest else round(middle)
    cuts = statistics.quantiles(steps, n=10, method="inclusive") if len(steps) > 1 else [1, 1]
    return max(10_000, cadence_ms), len(steps) >= 10 and cuts[-1] > 10 * cuts[0]


def status(device: Device, rows: Sequence[ReadingRow], now: int) -> dict[str, Any]:
    rows = sorted(rows, key=lambda row: row[1])
    times = [row[1] for row in rows]
    cadence_ms, event_driven = cadence(device, times, now)
    expected_ms = max(cadence_ms, HOUR) if event_driven else cadence_ms
    bucket = next((b for b in BUCKETS if b >= expected_ms), HOUR)
    hour_of_installation = device.installed_on_ms - device.installed_on_ms % HOUR
    installed = None if times and times[0] < hour_of_installation else device.installed_on_ms
    edge = now - now % bucket
    windows = [_window(rows, edge, length, bucket, installed, now) for length in WINDOWS]
    seen = max((t for t in times if t <= now + DAY), default=None)
    fresh = seen is not None and now - seen <= max(3 * expected_ms, 15 * MINUTE)
    actual, expected, worst, _ = windows[1]
    limit = (device.config or {}).get("qualityLimit", 40.0)
    low = (expected and actual / expected < 0.95) or (worst is not None and worst < limit)
    if not device.active:
        state = "inactive"
    elif seen is None:
        state = "no-data"
    else:
        state = "silent" if not fresh else "degraded" if low else "reporting"
    wall = datetime.fromtimestamp(now / 1000, ZoneInfo(device.time_zone))
    midnight = wall.replace(hour=0, minute=0, second=0, microsecond=0)
    last = [row for row in rows if row[1] == seen]
    return {
        "cadence_ms": cadence_ms,
        "event_driven": event_driven,
        "bucket_ms": bucket,
        "state": state,
        "seen_ms": seen,
        "flows": [row[_AT["flow_rate"]] for row in last] if fresh else [None],
        "windows": windows,
        "volume_today": _gallons(rows, midnight, now),
        "volume_month": _gallons(rows, midnight.replace(day=1), now),
    }


def _window(
    rows: Sequence[ReadingRow], edge: int, length: int, bucket: int, installed: int | None, now: int
) -> tuple[int, int, float | None, float | None]:
    starts = [s for s in range(edge - length, edge, bucket) if installed is None or s >= installed]
    held = {row[1] - row[1] % bucket for row in rows}
    # Qualities of the window's buckets, the current one included.
    inside = [
        q
        for row in rows
        if (q := row[_AT["quality"]]) is not None
        and edge - length <= row[1]
        and row[1] - row[1] % bucket <= now
    ]
    return (
        sum(start in held for start in starts),
        len(starts),
        min(inside, default=None),
        max(inside, default=None),
    )


def _gallons(rows: Sequence[ReadingRow], start: datetime, now: int) -> float | None:
    """Gallons from a local midnight on, up to the current minute."""
    first = round((start - timedelta(0)).timestamp() * 1000)
    cadence_ms = [
        row[_AT["flow_amount"]]
        for row in rows
        if first <= row[1] - row[1] % MINUTE <= now and row[_AT["flow_amount"]] is not None
    ]
    return sum(cadence_ms) if cadence_ms else None
