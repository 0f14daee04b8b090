"""The status of devices: as pages show it, with its colour, shape and word; and as computed for a
server with the interface of readings alone.

A Weir server stores each device's status. From any other server the devices of one page and their
`latest` are loaded; it can't search text, nor sort or filter by a status.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from api.catalog import (
    DEVICE_ORDER_FIELDS,
    EARLIEST_READING_MS,
    FLOW_RATE,
    MAX_IDS,
    NETWORK_RSSI,
    SIGNAL_STRENGTH,
    Resolution,
)
from api.client import ActiveFilter, Client, Device, DeviceStatus, LatestEntry
from api.client.status import StatusPage, WindowStatus
from api.metering import status, uptime
from api.metering.cadence import UNKNOWN, Cadence, configured
from api.metering.cost import finite
from api.metering.status import DEFAULT_QUALITY_LIMIT, Activity
from api.metering.windows import DEFAULT_SPAN, Span, latest_buckets
from api.timez import floor_to

# --- As pages show it ----------------------------------------------------------------------------


class CurrentStatus(NamedTuple):
    """``seen_ms`` None: it has never reported. ``flow``: of the last reading. ``failure``: why
    there is no status."""

    as_of_ms: int
    cadence_ms: int
    seen_ms: int | None = None
    actual: int = 0
    expected: int = 0
    bucket_ms: int = 0
    quality_min: float | None = None
    quality_max: float | None = None
    flow: float | None = None
    failure: str = ""
    event_driven: bool = False

    @property
    def cadence(self) -> Cadence:
        return Cadence(self.cadence_ms, self.event_driven)

    @property
    def uptime(self) -> float | None:
        return uptime.share(self.actual, self.expected)


def status_of_row(row: DeviceStatus, now_ms: int) -> CurrentStatus:
    """The status as the service stores it, in the wall's default window, so that every page shows
    the same state."""
    cadence = Cadence(round((row.cadence_s or 0) * 1000), row.event_driven)
    window = row.windows[DEFAULT_SPAN.name]
    return CurrentStatus(
        as_of_ms=now_ms,
        cadence_ms=cadence.ms,
        seen_ms=row.last_seen_ms,
        actual=window.actual,
        expected=window.expected,
        bucket_ms=uptime.resolution_for(cadence).fixed_ms,
        quality_min=window.quality_min,
        quality_max=window.quality_max,
        flow=row.flow,
        event_driven=cadence.event_driven,
    )


@dataclass(frozen=True, slots=True)
class State:
    """A state's colour (``name`` in the stylesheet), shape and word. ``rank`` 0 is the worst."""

    name: str
    shape: str
    word: str
    rank: int


SILENT: Final = State("silent", "■", "Silent", 0)
DEGRADED: Final = State("degraded", "▲", "Degraded", 1)
FAILED: Final = State("unknown", "◌", "Unavailable", 2)  # the service fails for this device alone
NO_DATA: Final = State("nodata", "○", "No data", 3)
REPORTING: Final = State("reporting", "●", "Reporting", 4)
LOADING: Final = State("unknown", "◌", "Loading", 5)
INACTIVE: Final = State("inactive", "○", "Inactive", 6)
STATES: Final = (REPORTING, DEGRADED, SILENT, NO_DATA)
STATE_BY_NAME: Final = {state.name: state for state in STATES}
SHOWN: Final = {
    status.State.SILENT: SILENT,
    status.State.DEGRADED: DEGRADED,
    status.State.NO_DATA: NO_DATA,
    status.State.REPORTING: REPORTING,
    status.State.INACTIVE: INACTIVE,
}


def shown(row: DeviceStatus) -> State:
    """The state of a device as the service stores it."""
    if row.as_of_ms is None and row.state != status.State.INACTIVE:
        return LOADING
    return SHOWN[status.State(row.state)]


# The names that the service filters by.
SERVICE_NAMES: Final = {state.name: service.value for service, state in SHOWN.items()}


def state_of(
    quality_limit: float, current: CurrentStatus | None, now_ms: int, *, active: bool = True
) -> State:
    if not active:
        return INACTIVE
    if current is None:
        return LOADING
    if current.failure:
        return FAILED
    observed = Activity(
        current.cadence, current.seen_ms, current.actual, current.expected, current.quality_min
    )
    return SHOWN[status.state_of(observed, quality_limit, now_ms)]


# --- From readings alone -------------------------------------------------------------------------


ONLY_WITH_WEIR = (
    "This server has readings alone: search by the exact serial number or network id; sorting and"
    " filtering by status need a Weir."
)
_METRICS = ("lastSeen", "uptime", "lastDatapoint", "quality")


