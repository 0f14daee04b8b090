"""Loads a chart's comparison and converts it to the chart's units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from zoneinfo import ZoneInfo

from api.catalog import (
    COARSEST_STORED,
    DAY,
    FLOW_AMOUNT,
    FLOW_RATE,
    MONTH,
    RAW,
    STORED,
    Resolution,
)
from api.client import Client, Comparison
from api.errors import NotFound, NotOffered
from api.metering import usage
from api.metering.comparison import OTHER_DEVICE
from api.metering.uptime import comparable
from api.metering.usual_band import UsualHour
from api.timez import DAY_MS, HOUR_MS, ceil_to, floor_to
from components.charts.frames import Frame
from components.charts.traces import NOTHING, Compared, OtherLine, UsualBand
from components.formatting import Clock, day_text
from components.ranges import Window, widened
from components.units import Scale
from components.url_state import COMPARISONS, USUAL, View

MOST_BUCKETS: Final = 4_000
MOST_USUAL_MS: Final = 120 * DAY_MS  # in longer windows hours are too narrow to be visible
_MINUTES: Final = 60
NO_HOURS: Final = "What is usual is shown for flow, by hours, in up to 120 days."
TOO_EARLY: Final = "Too early to say what is usual: it takes 21 days of readings."


@dataclass(frozen=True, slots=True)
class Question:
    """``frame``: the chart's own rows over its whole reach, in the catalog's units. ``window``: the
    visible one. ``scale``: the chart's."""

    client: Client
    device_id: str
    view: View
    tz: ZoneInfo
    frame: Frame
    window: Window
    scale: Scale
    bars: bool
    cadence_ms: int | None
    now_ms: int

    @property
    def reach(self) -> Window:
        return self.frame.window


def compared(question: Question) -> Compared:
    """The chart's comparison; None from a server that isn't a Weir server."""
    view = question.view
    try:
        hours = _usual_hours(question) if view.usual or view.compare == USUAL else []
        band = _band(hours, question)
        if view.compare == USUAL:
            return _with_usual(hours, band, question)
        missing = view.usual and band is None
        note = TOO_EARLY if missing and _shows_hours(question) else ""
        if not view.compare:
            return Compared(band=band, note=note)
        line, words, difference = _other(question)
        return Compared(line, band, words, difference, note)
    except NotOffered:
        return NOTHING


# --- Another time, another device ----------------------------------------------------------------


def _other(question: Question) -> tuple[OtherLine | None, str, str]:
    """The other line, both volumes as text, and their difference."""
    resolution = _resolution(question)
    name = comparison_name(question.view.compare)
    if resolution is MONTH:
        return None, f"{name}: choose a shorter range to compare.", ""
    try:
        comparison = _comparison(question, resolution)
    except NotFound:
        return None, f"{name}: device not found, or you don’t have access.", ""
    line = _line(comparison, resolution, name, question)
    return line, volume_words(comparison, name, question), _short(comparison, question)


def _comparison(question: Question, resolution: Resolution) -> Comparison:
    """Of the visible window: after a pan the next reply has the rest."""
    return question.client.comparison(
        question.device_id,
        question.view.compare,
        resolution,
        from_ms=question.window.from_ms,
        to_ms=question.window.to_ms,
        timezone=question.tz.key,
        metric=FLOW_RATE if question.frame.metric is FLOW_AMOUNT else question.frame.metric,
    )


def _resolution(question: Question) -> Resolution:
    """The resolution of the comparison: the chart's own; for raw readings the finest with one in
    each bucket."""
    shown = question.frame.resolution
    if shown is not RAW:
        return shown
    least = question.cadence_ms or 0
    fitting = (
        each
        for each in STORED
        if each.fixed_ms >= least and question.reach.length_ms <= MOST_BUCKETS * each.fixed_ms
    )
    return next(fitting, COARSEST_STORED)


