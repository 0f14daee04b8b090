"""The devices in a principal's scope, with cached facts: the list, cadences, and valid installation
dates.

Listing ten thousand devices takes the service half a second, so a list is cached for a minute and
then refreshed while the old one is still used.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import Any, Final, NamedTuple

from api.catalog import MAX_IDS, RAW
from api.client import ActiveFilter, Client, Device, LatestEntry
from api.errors import NotOffered, WeirError
from api.metering import cadence
from api.metering.cadence import LOOKED_BACK_MS, UNKNOWN, Cadence, estimated
from api.metering.cost import device_price, finite
from api.metering.install_date import disproving
from api.metering.mains import Cycle, ancestors
from api.metering.status import DEFAULT_QUALITY_LIMIT, State
from api.metering.windows import Window
from api.timez import DAY_MS, HOUR_MS, MINUTE_MS
from components.concurrent_queries import (
    ONE_DEVICE_ERRORS,
    Deadline,
    ServiceAccess,
    background,
    batches,
    latest,
)


@dataclass(frozen=True, slots=True)
class Meter:
    """``cadence_ms``: as configured, None if it isn't. ``price``: per gallon. ``sought``: the text
    that a search matches. ``upstream``: serial numbers of the meters that measure its water before
    it, the nearest first."""

    id: str
    label: str
    serial: str
    time_zone: str
    installed: bool
    installed_on_ms: int | None
    cadence_ms: int | None
    quality_limit: float
    price: float | None
    currency: str
    groups: tuple[str, ...]
    sought: str
    network_id: str = ""
    category: str = ""
    model: str = ""
    upstream: tuple[str, ...] = ()


def read_meter(device: Device) -> Meter:
    pace = cadence.configured(device.reporting_interval_s)
    limit = finite(device.config.get("qualityLimit"))
    price, currency = device_price(device.cost_per_gallon)
    return Meter(
        id=device.id,
        label=device.label,
        serial=device.serial_number,
        time_zone=device.time_zone,
        installed=device.installed,
        installed_on_ms=device.installed_on_ms,
        cadence_ms=pace.ms if pace else None,
        quality_limit=DEFAULT_QUALITY_LIMIT if limit is None else limit,
        price=price,
        currency=currency,
        groups=_groups(device.config),
        sought="\n".join(
            (device.label, device.serial_number, device.network_unique_identifier)
        ).casefold(),
        network_id=device.network_unique_identifier,
        category=device.category,
        model=device.model,
    )


def _groups(config: Mapping[str, Any]) -> tuple[str, ...]:
    groups = config.get("groups")
    return tuple(g for g in groups if isinstance(g, str) and g) if isinstance(groups, list) else ()


FRESH_MS: Final = 60_000
USABLE_MS: Final = 15 * 60_000  # an older list is loaded again before anything is shown


class Directory(NamedTuple):
    """``price``: the organization's default, per gallon."""

    listed_ms: int
    meters: tuple[Meter, ...]
    by_id: Mapping[str, Meter]
    price: float | None
    groups: tuple[str, ...]


_listing = Lock()  # one listing of a fleet at a time per process: it is the most expensive query


def directory(access: ServiceAccess, now_ms: int, active: ActiveFilter = "true") -> Directory:
    """The active devices, or the inactive ones. Raises a WeirError if there is no recent list and
    none can be loaded."""
    key = (access.principal, "directory", active)
    cached: Directory | None = access.cache.get(key)
    age = now_ms - cached.listed_ms if cached is not None else USABLE_MS
    if cached is not None and age < FRESH_MS:
        return cached
    if cached is not None and age < USABLE_MS:
        background(lambda: _renew(access, key, active, now_ms))
        return cached
    with _listing:
        # Another thread may have loaded it meanwhile.
        again: Directory | None = access.cache.get(key)
        if again is not None and now_ms - again.listed_ms < USABLE_MS:
            return again
        return _listed(access, key, active, now_ms)


def _renew(access: ServiceAccess, key: Any, active: ActiveFilter, now_ms: int) -> None:
    """Refreshes the list. On failure the old one stays in use: the wall's own requests report the
    failure."""
    if _listing.acquire(blocking=False):
        try:
            cached: Directory = access.cache.get(key)
            if now_ms - cached.listed_ms >= FRESH_MS:
                _listed(access, key, active, now_ms)
        except WeirError:
            return
        finally:
            _listing.release()


def _listed(access: ServiceAccess, key: Any, active: ActiveFilter, now_ms: int) -> Directory:
    made = read_directory(access.client, now_ms, active)
    access.cache.put(key, made)
    return made


def _upstream(devices: Iterable[Device]) -> dict[str, tuple[str, ...]]:
    """Meters upstream, by serial number. Another server may give parents in a cycle: then none."""
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


# --- Cadences ------------------------------------------------------------------------------------

CADENCE_FRESH_MS: Final = DAY_MS
NO_CADENCE_FRESH_MS: Final = HOUR_MS  # no cadence was found: it may have begun to report since
SAMPLE: Final = 1_000  # readings: enough to know the week's cadence at a fraction of its cost
_EVERY_STATE: Final = tuple(State)


class _Measured(NamedTuple):
    """``cadence`` None: fewer than two readings."""

    at_ms: int
    cadence: Cadence | None


