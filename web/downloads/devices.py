"""The list of devices as a file: every device of a view, with all that its columns can show."""

from __future__ import annotations

import math
from collections.abc import Mapping

from api.catalog import FLOW_AMOUNT, FLOW_RATE
from api.client.status import DeviceStatus
from api.metering import uptime
from api.metering.status import State
from api.timez import now_ms, stamp
from components.devices.columns import day, groups_of, parent_of
from components.devices.listing import read_listing
from components.devices.queries import every_row
from components.fleet.queries import ServiceAccess
from components.formatting import measures_water
from components.units import Units
from web.downloads.device import number_of
from web.downloads.names import file_stem
from web.downloads.table import Column, Kind, Table, in_parts


def devices_file(access: ServiceAccess, query: Mapping[str, str]) -> Table:
    """One row a device, in the list's order: ``status``, ``q``, ``group``, ``kind``, ``sort``,
    ``order``, ``units``."""
    listing, now = read_listing(query), now_ms()
    name = file_stem("devices", listing.status, stamp(now).replace(":", ""))
    rows = (_cells(row) for row in every_row(access.client, listing, now))
    return Table(name, "Devices", _columns(listing.units), in_parts(rows))


def _columns(units: Units) -> list[Column]:
    return [
        Column("serial_number", Kind.TEXT, width=18),
        Column("label", Kind.TEXT, width=28),
        Column("network_unique_identifier", Kind.TEXT, width=20),
        Column("category", Kind.TEXT),
        Column("model", Kind.TEXT),
        Column("time_zone", Kind.TEXT, width=20),
        Column("installed_utc", Kind.INSTANT, width=20),
        Column("status", Kind.TEXT),
        Column("state", Kind.TEXT),
        Column("findings", Kind.TEXT, width=28),
        Column("last_seen_utc", Kind.INSTANT, width=20),
        number_of("flow_now", FLOW_RATE, units),
        Column("uptime_24h (percent)"),
        Column("intervals_heard"),
        Column("intervals_expected"),
        Column("min_quality_24h (percent)"),
        Column("max_quality_24h (percent)"),
        number_of("volume_today", FLOW_AMOUNT, units),
        number_of("volume_month", FLOW_AMOUNT, units),
        Column("signal_strength (dBm)"),
        Column("network_rssi (dBm)"),
        Column("main", Kind.TEXT, width=18),
        Column("groups", Kind.TEXT, width=28),
        Column("id", Kind.TEXT, width=38),
    ]


def _cells(row: DeviceStatus) -> list[object]:
    device, window = row.device, day(row)
    share = uptime.share(window.actual, window.expected)
    water = measures_water(device.category)
    return [
        device.serial_number,
        device.label,
        device.network_unique_identifier or None,
        device.category or None,
        device.model or None,
        device.time_zone,
        device.installed_on_ms if device.installed else None,
        "inactive" if row.state == State.INACTIVE else "active",
        row.state,
        ", ".join(row.findings) or None,
        row.last_seen_ms,
        row.flow if water else None,
        None if share is None else math.floor(share * 1e5) / 1e3,
        window.actual,
        window.expected,
        window.quality_min,
        window.quality_max,
        row.volume_today if water else None,
        row.volume_month if water else None,
        row.signal_strength,
        row.network_rssi,
        parent_of(row) or None,
        ", ".join(groups_of(device.config)) or None,
        device.id,
    ]
