"""The figure of a chart as plain dicts and lists, the same for the page, an embed and an export.
`traces` draws the data; this module adds axes and layout."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from typing import Any, Final

from components import formatting
from components.charts.frames import SPREAD, Frame, MarkedSpan
from components.charts.labels import Ticks, ticks
from components.charts.marks import annotation_flags, flags
from components.charts.traces import Canvas, Picture, axis_text, traces
from components.ranges import Window
from components.theme import FONT, FONT_SIZE_PX, Palette

Figure = dict[str, Any]

MARGIN_PX: Final = {"l": 64, "r": 16, "t": 28, "b": 44}
# Height of the quality lane, as a share: between the plot and the tick labels.
LANE: Final = (0.0, 0.024)
PLOT: Final = (0.05, 1.0)
LABEL_PX: Final = 120  # the width of a gap's label, in pixels
MAX_LABELS: Final = 8
NOTICE: Final = "notice"  # the least severity of a finding
LABELLED_PX: Final = 6  # in pixels; narrower gaps are hairlines, and there may be hundreds
TOUCH_PX: Final = 400
HEADROOM: Final = 0.05  # of the y axis, beyond the data


def figure(picture: Picture, canvas: Canvas) -> Figure:
    return {"data": traces(picture, canvas), "layout": layout(picture, canvas)}


def blank(canvas: Canvas) -> Figure:
    """The axes without rows, shown before the first response."""
    made = _layout(canvas, "")
    made["xaxis"]["ticktext"] = [""] * len(made["xaxis"]["tickvals"])
    made["yaxis"] |= {"range": [0, 1], "showticklabels": False}
    return {"data": [], "layout": made}


def hold_still(made: Figure) -> None:
    """Fix the time axis, so that the reader can't move it."""
    made["layout"]["dragmode"] = False
    made["layout"]["xaxis"]["fixedrange"] = True


# --- Layout --------------------------------------------------------------------------------------


def layout(picture: Picture, canvas: Canvas) -> Figure:
    frame = picture.frame
    title = "Signal" if picture.second else frame.metric.label
    made = _layout(canvas, f"{title}, {frame.unit}")
    made["annotations"] = _above(picture, canvas)
    if frame.runs:
        made["annotations"] += _legend(picture, canvas)
    made["yaxis"] |= {
        "range": y_range(picture, canvas.window),
        "showticklabels": bool(frame.runs),  # without data there is no meaningful scale
    }
    made["meta"]["have"] = axis_text(frame.window)
    return made


def _above(picture: Picture, canvas: Canvas) -> list[Figure]:
    """The labels above the plot, the most important first, since not all fit: findings that are
    more than a notice, spread volumes, notices, notes, and gaps without data."""
    where = canvas.window, canvas.width_px, canvas.palette
    notices = [mark for mark in picture.marks if mark.severity == NOTICE]
    made, taken = flags([mark for mark in picture.marks if mark.severity != NOTICE], *where)
    if picture.frame.runs:
        spread = [MarkedSpan(window, SPREAD) for window in picture.spread]
        labels, taken = gap_labels(spread, canvas, taken)
        made += labels
    noticed, taken = flags(notices, *where, taken)
    noted, taken = annotation_flags(picture.annotations, *where, taken)
    made += noticed + noted
    if picture.frame.runs:
        made += gap_labels([s for s in picture.marked_spans if s.cause.silent], canvas, taken)[0]
    return made


def _legend(picture: Picture, canvas: Canvas) -> list[Figure]:
    """The legend, if there are two lines."""
    if picture.second is None:
        return []
    names = ((picture.frame, canvas.palette.accent, "—"), (picture.second, canvas.palette.ok, "┄"))
    text = "   ".join(
        f'<span style="color:{colour}">{sign}</span> {frame.metric.label}'
        for frame, colour, sign in names
    )
    return [
        {
            "text": text, "xref": "paper", "x": 1, "xanchor": "right", "yref": "paper", "y": 1,
            "yanchor": "top", "showarrow": False, "font": {"color": canvas.palette.ink_2},
            "bgcolor": canvas.palette.surface, "name": "legend",
        }
    ]  # fmt: skip


def _from_zero(frame: Frame) -> bool:
    """Whether the y axis starts at zero, as for flow, volume and quality; not for dBm and
    degrees."""
    return frame.metric.unit not in ("dBm", "°C", "°F")


