"""A page of devices from a server that has the interface of readings alone, without a status.

It answers for 50 devices at a time and searches no text: what is shown is the page, each device's
last reading, uptime and quality, in the order of labels.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Final

from api.catalog import EARLIEST_READING_MS, FLOW_RATE, Resolution
from api.client import Client, Device, DeviceStatus, LatestEntry, StatusPage, WindowStatus
from api.errors import WeirError
from api.metering import status, uptime
from api.metering.cadence import UNKNOWN, Cadence, configured
from api.metering.cost import finite
from api.metering.status import DEFAULT_QUALITY_LIMIT, Heard
from api.metering.windows import Window, latest_buckets
from components.fleet.queries import latest, listed_page
from components.fleet.url_state import FleetView

WORDS: Final = (
    "This server keeps no status of its devices: each page shows 50 of them by label, without"
    " totals, search, filters and charts. These need a Weir server."
)
_METRICS: Final = ("uptime", "lastDatapoint", "quality")


def bare_page(client: Client, view: FleetView, now_ms: int) -> StatusPage:
    """Raises a WeirError where the service as a whole can't answer."""
    listed = listed_page(client, view.page)
    groups: defaultdict[tuple[Resolution, Window | None], list[Device]] = defaultdict(list)
    for device in listed.devices:
        resolution = uptime.resolution_for(_cadence(device))
        window = latest_buckets(view.span, resolution, device.installed_on_ms, now_ms)
        groups[resolution, window].append(device)
    rows: dict[str, DeviceStatus] = {}
    for (resolution, window), devices in groups.items():
        start = window.from_ms if window else now_ms - resolution.fixed_ms
        ids = [device.id for device in devices]
        found = latest(client, ids, _METRICS, Window(start, now_ms), resolution)
        unseen = [id for id in ids if _seen_ms(found[id]) is None]
        ever = latest(client, unseen, ("lastSeen",), Window(EARLIEST_READING_MS, now_ms))
        for device in devices:
            entry, before = found[device.id], ever.get(device.id)
            seen_ms = _seen_ms(entry) if before is None else _seen_ms(before)
            rows[device.id] = _status(device, entry, seen_ms, (resolution, window), view, now_ms)
    return StatusPage(listed.total, tuple(rows[device.id] for device in listed.devices))


def _seen_ms(entry: LatestEntry | WeirError) -> int | None:
    return None if isinstance(entry, WeirError) else entry.last_seen_ms


def _cadence(device: Device) -> Cadence:
    return configured(device.reporting_interval_s) or UNKNOWN


def _status(
    device: Device,
    entry: LatestEntry | WeirError,
    seen_ms: int | None,
    counted: tuple[Resolution, Window | None],
    view: FleetView,
    now_ms: int,
) -> DeviceStatus:
    """A device for which the service fails is one of which nothing is known."""
    known = entry if isinstance(entry, LatestEntry) else LatestEntry(device.id, "", "")
    cadence = _cadence(device)
    actual, expected = uptime.closed_buckets(
        known.uptime_actual or 0, known.last_seen_ms, *counted, now_ms
    )
    heard = Heard(cadence, seen_ms, actual, expected, known.quality_min)
    limit = finite(device.config.get("qualityLimit"))
    state = status.state_of(heard, DEFAULT_QUALITY_LIMIT if limit is None else limit, now_ms)
    fresh = status.is_fresh(seen_ms, cadence, now_ms)
    return DeviceStatus(
        device=device,
        state=state,
        cadence_s=cadence.ms / 1000,
        event_driven=False,
        last_seen_ms=seen_ms,
        flow=known.last_datapoint.get(FLOW_RATE) if fresh else None,
        windows={
            view.span.name: WindowStatus(actual, expected, known.quality_min, known.quality_max)
        },
        volume_today=None,
        volume_month=None,
        findings=(),
        as_of_ms=None if isinstance(entry, WeirError) else now_ms,
    )
