"""What is known of one device in one window, as one `latest` answer told it."""

from __future__ import annotations

from typing import NamedTuple

from api.catalog import FLOW_RATE, Resolution
from api.client import LatestEntry
from api.timez import bucket_starts, floor_to
from components.ranges import Window


class Known(NamedTuple):
    """``seen_ms`` None: never heard of, as of ``ever_ms``, when all of time was last looked
    through. ``flow`` is the last reading's. ``failure`` says why this device has no answer."""

    asked_ms: int
    cadence_ms: int
    seen_ms: int | None = None
    ever_ms: int = 0
    actual: int = 0
    expected: int = 0
    bucket_ms: int = 0
    quality_min: float | None = None
    quality_max: float | None = None
    flow: float | None = None
    failure: str = ""

    @property
    def uptime(self) -> float | None:
        return self.actual / self.expected if self.expected else None


def closed_buckets(
    entry: LatestEntry, resolution: Resolution, window: Window | None, now_ms: int
) -> tuple[int, int]:
    """(observed, expected) buckets that are closed, from an answer whose window ends now.

    The answer also counts the bucket under way, which is observed exactly where the last reading
    lies in it. Both counts without it are what a window up to its edge would have said.
    """
    if window is None:
        return 0, 0
    expected = bucket_starts(window.from_ms, window.to_ms, resolution.fixed_ms)
    edge = floor_to(now_ms, resolution.fixed_ms)
    under_way = entry.last_seen_ms is not None and entry.last_seen_ms >= edge
    return min(expected, max(0, (entry.uptime_actual or 0) - under_way)), expected


def learnt(
    entry: LatestEntry,
    *,
    cadence_ms: int,
    resolution: Resolution,
    window: Window | None,
    now_ms: int,
) -> Known:
    actual, expected = closed_buckets(entry, resolution, window, now_ms)
    return Known(
        asked_ms=now_ms,
        cadence_ms=cadence_ms,
        seen_ms=entry.last_seen_ms,
        actual=actual,
        expected=expected,
        bucket_ms=resolution.fixed_ms,
        quality_min=entry.quality_min,
        quality_max=entry.quality_max,
        flow=entry.last_datapoint.get(FLOW_RATE),
    )
