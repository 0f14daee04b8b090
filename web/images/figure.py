"""Adds the caption to an image: to the figure of the screen, or to an SVG of our own. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any, Final, NamedTuple

from components import chart_query, formatting
from components.chart_query import Drawn, emptiness, zone_note
from components.charts import figure
from components.charts.figure import MARGIN_PX, Figure
from components.formatting import Clock
from components.image_query import Size
from components.theme import FONT_SIZE_PX, Palette
from web.images.svg import broken, cut, document, width_px, words

EDGE_PX: Final = 16
TITLE_PX: Final = 17
TITLE_LINE_PX: Final = 24
LINE_PX: Final = 17
FOOT_PX: Final = 20
MOST_LINES: Final = 3
LOW_PX: Final = 320  # a lower image has two lines
LEAST_PLOT_PX: Final = 150  # a lower plot is too small for its metric's name


@dataclass(frozen=True, slots=True)
class Caption:
    """``lines``: below the title. ``foot``: below the drawing."""

    label: str
    serial: str
    lines: tuple[str, ...]
    foot: str


def caption(drawn: Drawn, label: str, serial: str, size: Size, now_ms: int) -> Caption:
    """The context for a viewer of the image alone: device, range, zone, resolution, time of
    creation."""
    compared = chart_query.compared_words(drawn)
    texts = (
        chart_query.range_words(drawn),
        *((compared,) if compared else ()),
        zone_note(drawn),
        chart_query.detail(drawn),
    )
    made = formatting.moment(now_ms, Clock(drawn.canvas.tz, now_ms, now_ms))
    most = 2 if size.height < LOW_PX else MOST_LINES
    lines = broken(texts, size.width - 2 * EDGE_PX, FONT_SIZE_PX - 1, most)
    return Caption(label, serial, tuple(lines), f"Weir · {made}")


def bare(drawn: Drawn, size: Size) -> Figure:
    """The figure for plotly.js in that size, with a text if it is empty."""
    made = figure.figure(drawn.picture, drawn.canvas)
    layout = made["layout"]
    layout |= {
        "autosize": False,
        "width": size.width,
        "height": size.height,
        "annotations": [*layout["annotations"], *_nothing(drawn)],
    }
    return made


def image(drawn: Drawn, caption: Caption, size: Size) -> Figure:
    """The figure with caption and background."""
    made = bare(drawn, size)
    layout, palette = made["layout"], drawn.canvas.palette
    head = EDGE_PX // 2 + TITLE_LINE_PX + LINE_PX * len(caption.lines)
    top = head + MARGIN_PX["t"]
    layout |= {
        "margin": {**MARGIN_PX, "t": top, "b": MARGIN_PX["b"] + FOOT_PX},
        "paper_bgcolor": palette.surface,
        "annotations": [
            *layout["annotations"],
            *_caption_head(caption, size, top, palette.ink, palette.ink_2),
            _foot(caption, palette.ink_3),
        ],
    }
    if size.height - top - layout["margin"]["b"] < LEAST_PLOT_PX:
        layout["yaxis"]["title"]["text"] = drawn.frame.unit
    return made


def _caption_head(caption: Caption, size: Size, top: int, ink: str, ink_2: str) -> list[Figure]:
    room = size.width - 2 * EDGE_PX
    serial = "" if caption.serial == caption.label else cut(caption.serial, room / 2, FONT_SIZE_PX)
    left = room - width_px(f"  {serial}", FONT_SIZE_PX)
    label = cut(caption.label, left, TITLE_PX, bold=True)
    title = f"<b>{escape(label)}</b>" + (
        f'<span style="font-size:{FONT_SIZE_PX}px;color:{ink_2}">  {escape(serial)}</span>'
    )
    first = top - EDGE_PX // 2
    made = [_text(title, y=1, shift=first, font={"size": TITLE_PX, "color": ink})]
    for index, line in enumerate(caption.lines):
        shift = first - TITLE_LINE_PX - LINE_PX * index
        font = {"size": FONT_SIZE_PX - 1, "color": ink_2}
        made.append(_text(escape(line), y=1, shift=shift, font=font))
    return made


def _foot(caption: Caption, colour: str) -> Figure:
    made = _text(
        escape(caption.foot), y=0, shift=0, font={"size": FONT_SIZE_PX - 2, "color": colour}
    )
    below = -(MARGIN_PX["b"] + FOOT_PX) + 6
    right = {"x": 1, "xanchor": "right", "xshift": 0, "yanchor": "bottom", "yshift": below}
    return made | right


def _nothing(drawn: Drawn) -> list[Figure]:
    """Why the plot is empty, as the page shows over it."""
    sentence = emptiness(drawn)
    if not sentence:
        return []
    lines = broken((sentence,), drawn.canvas.width_px, FONT_SIZE_PX, MOST_LINES)
    made = _text("<br>".join(map(escape, lines)), y=0.5, shift=0, font={})
    return [made | {"x": 0.5, "xanchor": "center", "xshift": 0, "yanchor": "middle"}]


def _text(text: str, *, y: float, shift: int, font: dict[str, Any]) -> Figure:
    """A text at the image's left edge."""
    return {
        "text": text,
        "xref": "paper",
        "x": 0,
        "xanchor": "left",
        "xshift": EDGE_PX - MARGIN_PX["l"],
        "yref": "paper",
        "y": y,
        "yanchor": "top",
        "yshift": shift,
        "align": "left",
        "showarrow": False,
        "font": font,
        "name": "caption",
    }


