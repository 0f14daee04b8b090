"""The state of a device, from its last readings."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from api.metering import uptime
from api.metering.cadence import Cadence
from api.timez import MINUTE_MS

SILENT_AFTER_CADENCES: Final = 3
SILENT_AFTER_MS: Final = 15 * MINUTE_MS
DEFAULT_QUALITY_LIMIT: Final = 40.0


class State(StrEnum):
    """The worst first."""

    SILENT = "silent"
    DEGRADED = "degraded"
    NO_DATA = "no-data"
    REPORTING = "reporting"
    INACTIVE = "inactive"


@dataclass(frozen=True, slots=True)
class Activity:
    """The inputs of a device's state: its last reading's time (None: it never reported), and of the
    window that its state is judged by the observed and expected buckets and the least quality."""

    cadence: Cadence
    seen_ms: int | None = None
    observed: int = 0
    expected: int = 0
    quality_min: float | None = None


def silent_after_ms(cadence: Cadence) -> int:
    """A device that was last seen longer ago is silent."""
    return max(SILENT_AFTER_CADENCES * cadence.expected_ms, SILENT_AFTER_MS)


def is_fresh(seen_ms: int | None, cadence: Cadence, now_ms: int) -> bool:
    """Whether the last reading is recent enough to count as current."""
    return seen_ms is not None and now_ms - seen_ms <= silent_after_ms(cadence)


def low_quality(quality_min: float | None, limit: float) -> bool:
    return quality_min is not None and quality_min < limit


def state_of(
    activity: Activity, quality_limit: float, now_ms: int, *, active: bool = True
) -> State:
    if not active:
        return State.INACTIVE
    if activity.seen_ms is None:
        return State.NO_DATA
    if not is_fresh(activity.seen_ms, activity.cadence, now_ms):
        return State.SILENT
    low = uptime.is_low(activity.observed, activity.expected)
    if low or low_quality(activity.quality_min, quality_limit):
        return State.DEGRADED
    return State.REPORTING
