"""US units and metric ones."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final

import pytest

from api.catalog import (
    FLOW_AMOUNT,
    FLOW_RATE,
    ONBOARD_TEMPERATURE,
    QUALITY,
    SIGNAL_STRENGTH,
    Metric,
)
from api.metering.units import LARGE, METRIC_UNITS, shown_unit, words_in
from components import session
from components.alerts.forms import definition
from components.devices.queries import read_listing, write_listing
from components.finding_text import sentence
from components.findings.queries import read_findings_view, typed_values, write_findings_view
from components.fleet.queries import read_fleet_view, write_fleet_view
from components.report.queries import read_report_view, write_report_view
from components.units import METRIC, UNITS, US, Units
from components.url_state import read_shown, read_view, units_param, write_shown, write_view
from components.usage.url_state import (
    read_compare_view,
    read_usage_view,
    write_compare_view,
    write_usage_view,
)
from tests.tables import cases


@cases(
    ("units", "value", "text"),
    [
        (US, 412.4, "412"), (US, 2.8, "2.8"), (US, 0.0456, "0.0456"), (US, None, "–"), (US, 0, "0"),
        (METRIC, 1.0, "3.79"), (METRIC, 100.0, "379"), (METRIC, None, "–"), (METRIC, -1.0, "−3.79"),
    ],
)  # fmt: skip
def test_flow(units: Units, value: float | None, text: str) -> None:
    assert units.flow(value) == text


@cases(
    ("units", "value", "text"),
    [
        (US, 186_402.0, "186,402 gal"), (US, None, "–"), (METRIC, None, "–"),
        (METRIC, 1.0, "3.79 L"), (METRIC, 264.172, "1,000 L"), (METRIC, 264.18, "1 m³"),
        (METRIC, 186_402.0, "706 m³"), (METRIC, -5000.0, "−18.9 m³"),
    ],
)  # fmt: skip
def test_volume(units: Units, value: float | None, text: str) -> None:
    assert units.volume(value) == text


@cases(
    ("units", "value", "metric", "text"),
    [
        (US, 9.81, FLOW_RATE, "9.81 gal/min"), (METRIC, 9.81, FLOW_RATE, "37.1 L/min"),
        (US, 2_000_000, FLOW_AMOUNT, "2,000 kgal"), (METRIC, 2_000, FLOW_AMOUNT, "7.57 m³"),
        (US, -97, SIGNAL_STRENGTH, "−97 dBm"), (METRIC, 94, QUALITY, "94 %"),
        (US, None, FLOW_RATE, "–"),
    ],
)  # fmt: skip
def test_quantities_have_their_unit(
    units: Units, value: float | None, metric: Metric, text: str
) -> None:
    assert units.quantity(value, metric) == text


@cases(
    ("units", "largest", "unit", "one_thousand"),
    [
        (US, 900.0, "gal", 1000), (US, 5e6, "kgal", 1), (US, 5e9, "Mgal", 0.001),
        (METRIC, 100.0, "L", 3785.411784), (METRIC, 900.0, "m³", 3.785411784),
    ],
)  # fmt: skip
def test_an_axis_of_volumes_has_the_unit_of_its_largest(
    units: Units, largest: float, unit: str, one_thousand: float
) -> None:
    scale = units.scale(FLOW_AMOUNT, largest)
    assert scale.unit == unit
    assert scale.factor * 1000 == pytest.approx(one_thousand)


def test_temperatures_follow_the_units() -> None:
    assert US.quantity(20.0, ONBOARD_TEMPERATURE) == "68 °F"
    assert METRIC.quantity(20.0, ONBOARD_TEMPERATURE) == "20 °C"


# --- Forms ----------------------------------------------------------------------------------------


@cases(
    ("unit", "typed", "stored"),
    [
        ("gal/min", 100.0, 26.417205), ("gal/h", 4.0, 1.056688), ("gal/day", 40.0, 10.566882),
        ("gal", 0.5, 0.132086), (LARGE, 12_345.678, 3_261_383.095013),
        ("per gallon", 3.5, 0.013249), ("per gallon", 0.000001, 0.0), ("°C", 4.2, 4.2),
    ],
)  # fmt: skip
def test_a_number_is_shown_as_it_was_typed(unit: str, typed: float, stored: float) -> None:
    metric = shown_unit(unit, "metric")
    assert metric.stored(typed) == pytest.approx(stored, abs=1e-6)
    assert metric.shown(metric.stored(typed)) == typed
    assert float(metric.text(metric.stored(typed))) == typed
    assert shown_unit(unit, "us").shown(typed) == typed


@pytest.mark.parametrize("unit", METRIC_UNITS)
def test_numbers_of_six_decimals_return(unit: str) -> None:
    metric = shown_unit(unit, "metric")
    for typed in (k / 10**d for k in (1, 7, 29, 333, 12_347) for d in range(7)):
        assert metric.shown(metric.stored(typed)) == typed


def test_settings_of_findings_are_read_in_the_units_of_their_form() -> None:
    values = {"limit": "37.85411784", "critical_after": "24", "factor": None}
    assert typed_values("continuous-flow", values, "metric") == values | {
        "limit": "10.000000000000"
    }
    assert typed_values("continuous-flow", values, "us") == values
    assert typed_values("continuous-flow", {"limit": "low"}, "metric") == {"limit": "low"}


@cases(
    ("units", "metric", "limit"),
    [
        ("us", "flow_rate", 40.0), ("metric", "flow_rate", 10.566882),
        ("metric", "quality", 40.0), ("metric", "onboard_temperature", 40.0),
    ],
)  # fmt: skip
def test_a_rules_limit_is_read_in_the_units_of_its_form(
    units: str, metric: str, limit: float
) -> None:
    fields = {"source": ["value"], "metric": [metric], "limit": ["40"], "units": [units]}
    assert definition(fields)["limit"] == pytest.approx(limit, abs=1e-6)


# --- Whose units ----------------------------------------------------------------------------------


@cases(
    ("organization", "address", "units"),
    [
        ("us", None, US), ("us", "us", US), ("us", "metric", METRIC), ("us", "imperial", US),
        ("metric", None, METRIC), ("metric", "us", US), ("metric", "metric", METRIC),
        ("metric", "imperial", METRIC), ("", None, US), ("", "metric", METRIC),
    ],
)  # fmt: skip
def test_the_address_comes_before_the_organization(
    monkeypatch: pytest.MonkeyPatch, organization: str, address: str | None, units: Units
) -> None:
    monkeypatch.setattr(session, "organization_units", lambda: organization)
    assert units_param({"units": address}) is units


WINDOW: Final = {"from": "2026-03-01T00:00:00Z", "to": "2026-03-02T00:00:00Z"}
ADDRESSES: Final[dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]]] = {
    "device": (read_view, write_view),
    "what a chart shows": (read_shown, write_shown),
    "fleet": (read_fleet_view, write_fleet_view),
    "findings": (read_findings_view, write_findings_view),
    "usage": (read_usage_view, write_usage_view),
    "compare": (read_compare_view, write_compare_view),
    "report": (read_report_view, write_report_view),
    "devices": (read_listing, write_listing),
}


@pytest.mark.parametrize("name", ADDRESSES)
def test_every_address_leads_back_to_the_units_it_was_written_of(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Also to gallons where the organization has cubic metres, and without units where it has
    them: such a link shows each organization's own."""
    read, write = ADDRESSES[name]
    for organization in ("us", "metric"):
        monkeypatch.setattr(session, "organization_units", lambda: organization)  # noqa: B023
        for units in (None, *(each.name for each in UNITS)):
            written = write(read({**WINDOW, "units": units}))
            chosen = units or organization
            assert written["units"] == (chosen if chosen != organization or "request_id" in written
                                        else None)  # fmt: skip
            assert write(read({**WINDOW, **written})) == written


