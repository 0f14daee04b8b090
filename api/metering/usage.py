"""Compares volumes: today so far with the usual volume by this time, and one span with another."""

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
    """Returns by how many percent a volume differs. Returns 0 for a negligible difference, None
    where the usual volume is below 1 gallon."""
    if usual < LEAST_DIFFERENCE_GAL:
        return None
    if abs(gallons - usual) < LEAST_DIFFERENCE_GAL:
        return 0
    return round((gallons - usual) / usual * 100)


@dataclass(frozen=True, slots=True)
class Day:
    """The current local day of a zone. ``ordinal`` is its date; ``wall_ms`` is the wall-clock time
    since midnight."""

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
    """Returns the same weekday of the weeks before, latest first, with the resolution whose rows
    fit its edges."""
    windows: list[tuple[Window, Resolution]] = []
    for week in range(1, WEEKS + 1):
        start, end = (day_start(day.tz, day.ordinal - 7 * week + d) for d in (0, 1))
        windows.append((Window(start, end - 1), source_of(start, end)))
    return windows


def hourly_sums(
    rows: Iterable[tuple[int, float | None]], window: Window, tz: ZoneInfo
) -> list[float] | None:
    """Returns the gallons of a day up to each full wall-clock hour, 0 to 24, from (start, gallons)
    rows.

    Returns None where too few of the day's hours have readings to say what is usual.
    """
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
    """Returns the mean of the days that have a curve; None where fewer than two have one."""
    with_data = [day for day in days if day is not None]
    if len(with_data) < LEAST_WEEKS:
        return None
    return [round(sum(each) / len(with_data), 3) for each in zip(*with_data, strict=True)]


def usual_by(curve: Sequence[float], wall_ms: int) -> float:
    """Returns the usual gallons by that time of day."""
    hour, rest = divmod(min(max(wall_ms, 0), DAY_MS), HOUR_MS)
    if hour >= HOURS:
        return curve[HOURS]
    return curve[hour] + (curve[hour + 1] - curve[hour]) * rest / HOUR_MS
