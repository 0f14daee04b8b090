"""Where a time axis is marked, and how the marks read, in the zone of the reader's choice.

plotly.js knows no zones: it would mark UTC, or the browser's wall clock. So the marks are computed
here, exact on the days that clocks change. They reach one range further on both sides, so that an
axis in motion is marked before the next answer comes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final
from zoneinfo import ZoneInfo

from api.timez import DAY_MS, HOUR_MS, MINUTE_MS, day_start, local_ordinal
from components.clock import EPOCH_DAY, MONTHS, WEEKDAYS, Clock, day_text, minute_text, second_text

SECOND_MS: Final = 1000
MARK_PX: Final = 84  # the room that a mark with its text needs at least
_MONDAY: Final = date(2001, 1, 1).toordinal()


@dataclass(frozen=True, slots=True)
class Step:
    """The distance between marks: a length on the wall clock, days, or months."""

    approximate_ms: float
    wall_ms: int = 0
    days: int = 0
    months: int = 0


STEPS: Final[tuple[Step, ...]] = (
    *(Step(s * SECOND_MS, wall_ms=s * SECOND_MS) for s in (1, 2, 5, 10, 15, 30)),
    *(Step(m * MINUTE_MS, wall_ms=m * MINUTE_MS) for m in (1, 2, 5, 10, 15, 30)),
    *(Step(h * HOUR_MS, wall_ms=h * HOUR_MS) for h in (1, 2, 3, 6, 12)),
    *(Step(d * DAY_MS, days=d) for d in (1, 2, 7, 14)),
    *(Step(m * 30.44 * DAY_MS, months=m) for m in (1, 2, 3, 6, 12, 24, 60, 120)),
)


@dataclass(frozen=True, slots=True)
class Ticks:
    """``texts`` carry a second line, after ``<br>``, where the context changes: the date under
    times, the month under days, the year under months, the zone's name where clocks change."""

    values_ms: list[int]
    texts: list[str]
    step: Step


def ticks(from_ms: int, to_ms: int, tz: ZoneInfo, width_px: int) -> Ticks:
    """Marks for an axis over [from_ms, to_ms] that is ``width_px`` wide."""
    span = max(1, to_ms - from_ms)
    step = _step(span, width_px)
    first, last = from_ms - span, to_ms + span
    if step.wall_ms:
        values = list(_wall_marks(Clock(tz, first, last), first, last, step.wall_ms))
    else:
        days = _day_marks if step.days else _month_marks
        # A day that a zone skipped starts where the next one does: one mark, not two.
        values = list(dict.fromkeys(v for v in days(tz, first, last, step) if first <= v <= last))
    return Ticks(values, _texts(values, step, Clock(tz, first, last), from_ms), step)


def _step(span_ms: int, width_px: int) -> Step:
    room_ms = span_ms * MARK_PX / max(1, width_px)
    return next((step for step in STEPS if step.approximate_ms >= room_ms), STEPS[-1])


def _wall_marks(clock: Clock, first: int, last: int, length_ms: int) -> Iterator[int]:
    """Each round reading of the wall clock, twice where it is shown twice."""
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
    read = _reader(step)
    first_visible = bisect_left(values, from_ms)
    texts: list[str] = []
    context_before = name_before = ""
    for index, value in enumerate(values):
        text, context = read(clock.local(value))
        name = clock.name(value) if step.wall_ms else ""
        new_context = index in (0, first_visible) or context != context_before
        new_name = index > 0 and name != name_before
        second = " ".join(filter(None, (context * new_context, name * new_name)))
        texts.append(f"{text}<br>{second}" if second else text)
        context_before, name_before = context, name
    return texts


def _reader(step: Step) -> Callable[[int], tuple[str, str]]:
    """How a mark reads: from what the wall clock shows to (text, context)."""
    if step.wall_ms:
        time = second_text if step.wall_ms < MINUTE_MS else minute_text
        return lambda local: (time(local), day_text(local // DAY_MS))
    return lambda local: _day_reading(date.fromordinal(local // DAY_MS + EPOCH_DAY), step)


def _day_reading(day: date, step: Step) -> tuple[str, str]:
    month = MONTHS[day.month - 1]
    if step.days in (1, 2):
        return f"{WEEKDAYS[day.weekday()]} {day.day}", f"{month} {day.year}"
    if step.days:
        return f"{day.day} {month}", str(day.year)
    return (month, str(day.year)) if step.months < 12 else (str(day.year), "")
