"""A tile's sparkline: a device's rows as three short paths. Pure; the browser only places them.

One unit of x is half a point, one of y a hundredth of the height, downwards; the browser stretches
the drawing to the tile's size. Nothing is ever drawn across a gap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import orjson

from api.catalog import FLOW_RATE
from api.client import DeviceStatus
from api.metering.cadence import UNKNOWN, Cadence
from api.metering.uptime import resolution_for
from api.metering.windows import Span, strip_window
from api.timez import floor_to, zone
from components.charts.frames import Frame, frame
from components.concurrent_queries import ServiceAccess
from components.ranges import Window

HEIGHT: Final = 100
FULL: Final = 4  # room above the highest and below the lowest value, so that the line isn't clipped


@dataclass(frozen=True, slots=True)
class Spark:
    """``line``, ``usual``, ``band`` and ``gaps``: SVG path data in a box of ``width`` × 100.
    ``peak``: the highest rate in gal/min, None without one."""

    width: int
    line: str = ""
    band: str = ""
    gaps: str = ""
    usual: str = ""
    peak: float | None = None

    @property
    def mark(self) -> str:
        """A name of the drawing: equal marks are equal drawings."""
        drawn = f"{self.width} {self.gaps} {self.band} {self.usual} {self.line}".encode()
        return blake2b(drawn, digest_size=6).hexdigest()


@dataclass(frozen=True, slots=True)
class _Scale:
    start_ms: int
    unit_ms: float
    width: int
    low: float
    high: float

    def x(self, instant_ms: float) -> int:
        return max(0, min(self.width, round((instant_ms - self.start_ms) / self.unit_ms)))

    def y(self, value: float) -> int:
        room = HEIGHT - 2 * FULL
        return round(HEIGHT - FULL - (value - self.low) / (self.high - self.low) * room)


Step = tuple[int, int, float]
"""[from, to) in ms, and the rate."""


def spark(
    frame: Frame,
    window: Window,
    point_ms: int,
    rows_per_point: int = 1,
    usual: Sequence[Step] = (),
) -> Spark:
    """The frame's rows in the window, from zero to the highest maximum. ``usual``: contiguous steps
    with usual values."""
    width = round(window.length_ms / point_ms * 2)
    highs = [v for v in frame.high if v is not None]
    tops = [*highs, *(rate for _, _, rate in usual)]
    lows = [v for v in frame.low if v is not None]
    top, bottom = max(tops, default=0.0), min(lows, default=0.0)
    scale = _Scale(
        window.from_ms, point_ms / 2, width, min(0.0, bottom), max(top, min(0.0, bottom) + 1e-9)
    )
    runs = [_points(frame, run, rows_per_point, scale) for run in frame.runs]
    return Spark(
        width=width,
        line="".join(_path((x, y) for x, y, _, _ in run) for run in runs),
        band="".join(_outline(run) for run in runs) if frame.low is not frame.middle else "",
        gaps="".join(_block(scale.x(gap.from_ms), scale.x(gap.to_ms)) for gap in frame.gaps),
        usual=_usual(usual, scale),
        peak=max(highs, default=None),
    )


def _usual(steps: Sequence[Step], scale: _Scale) -> str:
    """The usual line, through the middles of the steps."""
    points = ((scale.x((start + end) / 2), scale.y(rate)) for start, end, rate in steps)
    return _path(points) if len(steps) > 1 else ""


Point = tuple[int, int, int, int]


def _points(frame: Frame, run: range, rows: int, scale: _Scale) -> list[Point]:
    """(x, middle, low, high), ``rows`` rows to a point: the mean of their middles, the lowest and
    highest of their extremes. A run begins and ends with its rows."""
    points: list[Point] = []
    for chunk in _chunks(frame, run, rows):
        middles = [frame.middle[i] or 0.0 for i in chunk]
        x = scale.x((frame.starts_ms[chunk[0]] + frame.ends_ms[chunk[-1]]) / 2)
        y = scale.y(sum(middles) / len(middles))
        low = scale.y(min(_or(frame.low[i], frame.middle[i]) for i in chunk))
        high = scale.y(max(_or(frame.high[i], frame.middle[i]) for i in chunk))
        points.append((x, y, low, high))
    first, last = scale.x(frame.starts_ms[run[0]]), scale.x(frame.ends_ms[run[-1]])
    return [(first, *points[0][1:]), *points, (last, *points[-1][1:])]


def _chunks(frame: Frame, run: range, rows: int) -> Iterator[Sequence[int]]:
    """Rows that share a point, cut at multiples of a point's length even if rows are missing."""
    if rows == 1:
        yield from ((index,) for index in run)
        return
    length = rows * (frame.resolution.length_ms or 1)
    chunk: list[int] = []
    for index in run:
        if chunk and frame.starts_ms[index] // length != frame.starts_ms[chunk[0]] // length:
            yield chunk
            chunk = []
        chunk.append(index)
    yield chunk


