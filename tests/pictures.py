"""A PNG's pixels, decoded by the format's rules: 8 bits a channel, RGB or RGBA, not interlaced."""

from __future__ import annotations

import struct
import zlib
from dataclasses import dataclass
from typing import NamedTuple


class Pixel(NamedTuple):
    red: int
    green: int
    blue: int


@dataclass(frozen=True, slots=True)
class Picture:
    width: int
    height: int
    channels: int
    rows: list[bytes]

    @property
    def size(self) -> tuple[int, int]:
        return self.width, self.height

    def at(self, x: int, y: int) -> Pixel:
        return Pixel(*self.rows[y][x * self.channels : x * self.channels + 3])

    def colours(self) -> set[Pixel]:
        step = self.channels
        return {Pixel(*row[x : x + 3]) for row in self.rows for x in range(0, len(row), step)}


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
    return Picture(width, height, channels, _rows(zlib.decompress(data), width, height, channels))


def _rows(raw: bytes, width: int, height: int, step: int) -> list[bytes]:
    length, above, rows = width * step, bytes(width * step), []
    for y in range(height):
        kind, line = raw[y * (length + 1)], bytearray(raw[y * (length + 1) + 1 :][:length])
        _unfilter(kind, line, above, step)
        above = bytes(line)
        rows.append(above)
    return rows


def _unfilter(kind: int, line: bytearray, above: bytes, step: int) -> None:
    for i in range(len(line) if kind else 0):
        left = line[i - step] if i >= step else 0
        corner = above[i - step] if i >= step else 0
        guess = (0, left, above[i], (left + above[i]) // 2, _paeth(left, above[i], corner))[kind]
        line[i] = (line[i] + guess) & 255


def _paeth(left: int, up: int, corner: int) -> int:
    estimate = left + up - corner
    return min((left, up, corner), key=lambda value: abs(estimate - value))