@cases(
    ("text", "metric"),
    [
        ("Never below 54.4 gal/h since Mon 16 Nov, 03:00",
         "Never below 206 L/h since Mon 16 Nov, 03:00"),
        ("Up to 12.0 gal/min, limit 35 gal/min", "Up to 45.4 L/min, limit 132 L/min"),
        ("Night flow is 0.54 gal/min above usual, up to 1,778 gal a day, from",
         "Night flow is 2.04 L/min above usual, up to 6.73 m³ a day, from"),
        ("The register fell by 3,000 gal at noon.", "The register fell by 11.4 m³ at noon."),
        ("-5 gal exceed the month's budget of 1 gal.",
         "-18.9 L exceed the month's budget of 3.79 L."),
        ("No reading for 3 h. 16 galleries.", "No reading for 3 h. 16 galleries."),
        ("1e+06 gal", "1e+06 gal"),
    ],
)  # fmt: skip
def test_a_sentence_of_the_service_is_converted(text: str, metric: str) -> None:
    assert words_in(text, "us") == text
    assert words_in(text, "metric") == metric


def test_the_sentence_of_a_finding_has_the_units_of_the_page() -> None:
    """In tooltips and labels, on every page."""
    finding: Any = SimpleNamespace(words="Never below 54.4 gal/h")
    assert [sentence(finding, units) for units in UNITS] == [
        "Never below 54.4 gal/h",
        "Never below 206 L/h",
    ]
