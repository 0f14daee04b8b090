"""Drawings of our own as SVG: building blocks, the caption around them, and their other formats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Final, NamedTuple

from components.charts.figure import MARGIN_PX
from components.image_query import Size
from components.theme import FONT, FONT_SIZE_PX, Palette
from web.rendering import Renderer
from web.rendering.messages import Format

STRIPE: Final = 'patternUnits="userSpaceOnUse" patternTransform="rotate(45)"'


def document(width: float, height: float, ground: str, drawn: str) -> str:
    """A complete SVG; sizes in CSS pixels."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
        f' viewBox="0 0 {width} {height}" font-family="{escape(FONT)}">'
        f'<rect width="{width}" height="{height}" fill="{ground}"/>{drawn}</svg>'
    )


def words(
    text: str,
    x: float,
    y: float,
    colour: str,
    size: int,
    anchor: str = "start",
    weight: int = 400,
) -> str:
    if not text:
        return ""
    return (
        f'<text x="{x:.2f}" y="{y:.2f}" fill="{colour}" font-size="{size}"'
        f' font-weight="{weight}" text-anchor="{anchor}">{escape(text)}</text>'
    )


def stripes(name: str, colour: str, ground: str, step: float, width: float) -> str:
    """A pattern of oblique stripes, used as ``url(#name)``."""
    return (
        f'<pattern id="{name}" width="{step}" height="{step}" {STRIPE}>'
        f'<rect width="{step}" height="{step}" fill="{ground}"/>'
        f'<rect width="{width}" height="{step}" fill="{colour}"/></pattern>'
    )


def mixed(colour: str, other: str, share: float) -> str:
    """As the stylesheet's ``color-mix(in srgb, …)``: ``share`` (0–1) of the first."""
    pairs = zip(bytes.fromhex(colour[1:]), bytes.fromhex(other[1:]), strict=True)
    return "#" + bytes(round(a * share + b * (1 - share)) for a, b in pairs).hex()


# --- Width of words ------------------------------------------------------------------------------

_NARROW: Final = frozenset(" iljftrI.,:;'|!()[]·-‘’")
_WIDE: Final = frozenset("mwMW@%—…●■▲○◌◆⬖◇")

# Parts of the font's size: narrow signs, capitals, wide ones, all others.
_REGULAR: Final = (0.36, 0.70, 0.98, 0.635)
_BOLD: Final = (0.42, 0.78, 1.05, 0.705)


def width_px(text: str, font_px: float, *, bold: bool = False) -> float:
    narrow, capital, wide, other = _BOLD if bold else _REGULAR
    parts = 0.0
    for sign in text:
        if sign in _NARROW:
            parts += narrow
        elif sign in _WIDE or ord(sign) > 0x2E80:  # the scripts of East Asia
            parts += wide
        else:
            parts += capital if sign.isupper() else other
    return parts * font_px


def cut(text: str, room_px: float, font_px: float, *, bold: bool = False) -> str:
    """The text, shortened with … to fit."""
    if width_px(text, font_px, bold=bold) <= room_px:
        return text
    shortened = text
    while shortened and width_px(f"{shortened}…", font_px, bold=bold) > room_px:
        shortened = shortened[:-1]
    return f"{shortened.rstrip()}…"


def broken(parts: tuple[str, ...], room_px: float, font_px: float, most: int) -> list[str]:
    """The parts, joined by ·, in at most ``most`` lines; … marks a cut."""
    words = " · ".join(parts).split(" ")
    lines = [""]
    for word in words:
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and width_px(longer, font_px) > room_px:
            lines.append(word)
        else:
            lines[-1] = longer
    whole = [line.removeprefix("· ").removesuffix(" ·") for line in lines]
    if len(whole) > most:
        whole = [*whole[: most - 1], cut(f"{whole[most - 1]} …", room_px, font_px)]
    return whole


# --- The caption around a drawing -----------------------------------------------------------------


EDGE_PX: Final = 16
TITLE_PX: Final = 17
TITLE_LINE_PX: Final = 24
LINE_PX: Final = 17
FOOT_PX: Final = 20
MOST_LINES: Final = 3
SMALL_PX: Final = FONT_SIZE_PX - 1
NO_DATA: Final = "no data"
NO_DATA_PX: Final = 20 + width_px(NO_DATA, SMALL_PX)
_APART_PX: Final = 12  # between a label and its serial number


@dataclass(frozen=True, slots=True)
class Caption:
    """``lines``: below the title. ``foot``: below the drawing."""

    label: str
    serial: str
    lines: tuple[str, ...]
    foot: str


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


# --- The image -----------------------------------------------------------------------------------


_MARGINLESS: Final = "html,body{margin:0;padding:0}svg{display:block}"


@dataclass(frozen=True, slots=True)
class Image:
    """An image's bytes, and its name without the ending, which is the same for the same view."""

    body: bytes
    name: str


def converted(renderer: Renderer, svg: str, format: Format, size: Size) -> bytes:
    """An SVG in another format; for SVG itself no browser is needed. Raises RenderingError."""
    if format == "svg":
        return svg.encode()
    if format == "pdf":
        paper = f"@page{{size:{size.width}px {size.height}px;margin:0}}"
        return renderer.render_page(f"<style>{paper}{_MARGINLESS}</style>{svg}")
    html = f"<style>{_MARGINLESS}</style>{svg}"
    return renderer.render_picture(html, size.width, size.height, size.scale)
