"""Devices' statuses as the service returns them, for tests of the wall's rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from api.client import Device, DeviceStatus, WindowStatus
from api.client.findings import Finding
from api.metering.windows import SPANS
from tests.components.fleet.meters import DAY, HOUR, NOW


def row(id: str = "m", **fields: Any) -> DeviceStatus:
    """A healthy device with changes: also of ``label`` and ``config``, and of ``actual``,
    ``expected``, ``least`` and ``most`` of its windows."""
    window = WindowStatus(
        fields.pop("actual", 1440),
        fields.pop("expected", 1440),
        fields.pop("least", 80.0),
        fields.pop("most", 96.0),
    )
    device = Device(
        id=id,
        serial_number=f"FM-{id}",
        network_unique_identifier="",
        category=fields.pop("category", "FLOW_METER"),
        label=fields.pop("label", f"Meter {id}"),
        model="",
        time_zone="America/Denver",
        installed=True,
        installed_on_ms=None,
        created_ms=None,
        config=fields.pop("config", {}),
    )
    healthy = DeviceStatus(
        device=device,
        state="reporting",
        cadence_s=60.0,
        event_driven=False,
        last_seen_ms=NOW - 20_000,
        flow=2.5,
        signal_strength=-104.0,
        network_rssi=-87.0,
        windows={span.name: window for span in SPANS},
        volume_today=1234.0,
        volume_month=20_000.0,
        findings=(),
        as_of_ms=NOW,
    )
    return replace(healthy, **fields)


def leak(**fields: Any) -> Finding:
    usual: dict[str, Any] = {
        "id": "f",
        "device_id": "m",
        "serial_number": "FM-m",
        "kind": "continuous-flow",
        "severity": "warning",
        "state": "open",
        "start_ms": NOW - 6 * DAY - HOUR,
        "end_ms": None,
        "opened_ms": NOW - 5 * DAY,
        "value": 54.4,
        "unit": "gal/h",
        "usual": None,
        "gallons": 7_888.0,
        "cost_per_day": 15.67,
        "words": "Leak",
    }
    return Finding(**{**usual, **fields})
