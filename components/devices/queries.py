"""The rows of a list: from the interface, or where something is searched from the directory.

The interface orders, pages and finds exact serial numbers and network ids; it searches no text. So
a search looks through the list of all devices that every page shares (`fleet/directory.py`, at most
a minute old while somebody looks), in the order in which the interface would list them. What isn't
found there is asked for by its exact name, since it may be newer than that list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from api.client import ActiveFilter
from components import formatting, session
from components.clock import Clock, known_zone
from components.devices.listing import Listing, Question
from components.fleet.device_list import directory
from components.fleet.meters import Meter, read_meter
from components.fleet.queries import Desk

PATH: Final = "/devices"
Row = dict[str, Any]


class Rows(NamedTuple):
    """``total`` counts what the whole list holds."""

    rows: list[Row]
    total: int


def rows(desk: Desk, question: Question, now_ms: int) -> Rows:
    """Raises a WeirError where the service can't say."""
    if question.listing.search:
        return _searched(desk, question, now_ms)
    listing = question.listing
    page = desk.client.devices(
        active=listing.active,
        limit=question.many,
        offset=question.first,
        order_by=listing.sort,
        order=listing.order,
    )
    meters = [read_meter(device) for device in page.devices]
    return Rows(_told(meters, inactive(desk, listing, now_ms)), page.total)


def _searched(desk: Desk, question: Question, now_ms: int) -> Rows:
    listing = question.listing
    ordered = everything(desk, listing, now_ms)
    page = ordered[question.first : question.first + question.many]
    return Rows(_told(page, inactive(desk, listing, now_ms)), len(ordered))


def everything(desk: Desk, listing: Listing, now_ms: int) -> list[Meter]:
    """The whole list, as old as the directory may be."""
    wanted = listing.search.casefold()
    meters = [m for m in _all(desk, listing, now_ms) if wanted in m.sought]
    if not meters and listing.search:
        meters = _named(desk, listing)
    return in_order(meters, listing)


def _all(desk: Desk, listing: Listing, now_ms: int) -> Iterable[Meter]:
    """The directory keeps active and inactive devices apart, so that both are told apart here."""
    which: tuple[ActiveFilter, ...] = ("true", "false")
    return (
        meter
        for active in which
        if listing.active in (active, "null")
        for meter in directory(desk, now_ms, active).meters
    )


def _named(desk: Desk, listing: Listing) -> list[Meter]:
    """The devices whose serial number or network id the search is, exactly."""
    pages = (
        desk.client.devices(active=listing.active, serial_number=listing.search),
        desk.client.devices(active=listing.active, network_unique_identifier=listing.search),
    )
    found = {device.id: device for page in pages for device in page.devices}
    return [read_meter(device) for device in found.values()]


def inactive(desk: Desk, listing: Listing, now_ms: int) -> Callable[[str], bool]:
    """Whether a device is inactive. A Device has no such field; the list's filter tells."""
    if listing.status != "all":
        return lambda _: listing.status == "inactive"
    return directory(desk, now_ms, "false").by_id.__contains__


# --- Order ---------------------------------------------------------------------------------------

# What each column that can be sorted is of a Meter.
_ATTRIBUTES: Final = {
    "label": "label",
    "networkUniqueIdentifier": "network_id",
    "category": "category",
    "model": "model",
    "deviceTimeZone": "time_zone",
    "installedOn": "installed_on_ms",
}


def in_order(meters: Iterable[Meter], listing: Listing) -> list[Meter]:
    """As the interface orders them: ties by id, what has no value last. (A device without a label
    shows its serial number instead, and is listed by that here.)"""
    key = attrgetter(_ATTRIBUTES[listing.sort])
    ordered = sorted(meters, key=lambda meter: meter.id)
    said = [meter for meter in ordered if key(meter) is not None]
    said.sort(key=key, reverse=listing.descending)  # keeps ties in order
    return said + [meter for meter in ordered if key(meter) is None]


# --- Rows ----------------------------------------------------------------------------------------


def _told(meters: Sequence[Meter], is_inactive: Callable[[str], bool]) -> list[Row]:
    return [_row(meter, active=not is_inactive(meter.id)) for meter in meters]


def _row(meter: Meter, *, active: bool) -> Row:
    """What the grid shows of a device, by the names of its columns."""
    return {
        "id": meter.id,
        "href": session.site_path(f"{PATH}/{quote(meter.id, safe='')}"),
        "label": meter.label,
        "serial": meter.serial,
        "networkUniqueIdentifier": meter.network_id or formatting.NOTHING,
        "category": meter.category or formatting.NOTHING,
        "model": meter.model or formatting.NOTHING,
        "deviceTimeZone": meter.time_zone,
        "installedOn": _installed(meter),
        "active": active,
    }


def _installed(meter: Meter) -> str:
    at = meter.installed_on_ms
    if at is None or not meter.installed:
        return formatting.NOTHING
    return formatting.date_of(at, Clock(known_zone(meter.time_zone), at, at))
