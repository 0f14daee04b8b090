"""Night flow: the flow at a time when nobody should use water.

It is the lowest rolling mean over 60 minutes between 02:00 and 05:00 local time, for each night. A
mean counts only where at least eight tenths of its buckets hold readings. A bucket covers its own
length, or the device's cadence where that is longer: a reading covers the time since the one
before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import median
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from api.catalog import STORED, Resolution
from api.metering.windows import Window
from api.timez import DAY_MS, EPOCH_DAY, HOUR_MS, MINUTE_MS, day_start, local_ordinal, offsets

FROM_HOUR: Final = 2
TO_HOUR: Final = 5
NIGHTS: Final = 15  # last night and the two weeks before it
LEAST_NIGHTS: Final = 3  # nights that a usual value needs
LEAST_PRESENT: Final = 0.8
ROLLING_MS: Final = HOUR_MS
COARSEST_MS: Final = 10 * MINUTE_MS  # longest rows, unless the device reports less often


class TooSeldom(NamedTuple):
    """The device's cadence, and the length of rows that its zone's nights allow."""

    cadence_ms: int
    row_ms: int


@dataclass(frozen=True, slots=True)
class NightFlow:
    """``last`` and ``usual`` are in gal/min, None where too few readings exist. ``night`` is the
    window of the last night. ``too_seldom`` is set where even a healthy device can't fill enough
    rows."""

    night: Window
    last: float | None
    usual: float | None
    too_seldom: TooSeldom | None = None


def nights(tz: ZoneInfo, now_ms: int) -> list[Window]:
    """Returns the last finished nights, latest first, each as [from, to) in instants. A night with
    a clock change is shorter or longer."""
    today = local_ordinal(tz, now_ms)
    windows: list[Window] = []
    for day in range(today, today - NIGHTS - 1, -1):
        night = Window(*night_of(tz, day))
        if night.from_ms < night.to_ms <= now_ms:
            windows.append(night)
    return windows[:NIGHTS]


@lru_cache(maxsize=100_000)
def night_of(tz: ZoneInfo, day: int) -> tuple[int, int]:
    """Returns [from, to) of the local day's night in ms. A night with a clock change is shorter or
    longer."""
    return _at(tz, day, FROM_HOUR), _at(tz, day, TO_HOUR)


def _at(tz: ZoneInfo, day: int, hour: int) -> int:
    """Returns the first instant of the local day at which the wall clock has reached the hour."""
    wall = (day - EPOCH_DAY) * DAY_MS + hour * HOUR_MS
    start, limit = day_start(tz, day), day_start(tz, day + 1)
    pieces = offsets(tz, start, limit)
    ends = [piece for piece, _ in pieces[1:]] + [limit]
    for (piece, offset), end in zip(pieces, ends, strict=True):
        first = max(piece, wall - offset)
        if first < end:
            return first
    return limit


def resolution_for(edges: Sequence[int], cadence_ms: int) -> Resolution:
    """Returns the coarsest resolution, up to ten minutes, whose rows the nights' edges don't cut.
    Longer rows are used only for a device that reports less often."""
    for resolution in reversed(STORED):
        wanted = resolution.fixed_ms <= COARSEST_MS or cadence_ms > COARSEST_MS
        if wanted and not any(edge % resolution.fixed_ms for edge in edges):
            return resolution
    return STORED[0]


def too_seldom(windows: Sequence[Window], cadence_ms: int) -> TooSeldom | None:
    """Checks whether a device reports too seldom for its zone's nights.

    Rows start at whole hours in UTC. Where a zone's nights do too, a device that reports every 15
    min is read by the hour. Where they start at half past, only rows of at most 10 min fit; four
    readings an hour then fill four of six rows, fewer than a mean needs.
    """
    row_ms = resolution_for([edge for night in windows for edge in night], cadence_ms).fixed_ms
    filled, needed = -(-ROLLING_MS // cadence_ms), LEAST_PRESENT * (ROLLING_MS // row_ms)
    return TooSeldom(cadence_ms, row_ms) if filled < needed else None


def rows_of(windows: Sequence[Window], cadence_ms: int) -> tuple[Window, Resolution]:
    """Returns the window and resolution of rows needed for these nights."""
    resolution = resolution_for([edge for night in windows for edge in night], cadence_ms)
    return Window(windows[-1].from_ms, windows[0].to_ms - 1), resolution


def night_flow(
    amounts: Mapping[int, float | None],
    windows: Sequence[Window],
    resolution: Resolution,
    cadence_ms: int,
) -> NightFlow:
    """Computes night flow. ``amounts`` maps row starts to gallons; ``windows`` are latest first."""
    length = resolution.fixed_ms
    lowest = [lowest_mean(amounts, night, length, cadence_ms) for night in windows]
    before = [flow for flow in lowest[1:] if flow is not None]
    usual = median(before) if len(before) >= LEAST_NIGHTS else None
    return NightFlow(windows[0], lowest[0], usual, too_seldom(windows, cadence_ms))


def lowest_mean(
    amounts: Mapping[int, float | None], night: Window, length_ms: int, cadence_ms: int
) -> float | None:
    """Returns the lowest flow in gal/min over all 60-minute windows of the night that start at a
    bucket: the gallons of the buckets that hold readings, divided by the minutes that these
    cover."""
    flows: list[float] = []
    count = ROLLING_MS // length_ms
    for start in range(night.from_ms, night.to_ms - ROLLING_MS + 1, length_ms):
        buckets = (amounts.get(start + n * length_ms) for n in range(count))
        present = [gallons for gallons in buckets if gallons is not None]
        if len(present) >= LEAST_PRESENT * count:
            covered_ms = len(present) * max(length_ms, cadence_ms)
            flows.append(sum(present) * MINUTE_MS / covered_ms)
    return min(flows, default=None)


def lowest_mean_rate(
    rates: Sequence[tuple[int, float]], night: Window, cadence_ms: int
) -> float | None:
    """Returns the same from rates: (start of the minute, gal/min), ascending, of the minutes that
    hold readings. Moves the window by the minute."""
    flows: list[float] = []
    low = high = 0
    total = 0.0
    for start in range(night.from_ms, night.to_ms - ROLLING_MS + 1, MINUTE_MS):
        while high < len(rates) and rates[high][0] < start + ROLLING_MS:
            total += rates[high][1]
            high += 1
        while low < high and rates[low][0] < start:
            total -= rates[low][1]
            low += 1
        if (high - low) * cadence_ms >= LEAST_PRESENT * ROLLING_MS:
            flows.append(total / (high - low))
    return min(flows, default=None)
