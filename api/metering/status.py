"""The state of a device, derived from its last readings."""

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


STATE_NAMES: Final = tuple(state.value for state in State)


@dataclass(frozen=True, slots=True)
class Activity:
    """What a device's state is derived from: the time of its last reading (None: it never reported)
    and, for the window by which it is judged, the observed buckets, the expected buckets and the
    lowest quality."""

    cadence: Cadence
    seen_ms: int | None = None
    observed: int = 0
    expected: int = 0
    quality_min: float | None = None


def silent_after_ms(expected_ms: float) -> int:
    """Returns the age of the last reading, in ms, above which a device is silent that is expected
    to report every ``expected_ms``."""
    return max(int(SILENT_AFTER_CADENCES * expected_ms), SILENT_AFTER_MS)


def is_fresh(seen_ms: int | None, cadence: Cadence, now_ms: int) -> bool:
    """Whether the last reading is recent enough to count as current."""
    return seen_ms is not None and now_ms - seen_ms <= silent_after_ms(cadence.expected_ms)


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
