"""The status of one device in one window."""

from __future__ import annotations

from typing import NamedTuple

from api.metering import uptime
from api.metering.cadence import Cadence


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
