"""What pages, files and images ask the client: devices, the rows of a chart, rows in pages."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from zoneinfo import ZoneInfo

from api.catalog import (
    COARSEST_STORED,
    EARLIEST_READING_MS,
    FUTURE_TOLERANCE_MS,
    METRICS,
    Metric,
    Resolution,
)
from api.client import Client, Device, DeviceStatus, Finding, LatestEntry, Series
from api.errors import NotFound
from api.metering.cadence import configured
from api.metering.install_date import disproving
from components.charts.marks import MOST_MARKS
from components.fleet.device_queries import measured
from components.ranges import (
    Window,
    bar_resolution,
    budget,
    calendar_resolution,
    hourly_budget,
    hours,
    widened,
)
from components.readings_only_queries import statuses


@dataclass(frozen=True, slots=True)
class DeviceLookup:
    """A device, when its last reading came (None for never), and whether it is active."""

    device: Device
    last_seen_ms: int | None
    active: bool = True


def find_device(client: Client, identifier: str, now_ms: int) -> DeviceLookup:
    """The device of a UUID, serial number or networkUniqueIdentifier.

    The interface lists devices but doesn't show a single one; `latest` names any identifier's
    serial number, by which the list can then be asked. Two small questions, whatever the fleet;
    a third for an inactive device, since only the list's filter tells which those are. And one more
    of a device that has readings: whether they disprove its installation date, which then is None.
    Raises NotFound.
    """
    for entry in _last_seen(client, identifier, now_ms):
        for active in (True, False):
            active_filter = "true" if active else "false"
            page = client.devices(active=active_filter, serial_number=entry.serial_number)
            for device in page.devices:
                if device.id == entry.device_id:
                    return DeviceLookup(_dated(client, device, entry), entry.last_seen_ms, active)
    raise NotFound("Device not found, or you don't have access.")


def is_there(client: Client, identifier: str, now_ms: int) -> bool:
    """Whether `find_device` would find one, by one small question."""
    return bool(_last_seen(client, identifier, now_ms))


def _dated(client: Client, device: Device, entry: LatestEntry) -> Device:
    at = device.installed_on_ms
    window = disproving(at) if entry.last_seen_ms is not None else None
    if window is None:
        return device
    before = client.latest([device.id], ["lastSeen"], from_ms=window.from_ms, to_ms=window.to_ms)
    disproved = any(each.last_seen_ms is not None for each in before.entries)
    return replace(device, installed_on_ms=None) if disproved else device


def usual_interval_s(client: Client, lookup: DeviceLookup) -> float | None:
    """How often the device reports in good health: as configured, else as the week up to its
    last reading shows. None where neither tells."""
    pace = configured(lookup.device.reporting_interval_s)
    if pace is None and lookup.last_seen_ms is not None:
        pace = measured(client, lookup.device.id, lookup.last_seen_ms)
    return None if pace is None else pace.expected_ms / 1000


def last_seen_ms(client: Client, device_id: str, now_ms: int) -> int | None:
    """When the device's last reading came, however long ago."""
    entries = _last_seen(client, device_id, now_ms)
    return entries[0].last_seen_ms if entries else None


def _last_seen(client: Client, identifier: str, now_ms: int) -> tuple[LatestEntry, ...]:
    until_ms = now_ms + FUTURE_TOLERANCE_MS  # a device's clock may run ahead
    return client.latest(
        [identifier], ["lastSeen"], from_ms=EARLIEST_READING_MS, to_ms=until_ms
    ).entries


def findings_in(client: Client, device_id: str, window: Window) -> tuple[Finding, ...]:
    """The device's findings that the window meets, worst first, without those that were dismissed.
    None where the server keeps none."""
    try:
        return client.findings(
            device=device_id,
            states=("open", "closed"),
            from_ms=window.from_ms,
            to_ms=window.to_ms,
            limit=MOST_MARKS,
        ).findings
    except NotFound:
        return ()


# --- The rows of a chart -------------------------------------------------------------------------


def flow_series(
    client: Client,
    device_id: str,
    window: Window,
    width_px: float,
    tz: ZoneInfo,
    metrics: Collection[Metric] = METRICS,
) -> Series:
    """The finest rows that suit the width, the buckets under both edges included, with what is
    needed of these metrics.

    The adaptive endpoint ends at hours and then cuts the answer off. So where a window may hold
    more hours than rows are wanted, its hourly rows are counted first: a device that reported in a
    few of them is still shown by the hour, any other by days or months of the zone.
    """
    rows = budget(width_px)
    wide = widened(window, tz)
    expected = hours(wide)
    if expected > rows:
        expected = _count_hours(client, device_id, wide)
    if expected <= hourly_budget(rows):
        return client.adaptive(
            device_id,
            from_ms=wide.from_ms,
            to_ms=wide.to_ms,
            max_datapoints=max(rows, expected),
            metrics=metrics,
        )
    return _rows(client, device_id, window, calendar_resolution(window, rows), tz, metrics)


def bar_series(
    client: Client,
    device_id: str,
    window: Window,
    width_px: float,
    tz: ZoneInfo,
    cadence_ms: int,
    metrics: Collection[Metric] = METRICS,
) -> Series:
    """The rows whose totals make bars of a good width."""
    resolution = bar_resolution(window, width_px, cadence_ms)
    return _rows(client, device_id, window, resolution, tz, metrics)


def _rows(
    client: Client,
    device_id: str,
    window: Window,
    resolution: Resolution,
    tz: ZoneInfo,
    metrics: Collection[Metric],
) -> Series:
    wide = widened(window, tz, resolution)
    return client.datapoints(
        device_id,
        resolution,
        from_ms=wide.from_ms,
        to_ms=wide.to_ms,
        timezone=tz.key if resolution.calendar else None,
        metrics=metrics,
    )


def _count_hours(client: Client, device_id: str, window: Window) -> int:
    return client.count(device_id, COARSEST_STORED, from_ms=window.from_ms, to_ms=window.to_ms)


# --- Rows in pages -------------------------------------------------------------------------------


def pages(
    client: Client,
    device_id: str,
    resolution: Resolution,
    window: Window,
    *,
    limit: int,
    timezone: str | None = None,
) -> Iterator[Series]:
    """Every row of the window once, in order, ``limit`` at a time. Continued by instant, not by
    number: rows that arrive late for what was read already don't shift the rest."""
    start, seen = window.from_ms, 0  # so many rows of that very instant were read
    while True:
        page = client.datapoints(
            device_id,
            resolution,
            from_ms=start,
            to_ms=window.to_ms,
            timezone=timezone,
            limit=limit,
            offset=seen,
        )
        if len(page):
            yield page
        if len(page) < limit:
            return
        last = page.times_ms[-1]
        ties = sum(1 for at in page.times_ms if at == last)
        start, seen = last, ties + (seen if last == start else 0)


def status_of(client: Client, device_id: str, now_ms: int) -> DeviceStatus:
    """As the service keeps it; from the readings where it keeps none, or none yet."""
    with suppress(NotFound):
        status = client.status(device_id)
        if status.as_of_ms is not None:
            return status
    device = find_device(client, device_id, now_ms).device
    return next(iter(statuses(client, [device], now_ms)))
