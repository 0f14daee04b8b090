"""Water that never stops: held to a recount of the very readings, and told in words."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from api.catalog import HOUR_MS, MINUTE_MS
from api.client import Device
from api.metering import continuous_flow as continuous
from api.metering.continuous_flow import Finding, Run
from api.metering.cost import Price
from api.timez import DAY_MS, zone
from components.device import kpis, queries
from components.device.kpis import KpiContext
from components.fleet.device_queries import read_meter
from components.ranges import Window
from components.units import METRIC, US
from tests.components.device.service import Reading, bench
from tests.world import ms

NOON = ms("2026-11-20T12:00:00Z")
DENVER = zone("America/Denver")


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
        run = continuous.find(queries.volume_hours(made.client, made.device_id, now)).run
        assert run is not None
        first = -(-began // HOUR_MS) * HOUR_MS  # the hour in which it began had a gallon or not
        assert run.window.from_ms in (first - HOUR_MS, first)
        assert run.window.to_ms == NOON - 1  # not the hour under way
        within = [g for at, _, g in rows if run.window.from_ms <= at <= run.window.to_ms]
        assert run.gallons == pytest.approx(sum(within))
        assert run.lowest == pytest.approx(3.0)
        made.write([(now + n * MINUTE_MS, 0.0, 0.0) for n in range(120)])  # shut
        later = now + 120 * MINUTE_MS
        shut = continuous.find(queries.volume_hours(made.client, made.device_id, later))
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
        (Finding(None, NOON - 2 * HOUR_MS), USD, False, "none", "flow stopped 3 h ago", False),
        (Finding(), USD, False, "–", "not enough data", False),
    ],
)
def test_what_the_number_says(
    finding: Finding, price: Price | None, never_rests: bool, value: str, note: str, low: bool
) -> None:
    told = KpiContext(US, DENVER, NOON + HOUR_MS)
    kpi = kpis.continuous(finding, price, told, never_rests=never_rests)
    assert kpi.label == ("Continuous flow" if never_rests else "Leak")
    assert (kpi.value, kpi.note, kpi.low) == (value, note, low)


def test_the_evidence_names_its_start_its_sum_and_what_is_only_an_upper_bound() -> None:
    kpi = kpis.continuous(Finding(RUN), USD, KpiContext(METRIC, DENVER, NOON))
    assert kpi.value == "204 L/h"
    assert "since Sat 14 Nov 2026, 05:00 MST, 30.1 m³ in total" in kpi.at
    assert "up to 4.91 m³ a day may be lost" in kpi.at
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


@pytest.mark.parametrize(
    ("gallons", "main"),
    [
        ([400.0] * 31 * 24, True),  # a district: water day and night, for weeks
        ([60.0] * 31 * 24, False),  # a leak of 60 gallons an hour, however long
        ([400.0] * 10 * 24, False),  # too short to be known as a main
        ([0.0] * 60 + [400.0] * (31 * 24 - 60), False),  # it rested within the window
    ],
)
def test_a_main_that_supplies_many_is_no_leak(gallons: list[float], main: bool) -> None:
    start = NOON - len(gallons) * HOUR_MS
    finding = continuous.find([(start + n * HOUR_MS, each) for n, each in enumerate(gallons)])
    assert finding.main is main
    told = kpis.continuous(finding, None, KpiContext(US, zone("UTC"), NOON))
    assert told.low is not main
    assert ("as a main does" in told.note) is main
