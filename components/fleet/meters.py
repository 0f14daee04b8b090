"""Devices as the wall needs them: read once from the list, small enough to keep ten thousand."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from api.client import Device
from api.timez import MINUTE_MS

MIN_CADENCE_MS: Final = MINUTE_MS
DEFAULT_QUALITY_LIMIT: Final = 40.0
DEFAULT_CURRENCY: Final = "USD"
LEAST_GAL: Final = 1.0


@dataclass(frozen=True, slots=True)
class Meter:
    """``cadence_ms`` is what the configuration says, None where it says nothing; ``price`` is per
    gallon; ``sought`` is what a search looks through; with less than ``least_gal`` in an
    hour its flow has paused; ``never_rests``: it flows by design."""

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
    least_gal: float = LEAST_GAL
    never_rests: bool = False


def read_meter(device: Device) -> Meter:
    interval = device.reporting_interval_s
    limit = _finite(device.config.get("qualityLimit"))
    currency = device.cost_per_gallon.get("currency")
    return Meter(
        id=device.id,
        label=device.label,
        serial=device.serial_number,
        time_zone=device.time_zone,
        installed=device.installed,
        installed_on_ms=device.installed_on_ms,
        cadence_ms=max(MIN_CADENCE_MS, round(interval * 1000)) if interval else None,
        quality_limit=DEFAULT_QUALITY_LIMIT if limit is None else limit,
        price=_price(device.cost_per_gallon),
        currency=currency if isinstance(currency, str) and currency else DEFAULT_CURRENCY,
        groups=_groups(device.config),
        sought="\n".join(
            (device.label, device.serial_number, device.network_unique_identifier)
        ).casefold(),
        network_id=device.network_unique_identifier,
        category=device.category,
        model=device.model,
        least_gal=_least(device.config),
        never_rests=device.config.get("continuousFlowByDesign") is True,
    )


def _price(said: Mapping[str, Any]) -> float | None:
    """The interface leaves the object's form open: ``value``, or the only number in it."""
    value = _finite(said.get("value"))
    numbers = [n for n in map(_finite, said.values()) if n is not None]
    return value if value is not None else numbers[0] if len(numbers) == 1 else None


def _least(config: Mapping[str, Any]) -> float:
    said = _finite(config.get("continuousFlowLimit"))
    return said if said is not None and said > 0 else LEAST_GAL


def _groups(config: Mapping[str, Any]) -> tuple[str, ...]:
    said = config.get("groups")
    return tuple(g for g in said if isinstance(g, str) and g) if isinstance(said, list) else ()


def _finite(value: Any) -> float | None:
    return float(value) if type(value) in (int, float) and math.isfinite(value) else None
