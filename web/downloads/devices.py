"""The list of devices as a file."""

from __future__ import annotations

from collections.abc import Mapping

from api.timez import now_ms, stamp
from components.devices.listing import read_listing
from components.devices.queries import everything, inactive
from components.fleet.queries import Desk
from web.downloads.names import file_stem
from web.downloads.table import Column, Kind, Part, Table

_COLUMNS = (
    Column("serial_number", Kind.TEXT, width=18),
    Column("label", Kind.TEXT, width=28),
    Column("network_unique_identifier", Kind.TEXT, width=20),
    Column("category", Kind.TEXT),
    Column("model", Kind.TEXT),
    Column("time_zone", Kind.TEXT, width=20),
    Column("installed_utc", Kind.INSTANT, width=20),
    Column("status", Kind.TEXT),
    Column("groups", Kind.TEXT, width=28),
    Column("id", Kind.TEXT, width=38),
)


def devices_file(desk: Desk, said: Mapping[str, str]) -> Table:
    """The whole list of a view, in its order: ``status``, ``q``, ``sort``, ``order``."""
    listing, now = read_listing(said), now_ms()
    meters = everything(desk, listing, now)
    is_inactive = inactive(desk, listing, now)
    part: Part = [
        [meter.serial for meter in meters],
        [meter.label for meter in meters],
        [meter.network_id or None for meter in meters],
        [meter.category or None for meter in meters],
        [meter.model or None for meter in meters],
        [meter.time_zone for meter in meters],
        [meter.installed_on_ms if meter.installed else None for meter in meters],
        ["inactive" if is_inactive(meter.id) else "active" for meter in meters],
        [", ".join(meter.groups) or None for meter in meters],
        [meter.id for meter in meters],
    ]
    name = file_stem("devices", listing.status, stamp(now).replace(":", ""))
    return Table(name, "Devices", _COLUMNS, iter([part] if meters else []))
