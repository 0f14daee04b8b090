"""The image of a comparison: the pictures and the ranked bars of the page, in an SVG."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from api.errors import BadRequest
from components import formatting
from components.compare.cards import EMPTY
from components.compare.queries import Figure, Line, compared
from components.concurrent_queries import ServiceAccess
from components.formatting import Clock
from components.image_query import Pairs
from components.ranges import Window
from components.theme import FONT_SIZE_PX, Palette, palette
from components.usage.table import date_words
from components.usage.url_state import CompareView, checked_picture
from web.images.svg import (
    SMALL_PX,
    Box,
    Caption,
    Image,
    converted,
    cut,
    framed,
    lines,
    nothing,
    width_px,
    words,
)
from web.rendering import Renderer
from web.rendering.messages import Format
from web.responses import file_stem, of_window

Place = Callable[[float], float]
BARS_SHARE: Final = 0.3
LEAST_BARS_PX: Final = 220
ROW_PX: Final = 34
LEAST_PANEL_PX: Final = 220
AXIS_PX: Final = 52
MARKS_PX: Final = 34
NAME_PX: Final = 20
GAP_PX: Final = 16


def compare_image(
    access: ServiceAccess, renderer: Renderer, pairs: Pairs, format: Format, now_ms: int
) -> Image:
    """Raises BadRequest for the address, what the client raises, and RenderingError."""
    view, theme, size = checked_picture(pairs)
    result = compared(access, view, now_ms)
    if result.figure is None:
        raise BadRequest("There is nothing to compare: choose devices or groups, and days so far.")
    drawn, colours = result.figure, palette(theme)
    first, last = (date_words(day) for day in result.dates)
    made = formatting.moment(now_ms, Clock(result.tz, now_ms, now_ms))
    parts = (f"{drawn.title}, {drawn.unit}", f"{first} – {last}", result.tz.key)
    caption = Caption("Compare", "", lines(parts, size), f"Weir · {made}")
    svg = framed(caption, size, colours, lambda box: picture(drawn, view, box, colours))
    window = Window(drawn.edges_ms[0], drawn.edges_ms[-1] - 1)
    return Image(converted(renderer, svg, format, size), file_stem("compare", *of_window(window)))


def picture(figure: Figure, view: CompareView, box: Box, palette: Palette) -> str:
    """Charts at the left, bars at the right; bars alone where nothing can be drawn."""
    if figure.empty:
        return nothing(EMPTY, box, palette)
    beside = max(LEAST_BARS_PX, (box.right - box.left) * BARS_SHARE)
    left = Box(box.left, box.top, box.right - beside - GAP_PX, box.bottom)
    right = Box(box.right - beside, box.top, box.right, box.bottom)
    several = view.split(len(figure.lines))
    groups = [[line] for line in figure.lines] if several else [list(figure.lines)]
    places = _grid(len(groups), left)
    charts = (
        _chart(figure, some, place, palette, named=several)
        for some, place in zip(groups, places, strict=True)
    )
    return "".join(charts) + _bars(figure, right, palette)


def _grid(count: int, box: Box) -> list[Box]:
    wide = max(1, int((box.right - box.left) // LEAST_PANEL_PX))
    columns = min(count, wide)
    rows = -(-count // columns)
    width = (box.right - box.left - GAP_PX * (columns - 1)) / columns
    height = (box.bottom - box.top) / rows
    return [
        Box(
            box.left + at % columns * (width + GAP_PX),
            box.top + at // columns * height,
            box.left + at % columns * (width + GAP_PX) + width,
            box.top + (at // columns + 1) * height,
        )
        for at in range(count)
    ]


def _chart(figure: Figure, some: Sequence[Line], box: Box, palette: Palette, *, named: bool) -> str:
    top = box.top + (NAME_PX if named else 6)
    plot = Box(box.left + AXIS_PX, top, box.right, box.bottom - MARKS_PX)
    width, height = plot.right - plot.left, plot.bottom - plot.top

    def x(share: float) -> float:
        return plot.left + share * width

    def y(share: float) -> float:
        return plot.bottom - share * height

    made = ""
    for value in figure.scale[2]:
        at = y(figure.y(value))
        made += f'<path d="M{plot.left:.2f} {at:.2f}H{plot.right:.2f}" stroke="{palette.line}"/>'
        made += words(
            formatting.number(value), plot.left - 6, at + 4, palette.ink_3, SMALL_PX, "end"
        )
    for share, text in figure.columns(round(width)):
        for number, part in enumerate(text.split("<br>")):
            base = plot.bottom + 15 + 14 * number
            made += words(part, x(share), base, palette.ink_3, SMALL_PX)
    for line in some:
        made += _path(figure, line, palette, x, y)
    if named:
        label = cut(some[0].item.label, width, FONT_SIZE_PX, bold=True)
        made += words(label, plot.left, box.top + 12, palette.ink, FONT_SIZE_PX, weight=600)
    return made


def _path(figure: Figure, line: Line, palette: Palette, x: Place, y: Place) -> str:
    d = "".join(
        "M" + "L".join(f"{x(px):.2f} {y(py):.2f}" for px, py in run)
        + ("h1" if len(run) == 1 else "")
        for run in figure.runs(line)
    )  # fmt: skip
    return (
        f'<path class="line" d="{d}" fill="none" stroke="{palette.series[line.place]}"'
        ' stroke-width="1.75" stroke-linejoin="round"/>'
    )


def _bars(figure: Figure, box: Box, palette: Palette) -> str:
    """As many rows as fit, the most first."""
    title = cut(f"{figure.total_title}, {figure.total_unit}", box.right - box.left, SMALL_PX)
    made = words(title, box.left, box.top + 12, palette.ink_2, SMALL_PX)
    room = max(1, int((box.bottom - box.top - 24) // ROW_PX))
    for at, line in enumerate(figure.ranked[:room]):
        made += _bar(figure, line, box, box.top + 24 + at * ROW_PX, palette)
    return made


def _bar(figure: Figure, line: Line, box: Box, top: float, palette: Palette) -> str:
    colour = palette.series[line.place]
    value = formatting.number(line.total)
    room = box.right - box.left - width_px(value, FONT_SIZE_PX) - 28
    long = max(0.0, line.total or 0.0) / figure.greatest if figure.greatest > 0 else 0.0
    width = box.right - box.left
    note = f" ({int(100 * line.item.coverage)}% of readings)" if line.doubtful else ""
    return (
        f'<circle cx="{box.left + 5:.2f}" cy="{top + 8:.2f}" r="5" fill="{colour}"/>'
        + words(
            cut(line.item.label + note, room, FONT_SIZE_PX),
            box.left + 16,
            top + 12,
            palette.ink,
            FONT_SIZE_PX,
        )
        + words(value, box.right, top + 12, palette.ink, FONT_SIZE_PX, "end", 600)
        + f'<rect x="{box.left:.2f}" y="{top + 18:.2f}" width="{width:.2f}" height="7" rx="3"'
        f' fill="{palette.gap}"/>'
        f'<rect x="{box.left:.2f}" y="{top + 18:.2f}" width="{width * long:.2f}" height="7" rx="3"'
        f' fill="{colour}"/>'
    )
