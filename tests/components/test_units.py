"""Gallons, or litres and cubic metres."""

from __future__ import annotations

import pytest

from api.catalog import (
    FLOW_AMOUNT,
    FLOW_RATE,
    ONBOARD_TEMPERATURE,
    QUALITY,
    SIGNAL_STRENGTH,
    Metric,
)
from components.units import METRIC, US, Units
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
def test_quantities_carry_their_unit(
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


def test_degrees_go_with_the_units() -> None:
    assert US.quantity(20.0, ONBOARD_TEMPERATURE) == "68 °F"
    assert METRIC.quantity(20.0, ONBOARD_TEMPERATURE) == "20 °C"
