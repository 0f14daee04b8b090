"""Pairs the instants of a span with those of an earlier span, by the local wall clock.

A day is paired with the day before, the same weekday of the week before, the same weekday of the
same rank in the month before (second Tuesday with second Tuesday) or the same date of the year
before. Within the day, equal wall-clock times are paired. Where the clock repeats an hour, the
first hour is paired with the first; a second one without a counterpart has no pair. Times that the
clock or the calendar skips are gaps.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from typing import Final, Literal, NamedTuple
from zoneinfo import ZoneInfo

from api.catalog import DAY_MS
from api.timez import EPOCH_DAY, offsets

Shift = Literal["day", "week", "month", "year"]
SHIFTS: Final[tuple[Shift, ...]] = ("day", "week", "month", "year")
SHIFT_BY_NAME: Final[dict[str, Shift]] = {shift: shift for shift in SHIFTS}
OTHER_DEVICE: Final = "device:"  # a device's identifier follows
LONGEST_SHIFT_MS: Final = 367 * DAY_MS
_AROUND_MS: Final = 2 * DAY_MS


class Pairing(NamedTuple):
    """The instants of [from_ms, to_ms) pair with the instants ``delta_ms`` earlier."""

    from_ms: int
    to_ms: int
    delta_ms: int


class _Segment(NamedTuple):
    """A part of a local day under one offset, as [from, to) of the wall clock."""

    from_wall: int
    to_wall: int
    offset: int


def other_day(ordinal: int, shift: Shift) -> int | None:
    """Returns the local day that the day ``ordinal`` is compared with (proleptic ordinals), or None
    where the month or year before has no such day."""
    if shift == "day":
        return ordinal - 1
    if shift == "week":
        return ordinal - 7
    day = date.fromordinal(ordinal)
    if shift == "year":
        leap = (day.month, day.day) == (2, 29)
        return None if leap else day.replace(year=day.year - 1).toordinal()
    first = day.replace(day=1).toordinal()
    before = date.fromordinal(first - 1).replace(day=1).toordinal()
    other = before + (ordinal - before) % 7 + (day.day - 1) // 7 * 7
    return other if other < first else None


def pairings(tz: ZoneInfo, shift: Shift, from_ms: int, to_ms: int) -> list[Pairing]:
    """Returns the pairings of [from_ms, to_ms), ascending. Instants without a counterpart are left
    out."""
    here = _clock(tz, from_ms, to_ms)
    there = _clock(tz, from_ms - LONGEST_SHIFT_MS, to_ms)
    first = (from_ms + here[0][2] - _AROUND_MS) // DAY_MS
    last = (to_ms + here[-1][2] + _AROUND_MS) // DAY_MS
    pairs: list[Pairing] = []
    for day in range(first, last + 1):
        other = other_day(day + EPOCH_DAY, shift)
        if other is not None:
            pairs += _of_day(day, other - EPOCH_DAY, here, there)
    clipped = sorted(
        Pairing(max(p.from_ms, from_ms), min(p.to_ms, to_ms), p.delta_ms)
        for p in pairs
        if p.to_ms > from_ms and p.from_ms < to_ms
    )
    return _merged(clipped)


_Piece = tuple[int, int, int]  # [from, to) in ms under an offset


def _clock(tz: ZoneInfo, from_ms: int, to_ms: int) -> list[_Piece]:
    first, end = from_ms - _AROUND_MS, to_ms + _AROUND_MS
    starts = offsets(tz, first, end)
    ends = [start for start, _ in starts[1:]] + [end]
    return [(start, end, offset) for (start, offset), end in zip(starts, ends, strict=True)]


def _of_day(day: int, other: int, here: list[_Piece], there: list[_Piece]) -> Iterator[Pairing]:
    """``day`` and ``other`` count from 1970-01-01."""
    apart = (day - other) * DAY_MS
    ours = _segments(day, here)
    theirs = [
        _Segment(s.from_wall + apart, s.to_wall + apart, s.offset) for s in _segments(other, there)
    ]
    edges = sorted({wall for s in (*ours, *theirs) for wall in s[:2]})
    for low, high in pairwise(edges):
        shown, paired = (
            [s.offset for s in some if s.from_wall <= low and high <= s.to_wall]
            for some in (ours, theirs)
        )
        for mine, their in zip(shown, paired, strict=False):
            yield Pairing(low - mine, high - mine, apart - mine + their)


def _segments(day: int, pieces: list[_Piece]) -> list[_Segment]:
    """The parts of the day in order of time."""
    start, end = day * DAY_MS, (day + 1) * DAY_MS
    segments = (
        _Segment(max(low + offset, start), min(high + offset, end), offset)
        for low, high, offset in pieces
        if low + offset < end and high + offset > start
    )
    return [segment for segment in segments if segment.from_wall < segment.to_wall]


def _merged(pairs: list[Pairing]) -> list[Pairing]:
    made: list[Pairing] = []
    for each in pairs:
        before = made[-1] if made else None
        if before and before.to_ms == each.from_ms and before.delta_ms == each.delta_ms:
            made[-1] = before._replace(to_ms=each.to_ms)
        else:
            made.append(each)
    return made
