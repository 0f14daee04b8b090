"""Meters with registers, and what must always hold of their readings."""

from __future__ import annotations

from typing import Any

from api.catalog import MINUTE_MS, RAW, STORED
from api.store.base import (
    Device,
    NewDevice,
    RegisterRow,
    Row,
    Span,
    Store,
)
from tests.store.fleet import NOON_MS, device, new_meters
from tests.store.recomputed import assert_same_rows, distinct, rolled

QUARTER_MS = 15 * MINUTE_MS


def meter_with(store: Store, **config: Any) -> Device:
    (meter,) = new_meters(store, 1)
    return configured(store, meter, **config)


def configured(store: Store, meter: Device, **config: Any) -> Device:
    store.import_devices("acme", [NewDevice(meter.serial_number, {"config": config})])
    return device(store, "acme", meter.id)


def at(meter: Device, ms: int, value: float, **beside: Any) -> RegisterRow:
    return RegisterRow(meter.key, NOON_MS + ms, value, **beside)


def quarters(meter: Device, *values: float) -> list[RegisterRow]:
    return [at(meter, place * QUARTER_MS, value) for place, value in enumerate(values)]


def readings_of(store: Store, meter: Device) -> list[Row]:
    return store.rows(meter, RAW, Span(), limit=10_000)


def volumes(store: Store, meter: Device) -> list[float | None]:
    return [row[3] for row in readings_of(store, meter)]


def whole(store: Store, meter: Device) -> list[list[Row]]:
    """All rows derived from a device's registers."""
    return [store.rows(meter, each, Span(), limit=10_000) for each in (RAW, *STORED)] + [
        list(store.registers(meter, Span(), limit=10_000))
    ]


def assert_sound(store: Store, meter: Device) -> None:
    """Asserts that every rollup equals a recount of raw rows, and that deriving again changes
    nothing."""
    raw = distinct([(meter.key, *row) for row in readings_of(store, meter)])  # type: ignore[misc]
    for resolution in STORED:
        result = store.rows(meter, resolution, Span(), limit=10_000)
        assert_same_rows(result, rolled(raw, resolution), 1e6)
        assert store.count(meter, resolution, Span()) == len(result)
    before = whole(store, meter)
    assert store.derive_again(meter) == 0
    assert whole(store, meter) == before
