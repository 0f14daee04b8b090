"""Devices and their status, for tests of the wall's rules."""

from __future__ import annotations

from typing import Any

from components.directory_queries import DEFAULT_QUALITY_LIMIT, Meter
from components.status_queries import CurrentStatus
from tests.world import ms

NOW = ms("2026-11-20T18:07:23.400Z")
MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000


def meter(id: str = "m", **fields: Any) -> Meter:
    usual: dict[str, Any] = {
        "label": f"Meter {id}",
        "serial": f"FM-{id}",
        "time_zone": "America/Denver",
        "installed": True,
        "installed_on_ms": None,
        "cadence_ms": MINUTE,
        "quality_limit": DEFAULT_QUALITY_LIMIT,
        "price": None,
        "currency": "USD",
        "groups": (),
    }
    made = {**usual, **fields}
    return Meter(id=id, sought=f"{made['label']}\n{made['serial']}".casefold(), **made)


def status(**fields: Any) -> CurrentStatus:
    """The status of a healthy device, with changes."""
    usual: dict[str, Any] = {
        "as_of_ms": NOW,
        "cadence_ms": MINUTE,
        "seen_ms": NOW - 20_000,
        "actual": 1440,
        "expected": 1440,
        "bucket_ms": MINUTE,
        "quality_min": 80.0,
        "quality_max": 96.0,
        "flow": 2.5,
    }
    return CurrentStatus(**{**usual, **fields})
