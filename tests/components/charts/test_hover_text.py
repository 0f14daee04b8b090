"""The hover texts of points, and a chart's description."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.catalog import FLOW_AMOUNT, FLOW_RATE, RAW, RESOLUTION_BY_NAME, Metric
from api.client import Series
from api.timez import zone
from components.charts import labels
from components.charts.frames import Frame, frame
from components.ranges import Window
from components.units import UNITS, US, Units
from tests.components.rows import NOON
from tests.tables import cases
from tests.world import ms

DENVER = zone("America/Denver")
START = ms("2026-11-17T04:40Z")
COLUMNS = {
    "avg_flow_rate": [9.812],
    "min_flow_rate": [6.9],
    "max_flow_rate": [12.6],
    "total_flow_amount": [98.12],
    "min_quality": [91.0],
    "max_quality": [97.0],
    "avg_quality": [94.2],
}


def framed(series: Series, metric: Metric = FLOW_RATE) -> Frame:
    first = series.times_ms[0]
    return frame(series, metric, Window(first, first + 86_400_000 - 1), tz=DENVER)


def hover(series: Series, metric: Metric = FLOW_RATE, units: Units = US) -> dict[str, Any]:
    return labels.hover_data(framed(series, metric), DENVER, units)


def test_a_bucket_has_volume_and_quality() -> None:
    result = hover(Series(RESOLUTION_BY_NAME["10min"], [START], COLUMNS))
    assert result["length_ms"] == 600_000
    assert result["range"] is True
    assert (result["volume"], result["worst"], result["best"]) == ([98.12], [91.0], [97.0])
    assert "seconds" not in result
    assert [(offset, name) for _, offset, name in result["clock"]] == [(-7 * 3_600_000, "MST")]


def test_a_bucket_leaves_out_missing_values() -> None:
    fields = {name: v for name, v in COLUMNS.items() if "quality" not in name}
    result = hover(Series(RESOLUTION_BY_NAME["10min"], [START], fields))
    assert not {"worst", "best"} & result.keys()


def test_a_volume_is_not_repeated() -> None:
    result = hover(Series(RESOLUTION_BY_NAME["1hour"], [START], COLUMNS), FLOW_AMOUNT)
    assert result["range"] is False
    assert "volume" not in result


def test_a_reading_has_its_own_volume() -> None:
    columns = {
        "flow_rate": [1.98],
        "flow_amount": [33.84],
        "flow_duration": [948.0],
        "quality": [94.0],
    }
    result = hover(Series(RAW, [START + 7_000], columns))
    assert (result["length_ms"], result["range"], result["seconds"]) == (0, False, [948.0])
    assert result["worst"] == result["best"] == [94.0]


def test_rows_that_are_not_drawn_have_no_text() -> None:
    columns = {
        "avg_flow_rate": [1.0, None, 3.0],
        "min_flow_rate": [1.0, None, 3.0],
        "max_flow_rate": [1.0, None, 3.0],
        "total_flow_amount": [10.0, 20.0, 1 / 3],
    }
    starts = [START + 600_000 * i for i in range(3)]
    assert hover(Series(RESOLUTION_BY_NAME["10min"], starts, columns))["volume"] == [10.0, 0.333333]


def test_days_have_their_names() -> None:
    midnights = [ms("2026-11-16T07:00Z"), ms("2026-11-17T07:00Z")]
    columns = {name: values * 2 for name, values in COLUMNS.items()}
    result = hover(Series(RESOLUTION_BY_NAME["day"], midnights, columns))
    assert result["titles"] == ["Mon 16 Nov 2026", "Tue 17 Nov 2026"]


@pytest.mark.parametrize("units", UNITS, ids=lambda units: units.name)
@given(gallons=st.floats(-1e10, 1e10))
def test_units_of_volume_change_at_the_same_values(units: Units, gallons: float) -> None:
    _, per, unit = next(step for step in units.volume_steps if abs(gallons) >= step[0])
    assert units.volume(gallons).endswith(f" {unit}")
    size = float(units.volume(gallons).split(" ")[0].replace(",", "").replace("−", "-"))
    assert size == pytest.approx(gallons / per, rel=0.006, abs=1e-6)


def test_no_rows_have_no_text() -> None:
    empty = frame(Series(RAW, [], {}), FLOW_RATE, Window(NOON, NOON + 1_000), tz=DENVER)
    assert labels.hover_data(empty, DENVER)["clock"] == []
    assert labels.summary(empty, DENVER) == "1 s: no data."


@cases(
    ("later_ms", "length_ms", "volume"),
    [
        (0, 86_400_000, "98.1 gal"),
        (0, 600_000, "98.1 gal"),
        (1, 86_400_000, "about 98.1 gal"),  # a part of the row's gallons lies outside the window
        (0, 599_999, "about 98.1 gal"),
    ],
)
def test_a_chart_in_one_sentence(later_ms: int, length_ms: int, volume: str) -> None:
    series = Series(RESOLUTION_BY_NAME["10min"], [START], COLUMNS)
    window = Window(START + later_ms, START + later_ms + length_ms - 1)
    made = frame(series, FLOW_RATE, window, tz=DENVER)
    _, _, hover = labels.summary(made, DENVER).partition(": ")
    assert hover == f"{volume}, peak 12.6 gal/min at Mon 16 Nov 2026, 21:40 MST."
