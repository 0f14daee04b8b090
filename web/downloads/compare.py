"""A comparison as a file: the volume of each device or group in each bucket."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise

from api.catalog import FLOW_AMOUNT
from api.client.expectations import Volumes
from api.timez import HOUR_MS, now_ms
from components.compare.figure import shared_attributes
from components.compare.queries import compared
from components.compare.url_state import checked_compare_view
from components.fleet.queries import ServiceAccess
from components.ranges import Window
from web.downloads.device import number_of
from web.downloads.names import file_stem, of_window
from web.downloads.table import Column, Kind, Table, in_parts


def compare_file(access: ServiceAccess, query: Mapping[str, str]) -> Table:
    """One row per device or group and bucket, with its attributes. Raises ValueError where nothing
    is chosen, BadRequest for the address, and what the service raises."""
    view = checked_compare_view(query.items())
    result = compared(access, view, now_ms())
    volumes = result.volumes
    if volumes is None or not volumes.edges_ms:
        raise ValueError("There is nothing to compare: choose devices or groups, and days so far.")
    attributes = shared_attributes(volumes)
    columns = [
        Column("kind", Kind.TEXT),
        Column("label", Kind.TEXT, width=28),
        Column("serial_number", Kind.TEXT, width=18),
        Column("time_utc", Kind.INSTANT, width=20),
        Column(f"time_local ({result.tz.key})", Kind.INSTANT, tz=result.tz, width=26),
        Column("hours"),
        number_of("volume", FLOW_AMOUNT, view.days.units),
        *(Column(name) for name in attributes),
    ]
    edges = volumes.edges_ms
    name = file_stem("compare", *of_window(Window(edges[0], edges[-1] - 1)))
    return Table(name, "Comparison", columns, in_parts(_rows(volumes, attributes)))


def _rows(volumes: Volumes, attributes: list[str]) -> Iterator[list[object]]:
    for item in volumes.items:
        names = [item.item.partition(":")[0], item.label, item.serial_number or None]
        shared = [item.attributes.get(name) for name in attributes]
        for (start, end), gallons in zip(pairwise(volumes.edges_ms), item.volumes, strict=True):
            hours = (end - start) / HOUR_MS
            yield [
                *names,
                start,
                start,
                hours,
                gallons,
                *shared,
            ]
