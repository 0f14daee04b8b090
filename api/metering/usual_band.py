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
    day_row,
    day_types,
    day_weights,
    untrained,
)
from api.timez import ceil_to, day_start, local_ordinal, offset_ms

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
    told: list[UsualHour] = []
    for day in range(first, last + 1):
        band = _band(rows[day - first : day - first + DAYS], day, tz, holidays, spans)
        if band is not None:
            told += _hours_of(day, band, from_ms, to_ms, tz)
    return told


def _rows(hours: Iterable[tuple[int, float]], first: int, count: int, tz: ZoneInfo) -> Floats:
    by_day: dict[int, list[tuple[int, float]]] = {}
    for start_ms, gallons in hours:
        by_day.setdefault(local_ordinal(tz, start_ms), []).append((start_ms, gallons))
    rows = np.full((count, HOURS), np.nan)
    for index in range(count):
        if found := by_day.get(first + index):
            rows[index] = day_row(first + index, tz, found)
    return rows


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
    day: int, band: Floats, from_ms: int, to_ms: int, tz: ZoneInfo
) -> Iterable[UsualHour]:
    """The whole hours of the day that start in the range; a skipped one isn't there, a repeated
    one is there twice."""
    start, end = day_start(tz, day), day_start(tz, day + 1)
    first = max(ceil_to(start, HOUR_MS), ceil_to(from_ms, HOUR_MS))
    for at in range(first, min(end, to_ms + 1), HOUR_MS):
        hour = (at + offset_ms(tz, at)) // HOUR_MS % HOURS
        low, middle, high = (float(value) for value in band[:, hour])
        if middle == middle:
            yield UsualHour(at, middle, low, high)
