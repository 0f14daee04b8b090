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
from components.fleet.sparklines import Spark, spark
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
        mark = hash((tuple(row.line.times_ms), columns, floor_to(now_ms, step // 2)))
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
    return spark(framed, window, span.line.fixed_ms * span.rows_per_point, span.rows_per_point)
