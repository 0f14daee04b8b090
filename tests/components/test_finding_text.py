"""A finding's numbers as text, their sums, and its chart's axis."""

from __future__ import annotations

from dataclasses import replace

import pytest

from api.client.findings import Finding
from components import finding_text
from components.directory_queries import Directory
from components.findings.detail import axis
from components.findings.queries import FindingsView, read_findings_view, write_findings_view
from components.units import METRIC, US, Units
from tests.tables import cases

LEAK = Finding(
    id="f1", device_id="d1", serial_number="FM-1", kind="continuous-flow", severity="warning",
    state="open", start_ms=0, end_ms=None, opened_ms=86_400_000, value=54.4, unit="gal/h",
    usual=None, gallons=8203.0, cost_per_day=15.67, words="Has not dropped below 54.4 gal/h",
)  # fmt: skip
STEP = replace(LEAK, kind="night-flow-step", value=0.84, unit="gal/min", cost_per_day=14.52)
BURST = replace(LEAK, kind="burst", value=312.0, cost_per_day=89.86)
SILENT = replace(
    LEAK, kind="silent", value=52.0, unit="h", gallons=None, cost_per_day=None, words="Silent"
)
NO_DEVICES = Directory(0, (), {}, None, ())


@cases(
    ("value", "unit", "units", "text"),
    [
        (54.4, "gal/h", US, "54.4 gal/h"),
        (54.4, "gal/h", METRIC, "206 L/h"),
        (0.84, "gal/min", US, "0.84 gpm"),
        (0.84, "gal/min", METRIC, "3.18 L/min"),
        (9240, "gal", US, "9,240 gal"),
        (52.0, "h", US, "2 d 4 h"),
        (1, "days", US, "1 day"),
        (92.9, "%", US, "92.9%"),
        (-125, "dBm", METRIC, "−125 dBm"),
        (1, "°C", US, "33.8 °F"),
        (1, "°C", METRIC, "1 °C"),
        (None, "gal", US, "–"),
    ],
)
def test_numbers_follow_the_readers_units(
    value: float | None, unit: str, units: Units, text: str
) -> None:
    assert finding_text.quantity(value, unit, units) == text


@cases(
    ("finding", "much"),
    [
        (LEAK, "54.4 gal/h"),
        (BURST, "+312 gal/h"),
        (replace(BURST, kind="unusual-day", unit="gal", value=-9240), "−9,240 gal"),
        (SILENT, "2 d 4 h"),
    ],
)
def test_only_a_difference_has_a_sign(finding: Finding, much: str) -> None:
    assert finding_text.how_much(finding, US) == much


@cases(
    ("results", "stake"),
    [
        ([], ""),
        ([SILENT], ""),  # unknown, which isn't zero
        ([BURST], "$89.86 a day"),
        ([LEAK, SILENT], "at least $15.67 a day"),
        ([STEP, BURST], "up to $104.38 a day"),
        ([LEAK, STEP], "about $30.19 a day"),
    ],
)
def test_an_estimated_sum_gives_its_direction(results: list[Finding], stake: str) -> None:
    assert finding_text.at_stake(results, NO_DEVICES) == stake


def test_without_a_price_there_is_only_volume() -> None:
    unpriced = replace(LEAK, cost_per_day=None)
    assert finding_text.cost(unpriced, NO_DEVICES) == "–"
    assert finding_text.cost_of_gallons(unpriced, NO_DEVICES) == ""
    assert finding_text.so_far(unpriced, US) == "8,203 gal"
    assert finding_text.gallons_a_day(unpriced, NO_DEVICES) == pytest.approx(54.4 * 24)
    assert finding_text.gallons_a_day(SILENT, NO_DEVICES) is None


@cases(
    ("least", "most", "low", "high"),
    [
        (0, 340, 0, 400),
        (90, 340, 0, 400),
        (92, 99, 90, 100),
        (-125, -121, -126, -120),
        (0, 0, 0, 0),
    ],
)
def test_an_axis_ends_at_round_values(least: float, most: float, low: float, high: float) -> None:
    first, last, marks = axis(least, most)
    assert first <= least <= most <= last
    assert marks[0] == pytest.approx(first)
    assert marks[-1] == pytest.approx(last)
    if most > least:
        assert (first, last) == (pytest.approx(low), pytest.approx(high))


@cases(
    ("query", "view"),
    [
        ({}, FindingsView()),
        ({"state": "?", "kind": "x,y", "page": "-1", "severity": "grave"}, FindingsView()),
        ({"kind": "burst,silent,burst"}, FindingsView(kinds=("burst", "silent"))),
        ({"state": "closed", "page": "3"}, FindingsView(state="closed", page=3)),
        ({"page": "999"}, FindingsView(page=20)),
    ],
)
def test_invalid_parameters_of_an_address_are_ignored(
    query: dict[str, str], view: FindingsView
) -> None:
    assert read_findings_view(query) == view
    fields = {name: value for name, value in write_findings_view(view).items() if value}
    assert read_findings_view(fields) == view
