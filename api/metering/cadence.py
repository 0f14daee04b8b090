"""How often a device reports: as configured, or else estimated from its readings of the last 7
days."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from api.timez import DAY_MS, HOUR_MS, MINUTE_MS

LOOKED_BACK_MS: Final = 7 * DAY_MS
LEAST_MS: Final = 10_000
USUAL_MS: Final = (
    10_000, 30_000, MINUTE_MS, 5 * MINUTE_MS, 10 * MINUTE_MS, 15 * MINUTE_MS, 30 * MINUTE_MS,
    HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS, DAY_MS,
)  # fmt: skip
NEAR: Final = 0.2  # relative distance from a usual cadence that still counts as that cadence
LEAST_STEPS: Final = 10  # fewer steps don't show how much they vary
EVENT_SPREAD: Final = 10.0  # 90th over 10th percentile of the steps
STEADY_MS: Final = sorted(
    {*USUAL_MS, 2 * MINUTE_MS, 20 * MINUTE_MS, 2 * HOUR_MS, 3 * HOUR_MS, 4 * HOUR_MS, 8 * HOUR_MS}
)
STEADY_BELOW: Final = 0.1  # a steady cadence may be shorter than the estimated one by this share
EVENT_EXPECTED_MS: Final = HOUR_MS  # bucket length for an event-driven meter's uptime


class Cadence(NamedTuple):
    """``ms`` is the usual step between two readings. ``event_driven`` means that the steps vary too
    much to expect a reading every ``ms``."""

    ms: int
    event_driven: bool = False

    @property
    def expected_ms(self) -> int:
        """Returns the longest time, in ms, in which a healthy device reports at least once."""
        return max(self.ms, EVENT_EXPECTED_MS) if self.event_driven else self.ms


UNKNOWN: Final = Cadence(MINUTE_MS)  # where neither the configuration nor the readings give one


def configured(interval_s: float | None) -> Cadence | None:
    """Returns the cadence of ``config.reportingInterval`` (seconds), or None where it isn't set."""
    return Cadence(max(LEAST_MS, round(interval_s * 1000))) if interval_s else None


def estimated(times_ms: Sequence[int]) -> Cadence | None:
    """Returns the median step, rounded to a usual cadence where it is close to one.

    ``times_ms`` ascend; several readings at one instant count once. Returns None for fewer than two
    distinct instants.
    """
    import numpy as np  # every command opens a store, few need this

    steps = np.diff(np.asarray(times_ms, dtype=np.int64))
    steps = steps[steps > 0]
    if not steps.size:
        return None
    low, middle, high = np.percentile(steps, (10, 50, 90))
    event_driven = steps.size >= LEAST_STEPS and high > EVENT_SPREAD * low
    return Cadence(max(LEAST_MS, _usual(float(middle))), bool(event_driven))


def steady(cadence: Cadence) -> Cadence:
    """Rounds up to a round cadence: if it changed with each reading, the findings of all hours
    would be evaluated again. A meter that reports each 2 hours misses nothing, so it never becomes
    one of each hour."""
    if cadence.event_driven:
        return Cadence(EVENT_EXPECTED_MS, event_driven=True)
    least_ms = cadence.ms * (1 - STEADY_BELOW)
    return Cadence(next((each for each in STEADY_MS if each >= least_ms), cadence.ms))


def _usual(step_ms: float) -> int:
    nearest = min(USUAL_MS, key=lambda usual: abs(usual - step_ms))
    return nearest if abs(nearest - step_ms) <= NEAR * nearest else round(step_ms)
