"""From a frame to plotly's traces, as plain dicts and lists.

The x values are UTC in naive strings. plotly.js would shift anything else into the browser's zone;
the axis is marked by `ticks` and the hover texts are written by `hovers`, both in the zone of
choice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from zoneinfo import ZoneInfo

from api.timez import stamps
from components.charts import hover_text
from components.charts.comparison_traces import NOTHING, Compared, compared_traces
from components.charts.frames import CAUSES, LOW_QUALITY, NO_DATA, Frame, Stretch, largest, rounded
from components.charts.marks import AnnotationMark, Mark, annotation_traces, mark_traces
from components.ranges import Window
from components.theme import Palette
from components.units import US, Units

Trace = dict[str, Any]

BAR_GAP: Final = 0.12  # of a bar's room
DOT_PX: Final = 4  # a stretch narrower than this gets a dot, so that it can be seen
FAINT: Final = "70"  # the opacity of what needs no look
LINE: Final = 2  # the place of the line, or the bars, among the traces: assets/cursor.js reads it


@dataclass(frozen=True, slots=True)
class Canvas:
    """What a figure is drawn on: the axis' window, the zone, the plot's inner width, colours,
    units."""

    window: Window
    tz: ZoneInfo
    width_px: int
    palette: Palette
    units: Units = US


@dataclass(frozen=True, slots=True)
class Picture:
    """What a figure shows: a metric, perhaps a second one, the gaps and poor readings, and the
    findings. ``bars``: totals of buckets, from zero; ``largest`` in the catalog's unit."""

    frame: Frame
    second: Frame | None = None
    stretches: Sequence[Stretch] = field(default_factory=tuple)
    bars: bool = False
    largest: float = 0.0
    marks: Sequence[Mark] = ()
    compared: Compared = NOTHING
    annotations: Sequence[AnnotationMark] = ()


def axis_text(instants_ms: Sequence[int]) -> list[str]:
    """Instants as plotly.js takes them unshifted: UTC, without a zone."""
    fraction = any(t % 1000 for t in instants_ms)
    return [text[:-1] for text in stamps(instants_ms, fraction=fraction)]


def traces(picture: Picture, canvas: Canvas) -> list[Trace]:
    """From the ground up: spans without data, the band, the line or bars (always the third), lone
    points; then the second metric, the quality lane and the findings."""
    frame, second = picture.frame, picture.second
    frames = [frame, second] if second else [frame]
    scale = max(largest(each.middle, each.low, each.high) for each in frames)
    palette = canvas.palette
    silent = [s.window for s in picture.stretches if s.cause.silent]
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
    return made + annotation_traces(picture.annotations, palette)


def _gap_trace(gaps: Sequence[Window], palette: Palette) -> Trace:
    """One polygon a gap, from the bottom of the plot to its top."""
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
    """From minimum to maximum: one closed polygon a run, so that none crosses a gap."""
    x: list[str | None] = []
    y: list[float | None] = []
    if frame.low is not frame.middle:
        low, high = rounded(frame.low, scale), rounded(frame.high, scale)
        for run in frame.runs:
            there = axis_text(_positions(frame, run))
            x += [*there, *reversed(there), None]
            y += [*_held(high, run), *reversed(_held(low, run)), None]
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
    return _drawn_line(frame, scale) | _spoken(frame, canvas) | {"line": line}


def _second_trace(frame: Frame, scale: float, canvas: Canvas) -> Trace:
    """The metric beside the first: another colour, and dashed. It says its part of the label."""
    second = {"second": {"name": frame.metric.label, "unit": frame.unit}}
    line = {"width": 1.5, "color": canvas.palette.ok, "dash": "4px,2px"}
    return _drawn_line(frame, scale) | {"meta": second, "line": line}


def _drawn_line(frame: Frame, scale: float) -> Trace:
    """The middle of each row, from run to run."""
    x: list[str | None] = []
    y: list[float | None] = []
    middle = rounded(frame.middle, scale)
    for run in frame.runs:
        x += [*axis_text(_positions(frame, run)), None]
        y += [*_held(middle, run), None]
    return {
        "type": "scatter",
        "name": frame.metric.label,
        "x": x,
        "y": y,
        "mode": "lines",
        "connectgaps": False,
    }


def _spoken(frame: Frame, canvas: Canvas) -> Trace:
    """The data from which assets/hover.js builds the hover texts."""
    return {"meta": {"says": hover_text.hover_data(frame, canvas.tz, canvas.units)}}


def _bar_trace(frame: Frame, scale: float, canvas: Canvas) -> Trace:
    """One bar a row, over its span, from zero."""
    there = [index for index, value in enumerate(frame.middle) if value is not None]
    values = rounded(frame.middle, scale)
    lengths = [frame.ends_ms[i] - frame.starts_ms[i] for i in there]
    return {
        "type": "bar",
        "name": frame.metric.label,
        "x": axis_text([_middle_ms(frame, i) for i in there]),
        "y": [values[i] for i in there],
        "width": [round(length * (1 - BAR_GAP)) for length in lengths],
        **_spoken(frame, canvas),
        "marker": {"color": canvas.palette.accent, "line": {"width": 0}},
    }


def _dot_trace(frame: Frame, scale: float, canvas: Canvas, *, lone: bool) -> Trace:
    """Rows that stand alone, too short for a line to be seen."""
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
        windows = [s.window for s in picture.stretches if s.cause is cause]
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
    """Each row at the middle of its span; a run begins and ends where its spans do, so that it
    covers its time exactly and a single bucket is as wide as it is long."""
    middles = [_middle_ms(frame, index) for index in run]
    return [frame.starts_ms[run[0]], *middles, frame.ends_ms[run[-1]]]


def _held(values: Sequence[Any], run: range) -> list[Any]:
    """A run's values for `_positions`: the first and last hold to the run's ends."""
    return [values[run[0]], *values[run.start : run.stop], values[run[-1]]]
