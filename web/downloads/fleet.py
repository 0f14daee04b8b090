"""The states of the wall as a file: every device of a view, not only those of the page."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from api.catalog import FLOW_RATE
from api.timez import now_ms, stamp
from components.clock import known_zone
from components.fleet.device_list import directory
from components.fleet.queries import Deadline, Desk
from components.fleet.selection import Row, everything, judge
from components.fleet.status_cache import knowledge, sweep
from components.fleet.url_state import FleetView, read_fleet_view
from components.units import Units
from web.downloads.device import number_of
from web.downloads.names import file_stem
from web.downloads.table import Column, Kind, Part, Table

SWEEP_S = 10.0  # what isn't known by then is said not to have been asked


def states_file(desk: Desk, query: Mapping[str, str]) -> Table:
    """One row a device: ``window``, ``q``, ``status``, ``group``, ``sort``, ``zone``, ``units``."""
    view, now = read_fleet_view(query), now_ms()
    meters = directory(desk, now).meters
    sweep(desk, view.span, meters, Deadline(SWEEP_S), now)
    known = knowledge(desk, view.span)
    rows = everything([judge(meter, known.get(meter.id), now) for meter in meters], view)
    name = file_stem("fleet", view.span.name, stamp(now).replace(":", ""))
    parts = [_part(rows, view)] if rows else []
    return Table(name, f"Fleet, {view.span.label}", _columns(view.units), iter(parts))


def _columns(units: Units) -> list[Column]:
    return [
        Column("serial_number", Kind.TEXT, width=18),
        Column("label", Kind.TEXT, width=28),
        Column("network_unique_identifier", Kind.TEXT, width=20),
        Column("state", Kind.TEXT),
        Column("why", Kind.TEXT, width=20),
        Column("last_seen_utc", Kind.INSTANT, width=20),
        Column("last_seen_local", Kind.TEXT, width=26),
        Column("time_zone", Kind.TEXT, width=20),
        Column("uptime (percent)"),
        Column("intervals_heard"),
        Column("intervals_expected"),
        Column("min_quality (percent)"),
        Column("max_quality (percent)"),
        number_of("last_flow_rate", FLOW_RATE, units),
    ]


def _part(rows: Sequence[Row], view: FleetView) -> Part:
    return list(zip(*(_cells(row, view) for row in rows), strict=True))


def _cells(row: Row, view: FleetView) -> list[object]:
    meter, known = row.meter, row.known
    tz = known_zone(view.zone, meter.time_zone)
    seen = known.seen_ms if known else None
    who = [meter.serial, meter.label, meter.network_id or None]
    state = [row.state.word, ", ".join(row.why) or None]
    times = [seen, None if seen is None else stamp(seen, tz), tz.key]
    if known is None:
        return [*who, *state, *times, *[None] * 6]
    share = None if known.uptime is None else math.floor(min(1.0, known.uptime) * 1e5) / 1e3
    heard = [share, known.actual, known.expected]
    return [*who, *state, *times, *heard, known.quality_min, known.quality_max, known.flow]
