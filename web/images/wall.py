"""The image of the wall: its tiles as on the screen, in one SVG with a caption around them.

All data is of the board that the page draws (`components/fleet/wall.py`). SVG neither wraps nor
clips texts, so they are cut here by an upper bound of their width.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from api.timez import MINUTE_MS, floor_to, stamp
from components.concurrent_queries import ServiceAccess
from components.fleet.queries import FleetView
from components.fleet.wall import board
from components.image_query import Pairs, bound, read_wall
from components.theme import Palette, palette
from web.images.svg import Image, converted, cut, document, mixed, width_px, words
from web.rendering import Renderer
from web.rendering.messages import Format
from web.responses import file_stem

EDGE: Final = 16
GAP: Final = 12
TILE_HEIGHT: Final = 182
LEAST_TILE: Final = 236
PAD: Final = 14
HEAD: Final = 58
FOOT: Final = 30
SPARK: Final = (58, 44)  # top within the tile, and height, in pixels
STRIP: Final = (108, 8)
SPACE: Final = 8
NUMBERS: Final = 136  # the base line of the numbers; their meanings are 14 px below
HEALTH: Final = 171  # the base line of uptime and quality


@dataclass(frozen=True, slots=True)
class _Sheet:
    """The positions and colours of the drawing."""

    palette: Palette
    width: int
    columns: int
    tile: float

    def place(self, index: int) -> tuple[float, float]:
        row, column = divmod(index, self.columns)
        return EDGE + column * (self.tile + GAP), HEAD + row * (TILE_HEIGHT + GAP)


def wall(board: Mapping[str, Any], palette: Palette, width: int, subtitle: str) -> tuple[str, int]:
    """The SVG of a board, and its height in pixels. ``subtitle``: below the title."""
    sheet = _sheet(palette, width)
    tiles: Sequence[Mapping[str, Any]] = board["tiles"]
    rows = -(-len(tiles) // sheet.columns) if tiles else 1
    height = HEAD + rows * (TILE_HEIGHT + GAP) - GAP + FOOT
    drawn = "".join(_tile(tile, *sheet.place(i), sheet) for i, tile in enumerate(tiles))
    if not tiles:
        drawn = words(
            board["empty"], width / 2, HEAD + TILE_HEIGHT / 2, palette.ink_2, 14, "middle"
        )
    around = _around(sheet, height, subtitle, board["at_words"])
    return document(width, height, palette.bg, around + drawn), height


def _sheet(palette: Palette, width: int) -> _Sheet:
    inner = width - 2 * EDGE
    columns = max(1, (inner + GAP) // (LEAST_TILE + GAP))
    return _Sheet(palette, width, columns, (inner - GAP * (columns - 1)) / columns)


def _around(sheet: _Sheet, height: int, subtitle: str, at: str) -> str:
    palette, room = sheet.palette, sheet.width - 2 * EDGE
    return (
        words("Fleet", EDGE, 26, palette.ink, 17, weight=700)
        + words(cut(subtitle, room, 12), EDGE, 44, palette.ink_2, 12)
        + words(f"Weir · {at}", sheet.width - EDGE, height - 11, palette.ink_3, 11, "end")
    )


# --- One tile ------------------------------------------------------------------------------------


def _tile(tile: Mapping[str, Any], x: float, y: float, sheet: _Sheet) -> str:
    palette = sheet.palette
    colour, ink = _state(tile["state"], palette)
    finding = tile["finding"]
    if finding is not None:
        colour, _ = _severity(finding["severity"], palette)
    inner = sheet.tile - 2 * PAD
    return (
        f'<g transform="translate({x:.2f} {y:.2f})">'
        f'<rect x=".5" y=".5" width="{sheet.tile - 1:.2f}" height="{TILE_HEIGHT - 1}" rx="9"'
        f' fill="{palette.surface}" stroke="{palette.line}"/>'
        f'<path d="M3 9V{TILE_HEIGHT - 9}" stroke="{colour}" stroke-width="3"/>'
        f"{_names(tile, inner, ink, palette)}"
        f'<svg x="{PAD}" y="{SPARK[0]}" width="{inner:.2f}" height="{SPARK[1]}"'
        f" {_box(tile['spark'])}>"
        f"{_finding_span(tile, palette)}{_noted(tile, palette)}"
        f"{_spark(tile['spark'], palette)}</svg>"
        f"{_note(tile['note'], inner, palette)}"
        f'<svg x="{PAD}" y="{STRIP[0]}" width="{inner:.2f}" height="{STRIP[1]}"'
        f" {_box(tile['strip'])}>{_strip(tile['strip'], palette)}</svg>"
        f"{_numbers(tile, inner, palette)}{_health(tile['health'], palette)}</g>"
    )


def _names(tile: Mapping[str, Any], inner: float, ink: str, palette: Palette) -> str:
    """The finding stands above; the state beside the time of the last reading."""
    finding, state = tile["finding"], f"{tile['shape']} {tile['word']}"
    above = state if finding is None else f"{finding['shape']} {finding['word']}"
    seen = tile["seen"] if finding is None else f"{state} · {tile['seen']}"
    above_ink = ink if finding is None else _severity(finding["severity"], palette)[1]
    label_px = inner - width_px(above, 12, bold=True) - SPACE
    serial_px = inner - width_px(seen, 12) - SPACE
    right = PAD + inner
    return (
        words(cut(tile["label"], label_px, 14, bold=True), PAD, 26, palette.ink, 14, weight=600)
        + words(above, right, 26, above_ink, 12, "end", 600)
        + words(cut(tile["serial"], serial_px, 12), PAD, 45, palette.ink_3, 12)
        + words(seen, right, 45, palette.ink_3, 12, "end")
    )


def _box(values: Sequence[Any] | None) -> str:
    return f'viewBox="0 0 {values[0] if values else 1} 100" preserveAspectRatio="none"'


def _spark(values: Sequence[Any] | None, palette: Palette) -> str:
    if not values:
        return ""
    _, gaps, band, usual, line = values
    still = 'vector-effect="non-scaling-stroke"'
    edge = f'stroke="{palette.band}" stroke-width=".75" {still}'
    return (
        f'<path d="{gaps}" fill="{palette.gap}"/>'
        f'<path d="{band}" fill="{palette.band}" {edge}/>'
        f'<path d="{usual}" fill="none" stroke="{palette.ink_2}" stroke-dasharray="3 3" {still}/>'
        f'<path d="{line}" fill="none" stroke="{palette.accent}" stroke-width="1.25"'
        f' stroke-linejoin="round" {still}/>'
    )


def _strip(values: Sequence[Any] | None, palette: Palette) -> str:
    if not values:
        return ""
    paths = zip(values[1:], (palette.line, palette.ok, palette.warn), strict=True)
    return "".join(f'<path d="{path}" fill="{colour}"/>' for path, colour in paths)


def _note(note: str, inner: float, palette: Palette) -> str:
    short = cut(note, inner, 12)
    return words(short, PAD + inner / 2, SPARK[0] + 26, palette.ink_2, 12, "middle")


def _finding_span(tile: Mapping[str, Any], palette: Palette) -> str:
    if not tile["span"] or not tile["spark"]:
        return ""
    colour, _ = _severity(tile["finding"]["severity"], palette)
    return f'<path d="{tile["span"]}" fill="{colour}" fill-opacity=".16"/>'


def _noted(tile: Mapping[str, Any], palette: Palette) -> str:
    if not tile["noted"] or not tile["spark"]:
        return ""
    return (
        f'<path d="{tile["noted"]}" fill="none" stroke="{palette.ink_2}" stroke-width="1.25"'
        ' stroke-dasharray="2 2" vector-effect="non-scaling-stroke"/>'
    )


def _numbers(tile: Mapping[str, Any], inner: float, palette: Palette) -> str:
    """The first at the left edge, the last at the right edge, the middle one between them by
    width."""
    values: Sequence[Sequence[str]] = tile["numbers"]
    first = max(width_px(values[0][0], 15, bold=True), width_px(values[0][1], 11))
    places = (
        (PAD, "start"),
        (PAD + max(first + SPACE, inner * 0.3), "start"),
        (PAD + inner, "end"),
    )
    made = ""
    for (value, meaning, emphasis), (x, anchor) in zip(values, places, strict=True):
        ink = palette.ink_3 if emphasis == "quiet" else palette.ink
        if emphasis == "finding":
            ink = _severity(tile["finding"]["severity"], palette)[1]
        made += words(value, x, NUMBERS, ink, 15, anchor, 700)
        made += words(cut(meaning, inner * 0.45, 11), x, NUMBERS + 14, palette.ink_2, 11, anchor)
    return made


def _health(values: Sequence[Sequence[str]], palette: Palette) -> str:
    low = _state("degraded", palette)[1]
    x, made = float(PAD), ""
    for value, meaning, emphasis in values:
        made += words(meaning, x, HEALTH, palette.ink_3, 11)
        x += width_px(meaning, 11) + 4
        made += words(value, x, HEALTH, low if emphasis else palette.ink_2, 11, weight=600)
        x += width_px(value, 11, bold=True) + 2 * SPACE
    return made


def _severity(name: str, palette: Palette) -> tuple[str, str]:
    """The colours of a finding: of its shape on the tile's edge, and of its text."""
    state = {"critical": "silent", "warning": "degraded"}.get(name, "nodata")
    return _state(state, palette)


