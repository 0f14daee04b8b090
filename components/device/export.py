"""Rows as CSV: UTC and local time, units in the headers, a page at a time."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from zoneinfo import ZoneInfo

from api.catalog import FLOW_DURATION, LIMIT, METRICS, RAW, Metric, Resolution
from api.client import Client, Series
from api.timez import stamp, stamps
from components.device.paging import pages
from components.ranges import Window
from components.units import US, Units

# What a spreadsheet would take for a formula.
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")
_PLAIN_UNITS: Final = {"°C": "degC", "m³": "m3", "%": "percent"}  # as every program reads them
_NAME: Final = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Order:
    """What is wanted of which device."""

    device_id: str
    serial: str
    resolution: Resolution
    window: Window
    tz: ZoneInfo
    units: Units = US


@dataclass(frozen=True, slots=True)
class _Column:
    name: str
    header: str
    factor: float


def file_name(order: Order) -> str:
    """``FM-10523_2026-11-13T234100Z_2026-11-20T234059Z_10min.csv``: the same for the same rows."""
    first, last = (stamp(at).replace(":", "") for at in order.window)
    serial = _NAME.sub("-", order.serial).strip("-.") or "device"
    return f"{serial}_{first}_{last}_{order.resolution.name}.csv"


def lines(client: Client, order: Order) -> Iterator[str]:
    """The file in parts of at most ten thousand rows. Asks for the first rows before it gives the
    header, so that whoever may not have them gets none of it."""
    columns = _columns(order)
    header = _text([["serial_number", "time_utc", f"time_local ({order.tz.key})",
                     *(column.header for column in columns)]])  # fmt: skip
    for part in pages(
        client,
        order.device_id,
        order.resolution,
        order.window,
        limit=LIMIT.maximum or 0,
        timezone=order.tz.key if order.resolution.calendar else None,
    ):
        yield header + _text(_rows(part, order, columns))
        header = ""
    if header:
        yield header


def _rows(part: Series, order: Order, columns: Sequence[_Column]) -> Iterator[Sequence[object]]:
    fraction = order.resolution is RAW
    times = zip(
        stamps(part.times_ms, fraction=fraction),
        stamps(part.times_ms, order.tz, fraction=fraction),
        strict=True,
    )
    values = [_scaled(part.values(c.name), c.factor) for c in columns]
    for (utc, local), *row in zip(times, *values, strict=True):
        yield [order.serial, utc, local, *row]


def _scaled(values: Sequence[float | None], factor: float) -> Sequence[float | None]:
    """To twelve digits: more are only the trace of a conversion."""
    if factor == 1:
        return values
    return [None if v is None else float(f"{v * factor:.12g}") for v in values]


def _columns(order: Order) -> list[_Column]:
    if order.resolution is RAW:
        named = [(metric.name, metric) for metric in METRICS]
    else:
        named = [
            (f"{function}_{metric.name}", metric)
            for metric in METRICS
            if metric is not FLOW_DURATION
            for function in _functions(metric)
        ]
    return [_column(name, metric, order.units) for name, metric in named]


def _functions(metric: Metric) -> tuple[str, ...]:
    totals = ("total",) if metric.totalled else ()
    return ("avg", *(("min", "max") if metric.extremes else ()), *totals)


def _column(name: str, metric: Metric, units: Units) -> _Column:
    scale = units.scale(metric, 1000.0)  # one unit for a whole file
    return _Column(name, f"{name} ({_PLAIN_UNITS.get(scale.unit, scale.unit)})", scale.factor)


def _text(rows: Iterator[Sequence[object]] | Sequence[Sequence[object]]) -> str:
    out = io.StringIO()
    csv.writer(out).writerows([_safe(cell) for cell in row] for row in rows)
    return out.getvalue()


def _safe(cell: object) -> object:
    """Texts that start like a formula are told to be texts; numbers are numbers."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell
