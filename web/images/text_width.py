"""How wide words are at most, where nothing measures them: by the widest usual font. Pure."""

from __future__ import annotations

from typing import Final

_NARROW: Final = frozenset(" iljftrI.,:;'|!()[]·-‘’")
_WIDE: Final = frozenset("mwMW@%—…●■▲○◌")
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
    """As much of it as has room, with … where that isn't all."""
    if width_px(text, font_px, bold=bold) <= room_px:
        return text
    kept = text
    while kept and width_px(f"{kept}…", font_px, bold=bold) > room_px:
        kept = kept[:-1]
    return f"{kept.rstrip()}…"


def broken(parts: tuple[str, ...], room_px: float, font_px: float, most: int) -> list[str]:
    """Lines of the parts, with · between them. At most so many, and then … ends the last."""
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
