"""Usage as files: by device, and by device and day."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import date

from api.catalog import FLOW_AMOUNT, FLOW_RATE
from api.timez import HOUR_MS, local_ordinal, now_ms, zone_or_utc
from components.concurrent_queries import Deadline, ServiceAccess
from components.units import Units
from components.usage.insight_queries import with_tariffs
from components.usage.queries import FILE_PATIENCE_S, gather, pick
from components.usage.sums import Day, DeviceUsage, ordered
from components.usage.url_state import UsageView, read_usage_view
from web.downloads.device import number_of
from web.downloads.table import Column, Kind, Table, in_parts
from web.responses import file_stem

_DEVICE_COLUMNS = (
    Column("serial_number", Kind.TEXT, width=18),
    Column("label", Kind.TEXT, width=28),
    Column("network_unique_identifier", Kind.TEXT, width=20),
    Column("time_zone", Kind.TEXT, width=20),
)


def devices_file(access: ServiceAccess, query: Mapping[str, str]) -> Table:
    """One row per device. Raises ValueError for too many devices, Unavailable if it takes too long,
    and what the service raises."""
    view, usages, now = _request(access, query)
    first, last = _days(view, now)
    columns = [
        *_DEVICE_COLUMNS,
        Column("first_day", Kind.DAY),
        Column("last_day", Kind.DAY),
        *_amount_columns(view.units),
        Column("days"),
        Column("days_with_data"),
        Column("main", Kind.TEXT, width=18),
        Column("trouble", Kind.TEXT),
    ]
    rows = (_device_row(usage) for usage in usages)
    return Table(_name(first, last, "by-device"), "Usage by device", columns, in_parts(rows))


def days_file(access: ServiceAccess, query: Mapping[str, str]) -> Table:
    """One row per device and local day, by device. Raises what `devices_file` raises."""
    view, usages, now = _request(access, query)
    first, last = _days(view, now)
    columns = [
        *_DEVICE_COLUMNS,
        Column("day", Kind.DAY),
        Column("day_begins_utc", Kind.INSTANT, width=20),
        Column("hours_of_day"),
        *_amount_columns(view.units),
    ]
    rows = (row for usage in usages for row in _day_rows(usage))
    return Table(_name(first, last, "by-day"), "Usage by day", columns, in_parts(rows))


def _request(
    access: ServiceAccess, query: Mapping[str, str]
) -> tuple[UsageView, list[DeviceUsage], int]:
    view, now = read_usage_view(query), now_ms()
    picked = pick(access, view, now)
    if picked.too_many:
        raise ValueError(picked.words)
    summary = gather(access, picked.meters, view, picked.price, Deadline(FILE_PATIENCE_S), now)
    summary.progress.must_be_complete()
    usages = with_tariffs(access, summary.usages, view)
    return view, ordered(usages, view.sort), now


def _days(view: UsageView, at_ms: int) -> tuple[int, int]:
    first, last = view.dates(local_ordinal(zone_or_utc(view.zone), at_ms))
    return first, max(first, last)


def _name(first: int, last: int, what: str) -> str:
    return file_stem("usage", *(date.fromordinal(day).isoformat() for day in (first, last)), what)


def _amount_columns(units: Units) -> list[Column]:
    return [
        number_of("volume", FLOW_AMOUNT, units),
        Column("cost"),
        Column("currency", Kind.TEXT),
        Column("tariff", Kind.TEXT),
        number_of("mean_flow_rate", FLOW_RATE, units),
        number_of("max_flow_rate", FLOW_RATE, units),
        Column("uptime (percent)"),
        Column("intervals_heard"),
        Column("intervals_expected"),
    ]


def _device_cells(usage: DeviceUsage) -> list[object]:
    meter = usage.meter
    return [meter.serial, meter.label, meter.network_id, usage.tz.key]


def _money(usage: DeviceUsage, day: Day | None = None) -> list[object]:
    cost = usage.cost(day)
    if cost is None or usage.price is None:
        return [None, None, None]
    return [round(cost, 4), usage.price.currency, usage.price.tariff or None]


def _uptime(observed: int, expected: int) -> list[object]:
    share = math.floor(observed / expected * 1e5) / 1e3 if expected else None
    return [share, observed, expected]


def _device_row(usage: DeviceUsage) -> list[object]:
    ends = [usage.days[0].ordinal, usage.days[-1].ordinal] if usage.days else [None, None]
    return [
        *_device_cells(usage),
        *ends,
        usage.gallons,
        *_money(usage),
        usage.mean_flow,
        usage.most_flow,
        *_uptime(usage.observed, usage.expected),
        len(usage.days),
        len(usage.with_data),
        usage.meter.upstream[0] if usage.meter.upstream else None,
        usage.failure or None,
    ]


def _day_rows(usage: DeviceUsage) -> Iterator[list[object]]:
    for day in usage.days:
        yield [
            *_device_cells(usage),
            day.ordinal,
            day.start_ms,
            (day.end_ms - day.start_ms) / HOUR_MS,
            day.gallons,
            *_money(usage, day),
            day.mean_flow,
            day.most_flow,
            *_uptime(day.observed, day.expected),
        ]
