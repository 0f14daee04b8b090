"""The state of a device."""

from __future__ import annotations

from typing import Any

from api.metering.cadence import Cadence
from api.metering.status import Activity, State, state_of
from api.timez import DAY_MS, HOUR_MS, MINUTE_MS
from tests.tables import cases
from tests.world import ms

NOW = ms("2026-11-20T18:07:23.400Z")
USUAL: dict[str, Any] = {
    "cadence": Cadence(MINUTE_MS),
    "seen_ms": NOW - 20_000,
    "observed": 1440,
    "expected": 1440,
    "quality_min": 80.0,
}
EVENTS = Cadence(MINUTE_MS, event_driven=True)


@cases(
    ("differing", "state"),
    [
        ({}, State.REPORTING),
        ({"seen_ms": NOW - 15 * MINUTE_MS}, State.REPORTING),
        ({"seen_ms": NOW - 15 * MINUTE_MS - 1}, State.SILENT),
        ({"seen_ms": NOW - 3 * HOUR_MS, "cadence": Cadence(HOUR_MS)}, State.REPORTING),
        ({"seen_ms": NOW - 3 * HOUR_MS - 1, "cadence": Cadence(HOUR_MS)}, State.SILENT),
        ({"seen_ms": NOW - 3 * HOUR_MS, "cadence": EVENTS}, State.REPORTING),
        ({"seen_ms": NOW - 3 * HOUR_MS - 1, "cadence": EVENTS}, State.SILENT),
        ({"seen_ms": NOW + 5 * MINUTE_MS}, State.REPORTING),  # its clock is ahead
        ({"seen_ms": NOW - 40 * DAY_MS, "observed": 0}, State.SILENT),
        ({"seen_ms": None, "observed": 0}, State.NO_DATA),
        ({"observed": 1368}, State.REPORTING),  # 95 % exactly
        ({"observed": 1367}, State.DEGRADED),
        ({"observed": 0, "expected": 0}, State.REPORTING),  # nothing was expected yet
        ({"quality_min": 40.0}, State.REPORTING),
        ({"quality_min": 39.9}, State.DEGRADED),
        ({"quality_min": None}, State.REPORTING),
        ({"seen_ms": NOW - HOUR_MS, "quality_min": 1.0}, State.SILENT),  # the worse of two
    ],
)
def test_states(differing: dict[str, Any], state: State) -> None:
    assert state_of(Activity(**{**USUAL, **differing}), 40.0, NOW) == state
    assert state_of(Activity(**{**USUAL, **differing}), 40.0, NOW, active=False) == State.INACTIVE
