"""Small fleets and readings for the store's tests."""

from __future__ import annotations

import random
from itertools import count
from typing import Any

from api.catalog import METRICS, MINUTE_MS
from api.store.base import Device, DeviceQuery, Grant, NewDevice, ReadingRow, Scope, Store

NOON_MS = 1_772_971_200_000  # 2026-03-08T12:00:00Z: a whole hour, on a day that changes the clocks
_serials = count(1)


def everything(organization_id: str) -> Scope:
    return Scope(organization_id, Grant(everything=True))


def listed(store: Store, organization_id: str, **query: Any) -> list[str]:
    """Serial numbers in the store's order."""
    result = store.devices(everything(organization_id), DeviceQuery(**query))
    return [each.serial_number for each in result]


def device(store: Store, organization_id: str, identifier: str) -> Device:
    (result,) = store.resolve(everything(organization_id), [identifier])
    assert result is not None
    return result


def new_meters(store: Store, number: int, organization_id: str = "acme") -> list[Device]:
    """That many new devices, in order of their keys; creates the organization if it is missing."""
    if store.organization(organization_id) is None:
        store.create_organization("Acme", organization_id=organization_id)
    serials = [f"M-{next(_serials):06}" for _ in range(number)]
    store.import_devices(organization_id, [NewDevice(serial) for serial in serials])
    result = store.resolve(everything(organization_id), serials)
    return [device for device in result if device is not None]


def reading(device: Device, at_ms: int, **values: float) -> ReadingRow:
    """A reading with these values by metric name; the others are null."""
    row = (device.key, at_ms, *(values.get(metric.name) for metric in METRICS))
    assert set(values) <= {metric.name for metric in METRICS}
    return row  # pyright: ignore[reportReturnType]


def steady(
    device: Device | int,
    rows: int,
    *,
    start_ms: int = NOON_MS,
    step_ms: int = MINUTE_MS,
    seed: int = 0,
) -> list[ReadingRow]:
    """Readings of a device (or of its key) at a constant cadence: random values, some of them
    null."""
    rng = random.Random(seed)
    key = device if isinstance(device, int) else device.key

    def value() -> float | None:
        return None if rng.random() < 0.2 else round(rng.uniform(-100, 100), 3)

    return [(key, start_ms + index * step_ms, *(value() for _ in METRICS)) for index in range(rows)]  # pyright: ignore[reportReturnType]
