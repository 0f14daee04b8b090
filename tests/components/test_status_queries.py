"""A device's state, by the definitions in docs/fleet.md."""

from __future__ import annotations

from typing import Any

from components.status_queries import state_of
from tests.components.fleet.meters import HOUR, MINUTE, NOW, meter, status
from tests.tables import cases


@cases(
    ("fields", "word"),
    [
        ({}, "Reporting"),
        ({"seen_ms": NOW - 15 * MINUTE}, "Reporting"),
        ({"seen_ms": NOW - 15 * MINUTE - 1}, "Silent"),
        ({"seen_ms": NOW - 3 * HOUR, "cadence_ms": HOUR}, "Reporting"),  # three cadences
        ({"seen_ms": NOW - 3 * HOUR - 1, "cadence_ms": HOUR}, "Silent"),
        ({"seen_ms": NOW + 5 * MINUTE}, "Reporting"),  # its clock is ahead
        ({"seen_ms": NOW - 40 * 24 * HOUR, "actual": 0}, "Silent"),  # nothing in the window
        ({"seen_ms": None, "actual": 0}, "No data"),
        ({"actual": 1368}, "Reporting"),  # 95 % exactly
        ({"actual": 1367}, "Degraded"),
        ({"actual": 0, "expected": 0}, "Reporting"),  # nothing was due yet
        ({"quality_min": 40.0}, "Reporting"),
        ({"quality_min": 39.9}, "Degraded"),
        ({"quality_min": None, "quality_max": None}, "Reporting"),
        ({"seen_ms": NOW - HOUR, "quality_min": 1.0}, "Silent"),  # the worse of two
        ({"failure": "Internal error."}, "Unavailable"),
    ],
)
def test_states(fields: dict[str, Any], word: str) -> None:
    assert state_of(meter().quality_limit, status(**fields), NOW).word == word


def test_a_device_without_a_request_has_no_state_yet() -> None:
    assert state_of(meter().quality_limit, None, NOW).word == "Loading"


def test_the_limit_of_quality_is_the_devices_own() -> None:
    result = status(quality_min=60.0)
    assert state_of(meter(quality_limit=70.0).quality_limit, result, NOW).word == "Degraded"
    assert state_of(meter(quality_limit=50.0).quality_limit, result, NOW).word == "Reporting"