def _line(
    comparison: Comparison, resolution: Resolution, name: str, question: Question
) -> OtherLine:
    length = resolution.length_ms or DAY_MS
    rows = comparison.buckets
    levels = [each.gallons if question.bars else each.level for each in rows]
    return OtherLine(
        name,
        question.scale.unit,
        [each.bucket_start_ms + length // 2 for each in rows],
        [None if level is None else question.scale.of(level) for level in levels],
        length,
        [] if question.view.compare.startswith(OTHER_DEVICE) else _days(comparison, question.tz),
    )


def _days(comparison: Comparison, tz: ZoneInfo) -> list[tuple[int, str]]:
    """(start of a bucket, the other line's date), at each change of date."""
    rows = comparison.buckets
    if not rows:
        return []
    clock = Clock(tz, rows[0].other_start_ms, rows[-1].other_start_ms)
    days: list[tuple[int, str]] = []
    before = None
    for each in rows:
        day = clock.local(each.other_start_ms) // DAY_MS
        if day != before:
            days.append((each.bucket_start_ms, day_text(day, year=False)))
            before = day
    return days


def comparison_name(compare: str) -> str:
    return COMPARISONS.get(compare) or compare.removeprefix(OTHER_DEVICE)


def volume_words(result: Comparison, name: str, question: Question) -> str:
    """``24,918 gal · previous week 17,424 gal · +7,494 gal, +43%``."""
    volume = question.view.units.volume
    other = (
        f"{name.lower() if name in COMPARISONS.values() else name} {volume(result.other_gallons)}"
    )
    parts = [volume(result.gallons), other, difference_words(result, question.view)]
    return " · ".join(part for part in parts if part)


def _short(comparison: Comparison, question: Question) -> str:
    """``+7,494 gal, +43%``; "" if it is unknown."""
    return "" if comparison.difference is None else difference_words(comparison, question.view)


def difference_words(comparison: Comparison, view: View) -> str:
    """``+7,494 gal, +43%``, or why it is unknown."""
    if comparison.difference is None:
        enough = comparison.gallons is not None and comparison.other_gallons is not None
        near = enough and abs((comparison.gallons or 0) - (comparison.other_gallons or 0)) < 1
        return "no difference" if near else "not enough data to compare"
    volume = signed(view.units.volume(comparison.difference))
    return (
        volume
        if comparison.percent is None
        else f"{volume}, {signed(f'{comparison.percent:.0f}')}%"
    )


def signed(text: str) -> str:
    text = text.replace("-", "−")
    return text if text.startswith("−") else f"+{text}"


# --- Usual values --------------------------------------------------------------------------------


def _shows_hours(question: Question) -> bool:
    """Whether the chart can show usual hours: of flow, or of hourly volumes."""
    length = question.frame.resolution.length_ms or 0
    short = question.reach.length_ms <= MOST_USUAL_MS and not question.frame.resolution.calendar
    if question.frame.metric is FLOW_AMOUNT:
        return short and length == HOUR_MS
    return short and question.frame.metric is FLOW_RATE and length <= HOUR_MS


def _usual_hours(question: Question) -> list[UsualHour]:
    if not _shows_hours(question):
        return []
    first = floor_to(question.reach.from_ms, HOUR_MS)
    return question.client.usual(question.device_id, from_ms=first, to_ms=question.reach.to_ms)


def _band(hours: list[UsualHour], question: Question) -> UsualBand | None:
    if not hours:
        return None
    scale = question.scale
    factor = scale.factor / (1 if question.bars else _MINUTES)
    columns = zip(*hours, strict=True)
    starts, middle, low, high = (list(column) for column in columns)
    return UsualBand(
        scale.unit,
        [start + HOUR_MS // 2 for start in starts],
        [gallons * factor + scale.offset for gallons in low],
        [gallons * factor + scale.offset for gallons in middle],
        [gallons * factor + scale.offset for gallons in high],
        HOUR_MS,
    )


def _with_usual(hours: list[UsualHour], band: UsualBand | None, question: Question) -> Compared:
    if band is None:
        note = TOO_EARLY if _shows_hours(question) else NO_HOURS
        return Compared(note=note)
    line = OtherLine("Usual", question.scale.unit, band.at_ms, band.middle, HOUR_MS)
    comparison = _usual_volumes(hours, question)
    words = volume_words(comparison, "Usual", question)
    return Compared(line, band, words, _short(comparison, question))


def _own_hours(question: Question, first: int, last: int) -> list[float | None]:
    """The gallons of the hours in [first, last), from the chart's own rows if these are hours."""
    name, rows = f"total_{FLOW_AMOUNT.name}", question.frame.series
    if rows.resolution is not COARSEST_STORED or rows.truncated:
        rows = question.client.datapoints(
            question.device_id,
            COARSEST_STORED,
            from_ms=first,
            to_ms=last - 1,
            metrics=(FLOW_AMOUNT,),
        )
    pairs = zip(rows.times_ms, rows.values(name), strict=True)
    return [gallons for at, gallons in pairs if first <= at < last]


def _usual_volumes(hours: list[UsualHour], question: Question) -> Comparison:
    """The gallons, actual and usual, of the finished hours in the visible window."""
    first = ceil_to(question.window.from_ms, HOUR_MS)
    last = floor_to(min(question.window.to_ms + 1, question.now_ms), HOUR_MS)
    usual = [h.volume for h in hours if first <= h.bucket_start_ms < last]
    if not usual or last <= first:
        return Comparison(None, None, None, None, ())
    own = [v for v in _own_hours(question, first, last) if v is not None]
    expected = max(1, (last - first) // HOUR_MS)
    gallons, other = (math.fsum(own) if own else None), math.fsum(usual)
    if gallons is None or not comparable(len(own) / expected, len(usual) / expected):
        return Comparison(gallons, other, None, None, ())
    difference = gallons - other
    if abs(difference) < usage.LEAST_DIFFERENCE_GAL:
        return Comparison(gallons, other, None, None, ())
    return Comparison(gallons, other, difference, usage.change(gallons, other), ())


# --- Rows of a table or a file -----------------------------------------------------------------

MOST_AT_ONCE: Final = 5_000  # per request
MOST_USUAL_AT_ONCE_MS: Final = 300 * DAY_MS


def has_counterparts(resolution: Resolution, compare: str) -> bool:
    """Whether rows of that resolution can be compared: not readings and months; usual values exist
    for hours only."""
    if compare == USUAL:
        return resolution is COARSEST_STORED
    return resolution in (*STORED, DAY)


def compared_rows(
    client: Client,
    device_id: str,
    compare: str,
    resolution: Resolution,
    starts_ms: Sequence[int],
    tz: ZoneInfo,
) -> dict[int, float]:
    """Start of a row → the gallons it is compared with. ``starts_ms`` must ascend. Raises what the
    client raises."""
    if not compare or not starts_ms or not has_counterparts(resolution, compare):
        return {}
    volumes: dict[int, float] = {}
    step = (
        MOST_USUAL_AT_ONCE_MS
        if compare == USUAL
        else MOST_AT_ONCE * (resolution.length_ms or DAY_MS)
    )
    for first in range(starts_ms[0], starts_ms[-1] + 1, step):
        last = min(first + step - 1, starts_ms[-1])
        if compare == USUAL:
            hours = client.usual(device_id, from_ms=first, to_ms=last)
            volumes |= {hour.bucket_start_ms: hour.volume for hour in hours}
        else:
            whole = widened(Window(first, last), tz, resolution).to_ms  # the end of a day
            rows = client.comparison(
                device_id, compare, resolution, from_ms=first, to_ms=whole, timezone=tz.key
            ).buckets
            volumes |= {r.bucket_start_ms: r.gallons for r in rows if r.gallons is not None}
    return volumes
