"""Queries of volumes side by side: one request for all compared items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from zoneinfo import ZoneInfo

from api.client.expectations import Volumes
from api.timez import day_start, local_ordinal, zone_or_utc
from components.compare.figure import Figure, figure
from components.compare.url_state import CompareView, resolution_of
from components.fleet.device_queries import Directory, Meter, directory
from components.fleet.queries import ServiceAccess
from components.usage.queries import offered
from components.usage.url_state import Dates

MOST_DEFAULT: Final = 6


@dataclass(frozen=True, slots=True)
class Compared:
    """``items``: as requested. ``figure`` None: nothing is chosen, or the range is in the
    future."""

    items: tuple[str, ...]
    dates: Dates
    tz: ZoneInfo
    volumes: Volumes | None = None
    figure: Figure | None = None


def compared(access: ServiceAccess, view: CompareView, now_ms: int) -> Compared:
    """Raises NotFound if no item exists, NotOffered if the server isn't a Weir server, and what the
    client raises."""
    listed = directory(access, now_ms)
    items = view.items or default_items(listed)
    tz = zone_or_utc(view.days.zone, _zone_of(items, listed))
    dates = view.days.dates(local_ordinal(tz, now_ms))
    from_ms, end_ms = day_start(tz, dates.first), day_start(tz, dates.last + 1)
    if not items or not len(dates):
        return Compared(items, dates, tz)
    volumes = access.client.volumes(
        items,
        resolution_of(len(dates)),
        from_ms=from_ms,
        to_ms=min(end_ms - 1, now_ms),
        timezone=tz.key,
    )
    drawn = figure(volumes, view, len(dates), now_ms) if len(volumes.edges_ms) > 1 else None
    return Compared(items, dates, tz, volumes, drawn)


def default_items(listed: Directory) -> tuple[str, ...]:
    """The groups with the most devices."""
    sizes = {group: sum(group in m.groups for m in listed.meters) for group in listed.groups}
    largest = sorted(listed.groups, key=lambda group: (-sizes[group], group))
    return tuple(f"group:{group}" for group in largest[:MOST_DEFAULT])


def _zone_of(items: Sequence[str], listed: Directory) -> str:
    """The zone of the first device, or of the first group's first device by label."""
    for item in items:
        kind, _, name = item.partition(":")
        if kind == "device" and name in listed.by_id:
            return listed.by_id[name].time_zone
        members = [m for m in listed.meters if name in m.groups] if kind == "group" else []
        if members:
            return min(members, key=lambda meter: meter.label).time_zone
    return "UTC"


def choices(access: ServiceAccess, sought: str, now_ms: int) -> tuple[list[str], list[Meter]]:
    """(groups, devices) that match a search."""
    words = " ".join(sought.split()).casefold()
    groups = [g for g in directory(access, now_ms).groups if words in g.casefold()]
    return groups, offered(access, sought, now_ms)
