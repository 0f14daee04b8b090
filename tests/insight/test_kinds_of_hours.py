"""Findings from hourly usage: (start, end, opened), in hours from the start."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from api.insight.findings import Device
from tests.insight.series import (
    DAY_MS,
    HOURLY,
    START,
    at,
    changed,
    district,
    hours,
    household,
    minutes,
    of,
    only,
    run,
)
from tests.tables import cases

Span = tuple[float, float | None, float]
WEEK = 24 * 7


def spans(kind: str, gallons: Sequence[float | None], **settings: float) -> list[Span]:
    return [at(each) for each in of(kind, run(hours(gallons), settings={kind: settings}))]


@cases(
    ("name", "gallons", "expected"),
    [
        ("24 hours and the one under way", [2.0] * 25, [(0, None, 24)]),
        ("24 hours, the last under way", [2.0] * 24, []),
        ("one hour below the limit", [2.0] * 12 + [0.9] + [2.0] * 12, []),
        ("exactly the limit", [1.0] * 25, [(0, None, 24)]),
        ("six missing hours", [2.0] * 12 + [None] * 6 + [2.0] * 13, [(0, None, 30)]),
        ("seven missing hours", [2.0] * 12 + [None] * 7 + [2.0] * 25, [(19, None, 43)]),
        ("it ends where the pause begins", [2.0] * 30 + [0.0] * 2, [(0, 30, 24)]),
        ("missing hours don't end it", [2.0] * 30 + [None] * 9 + [2.0] * 2, [(0, None, 24)]),
        (
            "again within 24 h: the same",
            [2.0] * 30 + [0.0] * 24 + [2.0] * 26,
            [(0, None, 24)],
        ),
        (
            "again after 24 h: another",
            [2.0] * 30 + [0.0] * 25 + [2.0] * 26,
            [(0, 30, 24), (55, None, 79)],
        ),
    ],
)
def test_continuous_flow(name: str, gallons: list[float | None], expected: list[Span]) -> None:
    result = spans("continuous-flow", gallons)
    assert [(s, e, o) for s, e, o in result] == expected, name


def test_continuous_flow_has_the_lowest_hour_outside_pauses() -> None:
    gallons = [5.0] * 20 + [3.0] * 10 + [0.0] * 4 + [4.0] * 30
    finding = only(of("continuous-flow", run(hours(gallons), Device(HOURLY.zone, 3600, 0.5))))
    assert finding.value == 3.0
    assert finding.gallons == 3.0 * (30 + 29)
    assert finding.cost_per_day == 3.0 * 24 * 0.5
    assert finding.words == "Has not dropped below 3.00 gal/h since Mon 5 Jan, 00:00"
    assert finding.severity == "warning"


@pytest.mark.parametrize(
    ("name", "gallons", "price", "severity"),
    [
        ("71 hours", 2.0, 0.01, "warning"),
        ("dear water", 2.0, 2.0, "critical"),
    ],
)
def test_a_loss_is_critical_by_its_cost(
    name: str, gallons: float, price: float, severity: str
) -> None:
    result = run(hours([gallons] * 71), Device(HOURLY.zone, 3600, price))
    assert only(of("continuous-flow", result)).severity == severity, name


def test_a_loss_is_critical_after_three_days() -> None:
    assert only(of("continuous-flow", run(hours([2.0] * 73)))).severity == "critical"


@cases(
    ("name", "settings", "count"),
    [
        ("by design", {"enabled": 0}, 0),
        ("a higher limit", {"limit": 15}, 0),
        ("not a problem: twice the threshold", {"factor": 2.5}, 0),
        ("as it is", {}, 1),
    ],
)
def test_continuous_flow_by_its_settings(name: str, settings: dict[str, float], count: int) -> None:
    assert len(spans("continuous-flow", [2.0] * 40, **settings)) == count, name


def test_the_constant_flow_of_a_main_is_not_a_leak() -> None:
    assert spans("continuous-flow", district(40)) == []
    assert spans("continuous-flow", [150.0] * 30) == []  # before the first night


@pytest.mark.parametrize(
    ("name", "rise", "to_h", "starts"),
    [
        ("a burst", 600.0, 30 * 24, True),
        ("a rise in the noise", 40.0, 30 * 24, False),
        ("8 hours only", 600.0, 25 * 24 + 8, False),
    ],
)
def test_burst_opens(name: str, rise: float, to_h: int, starts: bool) -> None:
    gallons = changed(district(30), 25 * 24, to_h, lambda value: value + rise)
    result = spans("burst", gallons)
    assert bool(result) == starts, name
    if starts:
        start, end, opened = result[0]
        assert abs(start - 25 * 24) <= 1
        assert end is None
        assert 9 <= opened - 25 * 24 <= 12


@pytest.mark.parametrize("days", [10, 19])
def test_burst_needs_21_days(days: int) -> None:
    gallons = changed(district(days + 2), days * 24, (days + 2) * 24, lambda value: value + 900)
    assert spans("burst", gallons) == []


def test_burst_closes_after_12_calm_hours() -> None:
    gallons = changed(district(32, noise=0.005), 600, 648, lambda value: value + 700)
    start, end, _ = spans("burst", gallons)[0]
    assert abs(start - 600) <= 1
    assert end is not None
    assert 646 <= end <= 649


def test_burst_becomes_the_new_usual_after_a_week() -> None:
    gallons = changed(district(60), 600, 60 * 24, lambda value: value + 300)
    result = spans("burst", gallons)
    _, end, opened = result[0]
    assert end == opened + WEEK
    assert len(result) <= 2  # it isn't reported again and again


def test_burst_opens_at_its_threshold() -> None:
    gallons = changed(district(30), 600, 640, lambda value: value + 600)
    finding = only(of("burst", run(hours(gallons), Device(HOURLY.zone, 3600, 0.01))))
    assert finding.value == pytest.approx(600, rel=0.1)
    assert finding.gallons == pytest.approx(600 * 40, rel=0.1)
    assert finding.severity == "critical"
    assert finding.cost_per_day == pytest.approx(600 * 24 * 0.01, rel=0.1)
    assert finding.words.startswith("5")
    assert "gal/h above usual" in finding.words


@pytest.mark.parametrize(
    ("name", "rise", "result"),
    [("a step", 150.0, 1), ("less than a tenth of the mean", 80.0, 0)],
)
def test_night_flow_step(name: str, rise: float, result: int) -> None:
    day = 70 * 24
    gallons = changed(district(80), day, 80 * 24, lambda value: value + rise)
    steps = of("night-flow-step", run(hours(gallons), settings={"burst": {"enabled": 0}}))
    assert len(steps) == result, name
    for step in steps:
        assert at(step)[2] == day + 2 * 24 + 5  # the third night is over
        assert step.value == pytest.approx(rise / 60, rel=0.25)
        assert step.end_ms is None


def test_night_flow_step_closes_once_the_night_is_as_before() -> None:
    gallons = changed(district(90), 70 * 24, 80 * 24, lambda value: value + 200)
    step = only(of("night-flow-step", run(hours(gallons), settings={"burst": {"enabled": 0}})))
    assert at(step)[1] == 81 * 24 + 2  # the median of three nights


@pytest.mark.parametrize(("days", "offers"), [(40, False), (50, True)])
def test_night_flow_step_offers_the_new_normal(days: int, offers: bool) -> None:
    gallons = changed(district(70 + days), 70 * 24, 500 * 24, lambda value: value + 300)
    settings = {"burst": {"enabled": 0.0}}
    step = only(of("night-flow-step", run(hours(gallons), settings=settings)))
    assert step.offers_new_normal is offers
    normal = START + (70 + days - 2) * DAY_MS
    settings["night-flow-step"] = {"normal_from": float(normal)}
    taken = only(of("night-flow-step", run(hours(gallons), settings=settings)))
    assert taken.end_ms == normal


def test_a_burst_accepted_as_new_normal_ends_and_trains_the_profile() -> None:
    """Flow rises by half after 40 days; a day later an operator accepts it as the new normal."""
    gallons = changed(district(120), 40 * 24, 500 * 24, lambda value: value * 1.5)
    without = of("burst", run(hours(gallons)))
    normal = without[0].opened_ms + DAY_MS
    taken = run(hours(gallons), settings={"burst": {"normal_from": float(normal)}})
    (burst,) = of("burst", taken)
    assert burst.end_ms == normal
    assert not of("unusual-day", taken)
    higher = changed(gallons, 100 * 24, 500 * 24, lambda value: value * 1.5)
    again = run(hours(higher), settings={"burst": {"normal_from": float(normal)}})
    assert [at(each)[0] // 24 for each in of("burst", again)[:2]] == [40, 100]


def test_night_flow_step_waits_for_a_burst() -> None:
    gallons = changed(district(80), 70 * 24, 80 * 24, lambda value: value + 600)
    result = run(hours(gallons))
    burst = of("burst", result)[0]
    steps = of("night-flow-step", result)
    assert all(step.opened_ms >= (burst.end_ms or 0) for step in steps)


@pytest.mark.parametrize(
    ("name", "times", "result"),
    [("half as much again", 1.5, 1), ("as usual", 1.02, 0), ("a day off", 0.4, 1)],
)
def test_unusual_day_of_a_district(name: str, times: float, result: int) -> None:
    gallons = changed(district(35), 30 * 24, 31 * 24, lambda value: value * times)
    days = of("unusual-day", run(hours(gallons), settings={"burst": {"enabled": 0}}))
    assert [at(day) for day in days] == [(720, 744, 744)] * result, name
    for day in days:
        assert (day.value > 0) == (times > 1)


def test_a_day_with_a_burst_is_not_unusual_too() -> None:
    gallons = changed(district(32), 30 * 24, 31 * 24, lambda value: value + 900)
    result = run(hours(gallons))
    assert of("burst", result)
    assert of("unusual-day", result) == []


def test_unusual_days_within_48_hours_are_one() -> None:
    gallons: Sequence[float | None] = household(50)
    for day in (40, 42):
        gallons = changed(gallons, day * 24, day * 24 + 24, lambda value: value * 5)
    finding = only(of("unusual-day", run(hours(gallons))))
    assert at(finding) == (960, 43 * 24, 41 * 24)
    assert "above usual" in finding.words
    assert "on 2 days from Sat 14 Feb" in finding.words


def test_unusual_day_is_open_until_the_next_is_over() -> None:
    gallons = changed(household(50), 40 * 24, 41 * 24, lambda value: value * 5)
    assert spans("unusual-day", gallons[: 41 * 24 + 5]) == [(960, None, 984)]
    assert spans("unusual-day", gallons[: 42 * 24 + 5]) == [(960, 984, 984)]


@cases(
    ("name", "gallons", "expected"),
    [
        ("a week", household(30) + [0.0] * 200, [(720, None, 720 + WEEK)]),
        ("until it flows again", household(30) + [0.0] * 200 + [5.0, 5.0], [(720, 920, 888)]),
        ("six days", household(30) + [0.0] * 140 + [5.0], []),
        ("never used", [0.0] * 600, []),
        (
            "it was away for five days before",
            household(30) + [0.0] * 120 + household(20) + [0.0] * 300,
            [(1320, None, 1320 + 240)],
        ),
        ("silent isn't without use", household(30) + [0.0] * 5 + [None] * 200 + [0.0] * 2, []),
    ],
)
def test_no_use(name: str, gallons: list[float | None], expected: list[Span]) -> None:
    result = spans("no-use", gallons)
    assert [(e, len(result)) for _, e, _ in result] == [(e, len(expected)) for _, e, _ in expected]
    for (start, _, opened), (usual_start, _, usual_opened) in zip(result, expected, strict=True):
        assert 0 <= usual_start - start <= 8, name  # the night before had no use either
        assert abs(usual_opened - opened) <= 24, name


@cases(
    ("name", "gallons", "expected"),
    [
        ("12 times", [3.0, *[5.0] * 13], [(1, None, 13)]),
        ("11 times", [3.0, *[5.0] * 11, 6.0, 1.0], []),
        ("zeros are no fault", [0.0] * 40, []),
        ("another value", [3.0, *[5.0] * 20, 6.0, 0.0], [(1, 21, 13)]),
        ("missing hours between", [*[5.0] * 6, None, None, *[5.0] * 7], [(0, None, 14)]),
    ],
)
def test_stuck(name: str, gallons: list[float | None], expected: list[Span]) -> None:
    assert spans("stuck", gallons) == expected, name


@cases(
    ("name", "gallons", "expected"),
    [
        ("a gallon net", [5.0, -1.0, 5.0, 5.0], [(1, 2, 2)]),
        ("less than a gallon in an hour", [5.0, 5.0], []),
        ("three hours, then an hour without", [5.0, -2, -2, -2, 5, 5], [(1, 4, 2)]),
        ("still", [5.0, -2.0, -2.0], [(1, None, 2)]),
    ],
)
def test_backwards_by_hours(name: str, gallons: list[float], expected: list[Span]) -> None:
    results = [at(each) for each in of("backwards", run(hours(gallons)))]
    assert [(s, e) for s, e, _ in results] == [(s, e) for s, e, _ in expected], name


@pytest.mark.parametrize(
    ("name", "negative", "expected"),
    [
        ("15 minutes", 15, [(1.0, 1.25, 1.25)]),
        ("14 minutes", 14, []),
        ("an hour and a half", 90, [(1.0, 2.5, 1.25)]),
    ],
)
def test_backwards_by_minutes(name: str, negative: int, expected: list[Span]) -> None:
    rates = [1.0] * 60 + [-0.01] * negative + [1.0] * 200
    result = run(minutes(rates), Device(HOURLY.zone, 60))
    assert [at(each) for each in of("backwards", result)] == expected, name
    for each in of("backwards", result):
        assert each.value == pytest.approx(0.01 * negative)


def test_backwards_for_long_is_critical() -> None:
    assert only(of("backwards", run(hours([-150.0] * 3)))).severity == "critical"


@cases(
    ("name", "high", "limit", "expected"),
    [
        ("10 minutes", 10, 8.0, [(1.0, 1 + 10 / 60, 1 + 10 / 60)]),
        ("9 minutes", 9, 8.0, []),
        ("over the hour's end", 70, 8.0, [(1.0, 1 + 70 / 60, 1 + 10 / 60)]),
        ("no limit set", 60, 0.0, []),
    ],
)
def test_high_flow(name: str, high: int, limit: float, expected: list[Span]) -> None:
    rates = [1.0] * 60 + [9.0] * high + [1.0] * 120
    settings = {"high-flow": {"limit": limit, "duration": 10}}
    result = run(minutes(rates), Device(HOURLY.zone, 60), settings)
    results = [at(each) for each in of("high-flow", result)]
    assert results == [pytest.approx(each) for each in expected], name


def test_high_flow_by_meter_size_is_reported_within_the_hour() -> None:
    rates = [1.0] * 60 + [9.0] * 12
    finding = only(of("high-flow", run(minutes(rates), Device(HOURLY.zone, 60, max_rate=8))))
    assert finding.end_ms is None
    assert finding.severity == "critical"
    assert finding.words == "Up to 9.00 gal/min, limit 8.00, since Mon 5 Jan, 01:00"
