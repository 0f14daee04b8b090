"""The states of the wall as a file: every device of a view, not only those of the page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from api.catalog import FLOW_AMOUNT, FLOW_RATE
from api.client import DeviceStatus
from api.insight.findings import KIND_BY_NAME
from api.metering import uptime
from api.metering.cost import device_price
from api.timez import now_ms, stamp
from components.clock import zone_or_utc
from components.fleet.device_status import shown
from components.fleet.queries import ServiceAccess, every_device
from components.fleet.url_state import FleetView, read_fleet_view
from components.units import Units
from web.downloads.device import number_of
from web.downloads.names import file_stem
from web.downloads.table import Column, Kind, Part, Table


def states_file(access: ServiceAccess, query: Mapping[str, str]) -> Table:
    """One row a device: ``window``, ``q``, ``status``, ``group``, ``finding``, ``sort``, ``zone``,
    ``units``. Raises NotOffered where the server keeps no status."""
    view, now = read_fleet_view(query), now_ms()
    rows = list(every_device(access.client, view))
    name = file_stem("fleet", view.span.name, stamp(now).replace(":", ""))
    parts = [_part(rows, view)] if rows else []
    return Table(name, f"Fleet, {view.span.label}", _columns(view.units), iter(parts))


def _columns(units: Units) -> list[Column]:
    return [
        Column("serial_number", Kind.TEXT, width=18),
        Column("label", Kind.TEXT, width=28),
        Column("network_unique_identifier", Kind.TEXT, width=20),
        Column("state", Kind.TEXT),
        Column("findings", Kind.TEXT, width=24),
        Column("finding_severity", Kind.TEXT),
        Column("finding_cost_per_day"),
        Column("currency", Kind.TEXT),
        Column("last_seen_utc", Kind.INSTANT, width=20),
        Column("last_seen_local", Kind.TEXT, width=26),
        Column("time_zone", Kind.TEXT, width=20),
        Column("uptime (percent)"),
        Column("intervals_heard"),
        Column("intervals_expected"),
        Column("min_quality (percent)"),
        Column("max_quality (percent)"),
        number_of("flow_rate_now", FLOW_RATE, units),
        number_of("volume_today", FLOW_AMOUNT, units),
        number_of("volume_this_month", FLOW_AMOUNT, units),
    ]


def _part(rows: Sequence[DeviceStatus], view: FleetView) -> Part:
    return list(zip(*(_cells(row, view) for row in rows), strict=True))


def _cells(row: DeviceStatus, view: FleetView) -> list[object]:
    device, window, finding = row.device, row.windows[view.span.name], row.finding
    tz, seen = zone_or_utc(view.zone, device.time_zone), row.last_seen_ms
    share = uptime.share(window.actual, window.expected)
    _, currency = device_price(device.cost_per_gallon)
    return [
        device.serial_number,
        device.label,
        device.network_unique_identifier or None,
        shown(row).word,
        ", ".join(KIND_BY_NAME[name].label for name in row.findings if name in KIND_BY_NAME)
        or None,
        finding.severity if finding else None,
        finding.cost_per_day if finding else None,
        currency if finding and finding.cost_per_day is not None else None,
        seen,
        None if seen is None else stamp(seen, tz),
        tz.key,
        None if share is None else math.floor(share * 1e5) / 1e3,
        window.actual,
        window.expected,
        window.quality_min,
        window.quality_max,
        row.flow,
        row.volume_today,
        row.volume_month,
    ]
