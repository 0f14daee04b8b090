"""The forecast of the month's end for one or several devices, as text."""

from __future__ import annotations

import pytest

from api.client import Amounts, MonthEnd
from api.metering.forecast import Interval
from components.units import METRIC, US
from components.usage.sections import month_total

ONE = MonthEnd(
    "2026-11",
    Amounts(62_410.0, 88_900.0, Interval(85_200.0, 93_100.0, 82_000.0, 97_000.0)),
    Amounts(748.92, 1_066.8, None),
    "USD",
)
EARLY = MonthEnd("2026-11", Amounts(10.0, None, None), None, "")


@pytest.mark.parametrize(
    ("results", "value", "note"),
    [
        ([ONE], "88,900 gal", "85,200 gal – 93,100 gal · $1,066.80"),
        ([ONE, ONE], "177,800 gal", "$2,133.60"),  # not the sum of the devices' intervals
        ([ONE, EARLY], "–", "too early to say"),
    ],
)
def test_one_device_has_its_interval_and_several_their_sum(
    results: list[MonthEnd], value: str, note: str
) -> None:
    total = month_total(results, US)
    assert total is not None
    assert (total.value, total.note) == (value, note)


def test_without_a_forecast_there_is_no_text() -> None:
    assert month_total([], METRIC) is None
