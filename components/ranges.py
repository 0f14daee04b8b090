"""From the visible range to the requested one: window, budget, resolution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final
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
    month_edges,
)

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
