"""What points and charts say."""

from __future__ import annotations

import re

from api.catalog import FLOW_RATE, QUALITY, RAW, RESOLUTION_BY_NAME, Metric
from api.client import Series
from api.timez import zone
from components import hovers
from components.frames import Frame, frame
from components.ranges import Window
from tests.components.rows import NOON
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


def spoken(made: Frame) -> list[str]:
    """The lines of the first point, as a reader sees them."""
    text = hovers.template(made, "#000").removesuffix("<extra></extra>")
    text = text.replace("%{text}", hovers.titles(made, DENVER)[0])
    for index, detail in enumerate(hovers.details(made)[0]):
        text = text.replace(f"%{{customdata[{index}]}}", detail)
    assert "%{" not in text
    return [re.sub("<[^>]+>", "", line) for line in text.split("<br>")]


def test_a_bucket_says_span_average_range_volume_and_quality() -> None:
    series = Series(RESOLUTION_BY_NAME["10min"], [START], COLUMNS)
    assert spoken(framed(series)) == [
        "Mon 16 Nov 2026, 21:40–21:50 MST",
        "average 9.81 gal/min",
        "range 6.9–12.6 gal/min",
        "volume 98.1 gal · quality 91–97",
    ]
    assert spoken(framed(series, QUALITY))[1:3] == ["average 94.2 %", "range 91–97 %"]


def test_a_bucket_leaves_out_what_it_does_not_know() -> None:
    known = {name: [None] if "quality" in name else v for name, v in COLUMNS.items()}
    series = Series(RESOLUTION_BY_NAME["10min"], [START], known)
    assert spoken(framed(series))[3] == "volume 98.1 gal"


def test_a_reading_says_its_second_and_what_it_stands_for() -> None:
    columns = {
        "flow_rate": [1.98],
        "flow_amount": [33.84],
        "flow_duration": [948.0],
        "quality": [94.0],
    }
    assert spoken(framed(Series(RAW, [START + 7_000], columns))) == [
        "Mon 16 Nov 2026, 21:40:07 MST",
        "1.98 gal/min",
        "volume 33.8 gal over 15 min · quality 94",
    ]


def test_no_rows_say_nothing() -> None:
    empty = frame(Series(RAW, [], {}), FLOW_RATE, Window(NOON, NOON + 1_000), tz=DENVER)
    assert hovers.titles(empty, DENVER) == []
    assert hovers.summary(empty, DENVER) == "1 s: no data."


def test_a_chart_in_one_sentence() -> None:
    series = Series(RESOLUTION_BY_NAME["10min"], [START], COLUMNS)
    assert hovers.summary(framed(series), DENVER) == (
        "1 d: 98.1 gal, peak 12.6 gal/min at Mon 16 Nov 2026, 21:40 MST."
    )
