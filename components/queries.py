"""Queries shared by pages, files and images: devices, the rows of a chart, rows in pages."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final
from zoneinfo import ZoneInfo

from api.catalog import (
    COARSEST_STORED,
    DAY,
    EARLIEST_READING_MS,
    FLOW_AMOUNT,
    FUTURE_TOLERANCE_MS,
    LIMIT,
    METRICS,
    ONE_MINUTE,
    QUALITY,
    TOTAL,
    Metric,
    Resolution,
)
from api.client import Client, Device, DeviceStatus, Finding, LatestEntry, Series
from api.errors import NotFound
from api.metering import night_flow, uptime
from api.metering.cadence import configured
from api.metering.hourly_profile import Week, resolution_of, week, window_of
from api.metering.install_date import disproving
from api.timez import HOUR_MS, bucket_starts, ceil_to, day_start, floor_to, local_ordinal
from components.charts.marks import MOST_MARKS
from components.directory_queries import measured
from components.ranges import (
    Window,
    bar_resolution,
    budget,
    calendar_resolution,
    hourly_budget,
    hours,
    widened,
)
from components.status_queries import statuses

_VOLUME: Final = f"total_{FLOW_AMOUNT.name}"


@dataclass(frozen=True, slots=True)
class DeviceLookup:
    """A device, the time of its last reading (None if it never reported), and whether it is
    active."""

    device: Device
    last_seen_ms: int | None
    active: bool = True


def find_device(client: Client, identifier: str, now_ms: int) -> DeviceLookup:
    """The device of a UUID, serial number or networkUniqueIdentifier.

    The interface lists devices but has no request for a single one; `latest` gives the serial
    number of any identifier, by which the list is filtered. Two small requests for a fleet of any
    size; a third for an inactive device, since only the list's filter shows that. One more if the
    device has readings: an installation date after the first reading is dropped. Raises NotFound.
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
    """Whether `find_device` would succeed, by one small request."""
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
    """The device's cadence in seconds: as configured, otherwise from the week up to its last
    reading. None if neither is known."""
    pace = configured(lookup.device.reporting_interval_s)
    if pace is None and lookup.last_seen_ms is not None:
        pace = measured(client, lookup.device.id, lookup.last_seen_ms)
    return None if pace is None else pace.expected_ms / 1000


def last_seen_ms(client: Client, device_id: str, now_ms: int) -> int | None:
    """The time of the device's last reading, of any age."""
    entries = _last_seen(client, device_id, now_ms)
    return entries[0].last_seen_ms if entries else None


def _last_seen(client: Client, identifier: str, now_ms: int) -> tuple[LatestEntry, ...]:
    until_ms = now_ms + FUTURE_TOLERANCE_MS  # a device's clock may be ahead
    return client.latest(
        [identifier], ["lastSeen"], from_ms=EARLIEST_READING_MS, to_ms=until_ms
    ).entries


def findings_in(client: Client, device_id: str, window: Window) -> tuple[Finding, ...]:
    """The device's findings that overlap the window, worst first, without dismissed ones. None if
    the server has no findings."""
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
    """The finest rows that suit the width, including the buckets at both edges, with these metrics.

    The adaptive endpoint's coarsest level is hours, beyond which it truncates. So if a window may
    have more hours than the budget, its hourly rows are counted first: a device that reported in a
    few of them is still shown by the hour, any other by local days or months.
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
    """Every row of the window once, in order, ``limit`` at a time. Continues by instant, not by
    offset: late rows of pages already read don't shift the rest."""
    start, seen = window.from_ms, 0  # the number of rows read at that instant
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
    """The device's status as the service stores it; otherwise derived from the readings."""
    with suppress(NotFound):
        status = client.status(device_id)
        if status.as_of_ms is not None:
            return status
    device = find_device(client, device_id, now_ms).device
    return next(iter(statuses(client, [device], now_ms)))


# --- Volumes, quality and flow of a device --------------------------------------------------------