def y_range(picture: Picture, window: Window) -> list[float]:
    """The ends of the y axis, for the rows in the window; rows outside, which a pan may show, don't
    count. One row on either side does, since the line leads to it."""
    frames = [each for each in (picture.frame, picture.second) if each is not None]
    seen = [v for each in frames for v in _in_sight(each, window) if v is not None]
    seen += [v for levels in picture.compared.levels for v in levels if v is not None]
    zero = [0.0] if _from_zero(picture.frame) else []
    if not seen:
        return [0.0, 1.0]
    low, high = min(*seen, *zero, seen[0]), max(*seen, *zero, seen[0])
    room = (high - low) * HEADROOM or 1.0
    return [
        low - room if low < 0 or not zero else low,
        high + room if high > 0 or not zero else high,
    ]


def _in_sight(frame: Frame, window: Window) -> list[float | None]:
    first = max(0, bisect_left(frame.ends_ms, window.from_ms) - 1)
    cut = slice(first, bisect_right(frame.starts_ms, window.to_ms) + 1)
    return [*frame.low[cut], *frame.high[cut]]


def x_ticks(made: Ticks) -> Figure:
    """The properties of the x axis that belong to its ticks."""
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
        # On a phone a finger that crosses the chart should scroll the page.
        "dragmode": "zoom" if canvas.width_px >= TOUCH_PX else False,
        "hovermode": False,  # assets/hover-card.js shows the values under the pointer
        "xaxis": _x_axis(canvas, made),
        "yaxis": _y_axis(palette, title),
        "yaxis2": {"range": [0, 1], "visible": False, "fixedrange": True, "domain": list(PLOT)},
        "yaxis3": {"range": [0, 1], "visible": False, "fixedrange": True, "domain": list(LANE)},
        "bargap": 0,
        "annotations": [],
        # Names the drawn data: assets/chart.js compares it.
        "meta": {"window": axis_text(canvas.window)},
    }


def _x_axis(canvas: Canvas, made: Ticks) -> Figure:
    palette = canvas.palette
    return {
        "type": "date",
        "anchor": "free",  # below the quality lane
        "position": 0,
        "range": axis_text(canvas.window),
        "tickmode": "array",
        **x_ticks(made),
        "showgrid": True,
        "gridcolor": palette.line,
        "griddash": "dot",
        "linecolor": palette.line,
        "zeroline": False,
        "tickfont": {"color": palette.ink_3, "size": FONT_SIZE_PX - 1},
    }


def _y_axis(palette: Palette, title: str) -> Figure:
    return {
        "title": {"text": title, "standoff": 8, "font": {"size": FONT_SIZE_PX - 1}},
        "domain": list(PLOT),
        "overlaying": "y2",  # spans without data lie below
        "tickmode": "auto",  # otherwise an overlaying axis takes the other one's ticks
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


def gap_labels(
    gaps: Iterable[MarkedSpan], canvas: Canvas, taken: Sequence[float] = ()
) -> tuple[list[Figure], list[float]]:
    """(labels with the lengths of the longest gaps, all middles in pixels): of those wide enough,
    where labels fit beside each other and beside those in ``taken``."""
    px_per_ms = canvas.width_px / canvas.window.length_ms
    placed = list(taken)
    labels: list[Figure] = []
    wide = (gap for gap in gaps if gap.window.length_ms * px_per_ms >= LABELLED_PX)
    for gap in sorted(wide, key=lambda g: g.window.from_ms - g.window.to_ms):
        left = max(gap.window.from_ms, canvas.window.from_ms)
        right = min(gap.window.to_ms, canvas.window.to_ms)
        if right <= left:
            continue
        middle_px = ((left + right) / 2 - canvas.window.from_ms) * px_per_ms
        middle_px = min(max(middle_px, LABEL_PX / 2), canvas.width_px - LABEL_PX / 2)
        if any(abs(middle_px - other) < LABEL_PX for other in placed):
            continue
        placed.append(middle_px)
        at_ms = canvas.window.from_ms + round(middle_px / px_per_ms)
        text = f"{gap.cause.word} {formatting.duration(gap.window.length_ms)}"
        labels.append(_label(text, at_ms, canvas))
        if len(labels) == MAX_LABELS:
            break
    return labels, placed


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


__all__ = [
    "Canvas",
    "Picture",
    "axis_text",
    "blank",
    "figure",
    "gap_labels",
    "hold_still",
    "layout",
    "traces",
]
