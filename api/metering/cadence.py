"""How often a device reports: as configured, else estimated from its readings of the last 7
days."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from api.timez import DAY_MS, HOUR_MS, MINUTE_MS

LOOKED_BACK_MS: Final = 7 * DAY_MS
LEAST_MS: Final = 10_000
USUAL_MS: Final = (
    10_000, 30_000, MINUTE_MS, 5 * MINUTE_MS, 10 * MINUTE_MS, 15 * MINUTE_MS, 30 * MINUTE_MS,
    HOUR_MS, 6 * HOUR_MS, 12 * HOUR_MS, DAY_MS,
)  # fmt: skip
NEAR: Final = 0.2  # of a usual cadence: so far off counts as that one
LEAST_STEPS: Final = 10  # fewer don't tell how much steps vary
EVENT_SPREAD: Final = 10.0  # 90th over 10th percentile of the steps
EVENT_EXPECTED_MS: Final = HOUR_MS  # what an event-driven meter's uptime is counted by


class Cadence(NamedTuple):
    """``ms`` is the usual step between two readings. ``event_driven``: the steps vary too much for
    it to be expected."""

    ms: int
    event_driven: bool = False

    @property
    def expected_ms(self) -> int:
        """The longest time in which a healthy device reports at least once."""
        return max(self.ms, EVENT_EXPECTED_MS) if self.event_driven else self.ms


UNKNOWN: Final = Cadence(MINUTE_MS)  # where neither configuration nor readings tell


def configured(interval_s: float | None) -> Cadence | None:
    """As ``config.reportingInterval`` has it; None where it has none."""
    return Cadence(max(LEAST_MS, round(interval_s * 1000))) if interval_s else None


def estimated(times_ms: Sequence[int]) -> Cadence | None:
    """The median step, as a usual cadence where it is near one. ``times_ms`` ascend; several
    readings of one instant count once. None where there are no two instants."""
    steps = np.diff(np.asarray(times_ms, dtype=np.int64))
    steps = steps[steps > 0]
    if not steps.size:
        return None
    low, middle, high = np.percentile(steps, (10, 50, 90))
    event_driven = steps.size >= LEAST_STEPS and high > EVENT_SPREAD * low
    return Cadence(max(LEAST_MS, _usual(float(middle))), bool(event_driven))


def _usual(step_ms: float) -> int:
    nearest = min(USUAL_MS, key=lambda usual: abs(usual - step_ms))
    return nearest if abs(nearest - step_ms) <= NEAR * nearest else round(step_ms)
