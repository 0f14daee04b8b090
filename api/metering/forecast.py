"""Forecasts the next hours, with calibrated intervals.

A forecast is the profile of the origin's local day (`api.metering.profile`), raised or lowered by
the level of the last 48 hours. Its intervals come from the errors of earlier forecasts for the same
device (split conformal prediction). The origins are the last local midnights. For each origin and
each hour ahead of it the score is (volume − forecast) ÷ σ of that hour of day. The interval covers
the required share of these scores, within what the history's hours held: σ of a meter that is
mostly off changes a hundredfold from night to night, and with it what a score amounts to.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

import numpy as np

from api.catalog import HOUR_MS
from api.metering.profile import (
    DAYS,
    ERROR_DAYS,
    HOURS,
    LEVEL_HALF_LIFE_DAYS,
    LEVEL_WEIGHT,
    Floats,
    History,
    Span,
    Usual,
    day_row,
    day_types,
    untrained,
    usual,
)
from api.timez import day_start, local_ordinal, offset_ms

ORIGINS: Final = 112
LEAD_DAYS: Final = 7
MOST_HOURS: Final = HOURS * LEAD_DAYS
READ_DAYS: Final = ORIGINS + ERROR_DAYS + DAYS  # hours of history that a forecast needs
LEAST_SCORES: Final = 20
LEVELS: Final = (0.8, 0.95)


class Interval(NamedTuple):
    low80: float
    high80: float
    low95: float
    high95: float


class ForecastHour(NamedTuple):
    """The forecast for the hour from ``bucket_start_ms`` on, in gallons. Without an interval where
    too few earlier forecasts exist to calibrate it."""

    bucket_start_ms: int
    volume: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Origin:
    """A local midnight from which earlier forecasts are judged: `usual` for that day, and the
    volumes expected for the next LEAD_DAYS days (LEAD_DAYS × 24, gal/h)."""

    usual: Usual
    expected: Floats


@dataclass(frozen=True, slots=True)
class Past:
    """The days before an origin. ``rows`` (days × 24, gal/h) start at the local day ``first``.
    ``origins`` hold the expectations at the start of each of the last days; the last one belongs to
    the day after the rows."""

    first: int
    rows: Floats
    origins: tuple[Origin, ...]

    @property
    def latest(self) -> Origin:
        return self.origins[-1]


def past(
    hours: Iterable[tuple[int, float]],
    day: int,
    tz: ZoneInfo,
    *,
    holidays: Collection[int] = (),
    spans: Sequence[Span] = (),
    days: int = READ_DAYS,
    origins: int = ORIGINS,
) -> Past:
    """Replays the nights before the local day ``day``.

    ``hours`` are (start in ms, gallons) of hours with enough coverage, for at least the last
    ``days`` days. Hours in ``spans`` aren't used for training.
    """
    first = day - days
    by_day: dict[int, list[tuple[int, float]]] = {}
    for start_ms, gallons in hours:
        by_day.setdefault(local_ordinal(tz, start_ms), []).append((start_ms, gallons))
    empty = np.full(HOURS, np.nan)
    rows = np.array(
        [day_row(one, tz, by_day[one]) if one in by_day else empty for one in range(first, day)]
    )
    begin = next((one for one in range(first, day) if one in by_day), day)
    history = History.empty(begin)
    past_origins: list[Origin] = []
    needed = day - origins - ERROR_DAYS
    for one in range(begin, day + 1):
        if one >= min(needed, day) or one == day:
            origin = _origin(history, tz, holidays, spans)
            expected = origin.expected[0]
            past_origins.append(origin)
        else:
            expected = empty
        if one < day:
            history = history.with_day(rows[one - first], expected)
    return Past(first, rows, tuple(past_origins[-origins - 1 :]))


def _origin(
    history: History, tz: ZoneInfo, holidays: Collection[int], spans: Sequence[Span]
) -> Origin:
    now_ms = day_start(tz, history.day)
    before = [(start, min(end, now_ms)) for start, end in spans if start < now_ms]
    profile = usual(history, holidays, untrained(history.day, tz, before))
    types = day_types(history.day, LEAD_DAYS, holidays)
    return Origin(profile, profile.expected(types))


def forecast(
    hours: Mapping[int, float],
    as_of_ms: int,
    tz: ZoneInfo,
    *,
    count: int = MOST_HOURS,
    holidays: Collection[int] = (),
    spans: Sequence[Span] = (),
) -> list[ForecastHour]:
    """Returns the forecast of the ``count`` whole hours from ``as_of_ms`` on, at most MOST_HOURS.

    ``hours`` maps start in ms to gallons, for READ_DAYS before ``as_of_ms``; later hours are
    ignored. Returns an empty list without a day of earlier readings.
    """
    day = local_ordinal(tz, as_of_ms)
    read_ms = day_start(tz, day - READ_DAYS)
    measured = {
        start: gallons for start, gallons in hours.items() if read_ms <= start <= as_of_ms - HOUR_MS
    }
    before = past(measured.items(), day, tz, holidays=holidays, spans=spans)
    origin = before.latest.usual
    table = _filled(origin.table)
    if table is None:
        return []
    level = _level(measured, as_of_ms, tz, table, holidays, spans)
    scores = _scores(before)
    types = day_types(day, LEAD_DAYS + 2, holidays)
    least, most = min(float(np.nanmin(before.rows)), 0.0), float(np.nanmax(before.rows))
    result: list[ForecastHour] = []
    for lead, (start, days, hour) in enumerate(_hours_ahead(as_of_ms, tz, count)):
        grown = 1 + LEVEL_WEIGHT * level * 0.5 ** (lead / HOURS / LEVEL_HALF_LIFE_DAYS)
        volume = float(table[types[days], hour]) * grown
        sigma = float(origin.sigma[hour])
        interval = _interval(scores[min(lead // HOURS, LEAD_DAYS - 1)][hour], volume, sigma)
        if interval is not None:
            low, high = min(least, volume), max(most, volume)
            interval = Interval(*(min(max(bound, low), high) for bound in interval))
        result.append(ForecastHour(start, volume, interval))
    return result


def _hours_ahead(as_of_ms: int, tz: ZoneInfo, count: int) -> Iterator[tuple[int, int, int]]:
    """Yields (start in ms, local days ahead, local hour of the day) of the coming whole hours."""
    first = -(-as_of_ms // HOUR_MS) * HOUR_MS
    day_ms = day_start(tz, local_ordinal(tz, as_of_ms))
    midnight = day_ms + offset_ms(tz, day_ms)
    for start in range(first, first + min(count, MOST_HOURS) * HOUR_MS, HOUR_MS):
        ahead = (start + offset_ms(tz, start) - midnight) // HOUR_MS
        yield start, *divmod(max(ahead, 0), HOURS)


def _filled(table: Floats) -> Floats | None:
    """Fills day types that haven't occurred yet with the median of the others. Returns None where
    an hour of day has no value at all."""
    missing = table != table
    if not missing.any():
        return table
    if missing.all(axis=0).any():
        return None
    return np.where(missing, np.nanmedian(table, axis=0), table)


def _level(
    measured: Mapping[int, float],
    as_of_ms: int,
    tz: ZoneInfo,
    table: Floats,
    holidays: Collection[int],
    spans: Sequence[Span],
) -> float:
    """Returns how far the last 48 hours were above the profile (0.1 = 10 %), without hours that
    aren't used for training."""
    last = as_of_ms // HOUR_MS * HOUR_MS
    total = profile = 0.0
    for start in range(last - 2 * HOURS * HOUR_MS, last, HOUR_MS):
        if start in measured and not any(a < start + HOUR_MS and start < b for a, b in spans):
            day = local_ordinal(tz, start)
            hour = (start + offset_ms(tz, start)) // HOUR_MS % HOURS
            total += measured[start]
            profile += float(table[day_types(day, 1, holidays)[0], hour])
    return total / profile - 1 if profile > 0 else 0.0


