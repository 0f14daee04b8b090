"""The hours of a night in which nobody should draw water: 02:00–05:00 on the local clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from api.catalog import HOUR_MS, MINUTE_MS
from api.insight.findings.model import HourRow, Minute, Readings
from api.timez import DAY_MS, day_start, offsets

FROM_HOUR: Final = 2
TO_HOUR: Final = 5
LEAST_PRESENT: Final = 0.8
_EPOCH_DAY: Final = 719_163


@lru_cache(maxsize=100_000)
def night_of(tz: ZoneInfo, day: int) -> tuple[int, int]:
    """[from, to) of the local day's night. One in which clocks change is longer or shorter."""
    return _at(tz, day, FROM_HOUR), _at(tz, day, TO_HOUR)


def _at(tz: ZoneInfo, day: int, hour: int) -> int:
    """The first instant of the local day whose wall clock has reached the hour."""
    wall = (day - _EPOCH_DAY) * DAY_MS + hour * HOUR_MS
    start, limit = day_start(tz, day), day_start(tz, day + 1)
    pieces = offsets(tz, start, limit)
    ends = [piece for piece, _ in pieces[1:]] + [limit]
    for (piece, offset), end in zip(pieces, ends, strict=True):
        first = max(piece, wall - offset)
        if first < end:
            return first
    return limit


def lowest_flow(
    readings: Readings,
    rows: Mapping[int, HourRow],
    from_ms: int,
    to_ms: int,
    reading_ms: int,
) -> float | None:
    """The lowest mean over an hour of the night, in gal/min; None where no hour has 80 % of its
    readings. From hours for a device that reports by the hour, or where no minutes are kept."""
    if reading_ms < HOUR_MS:
        minutes = readings.minutes(from_ms, to_ms)
        if minutes:
            return _of_minutes(minutes, from_ms, to_ms, reading_ms)
    first = -(-from_ms // HOUR_MS) * HOUR_MS
    starts = range(first, to_ms - HOUR_MS + 1, HOUR_MS)
    flows = [
        row.gallons / 60
        for start in starts
        if (row := rows.get(start)) is not None
        and row.gallons is not None
        and row.coverage >= LEAST_PRESENT
    ]
    return min(flows, default=None)


def _of_minutes(
    minutes: Sequence[Minute], from_ms: int, to_ms: int, reading_ms: int
) -> float | None:
    """From minute to minute. A minute stands for the time since the reading before."""
    rates = [(minute.start_ms, minute.rate) for minute in minutes if minute.rate is not None]
    flows: list[float] = []
    low = high = 0
    total = 0.0
    for start in range(from_ms, to_ms - HOUR_MS + 1, MINUTE_MS):
        while high < len(rates) and rates[high][0] < start + HOUR_MS:
            total += rates[high][1]
            high += 1
        while low < high and rates[low][0] < start:
            total -= rates[low][1]
            low += 1
        if (high - low) * reading_ms >= LEAST_PRESENT * HOUR_MS:
            flows.append(total / (high - low))
    return min(flows, default=None)
