"""The comparison of a chart: its line, its gaps, its text."""

from __future__ import annotations

from api.catalog import HOUR_MS
from api.client import Comparison
from components.charts.traces import Compared, OtherLine, UsualBand, compared_traces
from components.comparison_queries import comparison_name, difference_words
from components.theme import LIGHT
from components.units import METRIC, US
from components.url_state import View, read_view, write_view
from tests.tables import cases


def test_the_other_line_is_broken_where_a_bucket_is_missing() -> None:
    at = [n * HOUR_MS for n in (0, 1, 2, 4, 5)]
    line = OtherLine("Previous day", "gal/min", at, [1.0, None, 2.0, 3.0, 4.0], HOUR_MS)
    (trace,) = compared_traces(Compared(line), LIGHT)
    assert trace["x"] == [0, None, 2 * HOUR_MS, None, 4 * HOUR_MS, 5 * HOUR_MS, None]
    assert trace["y"] == [1.0, None, 2.0, None, 3.0, 4.0, None]


def test_the_band_follows_its_top_and_returns_along_its_bottom() -> None:
    band = UsualBand("gal/min", [0, HOUR_MS], [1.0, 2.0], [3.0, 4.0], [5.0, 6.0], HOUR_MS)
    area, middle = compared_traces(Compared(band=band), LIGHT)
    assert area["x"] == [0, HOUR_MS, HOUR_MS, 0, None]
    assert area["y"] == [5.0, 6.0, 2.0, 1.0, None]
    assert middle["y"] == [3.0, 4.0, None]


@cases(
    ("own", "other", "difference", "percent", "words"),
    [
        (24_918.0, 17_424.0, 7_494.0, 43.0, "+7,494 gal, +43%"),
        (10.0, 40.0, -30.0, -75.0, "−30 gal, −75%"),
        (10.0, 10.4, None, None, "no difference"),
        (10.0, 40.0, None, None, "not enough data to compare"),
        (None, 40.0, None, None, "not enough data to compare"),
    ],
)
def test_a_difference_in_words(
    own: float | None,
    other: float | None,
    difference: float | None,
    percent: float | None,
    words: str,
) -> None:
    result = Comparison(own, other, difference, percent, ())
    assert difference_words(result, View(units=US)) == words


def test_units_are_the_readers() -> None:
    result = Comparison(100.0, 50.0, 50.0, 100.0, ())
    assert difference_words(result, View(units=METRIC)) == "+189 L, +100%"


@cases(
    ("text", "expected", "name"),
    [
        ("week", "week", "Previous week"),
        ("usual", "usual", "Usual"),
        ("device:FM-1", "device:FM-1", "FM-1"),
        ("device:", "", ""),
        ("decade", "", ""),
    ],
)
def test_what_an_address_compares_with(text: str, expected: str, name: str) -> None:
    view = read_view({"compare": text, "usual": "1"})
    assert (view.compare, view.usual) == (expected, True)
    assert comparison_name(view.compare) == name
    assert write_view(view)["compare"] == (expected or None)