def window_gallons(client: Client, device_id: str, window: Window) -> float | None:
    """The volume of the minutes that start in the window, in gallons; None without readings."""
    return _sum(_whole_hours_and_edges(client, device_id, window))


def quality_range(
    client: Client, device_id: str, window: Window
) -> tuple[float | None, float | None]:
    """The lowest and highest quality of the minutes that start in the window; (None, None) without
    readings."""
    parts = _whole_hours_and_edges(client, device_id, window)
    least, most = (_values(parts, f"{end}_{QUALITY.name}") for end in ("min", "max"))
    return min(least, default=None), max(most, default=None)


def _whole_hours_and_edges(client: Client, device_id: str, window: Window) -> list[Series]:
    """The totals of the window's whole hours, and of the minutes at its edges."""
    first, last = ceil_to(window.from_ms, HOUR_MS), floor_to(window.to_ms + 1, HOUR_MS)
    if first >= last:
        return [_minutes(client, device_id, window.from_ms, window.to_ms)]
    parts = [client.datapoints(device_id, TOTAL, from_ms=first, to_ms=last - 1)]
    if window.from_ms < first:
        parts.append(_minutes(client, device_id, window.from_ms, first - 1))
    if last <= window.to_ms:
        parts.append(_minutes(client, device_id, last, window.to_ms))
    return parts


def _minutes(client: Client, device_id: str, from_ms: int, to_ms: int) -> Series:
    return client.datapoints(device_id, ONE_MINUTE, from_ms=from_ms, to_ms=to_ms)


def _values(parts: list[Series], column: str) -> list[float]:
    return [v for part in parts for v in part.columns.get(column, ()) if v is not None]


def _sum(parts: list[Series]) -> float | None:
    values = _values(parts, _VOLUME)
    return sum(values) if values else None


def mean_quality(client: Client, device_id: str, window: Window) -> float | None:
    """The mean of the hours' means, as the interface defines it."""
    total = client.datapoints(device_id, TOTAL, from_ms=window.from_ms, to_ms=window.to_ms)
    return next(iter(total.columns.get(f"avg_{QUALITY.name}", ())), None)


def coverage(client: Client, device_id: str, resolution: Resolution, window: Window) -> float:
    """The share of the window's buckets that have a reading."""
    expected = bucket_starts(window.from_ms, window.to_ms, resolution.fixed_ms)
    count = client.count(device_id, resolution, from_ms=window.from_ms, to_ms=window.to_ms)
    return uptime.share(count, expected) or 0.0


def night_flow_of(
    client: Client, device_id: str, tz: ZoneInfo, cadence_ms: int, now_ms: int
) -> night_flow.NightFlow:
    """The night flow of the last finished nights."""
    windows = night_flow.nights(tz, now_ms)
    window, resolution = night_flow.rows_of(windows, cadence_ms)
    rows = client.datapoints(device_id, resolution, from_ms=window.from_ms, to_ms=window.to_ms)
    return night_flow.night_flow(dict(rows.pairs(_VOLUME)), windows, rows.resolution, cadence_ms)


def volume_days(
    client: Client, device_id: str, tz: ZoneInfo, now_ms: int, days: int
) -> list[tuple[int, float]]:
    """(first instant, gallons) of the last ``days`` local days that have readings."""
    first = day_start(tz, local_ordinal(tz, now_ms) - days + 1)
    rows = client.datapoints(device_id, DAY, from_ms=first, to_ms=now_ms, timezone=tz.key)
    return [(start, gallons) for start, gallons in rows.pairs(_VOLUME) if gallons is not None]


def weekly_profile(client: Client, device_id: str, tz: ZoneInfo, now_ms: int) -> Week:
    """The mean flow of each hour of the local week."""
    window = window_of(tz, now_ms)
    resolution = resolution_of(tz, window)
    parts = pages(client, device_id, resolution, window, limit=LIMIT.maximum or 0)
    return week(chain.from_iterable(part.pairs(_VOLUME) for part in parts), tz, window)