def bare_page(
    client: Client,
    now_ms: int,
    *,
    active: ActiveFilter = "true",
    search: str = "",
    order_by: str = "label",
    descending: bool = False,
    limit: int = MAX_IDS,
    offset: int = 0,
    span: Span = DEFAULT_SPAN,
) -> StatusPage:
    """Sorted by a device's field, by default its label. ``search``: an exact name. ``span``: the
    one window of the statuses."""
    inactive = _inactive(client) if active != "true" else frozenset[str]()
    if search:
        devices = _named(client, active, search)
        rows = statuses(client, devices[offset:][:limit], now_ms, inactive, span)
        return StatusPage(len(devices), tuple(rows))
    page = client.devices(
        active=active,
        limit=limit,
        offset=offset,
        order_by=order_by if order_by in DEVICE_ORDER_FIELDS else "label",
        order="desc" if descending else "asc",
    )
    return StatusPage(page.total, tuple(statuses(client, page.devices, now_ms, inactive, span)))


def _inactive(client: Client) -> frozenset[str]:
    """Ids of the inactive devices: a Device has no such field, only the list has a filter."""
    return frozenset(device.id for device in client.devices(active="false").devices)


def _named(client: Client, active: ActiveFilter, name: str) -> list[Device]:
    pages = (
        client.devices(active=active, serial_number=name),
        client.devices(active=active, network_unique_identifier=name),
    )
    return list({device.id: device for page in pages for device in page.devices}.values())


def statuses(
    client: Client,
    devices: Sequence[Device],
    now_ms: int,
    inactive: Container[str] = frozenset(),
    span: Span = DEFAULT_SPAN,
) -> Iterator[DeviceStatus]:
    """A status for each device, in order; a device without a configured cadence counts as reporting
    each minute. ``inactive``: ids. Volumes and findings are unknown."""
    by_resolution: defaultdict[Resolution, list[str]] = defaultdict(list)
    for device in devices:
        by_resolution[uptime.resolution_for(_cadence(device))].append(device.id)
    entries: dict[str, LatestEntry] = {}
    for resolution, ids in by_resolution.items():
        length_ms = span.length_ms
        from_ms = floor_to(now_ms, resolution.fixed_ms) - length_ms
        entries |= _latest(client, ids, _METRICS, from_ms, now_ms, resolution)
    unseen = [id for id, entry in entries.items() if entry.last_seen_ms is None]
    ever = _latest(client, unseen, ("lastSeen",), EARLIEST_READING_MS, now_ms, None)
    for device in devices:
        entry, last = entries.get(device.id), ever.get(device.id)
        if entry is not None and last is not None:
            entry = replace(entry, last_seen_ms=last.last_seen_ms)
        yield _status(device, entry, span, now_ms, active=device.id not in inactive)


def _latest(
    client: Client,
    ids: Sequence[str],
    metrics: Sequence[str],
    from_ms: int,
    now_ms: int,
    resolution: Resolution | None,
) -> dict[str, LatestEntry]:
    entries: dict[str, LatestEntry] = {}
    for start in range(0, len(ids), MAX_IDS):
        answer = client.latest(
            ids[start : start + MAX_IDS],
            metrics,
            from_ms=from_ms,
            to_ms=now_ms,
            uptime_resolution=resolution,
        )
        entries |= {entry.device_id: entry for entry in answer.entries}
    return entries


def _cadence(device: Device) -> Cadence:
    return configured(device.reporting_interval_s) or UNKNOWN


def _status(
    device: Device, entry: LatestEntry | None, span: Span, now_ms: int, *, active: bool
) -> DeviceStatus:
    cadence = _cadence(device)
    resolution = uptime.resolution_for(cadence)
    seen_ms = entry.last_seen_ms if entry else None
    due = latest_buckets(span, resolution, device.installed_on_ms, now_ms)
    observed = (entry.uptime_actual or 0) if entry else 0
    actual, expected = uptime.closed_buckets(observed, seen_ms, resolution, due, now_ms)
    lowest, highest = (entry.quality_min, entry.quality_max) if entry else (None, None)
    limit = finite(device.config.get("qualityLimit"))
    state = status.state_of(
        Activity(cadence, seen_ms, actual, expected, lowest),
        DEFAULT_QUALITY_LIMIT if limit is None else limit,
        now_ms,
        active=active,
    )
    fresh = entry is not None and status.is_fresh(seen_ms, cadence, now_ms)
    last = entry.last_datapoint if entry is not None and fresh else {}
    return DeviceStatus(
        device=device,
        state=str(state),
        cadence_s=cadence.ms / 1000,
        event_driven=cadence.event_driven,
        last_seen_ms=seen_ms,
        flow=last.get(FLOW_RATE),
        signal_strength=last.get(SIGNAL_STRENGTH),
        network_rssi=last.get(NETWORK_RSSI),
        windows={span.name: WindowStatus(actual, expected, lowest, highest)},
        volume_today=None,
        volume_month=None,
        findings=(),
        as_of_ms=now_ms,
    )