# --- The frame of a drawing of our own ------------------------------------------------------------


SMALL_PX: Final = FONT_SIZE_PX - 1
NO_DATA: Final = "no data"
NO_DATA_PX: Final = 20 + width_px(NO_DATA, SMALL_PX)
_APART_PX: Final = 12  # between a label and its serial number


class Box(NamedTuple):
    """The area of a drawing, in CSS pixels from the image's top left."""

    left: float
    top: float
    right: float
    bottom: float


def lines(parts: tuple[str, ...], size: Size) -> tuple[str, ...]:
    """The lines below the title; range and zone fit even the smallest image."""
    sentence = tuple(part for part in parts if part)
    return tuple(broken(sentence, size.width - 2 * EDGE_PX, SMALL_PX, MOST_LINES))


def framed(caption: Caption, size: Size, palette: Palette, draw: Callable[[Box], str]) -> str:
    """The SVG. ``draw`` draws between caption and foot."""
    top = EDGE_PX // 2 + TITLE_LINE_PX + LINE_PX * len(caption.lines) + 8
    box = Box(EDGE_PX, top, size.width - MARGIN_PX["r"], size.height - FOOT_PX - 8)
    foot = words(caption.foot, box.right, size.height - 8, palette.ink_3, FONT_SIZE_PX - 2, "end")
    return document(
        size.width, size.height, palette.surface, _head(caption, size, palette) + draw(box) + foot
    )


def nothing(sentence: str, box: Box, palette: Palette) -> str:
    """Why the drawing is empty, in its middle."""
    middle = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    return words(
        cut(sentence, box.right - box.left, FONT_SIZE_PX),
        *middle,
        palette.ink_2,
        FONT_SIZE_PX,
        "middle",
    )


def no_data(left: float, base: float, palette: Palette) -> str:
    """The legend of the pattern ``none``."""
    return (
        f'<rect x="{left:.2f}" y="{base - 10:.2f}" width="14" height="12" rx="2"'
        f' fill="url(#none)" stroke="{palette.line}"/>'
        + words(NO_DATA, left + 20, base, palette.ink_3, SMALL_PX)
    )


def _head(caption: Caption, size: Size, palette: Palette) -> str:
    room = size.width - 2 * EDGE_PX
    serial = "" if caption.serial == caption.label else cut(caption.serial, room / 2, FONT_SIZE_PX)
    beside = width_px(serial, FONT_SIZE_PX) + _APART_PX if serial else 0
    label = cut(caption.label, room - beside, TITLE_PX, bold=True)
    base = EDGE_PX // 2 + TITLE_PX
    made = words(label, EDGE_PX, base, palette.ink, TITLE_PX, weight=700)
    made += words(serial, size.width - EDGE_PX, base, palette.ink_2, FONT_SIZE_PX, "end")
    for number, line in enumerate(caption.lines, start=1):
        made += words(line, EDGE_PX, base + 2 + LINE_PX * number, palette.ink_2, SMALL_PX)
    return made
