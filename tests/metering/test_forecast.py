"""Forecasts use earlier readings alone, and their intervals have the promised coverage."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from api.catalog import HOUR_MS
from api.metering.forecast import READ_DAYS, bounds_of, forecast
from api.timez import day_start, local_ordinal, parse_instant, zone

ROME = zone("Europe/Rome")
AS_OF = day_start(ROME, local_ordinal(ROME, parse_instant("2026-06-01T12:00:00Z")))


def wave(days: int, noise: float = 0.0, seed: int = 1) -> dict[int, float]:
    """Hours up to a week after AS_OF."""
    dice = random.Random(seed)
    return {
        at: 100 * (1.5 + math.sin(at / HOUR_MS / 24 * 2 * math.pi)) * dice.gauss(1, noise)
        for at in range(AS_OF - days * 24 * HOUR_MS, AS_OF + 8 * 24 * HOUR_MS, HOUR_MS)
    }


def test_a_week_ahead_of_a_steady_device() -> None:
    hours = wave(30)
    result = forecast(hours, AS_OF, ROME)
    assert [each.bucket_start_ms for each in result] == [AS_OF + n * HOUR_MS for n in range(168)]
    for each in result:
        assert each.volume == pytest.approx(hours[each.bucket_start_ms], rel=0.02)


@pytest.mark.parametrize("later_h", [0, 7, 23])
def test_nothing_after_the_origin_changes_a_forecast(later_h: int) -> None:
    as_of = AS_OF + later_h * HOUR_MS
    hours = wave(40, 0.1)
    result = forecast({at: v for at, v in hours.items() if at < as_of}, as_of, ROME)
    after = {at: v * (100 if at >= as_of else 1) for at, v in hours.items()}
    assert forecast(after, as_of, ROME) == result
    assert result[0].bucket_start_ms == as_of


def test_between_whole_hours_it_begins_with_the_next() -> None:
    result = forecast(wave(30), AS_OF + 20 * 60_000, ROME, count=3)
    assert [each.bucket_start_ms for each in result] == [AS_OF + n * HOUR_MS for n in (1, 2, 3)]


@pytest.mark.parametrize("as_of", ["2026-03-28T23:00:00Z", "2026-10-24T22:00:00Z"])
def test_over_a_change_of_clocks_every_hour_occurs_once(as_of: str) -> None:
    origin = parse_instant(as_of)
    hours = {origin - n * HOUR_MS: 10.0 + (n % 24) for n in range(1, 24 * 40)}
    result = forecast(hours, origin, ROME)
    assert [each.bucket_start_ms for each in result] == [origin + n * HOUR_MS for n in range(168)]
    assert all(math.isfinite(each.volume) for each in result)


def test_intervals_have_their_promised_coverage() -> None:
    inside80 = inside95 = count = 0
    for seed in range(6):
        hours = wave(READ_DAYS, 0.15, seed)
        for each in forecast(hours, AS_OF, ROME):
            assert each.interval is not None
            actual = hours[each.bucket_start_ms]
            inside80 += each.interval.low80 <= actual <= each.interval.high80
            inside95 += each.interval.low95 <= actual <= each.interval.high95
            assert each.interval.low95 <= each.interval.low80 <= each.interval.high80
            count += 1
    assert 0.74 < inside80 / count < 0.87
    assert 0.91 < inside95 / count < 0.99


@pytest.mark.parametrize("least", [0.0, -20.0], ids=["a boiler", "with some backward flow"])
def test_intervals_of_a_meter_that_is_mostly_off_end_at_what_was_measured(least: float) -> None:
    """Its errors are zero in most nights, so that σ changes a hundredfold."""
    dice = random.Random(4)
    first = AS_OF - READ_DAYS * 24 * HOUR_MS
    hours = {
        at: dice.choice((least, 51.0, 102.0, 204.0)) if dice.random() < 0.4 else 0.0
        for at in range(first, AS_OF, HOUR_MS)
    }
    for each in forecast(hours, AS_OF, ROME):
        assert each.interval is not None
        assert each.interval.low95 >= min(least, each.volume)
        assert each.interval.high95 <= max(204, each.volume)


def test_no_interval_without_enough_history() -> None:
    assert {each.interval for each in forecast(wave(10, 0.1), AS_OF, ROME)} == {None}


def test_without_readings_there_is_no_forecast() -> None:
    assert forecast({}, AS_OF, ROME) == []
    assert forecast({AS_OF - HOUR_MS: 5.0}, AS_OF, ROME) == []


def test_a_first_week_is_forecast_from_the_days_so_far() -> None:
    hours = {at: v for at, v in wave(3).items() if at < AS_OF}
    result = forecast(hours, AS_OF, ROME)
    assert len(result) == 168
    assert all(math.isfinite(each.volume) for each in result)


@pytest.mark.parametrize(
    ("level", "expected"), [(0.8, (10.0, 90.0)), (0.95, (2.0, 98.0)), (0.5, (25.0, 75.0))]
)
def test_bounds_leave_out_equal_shares_at_both_ends(
    level: float, expected: tuple[float, float]
) -> None:
    low, high = bounds_of(np.arange(1.0, 100.0), level)  # 1 … 99
    assert abs(low - expected[0]) <= 1
    assert abs(high - expected[1]) <= 1
