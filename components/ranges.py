"""From the visible range to the requested one: window, budget, resolution; and a custom range in
local time, converted to UTC, also on days when clocks change. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Final
from zoneinfo import ZoneInfo

from api.catalog import DAY, MONTH, STORED, Resolution
from api.metering.windows import Window
from api.timez import (
    DAY_MS,
    HOUR_MS,
    MINUTE_MS,
    bucket_starts,
    ceil_to,
    day_edges,
    floor_to,
    from_datetime,
    month_edges,
    offsets,
    stamp,
)
from components.formatting import abbreviation, day_text, minute_text

MIN_BUDGET: Final = 400
MAX_BUDGET: Final = 4_000
ROWS_PER_PX: Final = (
    2  # the service's levels differ by a factor of 2 to 6: this keeps the chosen one fine
)
WIDTH_STEP_PX: Final = 100
HOURS_STRETCH: Final = 2  # twice the budget in hours is better than a twelfth of it in days
MAX_DAYS: Final = 1_100  # above about three years months are clearer than days
SHORTEST_MS: Final = 10_000
MARGIN: Final = 0.25  # of a zoomed window, loaded on both sides: a short pan needs no request
BAR_PX: Final = 2.5  # narrower bars run into each other
EARLIEST_MS: Final = 0  # calendars are exact from 1970 to 2200
LATEST_MS: Final = 7_258_118_400_000


@dataclass(frozen=True, slots=True)
class Preset:
    name: str
    label: str
    length_ms: int


PRESETS: Final = (
    Preset("1h", "1 h", HOUR_MS),
    Preset("24h", "24 h", DAY_MS),
    Preset("7d", "7 d", 7 * DAY_MS),
    Preset("30d", "30 d", 30 * DAY_MS),
    Preset("1y", "1 y", 365 * DAY_MS),
)
PRESET_BY_NAME: Final = {preset.name: preset for preset in PRESETS}
DEFAULT_PRESET: Final = PRESET_BY_NAME["24h"]


def preset_window(preset: Preset, last_ms: int | None, now_ms: int) -> Window:
    """The preset's window: it ends now if the device has reported within the preset's length (or
    never), otherwise with the minute of its last reading. It ends 1 ms before an edge, so that a
    window of 24 h has 1,440 minutes, not 1,441."""
    end = floor_to(now_ms, MINUTE_MS)
    if last_ms is not None and last_ms < end - preset.length_ms:
        end = ceil_to(last_ms + 1, MINUTE_MS)
    return Window(end - preset.length_ms, end - 1)


def bounded(from_ms: int, to_ms: int) -> Window | None:
    """A requested window, cut to the calendar; None if it is invalid."""
    first, last = max(EARLIEST_MS, from_ms), min(LATEST_MS, to_ms)
    if last <= first:
        return None
    return Window(first, max(last, first + SHORTEST_MS))


def budget(width_px: float) -> int:
    """The number of rows for a plot of that inner width (CSS pixels): about two a pixel, of the
    width rounded up to 100 px, so that a few pixels more or less make the same request."""
    steps = -(-int(max(0, min(width_px, MAX_BUDGET))) // WIDTH_STEP_PX)
    return max(MIN_BUDGET, min(MAX_BUDGET, steps * WIDTH_STEP_PX * ROWS_PER_PX))


def with_margins(window: Window) -> Window:
    """The window with a margin on both sides, within the calendar."""
    margin = round(window.length_ms * MARGIN)
    reach = bounded(window.from_ms - margin, window.to_ms + margin)
    return reach or window


def hours(window: Window) -> int:
    """The largest possible number of hourly rows in the window."""
    return bucket_starts(window.from_ms, window.to_ms, HOUR_MS)


def hourly_budget(rows: int) -> int:
    """The number of rows allowed if the next coarser level would be days."""
    return min(MAX_BUDGET, rows * HOURS_STRETCH)


def calendar_resolution(window: Window, rows: int) -> Resolution:
    """The resolution of a window whose hours don't fit ``rows``."""
    days = -(-window.length_ms // DAY_MS)
    return DAY if days <= min(rows, MAX_DAYS) else MONTH


def bar_resolution(window: Window, width_px: float, cadence_ms: int) -> Resolution:
    """The finest resolution whose bars don't touch and have a reading each."""
    most = max(1, round(width_px / BAR_PX))
    for resolution in STORED:
        fits = window.length_ms <= most * resolution.fixed_ms
        if fits and resolution.fixed_ms >= min(cadence_ms, HOUR_MS):
            return resolution
    return DAY if window.length_ms <= most * DAY_MS else MONTH


def widened(window: Window, tz: ZoneInfo, resolution: Resolution | None = None) -> Window:
    """The window to request, so that the bucket at each edge is complete.

    Bounds select by a bucket's start, so a bucket that starts before the left edge and overlaps the
    window would be missing. The adaptive resolution (``resolution`` None) isn't known beforehand: a
    hundredth of the window is a safe bound.
    """
    if resolution is not None and resolution.length_ms is not None:
        return Window(floor_to(window.from_ms, resolution.length_ms), window.to_ms)
    if resolution in (DAY, MONTH):
        edges = (day_edges if resolution is DAY else month_edges)(tz, *window)
        return Window(edges[0], edges[-1] - 1)
    lengths = [r.fixed_ms for r in STORED if r.fixed_ms * 100 <= window.length_ms]
    return Window(floor_to(window.from_ms, lengths[-1]), window.to_ms) if lengths else window


def around(window: Window) -> Window:
    """The window around a span, three times as long."""
    room = max(window.length_ms, 60_000)
    return Window(window.from_ms - room, window.to_ms + room)


def write_window(window: Window) -> tuple[str, str]:
    return stamp(window.from_ms, fraction=True), stamp(window.to_ms, fraction=True)


# --- A custom range -------------------------------------------------------------------------------


_WALL: Final = re.compile(r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2})?")
RANGE_FIELDS: Final = {"first": "From", "last": "To"}