def cadences(
    access: ServiceAccess, meters: Sequence[Meter], deadline: Deadline, now_ms: int
) -> dict[str, Cadence]:
    """Cadences by device id, as far as the deadline allows, cached for a day; devices without one
    are left out."""
    configured = {m.id: Cadence(m.cadence_ms) for m in meters if m.cadence_ms is not None}
    rest = [m.id for m in meters if m.cadence_ms is None]
    key = (access.principal, "cadences")
    cached: dict[str, _Measured] = dict(access.cache.get(key) or {})
    due = [id for id in rest if _cadence_due(cached.get(id), now_ms)]
    if due:
        cached |= _service_cadences(access, due, deadline, now_ms)
        due = [id for id in rest if _cadence_due(cached.get(id), now_ms)]
        jobs = (partial(_measure, access.client, id, now_ms) for id in due)
        cached |= dict(access.run_all(jobs, deadline))
        access.cache.put(key, cached)
    return configured | {id: cached[id].cadence or UNKNOWN for id in rest if id in cached}


def _service_cadences(
    access: ServiceAccess, ids: Sequence[str], deadline: Deadline, now_ms: int
) -> dict[str, _Measured]:
    """From the service's status, 50 devices a request; none from a server without status."""

    def load(some: Sequence[str]) -> dict[str, _Measured]:
        page = access.client.statuses(states=_EVERY_STATE, ids=some, limit=MAX_IDS)
        return {
            row.device.id: _Measured(now_ms, Cadence(round(row.cadence_s * 1000), row.event_driven))
            for row in page.rows
            if row.cadence_s is not None
        }

    result: dict[str, _Measured] = {}
    with suppress(NotOffered):
        for part in access.run_all((partial(load, some) for some in batches(ids)), deadline):
            result |= part
    return result


def measured(client: Client, device_id: str, end_ms: int) -> Cadence | None:
    """The cadence from the first thousand readings of the week up to ``end_ms``."""
    rows = client.datapoints(
        device_id, RAW, from_ms=end_ms - LOOKED_BACK_MS, to_ms=end_ms, limit=SAMPLE
    )
    return estimated(rows.times_ms)


def _cadence_due(cached: _Measured | None, now_ms: int) -> bool:
    if cached is None:
        return True
    return now_ms - cached.at_ms >= (CADENCE_FRESH_MS if cached.cadence else NO_CADENCE_FRESH_MS)


def _measure(client: Client, device_id: str, now_ms: int) -> tuple[str, _Measured]:
    device_cadence = None  # on failure the device's other requests report it
    with suppress(*ONE_DEVICE_ERRORS):
        device_cadence = measured(client, device_id, now_ms)
    return device_id, _Measured(now_ms, device_cadence)


# --- Installation dates --------------------------------------------------------------------------

INSTALL_DATE_FRESH_MS: Final = 5 * MINUTE_MS  # an import may store earlier readings at any time


class _CheckedDate(NamedTuple):
    at_ms: int
    installed_on_ms: int
    disproved: bool


def without_disproved_dates(
    access: ServiceAccess, meters: Iterable[Meter], since_ms: int, deadline: Deadline, now_ms: int
) -> list[Meter]:
    """The meters, without installation dates after their first reading. Only dates after
    ``since_ms`` are checked, as far as the deadline allows: earlier ones don't affect the window
    shown."""
    meters = list(meters)
    key = (access.principal, "install-dates")
    cached: dict[str, _CheckedDate] = dict(access.cache.get(key) or {})
    together: defaultdict[Window, list[Meter]] = defaultdict(list)
    for meter in meters:
        at = meter.installed_on_ms
        window = disproving(at) if at is not None and at > since_ms else None
        if window and _date_due(cached.get(meter.id), meter, now_ms):
            together[window].append(meter)
    jobs = (
        partial(_check_dates, access.client, window, some, now_ms)
        for window, members in together.items()
        for some in batches(members)
    )
    if together:
        for checked in access.run_all(jobs, deadline):
            cached |= checked
        access.cache.put(key, cached)
    return [_without_disproved(meter, cached.get(meter.id)) for meter in meters]


def _date_due(checked: _CheckedDate | None, meter: Meter, now_ms: int) -> bool:
    """Whether the date must be checked again. A date that was found invalid stays so."""
    if checked is None or checked.installed_on_ms != meter.installed_on_ms:
        return True
    return not checked.disproved and now_ms - checked.at_ms >= INSTALL_DATE_FRESH_MS


def _check_dates(
    client: Client, window: Window, meters: Sequence[Meter], now_ms: int
) -> dict[str, _CheckedDate]:
    """Checks the dates by the first readings. A device without a reply is left out: its other
    requests report the reason."""
    replies = latest(client, [meter.id for meter in meters], ("lastSeen",), window)
    return {
        meter.id: _CheckedDate(now_ms, meter.installed_on_ms, reply.last_seen_ms is not None)
        for meter in meters
        if isinstance(reply := replies[meter.id], LatestEntry) and meter.installed_on_ms is not None
    }


def _without_disproved(meter: Meter, checked: _CheckedDate | None) -> Meter:
    if checked is None or not checked.disproved or checked.installed_on_ms != meter.installed_on_ms:
        return meter
    return replace(meter, installed_on_ms=None)
