"""Building blocks of SVG drawings: document, text, stripes. Pure."""

from __future__ import annotations

from html import escape
from typing import Final

from components.theme import FONT

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
