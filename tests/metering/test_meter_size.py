"""Meter sizes in their usual notations, and the largest flow of a meter of that size."""

from __future__ import annotations

import pytest

from api.metering.meter_size import largest_rate
from tests.tables import cases


@cases(
    ("size", "gallons_per_minute"),
    [
        ("Q3 4", 4 * 1.25 * 1000 / 3.785411784 / 60),
        ("DN 20, Q3=2,5", 2.5 * 1.25 * 1000 / 3.785411784 / 60),
        ("DN 20", 30),
        ("dn25", 50),
        ("15 mm", 20),
        ('5/8"', 20),
        ("3/4 in", 30),
        ("5/8 x 3/4", 20),
        ('1"', 50),
        ('1 1/2"', 100),
        ("1-1/2 inch", 100),
        ("2″", 160),
        ("4 in", 750),
        ("DN 65", None),
        ('5/0"', None),
        ("Q3 0", None),
        ("big", None),
        ("", None),
        ("20", None),
    ],
)
def test_a_size_has_a_largest_flow(size: str, gallons_per_minute: float | None) -> None:
    expected = None if gallons_per_minute is None else pytest.approx(gallons_per_minute)
    assert largest_rate(size) == expected
