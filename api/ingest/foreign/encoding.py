"""Guesses a file's text encoding from its first bytes."""

from __future__ import annotations

import re
from typing import Final

from charset_normalizer import from_bytes

UTF_8: Final = "utf-8"
ENCODINGS: Final = ("utf-8", "cp1252", "latin-1", "utf-16", "cp1250", "cp1251", "shift_jis")
_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_NARROW: Final = frozenset({"ascii", "utf_8"})
_ALIKE: Final = ("cp125", "latin", "iso8859")  # the same letters in the same places, mostly
_WESTERN: Final = frozenset("äöüÄÖÜßéèêëàâçîïôùûÉÈÀÇœñÑóíáúÓÍÁÚìòõãåæøÅÆØ°µ·€–’«»ºª")
_ASCII: Final = frozenset(map(chr, range(128)))
_UNIT: Final = re.compile(r"(?<=[A-Za-z])[²³](?![A-Za-z])")


def guess_encoding(head: bytes) -> str:
    """A codec's name. Text in UTF-8 is recognised for certain; a European file that isn't is most
    often Windows-1252, which also reads Latin-1."""
    if head.startswith(_MARKS):
        return "utf-16"
    try:
        _whole_characters(head).decode(UTF_8)
        return UTF_8
    except UnicodeDecodeError:
        pass
    western = head.decode("cp1252", "replace")
    if set(_UNIT.sub("", western[:65_536])) - _ASCII <= _WESTERN:
        return "cp1252"
    best = from_bytes(head[:65_536]).best()
    name = best.encoding if best else "cp1252"
    if name in _NARROW:
        return UTF_8
    return "cp1252" if name.startswith(_ALIKE) and western == head.decode(name, "replace") else name


def _whole_characters(head: bytes) -> bytes:
    """Without the last line, whose last character may be cut."""
    end = head.rfind(b"\n")
    return head[: end + 1] if end > 0 else head
