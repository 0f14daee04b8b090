"""The devices in a principal's scope, from the list: cached for a minute, then refreshed while the
old list is still used. Ten thousand devices take the service half a second to list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from threading import Lock
from typing import Any, Final, NamedTuple

from api.client import ActiveFilter, Client, Device
from api.errors import WeirError
from api.metering.mains import Cycle, ancestors
from components.fleet.meters import Meter, read_meter
from components.fleet.queries import Desk, background

FRESH_MS: Final = 60_000
USABLE_MS: Final = 15 * 60_000  # older than this, it is asked for before anything is shown


class Directory(NamedTuple):
    """``price`` is the organization's default per gallon."""

    listed_ms: int
    meters: tuple[Meter, ...]
    by_id: Mapping[str, Meter]
    price: float | None
    groups: tuple[str, ...]


_listing = Lock()  # one process lists one fleet at a time: it is the dearest question there is


def directory(desk: Desk, now_ms: int, active: ActiveFilter = "true") -> Directory:
    """The active devices, or the inactive ones. Raises a WeirError where
    there is no list young enough and none can be had."""
    key = (desk.principal, "directory", active)
    known: Directory | None = desk.memory.local(key)
    age = now_ms - known.listed_ms if known is not None else USABLE_MS
    if known is not None and age < FRESH_MS:
        return known
    if known is not None and age < USABLE_MS:
        background(lambda: _renew(desk, key, active, now_ms))
        return known
    with _listing:
        again: Directory | None = desk.memory.local(key)  # somebody else may have waited less
        if again is not None and now_ms - again.listed_ms < USABLE_MS:
            return again
        return _listed(desk, key, active, now_ms)


def _renew(desk: Desk, key: Any, active: ActiveFilter, now_ms: int) -> None:
    """Where it fails the old list goes on serving: the wall's own questions tell of the failure."""
    if _listing.acquire(blocking=False):
        try:
            known: Directory = desk.memory.local(key)
            if now_ms - known.listed_ms >= FRESH_MS:
                _listed(desk, key, active, now_ms)
        except WeirError:
            return
        finally:
            _listing.release()


def _listed(desk: Desk, key: Any, active: ActiveFilter, now_ms: int) -> Directory:
    made = read_directory(desk.client, now_ms, active)
    desk.memory.keep(key, made)
    return made


def _upstream(devices: Iterable[Device]) -> dict[str, tuple[str, ...]]:
    """By serial number. A server that isn't a Weir may name parents in a circle: then none."""
    named = {device.serial_number: device.config.get("parent") for device in devices}
    try:
        return ancestors({own: main for own, main in named.items() if isinstance(main, str)})
    except Cycle:
        return {}


def read_directory(client: Client, now_ms: int, active: ActiveFilter = "true") -> Directory:
    devices = client.devices(active=active).devices
    upstream = _upstream(devices)
    meters = tuple(
        replace(read_meter(each), upstream=upstream.get(each.serial_number, ())) for each in devices
    )
    prices = [o.default_cost_per_gallon for o in client.organizations()]
    return Directory(
        listed_ms=now_ms,
        meters=meters,
        by_id={meter.id: meter for meter in meters},
        price=next((price for price in prices if price is not None), None),
        groups=tuple(sorted({group for meter in meters for group in meter.groups})),
    )
