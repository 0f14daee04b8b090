"""Water that never stops: held to a recount of the very readings, and told in words."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.catalog import HOUR_MS, MINUTE_MS
from api.client import Device
from api.timez import DAY_MS, zone
from components.device import continuous_flow, kpis
from components.device.continuous_flow import Finding, Hour, Run
from components.device.kpis import KpiContext, Price
from components.fleet.meters import read_meter
from components.ranges import Window
from components.units import METRIC, US
from tests.components.device.service import Reading, bench
from tests.world import ms

NOON = ms("2026-11-20T12:00:00Z")
DENVER = zone("America/Denver")


def hours(*gallons: float | None, end_ms: int = NOON) -> list[Hour]:
    """One after the other up to ``end_ms``; None is an hour that wasn't heard."""
    start = end_ms - len(gallons) * HOUR_MS
    heard = [(start + n * HOUR_MS, told) for n, told in enumerate(gallons)]
    return [Hour(at, told) for at, told in heard if told is not None]


# --- The rule ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "lowest"),
    [
        (hours(*[2.0] * 24), 2.0),
        (hours(*[2.0] * 23), None),  # too short
        (hours(0.0, *[2.0] * 24), 2.0),
        (hours(*[2.0] * 23, 0.99), None),  # one hour below a gallon ends it
        (hours(*[2.0] * 23, 1.0), 1.0),  # a gallon is enough
        (hours(*[2.0] * 12, 0.0, *[2.0] * 23), None),
        (hours(*[1.5] * 30, *[3.0] * 24), 3.0),  # of the last 24 hours, not of all
        (hours(*[2.0] * 12, *[None] * 6, *[2.0] * 12), 2.0),  # a hole ends nothing
        (hours(*[2.0] * 12, *[None] * 7, *[2.0] * 12), None),  # nor does it tell anything
        (hours(*[2.0] * 24, -5.0), None),  # a counter was set back
        ([], None),
    ],
)
def test_a_day_of_hours_with_a_gallon_each(found: list[Hour], lowest: float | None) -> None:
    run = continuous_flow.find(found).run
    assert (run.lowest if run else None) == lowest


@pytest.mark.parametrize(
    ("found", "paused_ms"),
    [
        (hours(5.0, 0.0, 5.0, 5.0), NOON - 2 * HOUR_MS),
        (hours(5.0, 5.0, 5.0, 0.0), NOON),
        (hours(*[5.0] * 23), None),  # nothing is known of a pause
        (hours(0.0, *[None] * 40, 5.0), None),  # nor of what was meanwhile
    ],
)
def test_when_it_paused_last(found: list[Hour], paused_ms: int | None) -> None:
    assert continuous_flow.find(found) == Finding(None, paused_ms)


def test_a_building_where_somebody_is_always_awake_has_a_limit_of_its_own() -> None:
    found = hours(*[3.0] * 40, *[54.0] * 25)
    assert continuous_flow.find(found, 15).run == Run(
        Window(NOON - 25 * HOUR_MS, NOON - 1), 54.0, 54.0 * 25
    )
    assert continuous_flow.find(found[:-25], 15) == Finding(None, NOON - 25 * HOUR_MS)


def test_the_run_reaches_back_to_the_pause_before_it() -> None:
    found = continuous_flow.find(hours(0.0, *[4.0] * 100)).run
    assert found == Run(Window(NOON - 100 * HOUR_MS, NOON - 1), 4.0, 400.0)


def test_what_never_paused_while_one_looked_may_be_older() -> None:
    run = continuous_flow.find(hours(*[4.0] * 31 * 24)).run
    assert run
    assert run.longer
    young = continuous_flow.find(hours(*[4.0] * 10 * 24)).run
    assert young
    assert not young.longer


@given(st.lists(st.one_of(st.none(), st.sampled_from([0.0, 0.5, 1.0, 2.5])), max_size=90))
def test_a_run_is_what_a_plain_walk_back_finds(told: list[float | None]) -> None:
    heard: list[tuple[int, float]] = []
    for n, gallons in enumerate(reversed(told)):  # n hours back
        if gallons is not None and gallons < 1:
            break
        if gallons is not None:
            heard.append((n, gallons))
    whole = len(heard) >= 24 and heard[23][0] - heard[0][0] + 1 <= 30
    run = continuous_flow.find(hours(*told)).run
    if not whole:
        assert run is None
        return
    assert run is not None
    assert run.lowest == min(gallons for _, gallons in heard[:24])
    assert run.gallons == pytest.approx(sum(gallons for _, gallons in heard))
    assert run.window.from_ms == NOON - (heard[-1][0] + 1) * HOUR_MS


