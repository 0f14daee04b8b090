"""Texts of a chart: ticks of its time axis, data of its hover card, and a summary in a sentence.

plotly.js has no zones: it would use UTC or the browser's local time. So ticks are computed here,
exact on the days that clocks change. They extend one range further on both sides, so that an axis
in motion has ticks before the next reply arrives.

The browser writes the hover texts (assets/hover.js) from the figure's numbers and from this data:
thousands of sentences would be half of a reply, and few of them are read.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any, Final
from zoneinfo import ZoneInfo

from api.catalog import FLOW_AMOUNT, FLOW_DURATION, QUALITY, RAW
from api.timez import DAY_MS, HOUR_MS, MINUTE_MS, day_start, local_ordinal
from components import formatting
from components.charts.frames import Frame, Values
from components.formatting import (
    MONTHS,
    WEEKDAYS,
    Clock,
    day_text,
    local_date,
    minute_text,
    second_text,
)
from components.units import US, Units

# --- The time axis -------------------------------------------------------------------------------


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


# --- The hover card and the summary --------------------------------------------------------------


EXTRA_METRICS: Final = (FLOW_AMOUNT, FLOW_DURATION, QUALITY)  # listed beside the metric drawn
DECIMALS: Final = 6  # digits of numbers that are written, not drawn


def has_range(frame: Frame) -> bool:
    """Whether a row is an average between extremes, not one reading or a total."""
    return frame.resolution is not RAW and not frame.metric.totalled


def hover_data(frame: Frame, tz: ZoneInfo, units: Units = US) -> dict[str, Any]:
    """What the browser needs besides x and y of the drawn rows, in their order.

    ``name`` and ``unit``: of the metric. ``clock``: the zone's (first instant, offset in ms, name)
    over the rows. ``length_ms``: the length of each row's span, 0 for readings; rows of varying
    lengths have ``titles`` instead. ``volume``: in gallons, written in the first of
    ``volume_steps`` (gallons at least, gallons in one, unit) that it reaches. ``seconds``: of
    readings only. ``worst`` and ``best``: quality.
    """
    raw = frame.resolution is RAW
    there = [index for run in frame.runs for index in run]
    fields: dict[str, Any] = {
        "name": frame.metric.label,
        "unit": frame.unit,
        "range": has_range(frame),
        "length_ms": frame.resolution.length_ms or 0,
        "clock": _pieces(frame, tz),
        "volume_steps": units.volume_steps,
    }
    amount = FLOW_AMOUNT.name if raw else f"total_{FLOW_AMOUNT.name}"
    columns = {
        "volume": None if frame.metric is FLOW_AMOUNT else amount,
        "seconds": FLOW_DURATION.name,
        "worst": QUALITY.name if raw else f"min_{QUALITY.name}",
        "best": QUALITY.name if raw else f"max_{QUALITY.name}",
    }
    for part, name in columns.items():
        column = frame.series.columns.get(name) if name else None
        if column is not None:
            fields[part] = _short(column, there)
    if frame.resolution.calendar:
        fields["titles"] = _titles(frame, tz, there)
    return fields


def _short(column: Values, there: list[int]) -> list[float | None]:
    values = [column[index] for index in there]
    return [None if value is None else round(value, DECIMALS) for value in values]


def _clock(frame: Frame, tz: ZoneInfo) -> Clock:
    return Clock(tz, frame.starts_ms[0], frame.ends_ms[-1])


def _pieces(frame: Frame, tz: ZoneInfo) -> list[tuple[int, int, str]]:
    if not frame.starts_ms:
        return []
    clock = _clock(frame, tz)
    return [(start, offset, clock.name(start)) for start, offset in clock.pieces]


def _titles(frame: Frame, tz: ZoneInfo, there: list[int]) -> list[str]:
    if not there:
        return []
    clock = _clock(frame, tz)
    return [
        formatting.bucket(frame.starts_ms[i], frame.ends_ms[i], frame.resolution, clock)
        for i in there
    ]


def summary(frame: Frame, tz: ZoneInfo, units: Units = US, data: str = "") -> str:
    """``24 h: 312 gal, peak 7.4 gal/min at Mon 16 Nov 2026, 06:12 MST.``; ``data`` is the share of
    the window with readings. If the window cuts a row, its volume is "about"."""
    length = formatting.duration(frame.window.length_ms)
    column = FLOW_AMOUNT.name if frame.resolution is RAW else f"total_{FLOW_AMOUNT.name}"
    volumes = [v for v in frame.series.values(column) if v is not None]
    peak = max(
        ((v, i) for i, v in enumerate(frame.high) if v is not None),
        default=None,
        key=lambda pair: pair[0],
    )
    if peak is None:
        return f"{length}: no data."
    start = frame.starts_ms[peak[1]]
    when = formatting.moment(start, Clock(tz, start, start))
    about = "about " if _cut(frame) else ""
    total = f"{about}{units.volume(sum(volumes))}, " if volumes else ""
    top = f"{formatting.number(peak[0])} {frame.unit}"
    return f"{length}: {total}peak {top} at {when}{', ' + data if data else ''}."


def _cut(frame: Frame) -> bool:
    """Whether a row reaches beyond the window, so that a part of its gallons lies outside."""
    first, last = frame.window
    return frame.starts_ms[0] < first or frame.ends_ms[-1] > last + 1
