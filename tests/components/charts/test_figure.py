"""Figures: what is drawn where, and that nothing is drawn without data."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.catalog import FLOW_RATE, HOUR_MS, MINUTE_MS
from api.client import Series
from api.timez import parse_instant, zone
from components.charts import figure as charts_figure
from components.charts.frames import NO_DATA, Frame, MarkedSpan, frame, largest, rounded
from components.charts.marks import Mark
from components.charts.traces import Canvas, Picture
from components.ranges import Window
from components.theme import DARK, LIGHT
from tests.components.rows import NOON, buckets, holey_series, raw

DENVER = zone("America/Denver")
Figure = dict[str, Any]


def drawn(series: Series, window: Window | None = None, width_px: int = 1_000) -> Figure:
    made, canvas = framed(series, window, width_px)
    return charts_figure.figure(pictured(made), canvas)


def pictured(made: Frame) -> Picture:
    return Picture(made, marked_spans=[MarkedSpan(gap, NO_DATA) for gap in made.gaps])


def framed(
    series: Series, window: Window | None = None, width_px: int = 1_000
) -> tuple[Frame, Canvas]:
    window = window or Window(series.times_ms[0], series.times_ms[-1] + HOUR_MS)
    made = frame(series, FLOW_RATE, window, tz=DENVER, cadence_ms=MINUTE_MS)
    return made, Canvas(window, DENVER, width_px, LIGHT)


def trace(figure: Figure, name: str) -> Figure:
    return next(each for each in figure["data"] if each["name"] == name)


def pieces(each: Figure) -> list[list[tuple[int, float]]]:
    """A trace's points as (epoch ms, value), split at its nulls."""
    results: list[list[tuple[int, float]]] = [[]]
    for x, y in zip(each["x"], each["y"], strict=True):
        if x is None:
            results.append([])
        else:
            results[-1].append((parse_instant(x), y))
    return [piece for piece in results if piece]


def test_gaps_with_a_spread_volume_are_hatched_in_one_trace() -> None:
    made, canvas = framed(buckets("10min", [NOON + n * 600_000 for n in range(12)], range(12)))
    spans = [Window(NOON, NOON + 3 * HOUR_MS), Window(NOON + 4 * HOUR_MS, NOON + 9 * HOUR_MS)]
    figure = charts_figure.figure(Picture(made, spread=spans), canvas)
    hatched = trace(figure, "spread over a gap")
    assert [(min(piece)[0], max(piece)[0]) for piece in pieces(hatched)] == [
        tuple(s) for s in spans
    ]
    assert hatched["fillpattern"]["shape"] == "\\"
    assert [each[:2] for each in hatched["meta"]["findings"]] == [list(s) for s in spans]
    labels = [label["text"] for label in figure["layout"]["annotations"]]
    assert "spread over 3 h" in labels
    go.Figure(figure)


@pytest.mark.parametrize(
    ("severity", "expected"), [("warning", "⬖ Leak"), ("notice", "spread over 2 h")]
)
def test_a_spread_volume_is_labelled_before_a_notice_and_after_a_warning(
    severity: str, expected: str
) -> None:
    made, canvas = framed(buckets("10min", [NOON + n * 600_000 for n in range(12)], range(12)))
    place = Window(NOON, NOON + 2 * HOUR_MS)
    narrow = replace(canvas, width_px=130)  # room for one label
    mark = Mark(*place, severity, "Leak", "since noon")
    figure = charts_figure.figure(Picture(made, spread=[place], marks=[mark]), narrow)
    labels = [re.sub("<.*?>", "", label["text"]) for label in figure["layout"]["annotations"]]
    assert labels == [expected]


@given(holey_series())
def test_the_peak_never_vanishes(series: Series) -> None:
    """The band's top over the drawn rows is their maximum, to what an eye can see."""
    band = trace(drawn(series), "min–max")
    highs = [v for v in series.columns["max_flow_rate"] if v is not None]
    lows = [v for v in series.columns["min_flow_rate"] if v is not None]
    shown = [y for y in band["y"] if y is not None]
    if not highs:
        assert shown == []
        return
    scale = largest(series.columns["max_flow_rate"], series.columns["min_flow_rate"])
    assert max(shown) == rounded([max(highs)], scale)[0]
    assert min(shown) == rounded([min(lows)], scale)[0]