def _state(name: str, palette: Palette) -> tuple[str, str]:
    """The colours of a state: of its shape, and of its text."""
    return {
        "reporting": (palette.ok, palette.ok),
        "degraded": (palette.warn, mixed(palette.warn, palette.ink, 0.72)),  # as in the stylesheet
        "silent": (palette.bad, palette.bad),
    }.get(name, (palette.off, palette.ink_2))


# --- The image of an address ---------------------------------------------------------------------


def wall_image(
    access: ServiceAccess, renderer: Renderer, pairs: Pairs, format: Format, now_ms: int
) -> Image:
    """One page of the wall, up to fifty tiles. Raises as `chart_image`."""
    view, theme, size = read_wall(pairs)
    tile_data = board(access, view, now_ms)
    svg, height = wall(tile_data, palette(theme), size.width, _tile_texts(tile_data, view))
    name = file_stem("fleet", view.span.name, _minute(now_ms))
    if format == "png":
        bound(size.width, height, size.scale)
    return Image(converted(renderer, svg, format, replace(size, height=height)), name)


def _minute(at_ms: int) -> str:
    """An instant as it stands in a name, to the minute: ``2026-11-20T234100Z``."""
    return stamp(floor_to(at_ms, MINUTE_MS)).replace(":", "")


def _tile_texts(tile_data: dict[str, Any], view: FleetView) -> str:
    """The subtitle: window, page, zone, totals."""
    zone = view.zone or "each device’s own time zone"
    sums = (f"{t['label']} {t['value']}" for t in tile_data["totals"][:4])
    return " · ".join(
        (view.span.label, tile_data["pages"]["words"], tile_data["count_text"], zone, *sums)
    )