def read_wall(text: Any) -> int | None:
    """``2026-03-08T02:30`` as milliseconds of local time; None for anything else."""
    if not isinstance(text, str) or not _WALL.fullmatch(text):
        return None
    try:
        return from_datetime(datetime.fromisoformat(text).replace(tzinfo=UTC))
    except ValueError:
        return None


def instants(tz: ZoneInfo, wall_ms: int) -> list[int]:
    """The instants of that local time in the zone, ascending: one, two if clocks go back, none if
    they skip it."""
    pieces = offsets(tz, wall_ms - 2 * DAY_MS, wall_ms + 2 * DAY_MS)
    matches: list[int] = []
    for index, (start, offset) in enumerate(pieces):
        end = pieces[index + 1][0] if index + 1 < len(pieces) else wall_ms + 3 * DAY_MS
        if start <= wall_ms - offset < end:
            matches.append(wall_ms - offset)
    return matches


def skipped(tz: ZoneInfo, wall_ms: int) -> tuple[int, int]:
    """The local times before and after a skipped hour."""
    pieces = offsets(tz, wall_ms - 2 * DAY_MS, wall_ms + 2 * DAY_MS)
    for (_, before), (start, after) in pairwise(pieces):
        if start + before <= wall_ms < start + after:
            return start + before, start + after
    raise ValueError("that time exists")


@dataclass(frozen=True, slots=True)
class CustomRange:
    """The range as in an address, "" while there is none; ``problem``: why not; and for an
    ambiguous time the abbreviations of both, by field."""

    range: str = ""
    problems: list[str] = field(default_factory=list[str])
    twice: dict[str, list[str]] = field(default_factory=dict[str, list[str]])


def custom_range(params: Mapping[str, Any], tz: ZoneInfo) -> CustomRange:
    """``first`` and ``last``: local times. ``first_fold`` and ``last_fold``: "0" or "1", the choice
    for an ambiguous time. The range ends when the minute of ``last`` begins."""
    result = CustomRange()
    ends = {name: _instant(name, params, tz, result) for name in RANGE_FIELDS}
    first, last = ends["first"], ends["last"]
    if first is None or last is None:
        return result
    window = bounded(first, last - 1)
    if window is None:
        return CustomRange(problems=["The range must end after it starts."], twice=result.twice)
    return CustomRange("..".join(write_window(window)), [], result.twice)


def _instant(name: str, params: Mapping[str, Any], tz: ZoneInfo, result: CustomRange) -> int | None:
    wall = read_wall(params.get(name))
    if wall is None:
        result.problems.append(f"{RANGE_FIELDS[name]}: give a date and a time.")
        return None
    matches = instants(tz, wall)
    when = f"{minute_text(wall)} on {day_text(wall // DAY_MS)}"
    if not matches:
        before, after = skipped(tz, wall)
        result.problems.append(
            f"{RANGE_FIELDS[name]}: {when} doesn’t exist in {tz.key}. Clocks go from"
            f" {minute_text(before)} to {minute_text(after)}."
        )
        return None
    if len(matches) == 1:
        return matches[0]
    names = [abbreviation(tz, each) for each in matches]
    result.twice[name] = names
    fold = params.get(f"{name}_fold")
    if fold not in ("0", "1"):
        result.problems.append(
            f"{RANGE_FIELDS[name]}: {when} occurs twice that night:"
            f" choose {names[0]} or {names[1]}."
        )
        return None
    return matches[int(fold)]
