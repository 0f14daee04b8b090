"""The lines of tiles, made from the rows that came with a page of devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from api.catalog import FLOW_RATE
from api.client import DeviceStatus
from api.metering.cadence import UNKNOWN, Cadence
from api.metering.uptime import resolution_for
from api.metering.windows import Span, strip_window
from api.timez import floor_to, zone
from components.charts.frames import frame
from components.fleet.queries import Desk
from components.fleet.sparklines import Spark, Step, spark
from components.ranges import Window

_UTC: Final = zone("UTC")


def cadence_of(row: DeviceStatus) -> Cadence:
    if row.cadence_s is None:
        return UNKNOWN
    return Cadence(round(row.cadence_s * 1000), row.event_driven)


def window_of(row: DeviceStatus, span: Span, now_ms: int) -> Window:
    return strip_window(span, resolution_for(cadence_of(row)), now_ms)


def lines_of(desk: Desk, rows: Sequence[DeviceStatus], span: Span, now_ms: int) -> dict[str, Spark]:
    """By device id. A line is made anew where its rows have changed, or half a point has passed."""
    made: dict[str, Spark] = {}
    for row in rows:
        if row.line is None:
            continue
        step = span.line.fixed_ms * span.rows_per_point
        columns = tuple(tuple(values) for values in row.line.columns.values())
        times = tuple(row.line.times_ms)
        mark = hash((times, columns, row.usual, floor_to(now_ms, step // 2)))
        key = (desk.principal, "line", span.name, row.device.id)
        kept: tuple[int, Spark] | None = desk.memory.local(key)
        if kept is None or kept[0] != mark:
            kept = (mark, _line(row, span, now_ms))
            desk.memory.keep(key, kept)
        made[row.device.id] = kept[1]
    return made


def _line(row: DeviceStatus, span: Span, now_ms: int) -> Spark:
    assert row.line is not None
    window = window_of(row, span, now_ms)
    cadence_ms = cadence_of(row).expected_ms
    framed = frame(row.line, FLOW_RATE, window, tz=_UTC, cadence_ms=cadence_ms, until_ms=now_ms)
    point_ms, usual = span.line.fixed_ms * span.rows_per_point, _usual(row, window)
    return spark(framed, window, point_ms, span.rows_per_point, usual)


def _usual(row: DeviceStatus, window: Window) -> list[Step]:
    """Those of the window; none where something isn't known."""
    if row.usual is None or None in row.usual.rates:
        return []
    start, step, rates = row.usual
    steps = [(start + n * step, start + (n + 1) * step, r or 0.0) for n, r in enumerate(rates)]
    return [each for each in steps if each[0] < window.to_ms and each[1] > window.from_ms]
