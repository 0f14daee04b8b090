"""A frame as plotly's traces, in plain dicts and lists.

The x values are UTC in naive strings: plotly.js would shift anything else into the browser's zone.
`labels` has the texts of the axis and the points, both in the chosen zone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Final
from zoneinfo import ZoneInfo

from api.timez import stamps
from components.charts import labels
from components.charts.frames import (
    CAUSES,
    LOW_QUALITY,
    NO_DATA,
    Frame,
    MarkedSpan,
    largest,
    rounded,
)
from components.charts.marks import (
    AnnotationMark,
    Mark,
    annotation_traces,
    mark_traces,
    spread_traces,
)
from components.ranges import Window
from components.theme import Palette
from components.units import US, Units

Values = Sequence[float | None]
BAND_OPACITY: Final = "2e"
_BROKEN: Final = 1.5  # in bucket lengths: points further apart aren't joined


@dataclass(frozen=True, slots=True)
class OtherLine:
    """``at_ms``: the middles of the buckets on the chart's own axis. ``levels``: in the chart's
    unit. ``days``: (start on the chart's axis, the other line's date), at each change of date."""

    name: str
    unit: str
    at_ms: Sequence[int]
    levels: Values
    length_ms: int
    days: Sequence[tuple[int, str]] = ()


@dataclass(frozen=True, slots=True)
class UsualBand:
    """Eight of ten days lie between ``low`` and ``high``."""

    unit: str
    at_ms: Sequence[int]
    low: Values
    middle: Values
    high: Values
    length_ms: int


@dataclass(frozen=True, slots=True)
class Compared:
    """``words``: both volumes and their difference, shown below the chart. ``difference``: the
    difference alone."""

    line: OtherLine | None = None
    band: UsualBand | None = None
    words: str = ""
    difference: str = ""
    note: str = ""

    @property
    def levels(self) -> list[Values]:
        lines: list[Values] = [] if self.line is None else [self.line.levels]
        return lines if self.band is None else [*lines, self.band.high, self.band.low]


NOTHING: Final = Compared()


def compared_traces(compared: Compared, palette: Palette) -> list[dict[str, Any]]:
    """The traces. They follow all others, since scripts know those by their index."""
    made: list[dict[str, Any]] = []
    if compared.band is not None:
        made += _band_traces(compared.band, palette)
    if compared.line is not None:
        made.append(_other_trace(compared.line, palette))
    return made


def _other_trace(line: OtherLine, palette: Palette) -> dict[str, Any]:
    x, y = _path(line.at_ms, line.levels, _runs(line.at_ms, line.levels, line.length_ms))
    meta = {"name": line.name, "unit": line.unit, "days": line.days, "length_ms": line.length_ms}
    return {
        "type": "scatter", "name": line.name, "x": x, "y": y, "meta": {"compared": meta},
        "mode": "lines", "connectgaps": False,
        "line": {"width": 1.25, "color": palette.ink_2, "dash": "4px,3px"},
    }  # fmt: skip


def _band_traces(band: UsualBand, palette: Palette) -> list[dict[str, Any]]:
    x: list[int | None] = []
    y: list[float | None] = []
    scale = largest(band.high)
    low, high = rounded(band.low, scale), rounded(band.high, scale)
    runs = _runs(band.at_ms, band.middle, band.length_ms)
    for run in runs:
        there = [band.at_ms[index] for index in run]
        x += [*there, *reversed(there), None]
        y += [*(high[i] for i in run), *(low[i] for i in reversed(run)), None]
    mx, my = _path(band.at_ms, band.middle, runs)
    meta = {
        "unit": band.unit,
        "length_ms": band.length_ms,
        "low": [value for value in low if value is not None],
        "high": [value for value in high if value is not None],
        "at": [at for at, value in zip(band.at_ms, low, strict=True) if value is not None],
    }
    return [
        {
            "type": "scatter", "name": "usual, 10–90 %", "x": x, "y": y, "mode": "lines",
            "fill": "toself", "fillcolor": f"{palette.accent}{BAND_OPACITY}", "line": {"width": 0},
            "meta": {"usual": meta},
        },
        {
            "type": "scatter", "name": "usual", "x": mx, "y": my, "mode": "lines",
            "connectgaps": False,
            "line": {"width": 1, "color": palette.accent, "dash": "1px,3px"},
        },
    ]  # fmt: skip


def _path(
    at_ms: Sequence[int], levels: Values, runs: Sequence[Sequence[int]]
) -> tuple[list[int | None], list[float | None]]:
    x: list[int | None] = []
    y: list[float | None] = []
    values = rounded(levels, largest(levels))
    for run in runs:
        x += [*(at_ms[index] for index in run), None]
        y += [*(values[index] for index in run), None]
    return x, y


def _runs(at_ms: Sequence[int], levels: Values, length_ms: int) -> list[Sequence[int]]:
    """Index ranges of consecutive points with a level; missing points separate them."""
    places = [index for index, level in enumerate(levels) if level is not None]
    if not places:
        return []
    reach = _BROKEN * length_ms
    breaks = [
        place
        for place, (before, after) in enumerate(pairwise(places), 1)
        if at_ms[after] - at_ms[before] > reach
    ]
    return [places[start:end] for start, end in pairwise([0, *breaks, len(places)])]


# --- Lines of a comparison ------------------------------------------------------------------------


Trace = dict[str, Any]

BAR_GAP: Final = 0.12  # of the room for a bar
DOT_PX: Final = 4  # in pixels; shorter runs get a dot, so that they are visible
FAINT: Final = "70"  # the opacity of unremarkable spans
LINE: Final = 2  # the index of the line, or the bars, among the traces; assets/cursor.js has it too


@dataclass(frozen=True, slots=True)
class Canvas:
    """The properties of a drawing: the axis' window, the zone, the plot's inner width, colours,
    units."""

    window: Window
    tz: ZoneInfo
    width_px: int
    palette: Palette
    units: Units = US


@dataclass(frozen=True, slots=True)
class Picture:
    """The contents of a figure: a metric, perhaps a second one, gaps and poor spans, findings.
    ``bars``: totals of buckets, from zero. ``largest``: in the catalog's unit."""

    frame: Frame
    second: Frame | None = None
    marked_spans: Sequence[MarkedSpan] = field(default_factory=tuple)
    bars: bool = False
    largest: float = 0.0
    marks: Sequence[Mark] = ()
    compared: Compared = NOTHING
    annotations: Sequence[AnnotationMark] = ()
    spread: Sequence[Window] = ()