# --- From readings -------------------------------------------------------------------------------


def test_a_leak_is_found_in_readings_and_its_end_too(tmp_path: Path) -> None:
    """Three days of a faucet, then it drips for two, each minute at least 0.05 gal/min more."""
    dice, now = random.Random(7), NOON + 23 * MINUTE_MS
    began = now - 2 * DAY_MS
    rows: list[Reading] = []
    for at in range(now - 5 * DAY_MS, now, MINUTE_MS):
        drawn = dice.uniform(0, 4) if at // HOUR_MS % 24 in (6, 7, 19) else 0.0
        rate = round(drawn + (0.05 if at >= began else 0.0), 4)
        rows.append((at, rate, rate))
    with bench(tmp_path) as made:
        made.write(rows)
        run = continuous_flow.find(continuous_flow.ask(made.client, made.device_id, now)).run
        assert run is not None
        first = -(-began // HOUR_MS) * HOUR_MS  # the hour in which it began had a gallon or not
        assert run.window.from_ms in (first - HOUR_MS, first)
        assert run.window.to_ms == NOON - 1  # not the hour under way
        within = [g for at, _, g in rows if run.window.from_ms <= at <= run.window.to_ms]
        assert run.gallons == pytest.approx(sum(within))
        assert run.lowest == pytest.approx(3.0)
        made.write([(now + n * MINUTE_MS, 0.0, 0.0) for n in range(120)])  # shut
        later = now + 120 * MINUTE_MS
        shut = continuous_flow.find(continuous_flow.ask(made.client, made.device_id, later))
        assert shut == Finding(None, NOON + 2 * HOUR_MS)


# --- In words ------------------------------------------------------------------------------------

RUN = Run(Window(NOON - 6 * DAY_MS, NOON - 1), 54.0, 7950.0)
USD = Price(0.012, "USD", True)


@pytest.mark.parametrize(
    ("finding", "price", "never_rests", "value", "note", "low"),
    [
        (Finding(RUN), USD, False, "54 gal/h", "for 6 d · $15.55 a day", True),
        (Finding(RUN), None, False, "54 gal/h", "for 6 d", True),
        (Finding(replace(RUN, longer=True)), None, False, "54 gal/h", "for 6+ d", True),
        (Finding(RUN), USD, True, "54 gal/h", "by design · for 6 d", False),
        (Finding(None, NOON - 2 * HOUR_MS), USD, False, "none", "paused 3 h ago", False),
        (Finding(), USD, False, "–", "too few hours heard", False),
    ],
)
def test_what_the_number_says(
    finding: Finding, price: Price | None, never_rests: bool, value: str, note: str, low: bool
) -> None:
    told = KpiContext(US, DENVER, NOON + HOUR_MS)
    kpi = kpis.continuous(finding, price, told, never_rests=never_rests)
    assert (kpi.label, kpi.value, kpi.note, kpi.low) == ("Continuous flow", value, note, low)


def test_the_evidence_names_its_start_its_sum_and_what_is_only_an_upper_bound() -> None:
    kpi = kpis.continuous(Finding(RUN), USD, KpiContext(METRIC, DENVER, NOON))
    assert kpi.value == "204 L/h"
    assert "since Sat 14 Nov 2026, 05:00 MST, 30.1 m³ in all" in kpi.at
    assert "If all of that escapes, 4.91 m³ a day" in kpi.at
    assert kpi.shows == Window(RUN.window.from_ms - 36 * HOUR_MS, RUN.window.to_ms)


def test_one_that_has_fallen_silent_says_until_when() -> None:
    kpi = kpis.continuous(Finding(RUN), None, KpiContext(US, DENVER, NOON + 3 * DAY_MS))
    assert kpi.note == "for 6 d until 3 d ago"


@pytest.mark.parametrize(
    ("config", "least_gal", "by_design"),
    [
        ({"continuousFlowByDesign": True, "continuousFlowLimit": 15}, 15, True),
        ({"continuousFlowByDesign": "yes", "continuousFlowLimit": "15"}, 1, False),
        ({"continuousFlowLimit": 0}, 1, False),  # with no limit nothing would ever pause
        ({}, 1, False),
    ],
)
def test_the_devices_configuration_says_how_much_is_a_flow_and_what_flows_by_design(
    config: dict[str, object], least_gal: float, by_design: bool
) -> None:
    device = Device(
        "x", "S", "S", "EndDevice", "S", "", "UTC", True, None, None, config=dict(config)
    )
    meter = read_meter(device)
    assert (meter.least_gal, meter.never_rests) == (least_gal, by_design)
