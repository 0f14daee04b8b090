"""The expected volume at the end of the month."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest

from api.insight.budgets import together
from api.metering.forecast import Interval
from api.metering.month_end import (
    MonthEnd,
    Pool,
    Score,
    chance_above,
    month_end,
    month_of,
    month_scores,
)
from api.store.base import Sums
from tests.tables import cases

FIRST = date(2026, 1, 1).toordinal()
NOBODY = Pool(())


@cases(
    ("days", "today", "so_far", "expected"),
    [
        (90, 0.0, 0.0, 300.0),  # 1 April: nothing yet, 30 days to come
        (99, 4.0, 94.0, 300.0),  # today is part of the rest
        (99, 25.0, 115.0, 315.0),  # more flowed today than expected
        (119, 10.0, 300.0, 300.0),  # the last day
    ],
)
def test_the_expected_month_is_past_and_forecast(
    days: int, today: float, so_far: float, expected: float
) -> None:
    result = month_end(np.full(days, 10.0), FIRST, today, (), NOBODY)
    assert result is not None
    assert result.month == date(2026, 4, 1)
    assert result.so_far == pytest.approx(so_far)
    assert result.expected == pytest.approx(expected)
    assert result.interval is None


def test_weekends_are_expected_as_weekends() -> None:
    week = [10.0, 10.0, 10.0, 10.0, 10.0, 40.0, 40.0]
    first = date(2026, 1, 5).toordinal()
    days = np.array((week * 9)[: date(2026, 3, 2).toordinal() - first])
    result = month_end(days, first, 0.0, (), NOBODY)
    assert result is not None
    sundays_and_saturdays = sum(date(2026, 3, day).weekday() >= 5 for day in range(1, 32))
    assert result.expected == pytest.approx(31 * 10 + 30 * sundays_and_saturdays)
    holiday = month_end(days, first, 0.0, (date(2026, 3, 10).toordinal(),), NOBODY)
    assert holiday is not None
    assert holiday.expected == pytest.approx(result.expected + 30)


@pytest.mark.parametrize("days", [0, 5, 13])
def test_too_few_days_give_no_estimate(days: int) -> None:
    assert month_end(np.full(days, 10.0), FIRST, 1.0, (), NOBODY) is None


def test_the_interval_comes_from_the_fleet_and_starts_at_the_volume_so_far() -> None:
    dice = np.random.default_rng(1)
    pool = Pool(Score(left, value) for left in range(1, 32) for value in dice.normal(0, 1, 40))
    result = month_end(dice.gamma(2, 5, 95), FIRST, 3.0, (), pool)
    assert result is not None
    bounds = result.interval
    assert bounds is not None
    assert result.so_far <= bounds.low95 <= bounds.low80 < result.expected < bounds.high80
    assert bounds.high80 < bounds.high95


def test_intervals_have_their_promised_coverage() -> None:
    dice = np.random.default_rng(2)
    fleet = [dice.gamma(2, dice.uniform(2, 50), 330) for _ in range(60)]
    pool = Pool(score for days in fleet[:40] for score in month_scores(days, FIRST, ()))
    inside: list[tuple[bool, bool]] = []
    for days in fleet[40:]:
        for day in range(120, 300, 7):
            start, end = month_of(FIRST + day)
            result = month_end(days[:day], FIRST, 0.0, (), pool)
            assert result is not None
            bounds = result.interval
            assert bounds is not None
            actual = days[start - FIRST : end - FIRST].sum()
            inside.append(
                (
                    bounds.low80 <= actual <= bounds.high80,
                    bounds.low95 <= actual <= bounds.high95,
                )
            )
    low, high = np.mean(inside, axis=0)
    assert 0.76 < low < 0.90
    assert 0.93 < high < 1


def test_only_finished_months_with_few_gaps_train_the_interval() -> None:
    days = np.full(100, 10.0)
    days[40:50] = np.nan  # ten days of February
    judged = month_scores(days, FIRST, ())
    march = month_scores(days[59:], FIRST + 59, ())
    assert all(score.value == pytest.approx(0) for score in judged)
    assert len(judged) > len(march)
    lefts = {score.days_left for score in judged}
    assert 28 - 5 not in lefts  # 6 February: its month has gaps


def _end(expected: float, spread: float | None, so_far: float = 0.0) -> MonthEnd:
    bounds = None if spread is None else (-spread, spread, -2 * spread, 2 * spread)
    interval = None if bounds is None else Interval(*(expected + each for each in bounds))
    return MonthEnd(date(2026, 11, 1), so_far, expected, interval)


@pytest.mark.parametrize(
    ("end", "limit", "chance"),
    [
        (_end(100, 10), 100, 0.5),
        (_end(100, 10), 90, 0.9),
        (_end(100, 10), 110, 0.1),
        (_end(100, None), 110, None),
        (_end(100, None, so_far=111), 110, 1.0),
        (_end(100, 0), 99, 1.0),
        (_end(100, 0), 101, 0.0),
    ],
)
def test_the_chance_of_ending_above_a_limit(
    end: MonthEnd, limit: float, chance: float | None
) -> None:
    assert chance_above(end, limit) == (None if chance is None else pytest.approx(chance))


def test_a_sums_interval_lies_between_equal_and_independent_errors() -> None:
    month = date(2026, 11, 1)
    offs, squares = (-40.0, 40.0, -80.0, 80.0), (400.0, 400.0, 1600.0, 1600.0)
    end = together(month, Sums(4, 4, 10.0, 400.0, offs, squares))  # four of 100 ± 10
    assert end is not None
    assert end.interval is not None
    assert 20 < end.interval.high80 - 400 < 40
    assert 20 < 400 - end.interval.low80 < 40
    assert together(month, Sums(0, 0, 0.0, 0.0, offs, squares)) is None
    assert together(month, Sums(1, 0, 1.0, 3.0, offs, squares)) == MonthEnd(month, 1.0, 3.0, None)