def axis_text(instants_ms: Sequence[int]) -> list[str]:
    """Instants as plotly.js takes them unshifted: UTC, without a zone."""
    fraction = any(t % 1000 for t in instants_ms)
    return [text[:-1] for text in stamps(instants_ms, fraction=fraction)]


def traces(picture: Picture, canvas: Canvas) -> list[Trace]:
    """In drawing order: spans without data, the band, the line or bars (always third), lone points;
    then the second metric, the quality lane and the findings."""
    frame, second = picture.frame, picture.second
    frames = [frame, second] if second else [frame]
    scale = max(largest(each.middle, each.low, each.high) for each in frames)
    palette = canvas.palette
    silent = [s.window for s in picture.marked_spans if s.cause.silent]
    made = [
        _gap_trace(silent, palette),
        _band_trace(frame, scale, palette.band),
        _bar_trace(frame, scale, canvas) if picture.bars else _line_trace(frame, scale, canvas),
        _dot_trace(frame, scale, canvas, lone=not picture.bars),
    ]
    if second is not None:
        made += [_second_trace(second, scale, canvas)]
    made += _lane_traces(picture, palette)
    made += compared_traces(picture.compared, palette)
    made += mark_traces(picture.marks, frame.window.to_ms, palette)
    made += annotation_traces(picture.annotations, palette)
    return made + spread_traces(picture.spread, palette)


def _gap_trace(gaps: Sequence[Window], palette: Palette) -> Trace:
    """One polygon for each gap, over the height of the plot."""
    x: list[str | None] = []
    y: list[float | None] = []
    for gap in gaps:
        left, right = axis_text([gap.from_ms, gap.to_ms])
        x += [left, right, right, left, None]
        y += [0, 0, 1, 1, None]
    return {
        "type": "scatter",
        "name": "no data",
        "x": x,
        "y": y,
        "yaxis": "y2",
        "mode": "lines",
        "fill": "toself",
        "fillcolor": palette.gap,
        "line": {"width": 0},
    }


def _band_trace(frame: Frame, scale: float, colour: str) -> Trace:
    """From minimum to maximum: one closed polygon for each run, so that none crosses a gap."""
    x: list[str | None] = []
    y: list[float | None] = []
    if frame.low is not frame.middle:
        low, high = rounded(frame.low, scale), rounded(frame.high, scale)
        for run in frame.runs:
            there = axis_text(_positions(frame, run))
            x += [*there, *reversed(there), None]
            y += [*_extended(high, run), *reversed(_extended(low, run)), None]
    return {
        "type": "scatter",
        "name": "min–max",
        "x": x,
        "y": y,
        "mode": "lines",
        "fill": "toself",
        "fillcolor": colour,
        # Without a line of its own a spike narrower than a pixel would vanish.
        "line": {"width": 0.75, "color": colour},
    }


def _line_trace(frame: Frame, scale: float, canvas: Canvas) -> Trace:
    line = {"width": 1.5, "color": canvas.palette.accent}
    return _drawn_line(frame, scale) | _hover_customdata(frame, canvas) | {"line": line}


