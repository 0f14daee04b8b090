"""The card of the coming week: its intervals end where none is known."""

from __future__ import annotations

import pytest

from api.metering.forecast import ForecastHour, Interval
from api.timez import HOUR_MS, zone
from components.device.volume_cards import forecast_card, forecast_note
from components.units import US
from tests.tables import cases

BOUNDS = Interval(1.0, 3.0, 0.0, 4.0)


def hours(pattern: str) -> list[ForecastHour]:
    """``pattern``: for each hour "x" with an interval, "." without."""
    return [
        ForecastHour(index * HOUR_MS, 2.0, BOUNDS if each == "x" else None)
        for index, each in enumerate(pattern)
    ]


@cases(
    ("pattern", "polygons"),
    [("xxxx", 1), ("xx..xx", 2), ("x.x.x", 3), ("...x", 1), ("....", 0)],
)
def test_a_band_ends_where_no_interval_is_known(pattern: str, polygons: int) -> None:
    figure, *_ = forecast_card(hours(pattern), US, zone("UTC"))
    band = figure.to_plotly_json()["props"]["data-band80"]
    assert (band.count("M"), band.count("Z")) == (polygons, polygons)


@pytest.mark.parametrize(
    ("pattern", "words"),
    [("xx", "95 %"), ("x.", "95 % where enough forecasts could be judged"), ("..", "by the hour")],
)
def test_the_note_says_where_intervals_are(pattern: str, words: str) -> None:
    assert forecast_note(hours(pattern)).endswith(words)
