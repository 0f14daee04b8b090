"""Findings from silence, missing readings, signal values and registers, in hours from the start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from api.insight.findings import Device, HourRow, RegisterFall
from api.timez import zone
from tests.insight.series import (
    HOUR_MS,
    HOURLY,
    START,
    Series,
    at,
    hours,
    minutes,
    of,
    only,
    run,
)
from tests.tables import cases

Span = tuple[float, float | None, float]


@cases(
    ("name", "missing", "cadence_s", "expected"),
    [
        ("15 minutes apart", 14, 60, []),
        ("18 minutes apart", 17, 60, [(2.5 - 1 / 60, 2.5 + 17 / 60)]),
        ("over an hour's end", 40, 60, [(2.5 - 1 / 60, 2.5 + 40 / 60)]),
        ("five hours", 300, 60, [(2.5 - 1 / 60, 7.5)]),
        ("30 minutes apart of a slower meter", 20, 600, []),
        ("an hour of a slower meter", 60, 600, [(2.5 - 10 / 60, 3.5)]),
    ],
)
def test_silent(
    name: str, missing: int, cadence_s: int, expected: list[tuple[float, float]]
) -> None:
    step = cadence_s // 60
    rates = [None if n % step or 150 <= n < 150 + missing else 1.0 for n in range(60 * 12)]
    series = minutes(rates)
    series.by_hour = {
        at: row._replace(coverage=row.coverage * step) for at, row in series.by_hour.items()
    }
    result = of("silent", run(series, Device(HOURLY.zone, cadence_s)))
    assert [(at(each)[0], at(each)[1]) for each in result] == [
        (pytest.approx(start), pytest.approx(end)) for start, end in expected
    ], name


def test_without_a_clock_a_device_is_not_silent_after_its_last_reading() -> None:
    """An evaluation up to the latest reading, in mid-hour, can't know what came after it."""
    for count in (123, 150, 179):
        assert of("silent", run(minutes([1.0] * count), Device(HOURLY.zone, 60))) == []


def test_silent_by_the_clock() -> None:
    series = minutes([1.0] * 150)
    device = Device(HOURLY.zone, 60)
    soon = START + 150 * 60_000 + 10 * 60_000
    assert of("silent", run(series, device, now_ms=soon)) == []
    finding = only(of("silent", run(series, device, now_ms=soon + 5 * HOUR_MS)))
    assert at(finding)[1] is None
    assert at(finding)[2] == pytest.approx((149 + 16) / 60)


@pytest.mark.parametrize(
    ("name", "lost", "count"),
    [("one hour", range(50, 51), 0), ("a fifth", range(48, 400, 5), 1), ("nothing", (), 0)],
)
def test_missing_data(name: str, lost: Sequence[int], count: int) -> None:
    gallons: list[Any] = [0.5] * 500
    for hour in lost:
        gallons[hour] = None
    result = of("missing-data", run(hours(gallons)))
    assert len(result) == count, name
    for each in result:
        start, end, _ = at(each)
        assert (start, end) == (48, 399)
        assert each.value < 82


def measured(values: Sequence[float | None], field: str) -> Series:
    rows = {}
    for hour, value in enumerate(values):
        start = START + hour * HOUR_MS
        rows[start] = HourRow(start, 0.0)._replace(**{field: value})
    return Series(rows)


@pytest.mark.parametrize(
    ("kind", "field", "good", "low"),
    [
        ("low-quality", "quality", 90.0, 30.0),
        ("weak-signal", "signal", -90.0, -121.0),
        ("frost", "temperature", 15.0, 0.5),
    ],
)
def test_a_low_value_is_reported_until_a_day_without_it(
    kind: str, field: str, good: float, low: float
) -> None:
    values = [good] * 48 + [low] * 3 + [good] * 60
    finding = only(of(kind, run(measured(values, field))))
    assert at(finding) == (48, 51, 49)
    assert finding.value == low
    assert only(of(kind, run(measured(values[:60], field)))).end_ms is None
    assert of(kind, run(measured([None] * 100, field))) == []


def test_a_falling_value_has_the_days_left() -> None:
    values = [90 - hour / 24 for hour in range(24 * 30)]
    finding = of("low-quality", run(measured(values, "quality")))[0]
    assert finding.end_ms is None
    assert "falls below 40.0 % in about 2" in finding.words
    level = [70 - 0.02 * (hour % 7) for hour in range(24 * 60)]
    assert of("low-quality", run(measured(level, "quality"))) == []


def test_a_fall_that_stops_is_over() -> None:
    values = [90 - hour / 24 for hour in range(24 * 30)] + [62.0] * 24 * 30
    finding = only(of("low-quality", run(measured(values, "quality"))))
    assert finding.end_ms is not None


@cases(("gallons", "count"), [(39.0, 1), (0.005, 0)])
def test_register_back(gallons: float, count: int) -> None:
    series = hours([1.0] * 5)
    series.falls = [RegisterFall(START + 2 * HOUR_MS + 10, gallons, 99.0)]
    result = of("register-back", run(series, Device(zone("UTC"), 3600)))
    assert len(result) == count
    for each in result:
        assert each.start_ms == each.end_ms == START + 2 * HOUR_MS + 10
        assert each.value == 39.0