def _or(value: float | None, other: float | None) -> float:
    return value if value is not None else other or 0.0


def _path(points: Iterator[tuple[int, int]]) -> str:
    return "M" + "L".join(f"{x} {y}" for x, y in points)


def _outline(run: Sequence[Point]) -> str:
    there = ((x, high) for x, _, _, high in run)
    back = ((x, low) for x, _, low, _ in reversed(run))
    return _path(iter((*there, *back))) + "Z"


def _block(left: int, right: int) -> str:
    return f"M{left} 0H{right}V{HEIGHT}H{left}Z" if right > left else ""


_UTC: Final = zone("UTC")


def cadence_of(row: DeviceStatus) -> Cadence:
    if row.cadence_s is None:
        return UNKNOWN
    return Cadence(round(row.cadence_s * 1000), row.event_driven)


def window_of(row: DeviceStatus, span: Span, now_ms: int) -> Window:
    return strip_window(span, resolution_for(cadence_of(row)), now_ms)


def lines_of(
    access: ServiceAccess, rows: Sequence[DeviceStatus], span: Span, now_ms: int
) -> dict[str, Spark]:
    """Sparklines by device id. One is drawn again if its rows have changed or half a point has
    passed. Readers with the same rows share it."""
    made: dict[str, Spark] = {}
    for row in rows:
        if row.line is None:
            continue
        moment_ms = floor_to(now_ms, span.line.fixed_ms * span.rows_per_point // 2)
        digest = _digest(row, moment_ms)
        key = ("lines of equal rows", span.name, row.device.id)
        cached: tuple[bytes, Spark] | None = access.cache.get(key)
        if cached is None or cached[0] != digest:
            cached = (digest, _line(row, span, now_ms))
            access.cache.put(key, cached)
        made[row.device.id] = cached[1]
    return made


def _digest(row: DeviceStatus, moment_ms: int) -> bytes:
    """A digest of all that the line is made from."""
    assert row.line is not None
    usual = row.usual and (row.usual.start_ms, row.usual.step_ms, tuple(row.usual.rates))
    columns = tuple(map(tuple, row.line.columns.values()))
    made_of = (tuple(row.line.times_ms), columns, usual, tuple(cadence_of(row)), moment_ms)
    return blake2b(orjson.dumps(made_of), digest_size=16).digest()


def _line(row: DeviceStatus, span: Span, now_ms: int) -> Spark:
    assert row.line is not None
    window = window_of(row, span, now_ms)
    cadence_ms = cadence_of(row).expected_ms
    framed = frame(row.line, FLOW_RATE, window, tz=_UTC, cadence_ms=cadence_ms, until_ms=now_ms)
    point_ms, usual = span.line.fixed_ms * span.rows_per_point, _usual_steps(row, window)
    return spark(framed, window, point_ms, span.rows_per_point, usual)


def _usual_steps(row: DeviceStatus, window: Window) -> list[Step]:
    """The usual steps of the window; none if one is unknown."""
    if row.usual is None or None in row.usual.rates:
        return []
    start, step, rates = row.usual
    steps = [(start + n * step, start + (n + 1) * step, r or 0.0) for n, r in enumerate(rates)]
    return [each for each in steps if each[0] < window.to_ms and each[1] > window.from_ms]