@given(holey_series())
def test_neither_band_nor_line_crosses_a_gap(series: Series) -> None:
    made, canvas = framed(series)
    figure = charts_figure.figure(pictured(made), canvas)
    for name in ("min–max", "Flow rate"):
        for piece in pieces(trace(figure, name)):
            first, last = min(piece)[0], max(piece)[0]
            for gap in made.gaps:
                assert last <= gap.from_ms or first >= gap.to_ms, name


@given(holey_series())
def test_each_run_covers_its_time_exactly(series: Series) -> None:
    made, canvas = framed(series)
    lines = pieces(trace(charts_figure.figure(pictured(made), canvas), "Flow rate"))
    assert len(lines) == len(made.runs)
    for line, run in zip(lines, made.runs, strict=True):
        assert line[0][0] == made.starts_ms[run[0]]
        assert line[-1][0] == made.ends_ms[run[-1]]
        assert [at for at, _ in line] == sorted(at for at, _ in line)
        assert len(line) == len(run) + 2


@given(holey_series(), st.sampled_from([284, 1_000, 2_400]))
def test_plotly_takes_every_figure(series: Series, width_px: int) -> None:
    figure = drawn(series, width_px=width_px)
    go.Figure(figure)  # raises for a name or a value that plotly.js doesn't know


def test_instants_are_naive_utc_text() -> None:
    """Plotly.js would shift any other form into the browser's zone."""
    figure = drawn(buckets("10min", [NOON, NOON + 600_000], [1, 2]))
    assert trace(figure, "Flow rate")["x"] == [
        "2026-11-16T12:00:00",
        "2026-11-16T12:05:00",
        "2026-11-16T12:15:00",
        "2026-11-16T12:20:00",
        None,
    ]
    axis = figure["layout"]["xaxis"]
    assert axis["range"] == ["2026-11-16T12:00:00", "2026-11-16T13:10:00"]
    assert figure["layout"]["meta"]["window"] == axis["range"]
    assert all(isinstance(x, str) and "Z" not in x for x in axis["tickvals"])
    assert len(axis["tickvals"]) == len(axis["ticktext"])


def test_a_single_bucket_has_its_width_and_a_dot_if_that_is_too_narrow() -> None:
    series = buckets("1min", [NOON, NOON + 6 * HOUR_MS], [4, 5])
    wide = drawn(series, Window(NOON, NOON + 24 * HOUR_MS))
    assert [len(piece) for piece in pieces(trace(wide, "min–max"))] == [6, 6]
    assert trace(wide, "lone")["x"] == ["2026-11-16T12:00:30", "2026-11-16T18:00:30"]
    assert trace(wide, "lone")["y"] == [4, 5]
    near = drawn(series, Window(NOON, NOON + 10 * MINUTE_MS))
    assert trace(near, "lone")["x"] == []


def test_raw_rows_have_no_band() -> None:
    figure = drawn(raw([NOON, NOON + 1_250], [1.0, 2.0]))
    assert trace(figure, "min–max")["x"] == []
    assert trace(figure, "Flow rate")["x"][1] == "2026-11-16T12:00:00.000"
    assert trace(figure, "Flow rate")["x"][2] == "2026-11-16T12:00:01.250"


def test_a_gap_is_shaded_and_labelled_with_its_length() -> None:
    starts = [NOON, NOON + 600_000, NOON + 600_000 * 38]
    figure = drawn(buckets("10min", starts, [1, 2, 3]), Window(NOON, NOON + 24 * HOUR_MS))
    assert pieces(trace(figure, "no data"))[0] == [
        (NOON + 20 * MINUTE_MS, 0),
        (NOON + 380 * MINUTE_MS, 0),
        (NOON + 380 * MINUTE_MS, 1),
        (NOON + 20 * MINUTE_MS, 1),
    ]
    texts = [label["text"] for label in figure["layout"]["annotations"]]
    assert texts == ["no data 17 h 30 min", "no data 6 h"]


