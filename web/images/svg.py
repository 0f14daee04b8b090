"""The parts that drawings of our own are put together from: a sheet, words, stripes. Pure."""

from __future__ import annotations

from html import escape
from typing import Final

from components.theme import FONT

STRIPE: Final = 'patternUnits="userSpaceOnUse" patternTransform="rotate(45)"'


def document(width: float, height: float, ground: str, drawn: str) -> str:
    """A whole SVG of that many CSS pixels."""
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
    """A ground to fill with, by ``url(#name)``: oblique stripes."""
    return (
        f'<pattern id="{name}" width="{step}" height="{step}" {STRIPE}>'
        f'<rect width="{step}" height="{step}" fill="{ground}"/>'
        f'<rect width="{width}" height="{step}" fill="{colour}"/></pattern>'
    )


def mixed(colour: str, other: str, share: float) -> str:
    """As the stylesheet's ``color-mix(in srgb, …)``: ``share`` (0–1) of the first."""
    pairs = zip(bytes.fromhex(colour[1:]), bytes.fromhex(other[1:]), strict=True)
    return "#" + bytes(round(a * share + b * (1 - share)) for a, b in pairs).hex()
