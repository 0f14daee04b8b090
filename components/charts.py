"""From a frame to a figure, as plain dicts and lists: the page, an embed and an export draw the
same one.

The x values are UTC in naive strings. plotly.js would shift anything else into the browser's zone;
the axis is marked by `ticks` and the hover texts are written here, both in the zone of choice.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final
from zoneinfo import ZoneInfo

from api.timez import stamps
from components import hovers, words
from components.frames import Frame, Values, largest, rounded
from components.ranges import Window
from components.theme import FONT, FONT_SIZE_PX, Palette
from components.ticks import Ticks, ticks

Figure = dict[str, Any]
Trace = dict[str, Any]

MARGIN_PX: Final = {"l": 64, "r": 16, "t": 28, "b": 44}
LABEL_PX: Final = 120  # the room of a gap's label
MAX_LABELS: Final = 8
LABELLED_PX: Final = 6  # a narrower gap is a hairline, and there may be hundreds
TOUCH_PX: Final = 400
DOT_PX: Final = 4  # a stretch narrower than this gets a dot, so that it can be seen


@dataclass(frozen=True, slots=True)
class Canvas:
    """What a figure is drawn on: the axis' window, the zone, the plot's inner width, colours."""

    window: Window
    tz: ZoneInfo
    width_px: int
    palette: Palette


def axis_text(instants_ms: Sequence[int]) -> list[str]:
    """Instants as plotly.js takes them unshifted: UTC, without a zone."""
    fraction = any(t % 1000 for t in instants_ms)
    return [text[:-1] for text in stamps(instants_ms, fraction=fraction)]


def figure(frame: Frame, canvas: Canvas) -> Figure:
    return {"data": traces(frame, canvas), "layout": layout(frame, canvas)}


def blank(canvas: Canvas) -> Figure:
    """The axes without rows: what stands before the first answer."""
    made = _layout(canvas, "")
    made["xaxis"]["ticktext"] = [""] * len(made["xaxis"]["tickvals"])
    made["yaxis"] |= {"range": [0, 1], "showticklabels": False}
    return {"data": [], "layout": made}


# --- Traces, from the ground up ------------------------------------------------------------------


def traces(frame: Frame, canvas: Canvas) -> list[Trace]:
    """Always these four, in this order: spans without data, the band, the line, lone points."""
    scale = largest(frame.middle, frame.low, frame.high)
    palette = canvas.palette
    return [
        _gap_trace(frame.gaps, palette),
        _band_trace(frame, scale, palette),
        _line_trace(frame, scale, canvas),
        _dot_trace(frame, scale, canvas),
    ]


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
        "hoverinfo": "skip",
    }


def _band_trace(frame: Frame, scale: float, palette: Palette) -> Trace:
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
        "fillcolor": palette.band,
        # Without a line of its own a spike narrower than a pixel would vanish.
        "line": {"width": 0.75, "color": palette.band},
        "hoverinfo": "skip",
    }


def _line_trace(frame: Frame, scale: float, canvas: Canvas) -> Trace:
    x: list[str | None] = []
    y: list[float | None] = []
    titles: list[str | None] = []
    details: list[list[str] | None] = []
    middle = rounded(frame.middle, scale)
    all_titles, all_details = hovers.titles(frame, canvas.tz), hovers.details(frame)
    for run in frame.runs:
        x += [*axis_text(_positions(frame, run)), None]
        y += [*_held(middle, run), None]
        titles += [*_held(all_titles, run), None]
        details += [*_held(all_details, run), None]
    return {
        "type": "scatter",
        "name": "average",
        "x": x,
        "y": y,
        "text": titles,
        "customdata": details,
        "hovertemplate": hovers.template(frame, canvas.palette.ink),
        "mode": "lines",
        "connectgaps": False,
        "line": {"width": 1.5, "color": canvas.palette.accent},
        "hoverinfo": "text",
    }


def _dot_trace(frame: Frame, scale: float, canvas: Canvas) -> Trace:
    """Rows that stand alone, too short for a line to be seen."""
    narrow_ms = canvas.window.length_ms * DOT_PX / max(1, canvas.width_px)
    lone = [
        run for run in frame.runs if frame.ends_ms[run[-1]] - frame.starts_ms[run[0]] < narrow_ms
    ]
    middle = rounded(frame.middle, scale)
    return {
        "type": "scatter",
        "name": "lone",
        "x": axis_text([_middle_ms(frame, run[0]) for run in lone]),
        "y": [middle[run[0]] for run in lone],
        "mode": "markers",
        "marker": {"size": DOT_PX, "color": canvas.palette.accent},
        "hoverinfo": "skip",
    }


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


# --- Layout --------------------------------------------------------------------------------------


def layout(frame: Frame, canvas: Canvas) -> Figure:
    title = f"{frame.metric.label}, {frame.metric.unit}"
    made = _layout(canvas, title)
    if frame.runs:
        made["annotations"] = gap_labels(frame.gaps, canvas)
    made["yaxis"] |= {
        "rangemode": "tozero" if _from_zero(frame) else "normal",
        "showticklabels": bool(frame.runs),  # the scale of nothing would be made up
    }
    return made


def _from_zero(frame: Frame) -> bool:
    """Flow, volume and quality are read from zero; dBm and °C are not."""
    return frame.metric.unit not in ("dBm", "°C")


def x_ticks(made: Ticks) -> Figure:
    """The parts of the x axis that go with its marks."""
    return {"tickvals": axis_text(made.values_ms), "ticktext": made.texts}


def _layout(canvas: Canvas, title: str) -> Figure:
    palette = canvas.palette
    made = ticks(*canvas.window, canvas.tz, canvas.width_px)
    return {
        "autosize": True,
        "margin": dict(MARGIN_PX),
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"family": FONT, "size": FONT_SIZE_PX, "color": palette.ink_2},
        "showlegend": False,
        # On a phone a finger that crosses the chart wants to scroll the page.
        "dragmode": "zoom" if canvas.width_px >= TOUCH_PX else False,
        "hovermode": "x",
        "hoverdistance": 40,
        "spikedistance": -1,
        "hoverlabel": {
            "align": "left",
            "bgcolor": palette.surface,
            "bordercolor": palette.line,
            "font": {"family": FONT, "size": FONT_SIZE_PX, "color": palette.ink_2},
        },
        "xaxis": _x_axis(canvas, made),
        "yaxis": _y_axis(palette, title),
        "yaxis2": {"range": [0, 1], "visible": False, "fixedrange": True},
        "annotations": [],
        "meta": {"window": axis_text(canvas.window)},  # what is drawn: assets/chart.js compares
    }


def _x_axis(canvas: Canvas, made: Ticks) -> Figure:
    palette = canvas.palette
    return {
        "type": "date",
        "range": axis_text(canvas.window),
        "tickmode": "array",
        **x_ticks(made),
        "showgrid": True,
        "gridcolor": palette.line,
        "griddash": "dot",
        "linecolor": palette.line,
        "zeroline": False,
        "tickfont": {"color": palette.ink_3, "size": FONT_SIZE_PX - 1},
        "showspikes": True,
        "spikemode": "across",
        "spikesnap": "hovered data",
        "spikethickness": -1,
        "spikedash": "solid",
        "spikecolor": palette.ink_3,
    }


def _y_axis(palette: Palette, title: str) -> Figure:
    return {
        "title": {"text": title, "standoff": 8, "font": {"size": FONT_SIZE_PX - 1}},
        "overlaying": "y2",  # the spans without data lie below
        "tickmode": "auto",  # an overlaying axis else takes the other one's marks
        "side": "left",
        "fixedrange": True,
        "automargin": False,
        "exponentformat": "none",
        "separatethousands": True,
        "nticks": 6,
        "gridcolor": palette.line,
        "zeroline": False,
        "tickfont": {"color": palette.ink_3, "size": FONT_SIZE_PX - 1},
    }


def gap_labels(gaps: Iterable[Window], canvas: Canvas) -> list[Figure]:
    """How long the longest gaps are: of those wide enough, where labels fit beside each other."""
    px_per_ms = canvas.width_px / canvas.window.length_ms
    placed: list[float] = []
    labels: list[Figure] = []
    wide = (gap for gap in gaps if gap.length_ms * px_per_ms >= LABELLED_PX)
    for gap in sorted(wide, key=lambda g: g.from_ms - g.to_ms):
        left = max(gap.from_ms, canvas.window.from_ms)
        right = min(gap.to_ms, canvas.window.to_ms)
        middle_px = ((left + right) / 2 - canvas.window.from_ms) * px_per_ms
        middle_px = min(max(middle_px, LABEL_PX / 2), canvas.width_px - LABEL_PX / 2)
        if any(abs(middle_px - other) < LABEL_PX for other in placed):
            continue
        placed.append(middle_px)
        at_ms = canvas.window.from_ms + round(middle_px / px_per_ms)
        labels.append(_label(f"no data {words.duration(gap.length_ms)}", at_ms, canvas))
        if len(labels) == MAX_LABELS:
            break
    return labels


def _label(text: str, at_ms: int, canvas: Canvas) -> Figure:
    return {
        "text": text,
        "x": axis_text([at_ms])[0],
        "xref": "x",
        "y": 1,
        "yref": "paper",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"color": canvas.palette.ink_3, "size": FONT_SIZE_PX - 1},
    }


__all__ = ["Canvas", "Values", "axis_text", "blank", "figure", "gap_labels", "layout", "traces"]
