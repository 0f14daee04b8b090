"""Forecasts the volume at the end of the month, with an interval.

The forecast is the volume so far plus, for each remaining day, the weighted mean of recent days of
the same type. The errors in finished months, in units of the device's own daily spread, are the
scores. One device has too few finished months, so the whole fleet's scores are pooled, by the
number of days left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import date
from math import erf, isfinite, sqrt
from typing import Final, NamedTuple

import numpy as np

from api.metering.forecast import LEAST_SCORES, Interval, bounds_of
from api.metering.profile import DAYS, OTHER_WORKING_DAY, Bools, Floats, Ints, day_types

HALF_LIFE_DAYS: Final = 14.0
LEAST_DAYS: Final = 14  # days with a volume among the last DAYS that a forecast needs
LEAST_PRESENT: Final = 0.9  # share of a month's days that a forecast needs to be judged
LEAST_SPREAD: Final = 0.05  # share of the mean day
LEAST_SPREAD_GAL: Final = 0.5
LEVELS: Final = (0.83, 0.975)
"""For intervals of 80 and 95 %. A fleet's meters share weather and holidays, so their scores aren't
independent: with the plain levels, only 81 and 94.5 % of months were covered."""
ORIGIN_DAYS: Final = (
    2,
    6,
    11,
    16,
    21,
    26,
    29,
)  # days of the month at which past forecasts are judged
BINS: Final = (3, 7, 12, 17, 22, 31)  # upper bounds of days left

_AGES: Final = np.arange(DAYS, 0, -1)
_WEIGHTS: Final[Floats] = 0.5 ** (_AGES / HALF_LIFE_DAYS)


class Score(NamedTuple):
    """(volume − forecast) ÷ (spread of a day × √days) for a forecast made with ``days_left``."""

    days_left: int
    value: float


@dataclass(frozen=True, slots=True)
class MonthEnd:
    """Gallons. ``interval`` is None where the fleet has too few scores."""

    month: date
    so_far: float
    expected: float
    interval: Interval | None


class Pool:
    """The scores of a fleet."""

    def __init__(self, scores: Iterable[Score]) -> None:
        by_bin: list[list[float]] = [[] for _ in BINS]
        for score in scores:
            by_bin[_bin(score.days_left)].append(score.value)
        self._scores = [np.sort(np.array(values, np.float64)) for values in by_bin]

    @property
    def usable(self) -> bool:
        """Whether there are intervals, for some number of days left at least."""
        return any(len(scores) >= LEAST_SCORES for scores in self._scores)

    def interval(self, days_left: int, expected: float, spread: float) -> Interval | None:
        scores = self._scores[_bin(days_left)]
        if len(scores) < LEAST_SCORES:
            return None
        return Interval(
            *(expected + spread * b for level in LEVELS for b in bounds_of(scores, level))
        )


def _bin(days_left: int) -> int:
    return next(index for index, most in enumerate(BINS) if days_left <= most)


def month_end(
    totals: Floats, first: int, today: float, holidays: Collection[int], pool: Pool
) -> MonthEnd | None:
    """Forecasts the month end.

    ``totals`` are the gallons of the local days from the ordinal ``first`` to yesterday: at least
    DAYS days and all of this month's. ``today`` is today's volume so far. Returns None with too few
    days.
    """
    day = first + len(totals)
    start, end = month_of(day)
    ahead = _ahead(totals, day, end - day, holidays)
    if ahead is None:
        return None
    rest, spread = ahead
    month = totals[max(0, start - first) :] if start < day else totals[:0]
    before = float(np.nansum(month))
    coming = float(rest[0]) if today < float(rest[0]) else today
    expected = before + coming + float(rest[1:].sum())
    left = end - day
    interval = pool.interval(left, expected, spread * sqrt(left))
    if interval is not None:
        interval = Interval(*(max(bound, before + today) for bound in interval))
    return MonthEnd(date.fromordinal(start), before + today, expected, interval)


# --- Budgets -------------------------------------------------------------------------------------

_Z80: Final = 1.2815515655446004  # standard deviations between the middle and a bound of 80 %


def chance_above(end: MonthEnd, limit: float) -> float | None:
    """Returns the probability, 0 to 1, that the month ends above a limit, from the two halves of
    the interval. Without an interval: 1 where the limit is already passed, else None."""
    if end.so_far > limit:
        return 1.0
    if end.interval is None:
        return None
    off = limit - end.expected
    bound = end.interval.high80 if off > 0 else end.interval.low80
    spread = abs(bound - end.expected) / _Z80
    if spread == 0:
        return float(off < 0)
    return 0.5 * (1 - erf(off / spread / sqrt(2)))


def month_scores(totals: Floats, first: int, holidays: Collection[int]) -> list[Score]:
    """Returns the scores of the forecasts of finished months."""
    scores: list[Score] = []
    last = first + len(totals)
    for day in range(first + LEAST_DAYS, last):
        start, end = month_of(day)
        if day - start + 1 not in ORIGIN_DAYS or end > last:
            continue
        actual = totals[day - first : end - first]
        present = actual == actual
        ahead = _ahead(totals[: day - first], day, end - day, holidays)
        if ahead is None or present.sum() < LEAST_PRESENT * len(actual):
            continue
        rest, spread = ahead
        off = float(actual[present].sum() - rest[present].sum())
        scores.append(Score(end - day, off / (spread * sqrt(end - day))))
    return scores


def _ahead(
    totals: Floats, day: int, count: int, holidays: Collection[int]
) -> tuple[Floats, float] | None:
    """Returns (gallons of each of the ``count`` days from ``day`` on, spread of a day), or None."""
    past = np.full(DAYS, np.nan)
    recent = totals[-DAYS:]
    past[DAYS - len(recent) :] = recent
    present = past == past
    if present.sum() < LEAST_DAYS:
        return None
    types = day_types(day - DAYS, DAYS, holidays)
    usual = {kind: _mean(past, present, types, kind) for kind in range(7)}
    rest = np.array([usual[int(kind)] for kind in day_types(day, count, holidays)])
    mean = float(past[present].mean())
    spread = max(float(past[present].std()), LEAST_SPREAD * abs(mean), LEAST_SPREAD_GAL)
    return (rest, spread) if isfinite(spread) else None


def _mean(past: Floats, present: Bools, types: Ints, kind: int) -> float:
    """Returns the weighted mean of days of the same type. Other working days count half; where
    there is none, all days count."""
    working = (types < 5) & (kind < 5)
    weights = _WEIGHTS * np.where(types == kind, 1.0, np.where(working, OTHER_WORKING_DAY, 0.0))
    weights = np.where(present, weights, 0.0)
    if not weights.any():
        weights = np.where(present, _WEIGHTS, 0.0)
    return float((np.where(present, past, 0.0) * weights).sum() / weights.sum())


def month_of(day: int) -> tuple[int, int]:
    """Returns [first day, first day of the next month) for the month that holds the day."""
    one = date.fromordinal(day)
    start = day - one.day + 1
    following = date(one.year + one.month // 12, one.month % 12 + 1, 1)
    return start, following.toordinal()
