"""How much water went through in a window, to the minute, and how much of the window was heard."""

from __future__ import annotations

from zoneinfo import ZoneInfo

from api.catalog import (
    COARSEST_STORED,
    FLOW_AMOUNT,
    HOUR_MS,
    ONE_MINUTE,
    QUALITY,
    TOTAL,
    Resolution,
)
from api.client import Client, Series
from api.metering import continuous_flow, night_flow, uptime
from api.metering.windows import Window
from api.timez import bucket_starts, ceil_to, floor_to

_TOTAL = f"total_{FLOW_AMOUNT.name}"


def gallons(client: Client, device_id: str, window: Window) -> float | None:
    """The volume of the minutes that start in the window; None where no reading tells."""
    return _sum(_whole_hours_and_edges(client, device_id, window))


def quality_range(
    client: Client, device_id: str, window: Window
) -> tuple[float | None, float | None]:
    """The least and the most quality of the minutes that start in the window; None, None where no
    reading tells."""
    parts = _whole_hours_and_edges(client, device_id, window)
    least, most = (_known(parts, f"{end}_{QUALITY.name}") for end in ("min", "max"))
    return min(least, default=None), max(most, default=None)


def _whole_hours_and_edges(client: Client, device_id: str, window: Window) -> list[Series]:
    """The interface sums up whole hours; what the window cuts off an hour comes by minutes."""
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


def _known(parts: list[Series], column: str) -> list[float]:
    return [v for part in parts for v in part.columns.get(column, ()) if v is not None]


def _sum(parts: list[Series]) -> float | None:
    known = _known(parts, _TOTAL)
    return sum(known) if known else None


def mean_quality(client: Client, device_id: str, window: Window) -> float | None:
    """The mean of the hours' means, as the interface has it."""
    answer = client.datapoints(device_id, TOTAL, from_ms=window.from_ms, to_ms=window.to_ms)
    return next(iter(answer.columns.get(f"avg_{QUALITY.name}", ())), None)


def coverage(client: Client, device_id: str, resolution: Resolution, window: Window) -> float:
    """The share of the window's buckets that hold a reading."""
    expected = bucket_starts(window.from_ms, window.to_ms, resolution.fixed_ms)
    found = client.count(device_id, resolution, from_ms=window.from_ms, to_ms=window.to_ms)
    return uptime.share(found, expected) or 0.0


def nights(
    client: Client, device_id: str, tz: ZoneInfo, cadence_ms: int, now_ms: int
) -> night_flow.NightFlow:
    """The last nights that are over."""
    found = night_flow.nights(tz, now_ms)
    window, resolution = night_flow.rows_of(found, cadence_ms)
    rows = client.datapoints(device_id, resolution, from_ms=window.from_ms, to_ms=window.to_ms)
    return night_flow.night_flow(dict(rows.pairs(_TOTAL)), found, rows.resolution, cadence_ms)


def hours(client: Client, device_id: str, end_ms: int) -> list[tuple[int, float]]:
    """The hours with a volume of the last weeks, (first instant, gallons) in order; not the one
    that the latest reading is of, which may not be over."""
    first = end_ms - continuous_flow.LOOKED_BACK_MS
    rows = client.datapoints(device_id, COARSEST_STORED, from_ms=first, to_ms=end_ms)
    return [(start, gallons) for start, gallons in rows.pairs(_TOTAL) if gallons is not None][:-1]
