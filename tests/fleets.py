"""Fleets for tests: sixty devices up to now, four with a problem each; and fleets with given
devices and readings."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from api.catalog import DAY_MS, HOUR_MS, MINUTE_MS
from api.client import Client
from api.insight.status_projection import Projection
from api.server import create_service
from api.store.base import Grant, NewDevice, ReadingRow, Scope, Store
from api.store.open import open_store
from api.timez import now_ms, stamp
from tests.dashboards import ORGANIZATION, ORGANIZATION_NAME, Fleet
from tests.world import SETTINGS, all_seeing_key

COUNT: Final = 60
SILENT, DEGRADED, LOW, NEVER, HOLED, YOUNG, UNSAID = range(7)
TROUBLED: Final = {SILENT: "silent", DEGRADED: "degraded", LOW: "degraded", NEVER: "nodata"}
MARKUP: Final = "<b>Bold</b> & Sons"  # the label of HOLED, which would be markup
PRICE: Final = 0.012
SILENT_FOR_MS: Final = 6 * HOUR_MS + 12 * MINUTE_MS
YOUNG_FOR_MS: Final = 5 * HOUR_MS
CADENCE_S: Final = 300


@contextmanager
def measured(
    folder: Path,
    name: str,
    devices: Sequence[NewDevice],
    readings: Mapping[str, Sequence[tuple[int, float]]],
) -> Iterator[Client]:
    """A client for an organization of that name, whose devices have these ten-minute readings
    (instant in ms, gallons), by serial number."""
    store, organization = open_store(f"sqlite:///{folder / 'weir.sqlite'}"), "org-measured"
    store.upgrade()
    store.create_organization(name, organization_id=organization)
    store.import_devices(organization, devices)
    scope = Scope(organization, Grant(everything=True))
    for device, result in zip(store.resolve(scope, list(readings)), readings.values(), strict=True):
        assert device is not None
        store.write(
            [
                (device.key, at, gallons / 10, 600.0, gallons, 90.0, -90.0, -80.0, 21.0)
                for at, gallons in result
            ]
        )
    client = Client.in_process(create_service(store, SETTINGS), all_seeing_key(store, organization))
    try:
        yield client
    finally:
        client.close()
        store.close()


def serial(index: int) -> str:
    return f"FM-{10_400 + index}"


def watched_fleet(store: Store, *, history_ms: int = DAY_MS) -> Fleet:
    """Writes readings up to now into an empty, upgraded store."""
    started = now_ms()
    store.create_organization(
        ORGANIZATION_NAME, organization_id=ORGANIZATION, cost_per_gallon=PRICE
    )
    store.import_devices(ORGANIZATION, [_device(index, started) for index in range(COUNT)])
    key = all_seeing_key(store, ORGANIZATION)
    serials = [serial(index) for index in range(COUNT)]
    result = store.resolve(Scope(ORGANIZATION, Grant(everything=True)), serials)
    for index, device in enumerate(result):
        assert device is not None
        store.write(readings(index, device.key, started - history_ms, started))
    Projection(store).all_due()
    listed = Client.in_process(create_service(store, SETTINGS), key).devices().devices
    return Fleet(store, key, {d.serial_number: d.id for d in listed}, started)


def _device(index: int, started: int) -> NewDevice:
    fields = {
        "label": MARKUP if index == HOLED else f"Riser {index:02}",
        "networkUniqueIdentifier": f"70B3D57ED{index:07X}",
        "deviceTimeZone": "America/Denver",
        "reportingInterval": float(CADENCE_S),
        "installedOn": "2025-03-12T17:00:00Z",
    }
    if index == YOUNG:
        fields["installedOn"] = stamp(started // 1000 * 1000 - YOUNG_FOR_MS)
    if index == UNSAID:
        del fields["reportingInterval"]
    return NewDevice(serial(index), fields)


def readings(index: int, key: int, start_ms: int, end_ms: int) -> list[ReadingRow]:
    """One reading per five-minute bucket, without those that the device's problem removes."""
    if index == NEVER:
        return []
    dice = random.Random(index)
    step = CADENCE_S * 1000
    first = start_ms - start_ms % step + dice.randrange(20_000, 200_000)
    if index == YOUNG:
        first = max(first, end_ms - YOUNG_FOR_MS)
    last = end_ms - SILENT_FOR_MS if index == SILENT else end_ms
    rows: list[ReadingRow] = []
    for n, at in enumerate(range(first, last, step)):
        if index == DEGRADED and n % 8 == 0:
            continue
        if index == HOLED and end_ms - 10 * HOUR_MS < at < end_ms - 9 * HOUR_MS:
            continue
        rate = 0.0 if index % 5 == 0 else round(dice.uniform(1, 9), 2)
        quality = 12.0 if index == LOW and n % 50 == 7 else float(dice.randrange(80, 99))
        rows.append((key, at, rate, float(CADENCE_S), rate * 5, quality, -90.0, -80.0, 21.5))
    return rows
