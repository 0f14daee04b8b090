"""A tile's sparkline as SVG paths."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from api.catalog import FLOW_RATE
from api.timez import zone
from components.charts.frames import frame
from components.fleet.sparklines import Spark, spark
from components.ranges import Window
from tests.components.rows import FLOWS, buckets

TEN = 600_000
START = 1_760_000_400_000 // (4 * TEN) * (4 * TEN)
WINDOW = Window(START, START + 144 * TEN - 1)


def drawn(
    places: Sequence[int], flows: Sequence[float | None], rows: int = 1, reach: float = 0.5
) -> Spark:
    series = buckets("10min", [START + p * TEN for p in places], flows, reach=reach)
    framed = frame(series, FLOW_RATE, WINDOW, tz=zone("UTC"), cadence_ms=60_000)
    return spark(framed, WINDOW, TEN * rows, rows)


def points(path: str) -> list[tuple[int, int]]:
    return [(int(x), int(y)) for x, y in re.findall(r"(-?\d+) (-?\d+)", path)]


def test_a_line_is_at_the_position_of_its_buckets() -> None:
    made = drawn([0, 1, 2], [0.0, 5.0, 10.0], reach=0.0)
    assert made.width == 288
    assert made.line == "M0 96L1 96L3 50L5 4L6 4"
    assert made.peak == 10.0


def test_the_band_goes_there_and_back() -> None:
    made = drawn([4], [2.0], reach=2.0)
    assert made.band == "M8 4L9 4L10 4L10 96L9 96L8 96Z"
    assert made.line == "M8 50L9 50L10 50"


def test_nothing_is_drawn_across_a_gap() -> None:
    made = drawn([0, 1, 10, 11], [1.0, 1.0, 1.0, 1.0])
    assert made.line.count("M") == made.band.count("M") == 2
    assert made.gaps == "M4 0H20V100H4ZM24 0H288V100H24Z"


def test_no_reading_is_one_gap_and_zero_flow_is_a_line_at_the_bottom() -> None:
    none = drawn([], [])
    assert (none.line, none.gaps, none.peak) == ("", "M0 0H288V100H0Z", None)
    quiet = drawn([0, 1], [0.0, 0.0], reach=0.0)
    assert {y for _, y in points(quiet.line)} == {96}
    assert quiet.peak == 0.0


def test_points_that_hold_several_rows_keep_their_extremes() -> None:
    made = drawn(list(range(8)), [1, 1, 1, 9, 1, 1, 1, 1], rows=4, reach=0.0)
    assert made.width == 72
    assert min(y for _, y in points(made.band)) == 4  # the peak of 9 is at the top
    assert len(points(made.line)) == 2 + 2


@given(
    st.lists(st.tuples(st.integers(0, 143), FLOWS), unique_by=lambda p: p[0], max_size=60),
    st.sampled_from([1, 4]),
)
def test_any_rows_stay_inside_the_box(rows: list[tuple[int, float | None]], per_point: int) -> None:
    rows = sorted(rows, key=lambda pair: pair[0])
    made = drawn([p for p, _ in rows], [f for _, f in rows], per_point)
    for x, y in points(made.line + made.band):
        assert 0 <= x <= made.width
        assert 0 <= y <= 100
    highs = [f + 0.5 for _, f in rows if f is not None]
    assert made.peak == (max(highs) if highs else None)


def test_the_typical_line_passes_the_middle_of_each_hour_and_fits_the_box() -> None:
    series = buckets("10min", [START], [5.0], reach=0.0)
    framed = frame(series, FLOW_RATE, WINDOW, tz=zone("UTC"), cadence_ms=60_000)
    hour = 6 * TEN
    usual = [(START, START + hour, 10.0), (START + hour, START + 2 * hour, 0.0)]
    made = spark(framed, WINDOW, TEN, usual=usual)
    assert (made.usual, made.peak) == ("M6 4L18 96", 5.0)
    assert points(made.line)[0] == (0, 50)
    assert made.mark != spark(framed, WINDOW, TEN).mark
