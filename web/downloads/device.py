"""A device's files: /download/devices/<id>/rows, days and hours, as .csv and .xlsx."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final
from zoneinfo import ZoneInfo

from api.catalog import (
    DAY,
    FLOW_AMOUNT,
    FLOW_DURATION,
    FLOW_RATE,
    INSIGHT_LIMIT,
    LIMIT,
    METRICS,
    RAW,
    RESOLUTION_BY_NAME,
    TOTAL,
    Metric,
    Resolution,
)
from api.client import Client, Device, Series
from api.client.annotations import Annotation
from api.metering.forecast import Interval
from api.metering.hourly_profile import HOURS, Week, window_of
from api.timez import day_start, local_ordinal, now_ms, zone_or_utc
from components.annotations.queries import within
from components.comparison_queries import compared_rows, has_counterparts
from components.concurrent_queries import ServiceAccess
from components.device import queries, volume_cards
from components.formatting import WEEKDAYS
from components.queries import find_device, pages
from components.ranges import Window, widened
from components.units import US, Units
from components.url_state import COMPARISONS, SHOWN, read_compare, read_window, units_param
from web.downloads.table import Column, Kind, Part, Table
from web.responses import file_stem, of_window


def rows_file(access: ServiceAccess, query: Mapping[str, str], device_id: str) -> Table:
    """A window's rows: ``from``, ``to``, ``resolution`` (default raw), ``zone``, ``units``,
    ``notes`` (1: with a column of them), ``compare`` (with the other's volume and the difference).
    Raises ValueError for an invalid query, NotFound for a device outside the scope."""
    window = read_window(query.get("from", ""), query.get("to", ""))
    resolution = RESOLUTION_BY_NAME.get(query.get("resolution", RAW.name))
    if window is None:
        raise ValueError("from and to must be date-times, from before to.")
    if resolution is None or resolution is TOTAL:
        raise ValueError("resolution must be raw, 1min, 5min, 10min, 1hour, day or month.")
    device = find_device(access.client, device_id, now_ms()).device
    compare = read_compare(query.get("compare", ""))
    if compare != query.get("compare", ""):
        raise ValueError(f"compare must be {', '.join(COMPARISONS)}, or device: and an identifier.")
    order = replace(_order(device, resolution, window, query), compare=compare)
    if query.get("notes", SHOWN) != SHOWN:
        raise ValueError(f"notes must be {SHOWN}, or left out.")
    noted = within(access.client, device.id, order.window, ["note"]) if "notes" in query else None
    return rows(access.client, order, noted)


def days_file(access: ServiceAccess, query: Mapping[str, str], device_id: str) -> Table:
    """The days of the card below the chart: ``zone``, ``units``."""
    device = find_device(access.client, device_id, now_ms()).device
    end, tz = queries.until(device.id, now_ms()), zone_or_utc(query.get("zone"), device.time_zone)
    first = day_start(tz, local_ordinal(tz, end) - volume_cards.DAYS + 1)
    return rows(access.client, _order(device, DAY, Window(first, end), query))


def hours_file(access: ServiceAccess, query: Mapping[str, str], device_id: str) -> Table:
    """The hours of the week of the heat map: ``zone``, ``units``."""
    device = find_device(access.client, device_id, now_ms()).device
    end, tz = queries.until(device.id, now_ms()), zone_or_utc(query.get("zone"), device.time_zone)
    order = _order(device, RAW, window_of(tz, end), query)
    return hours(order, queries.weekly(device.id, tz, end))


def forecast_file(access: ServiceAccess, query: Mapping[str, str], device_id: str) -> Table:
    """The coming hours with their intervals: ``zone``, ``units``."""
    device = find_device(access.client, device_id, now_ms()).device
    hours = access.client.forecast(device.id)
    tz, units = zone_or_utc(query.get("zone"), device.time_zone), units_param(query)
    starts = [hour.bucket_start_ms for hour in hours]
    bounds = [hour.interval or (None,) * len(Interval._fields) for hour in hours]
    part: Part = [
        [device.serial_number] * len(hours),
        starts,
        starts,
        [hour.volume for hour in hours],
        *(list(column) for column in zip(*bounds, strict=True)),
    ]
    names = ("volume", *Interval._fields)
    return Table(
        file_stem(device.serial_number, "forecast"),
        "Forecast",
        [
            Column("serial_number", Kind.TEXT),
            Column("time_utc", Kind.INSTANT, width=24),
            Column(f"time_local ({tz.key})", Kind.INSTANT, tz=tz, width=24),
            *(number_of(name, FLOW_AMOUNT, units) for name in names),
        ],
        iter([part] if hours else []),
    )


def registers_file(access: ServiceAccess, query: Mapping[str, str], device_id: str) -> Table:
    """Every register with the volume of its step: ``zone``, ``units``."""
    device = find_device(access.client, device_id, now_ms()).device
    tz, units = zone_or_utc(query.get("zone"), device.time_zone), units_param(query)
    return Table(
        file_stem(device.serial_number, "registers"),
        "Registers",
        [
            Column("serial_number", Kind.TEXT),
            Column("time_utc", Kind.INSTANT, fraction=True, width=24),
            Column(f"time_local ({tz.key})", Kind.INSTANT, tz=tz, fraction=True, width=24),
            Column("register", Kind.NUMBER),
            Column("unit", Kind.TEXT),
            number_of("volume", FLOW_AMOUNT, units),
            Column("flags", Kind.TEXT),
        ],
        _register_parts(access.client, device),
    )


def _register_parts(client: Client, device: Device) -> Iterator[Part]:
    limit, from_ms = INSIGHT_LIMIT.maximum or 0, None
    while registers := client.registers(device.id, from_ms=from_ms, limit=limit).registers:
        times = [each.recorded_ms for each in registers]
        yield [
            [device.serial_number] * len(registers),
            times,
            times,
            [each.register for each in registers],
            [each.unit for each in registers],
            [each.gallons for each in registers],
            [" ".join(each.flags) for each in registers],
        ]
        from_ms = times[-1] + 1


def _order(
    device: Device, resolution: Resolution, window: Window, query: Mapping[str, str]
) -> Order:
    tz = zone_or_utc(query.get("zone"), device.time_zone)
    reach = window if resolution is RAW else widened(window, tz, resolution)
    return Order(device.id, device.serial_number, resolution, reach, tz, units_param(query))


# --- Tables --------------------------------------------------------------------------------------

_PLAIN_UNITS: Final = {
    "°C": "degC",
    "°F": "degF",
    "m³": "m3",
    "%": "percent",
}  # as every program reads them


@dataclass(frozen=True, slots=True)
class Order:
    """The rows to export. ``compare``: with what, or ""."""

    device_id: str
    serial: str
    resolution: Resolution
    window: Window
    tz: ZoneInfo
    units: Units = US
    compare: str = ""

    @property
    def compared(self) -> bool:
        return bool(self.compare) and has_counterparts(self.resolution, self.compare)


@dataclass(frozen=True, slots=True)
class _Value:
    """A column of the interface and its column in the file."""

    name: str
    column: Column


def rows(client: Client, order: Order, notes: Sequence[Annotation] | None = None) -> Table:
    """With ``notes`` the last column has them."""
    values = _values(order)
    noted = [] if notes is None else [Column("notes", Kind.TEXT, width=40)]
    fraction = order.resolution is RAW
    local = f"time_local ({order.tz.key})"
    return Table(
        file_stem(order.serial, *of_window(order.window), order.resolution.name),
        "Readings" if fraction else f"Rows of {order.resolution.label}",
        [
            Column("serial_number", Kind.TEXT),
            Column("time_utc", Kind.INSTANT, fraction=fraction, width=24),
            Column(local, Kind.INSTANT, tz=order.tz, fraction=fraction, width=24),
            *(value.column for value in values),
            *_compared_columns(order),
            *noted,
        ],
        _parts(client, order, values, None if notes is None else NotesColumn(notes)),
    )


def _parts(
    client: Client, order: Order, values: Sequence[_Value], notes: NotesColumn | None
) -> Iterator[Part]:
    for page in pages(
        client,
        order.device_id,
        order.resolution,
        order.window,
        limit=LIMIT.maximum or 0,
        timezone=order.tz.key if order.resolution.calendar else None,
    ):
        part = _part(page, order, values)
        if order.compared:
            part = [*part, *_compared(client, order, page)]
        if notes is not None:
            ends = [_end_ms(start, order) for start in page.times_ms]
            part = [*part, notes.texts(page.times_ms, ends)]
        yield part


class NotesColumn:
    """Rows are given in their order, a part at a time. A note stands in the row that holds its
    start, or in the first one after it; a note of a span also in the further rows that it meets."""

    def __init__(self, notes: Sequence[Annotation]) -> None:
        self._coming = deque(sorted(notes, key=lambda note: (note.from_ms, note.id)))
        self._open: list[Annotation] = []

    def texts(self, starts_ms: Sequence[int], ends_ms: Sequence[int]) -> list[str | None]:
        """For each row its notes, separated by `; `; ends are exclusive."""
        return [self._text(*row) for row in zip(starts_ms, ends_ms, strict=True)]

    def _text(self, start_ms: int, end_ms: int) -> str | None:
        self._open = [n for n in self._open if n.to_ms is not None and n.to_ms > start_ms]
        while self._coming and self._coming[0].from_ms < end_ms:
            self._open.append(self._coming.popleft())
        return "; ".join(" ".join(note.body.split()) for note in self._open) or None


def _compared_columns(order: Order) -> list[Column]:
    if not order.compared:
        return []
    name = order.compare.replace(":", "_")
    names = (f"total_flow_amount_of_{name}", "difference")
    return [number_of(name, FLOW_AMOUNT, order.units) for name in names]


def _compared(client: Client, order: Order, page: Series) -> Part:
    """The other's volume, and the difference to it."""
    times = page.times_ms
    by_time = compared_rows(
        client, order.device_id, order.compare, order.resolution, times, order.tz
    )
    own = page.values(f"total_{FLOW_AMOUNT.name}")
    others = [by_time.get(at) for at in times]
    pairs = zip(own, others, strict=True)
    return [others, [None if a is None or b is None else round(a - b, 6) for a, b in pairs]]


def _end_ms(start_ms: int, order: Order) -> int:
    """A reading is of an instant, a row of its bucket."""
    if not order.resolution.calendar:
        return start_ms + (order.resolution.length_ms or 1)
    return widened(Window(start_ms, start_ms), order.tz, order.resolution).to_ms + 1


def _part(page: Series, order: Order, values: Sequence[_Value]) -> Part:
    serials = [order.serial] * len(page)
    return [serials, page.times_ms, page.times_ms, *(page.values(v.name) for v in values)]


def _values(order: Order) -> list[_Value]:
    if order.resolution is RAW:
        named = [(metric.name, metric) for metric in METRICS]
    else:
        named = [
            (f"{function}_{metric.name}", metric)
            for metric in METRICS
            if metric is not FLOW_DURATION
            for function in _functions(metric)
        ]
    return [_Value(name, number_of(name, metric, order.units)) for name, metric in named]


def _functions(metric: Metric) -> tuple[str, ...]:
    totals = ("total",) if metric.totalled else ()
    return ("avg", *(("min", "max") if metric.extremes else ()), *totals)


def number_of(name: str, metric: Metric, units: Units) -> Column:
    """``avg_flow_rate (gal/min)``."""
    scale = units.scale(metric, 1000.0)  # one unit for a whole file
    return Column(
        f"{name} ({_PLAIN_UNITS.get(scale.unit, scale.unit)})",
        factor=scale.factor,
        offset=scale.offset,
    )


def hours(order: Order, week: Week) -> Table:
    """Mean flow by weekday and local hour, one row per hour of the week."""
    zone = order.tz.key
    days = [[name] * HOURS for name in WEEKDAYS]
    part: Part = [
        [order.serial] * len(WEEKDAYS) * HOURS,
        list(chain.from_iterable(days)),
        [f"{hour:02}:00" for _ in WEEKDAYS for hour in range(HOURS)],
        list(chain.from_iterable(week)),
    ]
    return Table(
        file_stem(order.serial, *of_window(order.window), "hours-of-the-week"),
        "Hours of the week",
        [
            Column("serial_number", Kind.TEXT),
            Column(f"weekday_local ({zone})", Kind.TEXT),
            Column(f"hour_local ({zone})", Kind.TEXT),
            number_of("mean_flow_rate", FLOW_RATE, order.units),
        ],
        iter([part]),
    )
