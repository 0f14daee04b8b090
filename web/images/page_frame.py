"""A drawing of our own with the caption that the chart's image has, and the room within. Pure."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from components.charts.figure import MARGIN_PX
from components.image_query import Size
from components.theme import FONT_SIZE_PX, Palette
from web.images.figure import (
    EDGE_PX,
    FOOT_PX,
    LINE_PX,
    MOST_LINES,
    TITLE_LINE_PX,
    TITLE_PX,
    Caption,
)
from web.images.svg import broken, cut, document, width_px, words

SMALL_PX: Final = FONT_SIZE_PX - 1
NO_DATA: Final = "no data"
NO_DATA_PX: Final = 20 + width_px(NO_DATA, SMALL_PX)
_APART_PX: Final = 12  # between a label and its serial number


class Box(NamedTuple):
    """The room of a drawing, in CSS pixels from the image's top left."""

    left: float
    top: float
    right: float
    bottom: float


def lines(parts: tuple[str, ...], size: Size) -> tuple[str, ...]:
    """What stands under the title: range and zone have room in the smallest image too."""
    said = tuple(part for part in parts if part)
    return tuple(broken(said, size.width - 2 * EDGE_PX, SMALL_PX, MOST_LINES))


def framed(caption: Caption, size: Size, palette: Palette, draw: Callable[[Box], str]) -> str:
    """The SVG. ``draw`` fills the room between caption and foot."""
    top = EDGE_PX // 2 + TITLE_LINE_PX + LINE_PX * len(caption.lines) + 8
    box = Box(EDGE_PX, top, size.width - MARGIN_PX["r"], size.height - FOOT_PX - 8)
    foot = words(caption.foot, box.right, size.height - 8, palette.ink_3, FONT_SIZE_PX - 2, "end")
    return document(
        size.width, size.height, palette.surface, _head(caption, size, palette) + draw(box) + foot
    )


def nothing(said: str, box: Box, palette: Palette) -> str:
    """Why there is nothing to see, in the middle of the room."""
    middle = (box.left + box.right) / 2, (box.top + box.bottom) / 2
    return words(
        cut(said, box.right - box.left, FONT_SIZE_PX),
        *middle,
        palette.ink_2,
        FONT_SIZE_PX,
        "middle",
    )


def no_data(left: float, base: float, palette: Palette) -> str:
    """What the stripes called ``none`` mean."""
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
