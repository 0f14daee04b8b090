"""Compares volumes: a local day so far with the usual volume by then, one span with another."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final
from zoneinfo import ZoneInfo

from api.catalog import Resolution
from api.metering.uptime import comparable
from api.metering.wall_clock import WallClock
from api.metering.windows import Window
from api.timez import DAY_MS, HOUR_MS, day_start, local_ordinal, offset_ms, source_of

LEAST_DIFFERENCE_GAL: Final = 1.0
WEEKS: Final = 4
LEAST_WEEKS: Final = 2
HOURS: Final = 24


def change(gallons: float, usual: float) -> int | None:
    """By how many percent a volume differs: 0 where the difference is nothing that counts, None
    where what it is compared with is less than a gallon."""
    if usual < LEAST_DIFFERENCE_GAL:
        return None
    if abs(gallons - usual) < LEAST_DIFFERENCE_GAL:
        return 0
    return round((gallons - usual) / usual * 100)


@dataclass(frozen=True, slots=True)
class Day:
    """A zone's day that is under way. ``ordinal`` is its date, ``wall_ms`` what its clock shows,
    counted from midnight."""

    tz: ZoneInfo
    ordinal: int
    start_ms: int
    wall_ms: int

    @property
    def weekday(self) -> int:
        """Monday is 0."""
        return (self.ordinal + 6) % 7


def day_of(tz: ZoneInfo, now_ms: int) -> Day:
    ordinal = local_ordinal(tz, now_ms)
    wall = (now_ms + offset_ms(tz, now_ms)) % DAY_MS
    return Day(tz, ordinal, day_start(tz, ordinal), wall)


def such_days(day: Day) -> list[tuple[Window, Resolution]]:
    """The same weekday of the weeks before, latest first, with the rows that fit its edges."""
    windows: list[tuple[Window, Resolution]] = []
    for week in range(1, WEEKS + 1):
        start, end = (day_start(day.tz, day.ordinal - 7 * week + d) for d in (0, 1))
        windows.append((Window(start, end - 1), source_of(start, end)))
    return windows


def hourly_sums(
    rows: Iterable[tuple[int, float | None]], window: Window, tz: ZoneInfo
) -> list[float] | None:
    """Gallons of a day up to each full hour of its wall clock, 0 to 24, from (start, gallons) rows.
    None where the day has readings in too few of its hours to tell what is usual."""
    sums, observed_hours = [0.0] * HOURS, set[int]()
    clock = WallClock(tz, *window)
    for start, gallons in rows:
        if window.from_ms <= start <= window.to_ms and gallons is not None:
            sums[clock.local(start) % DAY_MS // HOUR_MS] += gallons
            observed_hours.add(start // HOUR_MS)
    if not comparable(len(observed_hours) / (window.length_ms / HOUR_MS)):
        return None
    return list(accumulate(sums, initial=0.0))


def usual_curve(days: Iterable[list[float] | None]) -> list[float] | None:
    """The mean of the days that tell; None where fewer than two do."""
    with_data = [day for day in days if day is not None]
    if len(with_data) < LEAST_WEEKS:
        return None
    return [round(sum(each) / len(with_data), 3) for each in zip(*with_data, strict=True)]


def usual_by(curve: Sequence[float], wall_ms: int) -> float:
    """Gallons that are usual by that time of day."""
    hour, rest = divmod(min(max(wall_ms, 0), DAY_MS), HOUR_MS)
    if hour >= HOURS:
        return curve[HOURS]
    return curve[hour] + (curve[hour + 1] - curve[hour]) * rest / HOUR_MS
