"""A PNG's pixels, decoded by the format's rules: 8 bits a channel, RGB or RGBA, not interlaced."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass, field
from itertools import accumulate
from typing import NamedTuple


class Pixel(NamedTuple):
    red: int
    green: int
    blue: int


@dataclass(slots=True)
class Picture:
    """A decoded PNG. Rows are unfiltered on demand: each needs those above it, and most tests read
    the size or a corner only."""

    width: int
    height: int
    channels: int
    _filtered: bytes
    _rows: list[bytes] = field(default_factory=list[bytes])

    @property
    def size(self) -> tuple[int, int]:
        return self.width, self.height

    def at(self, x: int, y: int) -> Pixel:
        return Pixel(*self._row(y)[x * self.channels : x * self.channels + 3])

    def colours(self) -> set[Pixel]:
        self._row(self.height - 1)
        result: set[tuple[int, ...]] = set()
        for row in set(self._rows):
            result.update(zip(*(row[c :: self.channels] for c in range(3)), strict=True))
        return {Pixel(*colour) for colour in result}

    def _row(self, y: int) -> bytes:
        length = self.width * self.channels
        while len(self._rows) <= y:
            start = len(self._rows) * (length + 1)
            kind, line = self._filtered[start], self._filtered[start + 1 : start + 1 + length]
            above = self._rows[-1] if self._rows else bytes(length)
            self._rows.append(_UNFILTERED[kind](line, above, self.channels))
        return self._rows[y]


def decoded(png: bytes) -> Picture:
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at, data, header = 8, b"", b""
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        body = png[at + 8 : at + 8 + length]
        (crc,) = struct.unpack(">I", png[at + 8 + length : at + 12 + length])
        assert zlib.crc32(kind + body) == crc
        header, data = body if kind == b"IHDR" else header, data + body * (kind == b"IDAT")
        at += 12 + length
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", header)
    assert (depth, interlaced) == (8, 0)
    channels = {2: 3, 6: 4}[colour]
    raw = zlib.decompress(data)
    assert len(raw) == height * (1 + width * channels)
    assert set(raw[:: 1 + width * channels]) <= set(_UNFILTERED)
    return Picture(width, height, channels, raw)


# --- The five filters, each of a line, the line above and the bytes per pixel ---------------------


def _none(line: bytes, above: bytes, step: int) -> bytes:
    return line


def _sub(line: bytes, above: bytes, step: int) -> bytes:
    plain = bytearray(line)
    for channel in range(step):
        plain[channel::step] = accumulate(line[channel::step], lambda a, b: (a + b) & 255)
    return bytes(plain)


def _up(line: bytes, above: bytes, step: int) -> bytes:
    return bytes((a + b) & 255 for a, b in zip(line, above, strict=True))


def _average(line: bytes, above: bytes, step: int) -> bytes:
    plain = bytearray(step) + line  # zero to the left of the first pixel
    for i, up in enumerate(above, step):
        plain[i] = (plain[i] + (plain[i - step] + up) // 2) & 255
    return bytes(plain[step:])


def _paeth(line: bytes, above: bytes, step: int) -> bytes:
    plain, corners = bytearray(step) + line, bytes(step) + above
    for i, up in enumerate(above, step):
        left, corner = plain[i - step], corners[i - step]
        to_left, to_up, to_corner = (
            abs(up - corner),
            abs(left - corner),
            abs(left + up - 2 * corner),
        )
        if to_left <= to_up and to_left <= to_corner:
            nearest = left
        else:
            nearest = up if to_up <= to_corner else corner
        plain[i] = (plain[i] + nearest) & 255
    return bytes(plain[step:])


_UNFILTERED = dict(enumerate((_none, _sub, _up, _average, _paeth)))
