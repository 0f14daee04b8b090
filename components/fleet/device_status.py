"""The status of one device in one window, from one `latest` response."""

from __future__ import annotations

from typing import NamedTuple

from api.catalog import FLOW_RATE, Resolution
from api.client import LatestEntry
from api.metering import uptime
from api.metering.cadence import Cadence
from api.metering.windows import Window


class Known(NamedTuple):
    """``seen_ms`` None: never reported, as of ``ever_ms``, when all of time was last searched.
    ``flow`` is the last reading's. ``failure`` says why this device has no answer."""

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
    event_driven: bool = False

    @property
    def cadence(self) -> Cadence:
        return Cadence(self.cadence_ms, self.event_driven)

    @property
    def uptime(self) -> float | None:
        return uptime.share(self.actual, self.expected)


def learnt(
    entry: LatestEntry,
    *,
    cadence: Cadence,
    resolution: Resolution,
    window: Window | None,
    now_ms: int,
) -> Known:
    actual, expected = uptime.closed_buckets(
        entry.uptime_actual or 0, entry.last_seen_ms, resolution, window, now_ms
    )
    return Known(
        asked_ms=now_ms,
        cadence_ms=cadence.ms,
        event_driven=cadence.event_driven,
        seen_ms=entry.last_seen_ms,
        actual=actual,
        expected=expected,
        bucket_ms=resolution.fixed_ms,
        quality_min=entry.quality_min,
        quality_max=entry.quality_max,
        flow=entry.last_datapoint.get(FLOW_RATE),
    )
