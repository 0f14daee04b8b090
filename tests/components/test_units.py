"""Gallons, or litres and cubic metres."""

from __future__ import annotations

import pytest

from components.units import METRIC, US, Units


@pytest.mark.parametrize(
    ("units", "value", "text"),
    [
        (US, 412.4, "412"), (US, 2.8, "2.8"), (US, 0.0456, "0.0456"), (US, None, "–"), (US, 0, "0"),
        (METRIC, 1.0, "3.79"), (METRIC, 100.0, "379"), (METRIC, None, "–"), (METRIC, -1.0, "−3.79"),
    ],
)  # fmt: skip
def test_flow(units: Units, value: float | None, text: str) -> None:
    assert units.flow(value) == text


@pytest.mark.parametrize(
    ("units", "value", "text"),
    [
        (US, 186_402.0, "186,402 gal"), (US, None, "–"), (METRIC, None, "–"),
        (METRIC, 1.0, "3.79 L"), (METRIC, 264.172, "1,000 L"), (METRIC, 264.18, "1 m³"),
        (METRIC, 186_402.0, "706 m³"), (METRIC, -5000.0, "−18.9 m³"),
    ],
)  # fmt: skip
def test_volume(units: Units, value: float | None, text: str) -> None:
    assert units.volume(value) == text