def _second_trace(frame: Frame, scale: float, canvas: Canvas) -> Trace:
    """The second metric: in another colour, and dashed. It has its own part of the hover text."""
    second = {"second": {"name": frame.metric.label, "unit": frame.unit}}
    line = {"width": 1.5, "color": canvas.palette.ok, "dash": "4px,2px"}
    return _drawn_line(frame, scale) | {"meta": second, "line": line}


def _drawn_line(frame: Frame, scale: float) -> Trace:
    """The middle of each row, run by run."""
    x: list[str | None] = []
    y: list[float | None] = []
    middle = rounded(frame.middle, scale)
    for run in frame.runs:
        x += [*axis_text(_positions(frame, run)), None]
        y += [*_extended(middle, run), None]
    return {
        "type": "scatter",
        "name": frame.metric.label,
        "x": x,
        "y": y,
        "mode": "lines",
        "connectgaps": False,
    }


def _hover_customdata(frame: Frame, canvas: Canvas) -> Trace:
    """The data for the hover texts of assets/hover.js."""
    return {"meta": {"says": labels.hover_data(frame, canvas.tz, canvas.units)}}


def _bar_trace(frame: Frame, scale: float, canvas: Canvas) -> Trace:
    """One bar for each row, over its span, from zero."""
    there = [index for index, value in enumerate(frame.middle) if value is not None]
    values = rounded(frame.middle, scale)
    lengths = [frame.ends_ms[i] - frame.starts_ms[i] for i in there]
    return {
        "type": "bar",
        "name": frame.metric.label,
        "x": axis_text([_middle_ms(frame, i) for i in there]),
        "y": [values[i] for i in there],
        "width": [round(length * (1 - BAR_GAP)) for length in lengths],
        **_hover_customdata(frame, canvas),
        "marker": {"color": canvas.palette.accent, "line": {"width": 0}},
    }


def _dot_trace(frame: Frame, scale: float, canvas: Canvas, *, lone: bool) -> Trace:
    """Lone rows, too short to be visible as a line."""
    narrow_ms = canvas.window.length_ms * DOT_PX / max(1, canvas.width_px) if lone else 0
    lone_runs = [
        run for run in frame.runs if frame.ends_ms[run[-1]] - frame.starts_ms[run[0]] < narrow_ms
    ]
    middle = rounded(frame.middle, scale)
    return {
        "type": "scatter",
        "name": "lone",
        "x": axis_text([_middle_ms(frame, run[0]) for run in lone_runs]),
        "y": [middle[run[0]] for run in lone_runs],
        "mode": "markers",
        "marker": {"size": DOT_PX, "color": canvas.palette.accent},
    }


def _lane_traces(picture: Picture, palette: Palette) -> list[Trace]:
    """The quality lane: good where there are rows, and each cause in its colour and pattern."""
    frame = picture.frame
    good = [Window(frame.starts_ms[r[0]], frame.ends_ms[r[-1]]) for r in frame.runs]
    made = [_lane_trace("good", good, f"{palette.ok}{FAINT}", "")]
    colours = {NO_DATA: palette.bad, LOW_QUALITY: palette.warn}
    for cause in CAUSES:
        windows = [s.window for s in picture.marked_spans if s.cause is cause]
        if windows:
            colour = colours.get(cause, palette.off)
            made.append(_lane_trace(cause.word, windows, colour, cause.mark, palette.surface))
    return made


def _lane_trace(
    name: str, windows: Sequence[Window], colour: str, mark: str, ground: str = ""
) -> Trace:
    x: list[str | None] = []
    y: list[float | None] = []
    for window in windows:
        left, right = axis_text([window.from_ms, window.to_ms])
        x += [left, right, right, left, None]
        y += [0, 0, 1, 1, None]
    made: Trace = {
        "type": "scatter",
        "name": name,
        "x": x,
        "y": y,
        "yaxis": "y3",
        "mode": "lines",
        "fill": "toself",
        "fillcolor": colour,
        "line": {"width": 0.5, "color": colour},
    }
    if mark:
        made["fillpattern"] = {"shape": mark, "size": 5, "fgcolor": colour, "bgcolor": ground}
    return made


def _middle_ms(frame: Frame, index: int) -> int:
    return (frame.starts_ms[index] + frame.ends_ms[index]) // 2


def _positions(frame: Frame, run: range) -> list[int]:
    """Each row at the middle of its span. A run begins and ends with its spans, so that it covers
    its time exactly and a single bucket is as wide as it is long."""
    middles = [_middle_ms(frame, index) for index in run]
    return [frame.starts_ms[run[0]], *middles, frame.ends_ms[run[-1]]]


def _extended(values: Sequence[Any], run: range) -> list[Any]:
    """A run's values at `_positions`: its ends repeat the first and the last value."""
    return [values[run[0]], *values[run.start : run.stop], values[run[-1]]]
