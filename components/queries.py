"""Finding devices through the interface."""

from __future__ import annotations

from dataclasses import dataclass, replace

from api.catalog import EARLIEST_READING_MS, FUTURE_TOLERANCE_MS
from api.client import Client, Device, LatestEntry
from api.errors import NotFound
from api.metering.cadence import configured
from api.metering.install_date import disproving
from components.fleet.cadence import measured


@dataclass(frozen=True, slots=True)
class Found:
    """A device, when it was last heard of (None for never), and whether it is active."""

    device: Device
    last_seen_ms: int | None
    active: bool = True


def find_device(client: Client, identifier: str, now_ms: int) -> Found:
    """The device of a UUID, serial number or networkUniqueIdentifier.

    The interface lists devices but doesn't show a single one; `latest` names any identifier's
    serial number, by which the list can then be asked. Two small questions, whatever the fleet;
    a third for an inactive device, since only the list's filter tells which those are. And one more
    of a device that has readings: whether they disprove its installation date, which then is None.
    Raises NotFound.
    """
    for entry in _last_seen(client, identifier, now_ms):
        for active in (True, False):
            said = "true" if active else "false"
            page = client.devices(active=said, serial_number=entry.serial_number)
            for device in page.devices:
                if device.id == entry.device_id:
                    return Found(_dated(client, device, entry), entry.last_seen_ms, active)
    raise NotFound("No such device, or none that this key may see.")


def is_there(client: Client, identifier: str, now_ms: int) -> bool:
    """Whether `find_device` would find one, by one small question."""
    return bool(_last_seen(client, identifier, now_ms))


def _dated(client: Client, device: Device, entry: LatestEntry) -> Device:
    at = device.installed_on_ms
    window = disproving(at) if entry.last_seen_ms is not None else None
    if window is None:
        return device
    before = client.latest([device.id], ["lastSeen"], from_ms=window.from_ms, to_ms=window.to_ms)
    told = any(each.last_seen_ms is not None for each in before.entries)
    return replace(device, installed_on_ms=None) if told else device


def usual_interval_s(client: Client, found: Found) -> float | None:
    """How often the device is heard of in good health: as configured, else as the week up to its
    last reading shows. None where neither tells."""
    pace = configured(found.device.reporting_interval_s)
    if pace is None and found.last_seen_ms is not None:
        pace = measured(client, found.device.id, found.last_seen_ms)
    return None if pace is None else pace.expected_ms / 1000


def last_seen_ms(client: Client, device_id: str, now_ms: int) -> int | None:
    """When the device was last heard of, however long ago."""
    entries = _last_seen(client, device_id, now_ms)
    return entries[0].last_seen_ms if entries else None


def _last_seen(client: Client, identifier: str, now_ms: int) -> tuple[LatestEntry, ...]:
    until_ms = now_ms + FUTURE_TOLERANCE_MS  # a device's clock may run ahead
    return client.latest(
        [identifier], ["lastSeen"], from_ms=EARLIEST_READING_MS, to_ms=until_ms
    ).entries
