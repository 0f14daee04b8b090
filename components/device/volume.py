"""How much water went through in a window, to the minute, and how much of the window was heard."""

from __future__ import annotations

from api.catalog import FLOW_AMOUNT, HOUR_MS, MINUTE_MS, ONE_MINUTE, QUALITY, TOTAL, Resolution
from api.client import Client, Series
from api.timez import bucket_starts, ceil_to, floor_to
from components.ranges import Window

_TOTAL = f"total_{FLOW_AMOUNT.name}"


def whole_minutes(window: Window, now_ms: int) -> Window:
    """The minutes that start in the window, as far as they are over or under way."""
    return Window(ceil_to(window.from_ms, MINUTE_MS), min(window.to_ms, now_ms))


def before(window: Window) -> Window:
    """The window of the same length that ends where this one starts."""
    return Window(window.from_ms - window.length_ms, window.from_ms - 1)


def gallons(client: Client, device_id: str, window: Window) -> float | None:
    """The volume of the minutes that start in the window; None where no reading tells.

    The interface totals whole hours; what the window cuts off an hour is summed by minutes.
    """
    first, last = ceil_to(window.from_ms, HOUR_MS), floor_to(window.to_ms + 1, HOUR_MS)
    if first >= last:
        return _sum([_minutes(client, device_id, window.from_ms, window.to_ms)])
    parts = [client.datapoints(device_id, TOTAL, from_ms=first, to_ms=last - 1)]
    if window.from_ms < first:
        parts.append(_minutes(client, device_id, window.from_ms, first - 1))
    if last <= window.to_ms:
        parts.append(_minutes(client, device_id, last, window.to_ms))
    return _sum(parts)


def _minutes(client: Client, device_id: str, from_ms: int, to_ms: int) -> Series:
    return client.datapoints(device_id, ONE_MINUTE, from_ms=from_ms, to_ms=to_ms)


def _sum(parts: list[Series]) -> float | None:
    told = [v for part in parts for v in part.columns.get(_TOTAL, ()) if v is not None]
    return sum(told) if told else None


def mean_quality(client: Client, device_id: str, window: Window) -> float | None:
    """The mean of the hours' means, as the interface has it."""
    answer = client.datapoints(device_id, TOTAL, from_ms=window.from_ms, to_ms=window.to_ms)
    return next(iter(answer.columns.get(f"avg_{QUALITY.name}", ())), None)


def due(
    window: Window, resolution: Resolution, installed_on_ms: int | None, now_ms: int
) -> Window | None:
    """The buckets that start in the window, are over and were due: none before the device was
    there. As the interface counts: one that starts in the window belongs to it, wherever it ends.
    """
    length = resolution.fixed_ms
    first = ceil_to(max(window.from_ms, installed_on_ms or 0), length)
    end = min(window.to_ms + 1, floor_to(now_ms, length))
    return Window(first, end - 1) if first < end else None


def coverage(client: Client, device_id: str, resolution: Resolution, window: Window) -> float:
    """The share of the window's buckets that hold a reading."""
    expected = bucket_starts(window.from_ms, window.to_ms, resolution.fixed_ms)
    found = client.count(device_id, resolution, from_ms=window.from_ms, to_ms=window.to_ms)
    return found / expected if expected else 0.0
