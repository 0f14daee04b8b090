"""Guesses a file's text encoding from its first bytes."""

from __future__ import annotations

import re
from typing import Final

UTF_8: Final = "utf-8"
_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_NARROW: Final = frozenset({"ascii", "utf_8"})
_ALIKE: Final = ("cp125", "latin", "iso8859")  # mostly the same letters in the same positions
_WESTERN: Final = frozenset("äöüÄÖÜßéèêëàâçîïôùûÉÈÀÇœñÑóíáúÓÍÁÚìòõãåæøÅÆØ°µ·€–’«»ºª\u00a0")
_ASCII: Final = frozenset(map(chr, range(128)))
_UNIT: Final = re.compile(r"(?<=[A-Za-z])[²³](?![A-Za-z])")


def guess_encoding(head: bytes) -> str:
    """Returns a codec's name. UTF-8 is recognised for certain; any other European file is most
    likely Windows-1252, which also reads Latin-1."""
    if head.startswith(_MARKS):
        return "utf-16"
    for place, name in enumerate(("utf-16-be", "utf-16-le")):
        if head[place:400:2].count(0) > 0.9 * len(head[place:400:2]):
            return name
    try:
        _whole_characters(head).decode(UTF_8)
        return UTF_8
    except UnicodeDecodeError:
        pass
    western = head.decode("cp1252", "replace")
    if set(_UNIT.sub("", western[:65_536])) - _ASCII <= _WESTERN:
        return "cp1252"
    if set(_UNIT.sub("", head[:65_536].decode("cp850"))) - _ASCII <= _WESTERN:
        return "cp850"
    from charset_normalizer import from_bytes  # few files need it

    best = from_bytes(head[:65_536]).best()
    name = best.encoding if best else "cp1252"
    if name in _NARROW:
        return UTF_8
    return "cp1252" if name.startswith(_ALIKE) and western == head.decode(name, "replace") else name


def _whole_characters(head: bytes) -> bytes:
    """Removes the last line, whose last character may be cut."""
    end = head.rfind(b"\n")
    return head[: end + 1] if end > 0 else head
