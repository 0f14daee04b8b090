"""The usual hours of past and coming days: the profile's middle, and the band of eight days in ten.

Each local day is told by the weeks before it alone, as they were known when it began; a day that is
still to come by the weeks before the last reading.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np

from api.catalog import HOUR_MS
from api.metering.profile import (
    DAYS,
    HOURS,
    Floats,
    Span,
    day_types,
    day_weights,
    untrained,
)
from api.metering.wall_clock import WallClock
from api.timez import EPOCH_DAY, ceil_to, day_start, local_ordinal, offsets

LEAST_DAYS: Final = 21  # with volumes among the DAYS before, that a usual day needs
SHARES: Final = (0.1, 0.5, 0.9)


class UsualHour(NamedTuple):
    """Gallons in the hour from ``bucket_start_ms`` on: eight days in ten lie from low to high."""

    bucket_start_ms: int
    volume: float
    low: float
    high: float


def usual_hours(
    hours: Iterable[tuple[int, float]],
    from_ms: int,
    to_ms: int,
    tz: ZoneInfo,
    *,
    holidays: Collection[int] = (),
    spans: Sequence[Span] = (),
) -> list[UsualHour]:
    """The hours that start from ``from_ms`` to ``to_ms`` (inclusive). ``hours``: (start in ms,
    gallons) with enough coverage, of the DAYS before and of the range; ``spans`` don't train."""
    if to_ms < from_ms:
        return []
    first, last = local_ordinal(tz, from_ms), local_ordinal(tz, to_ms)
    rows = _rows(hours, first - DAYS, last - first + DAYS, tz)
    clock = WallClock(tz, from_ms, to_ms)
    told: list[UsualHour] = []
    for day in range(first, last + 1):
        band = _band(rows[day - first : day - first + DAYS], day, tz, holidays, spans)
        if band is not None:
            told += _hours_of(day, band, from_ms, to_ms, clock)
    return told


def _rows(hours: Iterable[tuple[int, float]], first: int, count: int, tz: ZoneInfo) -> Floats:
    """By local day and hour, as `profile.day_row` makes each; NaN where there is none."""
    each = list(hours)
    starts = np.array([start for start, _ in each], np.int64)
    gallons = np.array([volume for _, volume in each], np.float64)
    changes = offsets(tz, day_start(tz, first), day_start(tz, first + count))
    places = np.searchsorted([at for at, _ in changes], starts, side="right") - 1
    local = starts + np.array([offset for _, offset in changes], np.int64)[np.maximum(places, 0)]
    cells = local // HOUR_MS - (first - EPOCH_DAY) * HOURS
    inside = (cells >= 0) & (cells < count * HOURS)
    size = count * HOURS
    sums = np.bincount(cells[inside], gallons[inside], size)
    counts = np.bincount(cells[inside], minlength=size)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return means.reshape(count, HOURS)


def _band(
    before: Floats, day: int, tz: ZoneInfo, holidays: Collection[int], spans: Sequence[Span]
) -> Floats | None:
    """low, middle, high × 24 hours; None with too few days to tell."""
    if int((before == before).any(axis=1).sum()) < LEAST_DAYS:
        return None
    now_ms = day_start(tz, day)
    known = [(start, min(end, now_ms)) for start, end in spans if start < now_ms]
    silenced = untrained(day, tz, known)
    trained = before if silenced is None else np.where(silenced, np.nan, before)
    types = day_types(day - DAYS, DAYS, holidays)
    own = int(day_types(day, 1, holidays)[0])
    return _quantiles(trained, day_weights(types.tobytes())[own])


def _quantiles(rows: Floats, weights: Floats) -> Floats:
    """SHARES × 24, the lower of two; NaN where no row has weight."""
    columns = np.ascontiguousarray(rows.T)
    order = np.argsort(columns, axis=1)
    ranked = np.take_along_axis(columns, order, axis=1)
    sums = np.cumsum(np.where(ranked == ranked, weights[order], 0.0), axis=1)
    totals = sums[:, -1]
    places = [(sums >= share * totals[:, None]).argmax(axis=1) for share in SHARES]
    hours = np.arange(HOURS)
    return np.where(totals > 0, np.array([ranked[hours, place] for place in places]), np.nan)


def _hours_of(
    day: int, band: Floats, from_ms: int, to_ms: int, clock: WallClock
) -> Iterable[UsualHour]:
    """The whole hours of the day that start in the range; a skipped one isn't there, a repeated
    one is there twice."""
    start, end = day_start(clock.tz, day), day_start(clock.tz, day + 1)
    columns = band.T.tolist()
    first = max(ceil_to(start, HOUR_MS), ceil_to(from_ms, HOUR_MS))
    for at in range(first, min(end, to_ms + 1), HOUR_MS):
        low, middle, high = columns[clock.local(at) // HOUR_MS % HOURS]
        if middle == middle:
            yield UsualHour(at, middle, low, high)