# --- Intervals of hours -------------------------------------------------------------------------


def _scores(before: Past) -> list[list[Floats]]:
    """Returns the scores by days ahead and hour of day, ascending."""
    by_lead: list[list[Floats]] = [[] for _ in range(LEAD_DAYS)]
    for origin in before.origins[:-1]:
        place = origin.usual.day - before.first
        rows = before.rows[place : place + LEAD_DAYS]
        with np.errstate(invalid="ignore", divide="ignore"):
            scores = (rows - origin.expected[: len(rows)]) / origin.usual.sigma
        for lead, row in enumerate(scores):
            by_lead[lead].append(row)
    return [_by_hour(rows) for rows in by_lead]


def _by_hour(rows: list[Floats]) -> list[Floats]:
    table = np.array(rows).reshape(-1, HOURS)
    return [np.sort(column[np.isfinite(column)]) for column in table.T]


def _interval(scores: Floats, volume: float, sigma: float) -> Interval | None:
    if len(scores) < LEAST_SCORES or not np.isfinite(sigma):
        return None
    bounds = [volume + sigma * bound for level in LEVELS for bound in bounds_of(scores, level)]
    return Interval(*bounds)


def bounds_of(scores: Floats, level: float) -> tuple[float, float]:
    """Returns the bounds that hold the share ``level`` of future scores, from ascending past
    scores. Split conformal prediction decides how many are left out at each end."""
    count = len(scores)
    outside = floor((count + 1) * (1 - level) / 2)
    low = max(outside - 1, 0)
    high = min(ceil((count + 1) * (1 + level) / 2) - 1, count - 1)
    return float(scores[low]), float(scores[high])
