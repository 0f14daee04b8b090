"""Devices as the wall needs them: read once from the list, small enough to keep ten thousand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from api.client import Device
from api.metering import cadence
from api.metering.cost import device_price, finite
from api.metering.status import DEFAULT_QUALITY_LIMIT


@dataclass(frozen=True, slots=True)
class Meter:
    """``cadence_ms`` is what the configuration says, None where it says nothing; ``price`` is per
    gallon; ``sought`` is what a search looks through; ``upstream``: the serial numbers of the
    meters that measure its water before it does, the nearest first."""

    id: str
    label: str
    serial: str
    time_zone: str
    installed: bool
    installed_on_ms: int | None
    cadence_ms: int | None
    quality_limit: float
    price: float | None
    currency: str
    groups: tuple[str, ...]
    sought: str
    network_id: str = ""
    category: str = ""
    model: str = ""
    upstream: tuple[str, ...] = ()


def read_meter(device: Device) -> Meter:
    pace = cadence.configured(device.reporting_interval_s)
    limit = finite(device.config.get("qualityLimit"))
    price, currency = device_price(device.cost_per_gallon)
    return Meter(
        id=device.id,
        label=device.label,
        serial=device.serial_number,
        time_zone=device.time_zone,
        installed=device.installed,
        installed_on_ms=device.installed_on_ms,
        cadence_ms=pace.ms if pace else None,
        quality_limit=DEFAULT_QUALITY_LIMIT if limit is None else limit,
        price=price,
        currency=currency,
        groups=_groups(device.config),
        sought="\n".join(
            (device.label, device.serial_number, device.network_unique_identifier)
        ).casefold(),
        network_id=device.network_unique_identifier,
        category=device.category,
        model=device.model,
    )


def _groups(config: Mapping[str, Any]) -> tuple[str, ...]:
    said = config.get("groups")
    return tuple(g for g in said if isinstance(g, str) and g) if isinstance(said, list) else ()
