"""The device that a chart is about, as the service tells it."""

from __future__ import annotations

from typing import Final

from api.client import Client
from components.directory import Found, usual_interval_s
from components.drawing import Subject
from components.fleet.meters import read_meter

GATEWAY: Final = "Gateway"


def subject_of(client: Client, found: Found) -> Subject:
    """Raises what the client raises."""
    device, meter = found.device, read_meter(found.device)
    return Subject(
        device.id,
        device.time_zone,
        usual_interval_s(client, found),
        tab="signal" if device.category == GATEWAY else "flow_rate",
        quality_limit=meter.quality_limit,
        installed_on_ms=device.installed_on_ms,
        active=found.active,
    )
