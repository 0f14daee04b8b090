"""Ticks of a time axis and their labels, in the chosen zone.

plotly.js has no zones: it would use UTC or the browser's local time. So ticks are computed here,
exact on the days that clocks change. They extend one range further on both sides, so that an axis
in motion has ticks before the next reply arrives.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final
from zoneinfo import ZoneInfo

from api.timez import DAY_MS, HOUR_MS, MINUTE_MS, day_start, local_ordinal
from components.formatting import (
    MONTHS,
    WEEKDAYS,
    Clock,
    day_text,
    local_date,
    minute_text,
    second_text,
)

SECOND_MS: Final = 1000
TIME_PX: Final = 96  # the least room for a label: a date may stand below a time
DAY_PX: Final = 60
_MONDAY: Final = date(2001, 1, 1).toordinal()


@dataclass(frozen=True, slots=True)
class Step:
    """The distance between ticks: a length of local time, days, or months."""

    approximate_ms: float
    wall_ms: int = 0
    days: int = 0
    months: int = 0

    @property
    def room_px(self) -> int:
        return TIME_PX if self.wall_ms else DAY_PX


STEPS: Final[tuple[Step, ...]] = (
    *(Step(s * SECOND_MS, wall_ms=s * SECOND_MS) for s in (1, 2, 5, 10, 15, 30)),
    *(Step(m * MINUTE_MS, wall_ms=m * MINUTE_MS) for m in (1, 2, 5, 10, 15, 30)),
    *(Step(h * HOUR_MS, wall_ms=h * HOUR_MS) for h in (1, 2, 3, 6, 12)),
    *(Step(d * DAY_MS, days=d) for d in (1, 2, 7, 14)),
    *(Step(m * 30.44 * DAY_MS, months=m) for m in (1, 2, 3, 6, 12, 24, 60, 120)),
)


@dataclass(frozen=True, slots=True)
class Ticks:
    """``texts`` have a second line, after ``<br>``, on the first visible tick and at each change:
    the date below times, the month below days, the year below months. Where clocks change it has
    the zone's abbreviation."""

    values_ms: list[int]
    texts: list[str]
    step: Step


def ticks(from_ms: int, to_ms: int, tz: ZoneInfo, width_px: int) -> Ticks:
    """Ticks of an axis over [from_ms, to_ms] that is ``width_px`` wide."""
    span = max(1, to_ms - from_ms)
    step = _step(span, width_px)
    first, last = from_ms - span, to_ms + span
    if step.wall_ms:
        values = list(_wall_marks(Clock(tz, first, last), first, last, step.wall_ms))
    else:
        days = _day_marks if step.days else _month_marks
        # A day that a zone skipped starts with the next one: one tick, not two.
        values = list(dict.fromkeys(v for v in days(tz, first, last, step) if first <= v <= last))
    return Ticks(values, _texts(values, step, Clock(tz, first, last), from_ms), step)


def _step(span_ms: int, width_px: int) -> Step:
    px_per_ms = max(1, width_px) / span_ms
    return next((s for s in STEPS if s.approximate_ms * px_per_ms >= s.room_px), STEPS[-1])


def _wall_marks(clock: Clock, first: int, last: int, length_ms: int) -> Iterator[int]:
    """The instants of round local times; twice where clocks repeat one."""
    for index, (start, offset) in enumerate(clock.pieces):
        end = clock.pieces[index + 1][0] - 1 if index + 1 < len(clock.pieces) else last
        local = -(-(max(start, first) + offset) // length_ms) * length_ms
        yield from range(local - offset, end + 1, length_ms)


def _day_marks(tz: ZoneInfo, first: int, last: int, step: Step) -> Iterator[int]:
    for day in range(local_ordinal(tz, first), local_ordinal(tz, last) + 1):
        if (day - _MONDAY) % step.days == 0:
            yield day_start(tz, day)


def _month_marks(tz: ZoneInfo, first: int, last: int, step: Step) -> Iterator[int]:
    start, end = (date.fromordinal(local_ordinal(tz, t)) for t in (first, last))
    for month in range(start.year * 12 + start.month - 1, end.year * 12 + end.month):
        if month % step.months == 0:
            yield day_start(tz, date(month // 12, month % 12 + 1, 1).toordinal())


def _texts(values: list[int], step: Step, clock: Clock, from_ms: int) -> list[str]:
    first_visible = bisect_left(values, from_ms)
    texts: list[str] = []
    context_before: Context = ("", "")
    name_before = ""
    for index, value in enumerate(values):
        text, context = _reading(clock.local(value), step)
        name = clock.name(value) if step.wall_ms else ""
        if index in (0, first_visible):
            context_before = ("", "")
        second_line = _changed(context_before, context)
        second_line += [name] if index and name != name_before else []
        texts.append(f"{text}<br>{' '.join(second_line)}" if second_line else text)
        context_before, name_before = context, name
    return texts


Context = tuple[str, str]
"""The content of a second line: the date or month, and the year."""


def _changed(before: Context, now: Context) -> list[str]:
    """The second line: empty if both are equal, with the year only if that differs."""
    if now == before:
        return []
    return [part for part in (now[0], now[1] if now[1] != before[1] else "") if part]


def _reading(local_ms: int, step: Step) -> tuple[str, Context]:
    """A tick's label from its local time: its text and its second line."""
    day = local_date(local_ms // DAY_MS)
    month, year = MONTHS[day.month - 1], str(day.year)
    if step.wall_ms:
        time = second_text if step.wall_ms < MINUTE_MS else minute_text
        return time(local_ms), (day_text(local_ms // DAY_MS, year=False), year)
    if step.days in (1, 2):
        return f"{WEEKDAYS[day.weekday()]} {day.day}", (month, year)
    if step.days:
        return f"{day.day} {month}", ("", year)
    return (month, ("", year)) if step.months < 12 else (year, ("", ""))


# --- A scale of values ----------------------------------------------------------------------------


_STEPS: Final = (1, 2, 2.5, 5, 10)


def axis(least: float, most: float) -> tuple[float, float, list[float]]:
    """(low, high, ticks): from zero if that is near, with three or four round ticks."""
    low = 0.0 if least >= 0 and least < most * 0.6 else least
    high = 0.0 if most <= 0 and most > least * 0.4 else most
    rough = max(high - low, abs(high) * 0.01, 1e-6) / 3
    power = 10 ** math.floor(math.log10(rough))
    step = next(s for s in _STEPS if s * power >= rough * 0.999) * power
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    last = max(last, first + 1)
    return first * step, last * step, [round(n * step, 9) for n in range(first, last + 1)]
