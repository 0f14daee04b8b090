"""Wall clocks: the local reading of many instants in one zone, a zone's name at an instant.

A zone is asked once per change of its offset, not once per row.
"""

from __future__ import annotations

from bisect import bisect_right
from datetime import date
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

from api.timez import (
    DAY_MS,
    HOUR_MS,
    MINUTE_MS,
    floor_to,
    offset_text,
    offsets,
    to_datetime,
    zone,
    zone_names,
)

EPOCH_DAY: Final = date(1970, 1, 1).toordinal()
WEEKDAYS: Final = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS: Final = (
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
)  # fmt: skip


def known_zone(*names: object) -> ZoneInfo:
    """The first of the names that is an IANA zone; UTC where none is."""
    for name in names:
        if isinstance(name, str) and name in zone_names():
            return zone(name)
    return zone("UTC")


class Clock:
    """A zone's wall clock over [from_ms, to_ms]; instants beyond read as at the nearest end."""

    def __init__(self, tz: ZoneInfo, from_ms: int, to_ms: int) -> None:
        self.tz = tz
        self.pieces = offsets(tz, from_ms, max(from_ms, to_ms))
        self._starts = [start for start, _ in self.pieces[1:]]
        self._names = [abbreviation(tz, start) for start, _ in self.pieces]

    def _piece(self, instant_ms: int) -> int:
        return bisect_right(self._starts, instant_ms) if self._starts else 0

    def local(self, instant_ms: int) -> int:
        """What the wall clock shows, as if it were milliseconds of UTC."""
        return instant_ms + self.pieces[self._piece(instant_ms)][1]

    def hour(self, instant_ms: int) -> tuple[int, int]:
        """[first, end) of the clock's hour that the instant lies in: shorter than an hour where a
        change that isn't by whole hours begins or ends it."""
        index = self._piece(instant_ms)
        piece, offset = self.pieces[index]
        first = floor_to(instant_ms + offset, HOUR_MS) - offset
        end = self.pieces[index + 1][0] if index + 1 < len(self.pieces) else first + HOUR_MS
        return max(first, piece), min(first + HOUR_MS, end)

    def name(self, instant_ms: int) -> str:
        """The zone's abbreviation then: MST, CEST, UTC+05:30."""
        return self._names[self._piece(instant_ms)]


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
