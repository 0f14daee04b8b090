"""Asking for the rows of a chart: the level of detail that suits its window and its width."""

from __future__ import annotations

from collections.abc import Collection
from zoneinfo import ZoneInfo

from api.catalog import COARSEST_STORED, METRICS, Metric, Resolution
from api.client import Client, Series
from components.ranges import (
    Window,
    bar_resolution,
    budget,
    calendar_resolution,
    hourly_budget,
    hours,
    widened,
)


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
    asked = widened(window, tz)
    expected = hours(asked)
    if expected > rows:
        expected = _count_hours(client, device_id, asked)
    if expected <= hourly_budget(rows):
        return client.adaptive(
            device_id,
            from_ms=asked.from_ms,
            to_ms=asked.to_ms,
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
    asked = widened(window, tz, resolution)
    return client.datapoints(
        device_id,
        resolution,
        from_ms=asked.from_ms,
        to_ms=asked.to_ms,
        timezone=tz.key if resolution.calendar else None,
        metrics=metrics,
    )


def _count_hours(client: Client, device_id: str, window: Window) -> int:
    return client.count(device_id, COARSEST_STORED, from_ms=window.from_ms, to_ms=window.to_ms)
