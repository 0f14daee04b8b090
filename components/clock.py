"""Wall clocks: the local reading of many instants in one zone, a zone's name at an instant."""

from __future__ import annotations

from datetime import date
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from api.metering.wall_clock import WallClock
from api.timez import DAY_MS, MINUTE_MS, offset_text, to_datetime, zone, zone_names

EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS: Final = (
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
)  # fmt: skip


def zone_or_utc(*names: object) -> ZoneInfo:
    """The first of the names that is an IANA zone; UTC where none is."""
    for name in names:
        if isinstance(name, str) and name in zone_names():
            return zone(name)
    return zone("UTC")


class Clock(WallClock):
    """A zone's wall clock over a window, and the zone's name then."""

    def __init__(self, tz: ZoneInfo, from_ms: int, to_ms: int) -> None:
        super().__init__(tz, from_ms, to_ms)
        self._names = [abbreviation(tz, start) for start, _ in self.pieces]

    def name(self, instant_ms: int) -> str:
        """The zone's abbreviation then: MST, CEST, UTC+05:30."""
        return self._names[self.piece(instant_ms)]


def abbreviation(tz: ZoneInfo, instant_ms: int) -> str:
    """MST, CEST; where a zone has only a number, UTC+05:30."""
    moment = to_datetime(instant_ms).astimezone(tz)
    name = moment.tzname() or ""
    if name.isalpha():
        return name
    offset = moment.utcoffset()
    assert offset is not None  # an aware datetime always has one
    return "UTC" + offset_text(round(offset.total_seconds() * 1000)).removesuffix(":00")


@lru_cache(maxsize=20_000)
def local_date(local_day: int) -> date:
    """The date of a wall clock's day, counted from 1970-01-01."""
    return date.fromordinal(local_day + EPOCH_DAY)


@lru_cache(maxsize=20_000)
def day_text(local_day: int, *, year: bool = True) -> str:
    """``Mon 16 Nov 2026``."""
    day = local_date(local_day)
    text = f"{WEEKDAYS[day.weekday()]} {day.day} {MONTHS[day.month - 1]}"
    return f"{text} {day.year}" if year else text


_MINUTES: Final = tuple(f"{m // 60:02}:{m % 60:02}" for m in range(24 * 60))


def minute_text(local_ms: int) -> str:
    """``21:40``."""
    return _MINUTES[local_ms % DAY_MS // MINUTE_MS]


def second_text(local_ms: int) -> str:
    """``21:40:07``."""
    return f"{minute_text(local_ms)}:{local_ms % MINUTE_MS // 1000:02}"