@given(
    st.lists(st.tuples(st.integers(0, 9_999), st.integers(1, 500)), max_size=80),
    st.integers(250, 2_000),
)
def test_labels_of_gaps_never_cover_each_other(spans: list[tuple[int, int]], width_px: int) -> None:
    window = Window(NOON, NOON + 10_000 * MINUTE_MS)
    gaps = [Window(NOON + a * MINUTE_MS, NOON + (a + n) * MINUTE_MS) for a, n in spans]
    canvas = Canvas(window, DENVER, width_px, LIGHT)
    labels, _ = charts_figure.gap_labels([MarkedSpan(gap, NO_DATA) for gap in gaps], canvas)
    px = width_px / window.length_ms
    at = sorted((parse_instant(label["x"]) - NOON) * px for label in labels)
    assert len(labels) <= charts_figure.MAX_LABELS
    assert all(b - a > charts_figure.LABEL_PX - 1 for a, b in pairwise(at))
    assert all(
        charts_figure.LABEL_PX / 2 - 1 <= x <= width_px - charts_figure.LABEL_PX / 2 + 1 for x in at
    )
    assert bool(labels) == any(gap.length_ms * px >= charts_figure.LABELLED_PX for gap in gaps)


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_colours_come_from_the_palette(palette: Any) -> None:
    series = buckets("10min", [NOON, NOON + 600_000], [1, 2])
    made, canvas = framed(series)
    figure = charts_figure.figure(pictured(made), Canvas(canvas.window, DENVER, 1_000, palette))
    assert trace(figure, "Flow rate")["line"]["color"] == palette.accent
    assert trace(figure, "min–max")["fillcolor"] == palette.band
    assert figure["layout"]["plot_bgcolor"] == "rgba(0,0,0,0)"


def test_the_first_layout_is_final() -> None:
    """Margins and axis equal those of the drawn chart; otherwise the first reply would change the
    plot's width."""
    made, canvas = framed(buckets("10min", [NOON, NOON + 600_000], [1, 2]))
    before, after = (
        charts_figure.blank(canvas)["layout"],
        charts_figure.layout(pictured(made), canvas),
    )
    assert before["margin"] == after["margin"]
    assert before["xaxis"]["range"] == after["xaxis"]["range"]
    assert not after["yaxis"]["automargin"]
    assert before["yaxis"]["fixedrange"]
    go.Figure(charts_figure.blank(canvas))


@given(holey_series(), st.integers(-10, 80), st.integers(1, 60))
def test_the_scale_holds_every_visible_peak(series: Series, start: int, length: int) -> None:
    made, _ = framed(series)
    step = series.resolution.fixed_ms
    window = Window(NOON + start * step, NOON + (start + length) * step)
    low, high = charts_figure.y_range(pictured(made), window)
    assert low < high
    for at, bottom, top in zip(made.starts_ms, made.low, made.high, strict=True):
        if at <= window.to_ms and at + step > window.from_ms and top is not None:
            assert bottom is not None
            assert low <= bottom <= top <= high


def test_a_peak_outside_the_window_does_not_flatten_the_chart() -> None:
    starts = [NOON + i * 600_000 for i in range(30)]
    made, _ = framed(buckets("10min", starts, [500.0, *[2.0] * 29], reach=0.5))
    low, high = charts_figure.y_range(pictured(made), Window(starts[10], starts[20]))
    assert (low, high) == (0, pytest.approx(2.5 * 1.05))
    assert charts_figure.y_range(pictured(made), Window(starts[0], starts[20]))[1] > 500


def test_the_axis_has_its_metric_and_unit() -> None:
    figure = drawn(buckets("10min", [NOON], [1]))
    assert figure["layout"]["yaxis"]["title"]["text"] == "Flow rate, gal/min"


@pytest.mark.parametrize(("width_px", "dragmode"), [(284, False), (400, "zoom"), (1_310, "zoom")])
def test_dragging_on_a_phone_scrolls(width_px: int, dragmode: object) -> None:
    figure = drawn(buckets("10min", [NOON], [1]), width_px=width_px)
    assert figure["layout"]["dragmode"] == dragmode
