"""The mean flow of each hour of the local week, over the last eight weeks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from zoneinfo import ZoneInfo

from api.catalog import Resolution
from api.metering.wall_clock import WallClock
from api.metering.windows import Window
from api.timez import (
    DAY_MS,
    HOUR_MS,
    MINUTE_MS,
    day_start,
    local_ordinal,
    offsets,
    source_of,
)

WEEKS: Final = 8
HOURS: Final = 24
DAYS: Final = 7

Week = list[list[float | None]]
"""By weekday (Monday first) and local hour, in gal/min; None for an hour without readings."""


def window_of(tz: ZoneInfo, now_ms: int) -> Window:
    """Returns the last eight weeks up to the current hour, which is left out: its volume is
    incomplete."""
    hour, _ = WallClock(tz, now_ms - HOUR_MS, now_ms).hour(now_ms)
    return Window(day_start(tz, local_ordinal(tz, now_ms) - WEEKS * DAYS), hour - 1)


def resolution_of(tz: ZoneInfo, window: Window) -> Resolution:
    """Returns the coarsest resolution whose rows lie within whole local hours: 1hour for nearly all
    zones, 10min or 5min where a zone's offset isn't a whole hour."""
    return source_of(*(offset for _, offset in offsets(tz, *window)))


def week(rows: Iterable[tuple[int, float | None]], tz: ZoneInfo, window: Window) -> Week:
    """Computes the week from (start, gallons) rows in ascending order: gallons divided by the
    minutes of the hours that have readings. Whole hours count, whatever the rows' length: a reading
    covers the time since the one before it, not only its own row."""
    gallons = [[0.0] * HOURS for _ in range(DAYS)]
    minutes = [[0.0] * HOURS for _ in range(DAYS)]
    clock, end = WallClock(tz, *window), 0
    for start, total in rows:
        if total is None:
            continue
        local = clock.local(start)
        day, hour = (local // DAY_MS + 3) % DAYS, local % DAY_MS // HOUR_MS
        gallons[day][hour] += total
        if start >= end:  # the first row of its hour
            first, end = clock.hour(start)
            minutes[day][hour] += (end - first) / MINUTE_MS
    return [
        [g / m if m else None for g, m in zip(*rows_of_day, strict=True)]
        for rows_of_day in zip(gallons, minutes, strict=True)
    ]
