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
"""By weekday (Monday first) and local hour, in gal/min; None where no reading tells."""


def window_of(tz: ZoneInfo, now_ms: int) -> Window:
    """Up to the hour under way, whose gallons would look like those of a whole one."""
    hour, _ = WallClock(tz, now_ms - HOUR_MS, now_ms).hour(now_ms)
    return Window(day_start(tz, local_ordinal(tz, now_ms) - WEEKS * DAYS), hour - 1)


def resolution_of(tz: ZoneInfo, window: Window) -> Resolution:
    """The coarsest rows that no local hour of the window cuts: hours nearly everywhere, 10 or 5
    minutes where a zone is off the whole hour."""
    return source_of(*(offset for _, offset in offsets(tz, *window)))


def week(rows: Iterable[tuple[int, float | None]], tz: ZoneInfo, window: Window) -> Week:
    """From (start, gallons) rows in order: gallons over the minutes of the hours with readings,
    whole hours however long the rows are, since a reading tells of the time before it and not of
    its row alone."""
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
