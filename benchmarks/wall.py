"""How long a refresh of the fleet page takes with many devices: ``python -m benchmarks.wall``.

Each refresh is timed from the request to the JSON, in process, with the real service and store.
"""

from __future__ import annotations

import argparse
import math
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any
from uuid import uuid4

import orjson

from api.auth import key_digest
from api.catalog import DAY_MS, HOUR_MS, MINUTE_MS
from api.client import Client
from api.insight.status_projection import Projection
from api.server import create_service
from api.settings import Settings
from api.store.base import Grant, Key, NewDevice, ReadingRow, Store
from api.store.open import open_store
from api.timez import now_ms
from components.concurrent_queries import ReplyCache, ServiceAccess
from components.fleet.queries import FleetView, read_fleet_view
from components.fleet.wall import board

ORGANIZATION = "org-wall"
BATCH = 100_000
STEADY = 20


def cadence_ms(index: int) -> int:
    """Of a hundred devices, 4 report every minute, 32 every 5 minutes and all others every 15."""
    return MINUTE_MS * (1 if index % 25 == 0 else 5 if index % 3 == 0 else 15)


def devices(count: int) -> Iterator[NewDevice]:
    """One in ten has no configured cadence, so that it must be estimated."""
    for index in range(count):
        fields: dict[str, Any] = {
            "label": f"Meter {index:05}",
            "deviceTimeZone": ("America/Denver", "America/New_York", "Asia/Kolkata")[index % 3],
        }
        if index % 10:
            fields["reportingInterval"] = cadence_ms(index) / 1000
        yield NewDevice(f"WALL-{index:05}", fields)


def readings(index: int, key: int, end_ms: int) -> Iterator[ReadingRow]:
    """Yields a day of readings. One device in 40 became silent five hours ago, one in 97 never
    reported."""
    dice, step = random.Random(index), cadence_ms(index)
    last = end_ms - (5 * HOUR_MS if index % 40 == 0 else 0)
    start = end_ms - DAY_MS + dice.randrange(step)
    for at in range(start, last if index % 97 else start, step):
        rate = round(max(0.0, dice.gauss(2, 3)), 2)
        quality = float(dice.randrange(80, 99))
        yield (key, at, rate, step / 1000, rate * step / MINUTE_MS, quality, -80.0, -70.0, 20.0)


def fill(store: Store, count: int) -> str:
    """Fills an empty store with the fleet. Returns a key that sees it."""
    store.upgrade()
    store.create_organization("Wall", organization_id=ORGANIZATION, cost_per_gallon=0.01)
    store.import_devices(ORGANIZATION, devices(count))
    keys = store.ingest_keys(ORGANIZATION)
    end, rows = now_ms(), list[ReadingRow]()
    for index in range(count):
        rows += readings(index, keys[f"WALL-{index:05}"], end)
        if len(rows) > BATCH:
            store.write(rows)
            rows = []
    store.write(rows)
    Projection(store).all_due()
    secret = str(uuid4())
    store.create_key(
        Key("key_wall", ORGANIZATION, "wall", key_digest(secret), Grant(everything=True), 0)
    )
    return secret


def refreshed(access: ServiceAccess, view: FleetView) -> tuple[float, dict[str, Any]]:
    start = time.perf_counter()
    made = board(access, view, now_ms())
    orjson.dumps(made)
    return (time.perf_counter() - start) * 1000, made


def measured(access: ServiceAccess) -> Iterator[tuple[str, str]]:
    first, made = refreshed(access, FleetView())
    yield "first answer", f"{first:.0f} ms"
    views = {
        "answers from then on": FleetView(),
        "over 1 h": read_fleet_view({"window": "1h"}),
        "over 7 d": read_fleet_view({"window": "7d"}),
        "over 30 d": read_fleet_view({"window": "30d"}),
        "page 20 by flow": read_fleet_view({"sort": "flow", "page": "20"}),
        "search for “meter 0”": read_fleet_view({"q": "meter 0"}),
    }
    for name, view in views.items():
        spent = sorted(refreshed(access, view)[0] for _ in range(STEADY))
        p95 = spent[math.ceil(0.95 * STEADY) - 1]
        yield name, f"{median(spent):.0f} ms, p95 {p95:.0f} ms"
    held = read_fleet_view({"held": [tile["id"] for tile in made["tiles"]]})
    yield "while a reader is on the tiles", f"{refreshed(access, held)[0]:.0f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", type=int, default=10_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{Path(folder) / 'wall.sqlite'}")
        secret = fill(store, options.devices)
        settings = Settings.from_env({"WEIR_SECRET_KEY": secret, "WEIR_INSTANCE": folder})
        client = Client.in_process(create_service(store, settings), secret)
        access = ServiceAccess(client, ReplyCache())
        print(f"{options.devices:,} devices")
        for what, figure in measured(access):
            print(f"{what:34} {figure}")
        store.close()


if __name__ == "__main__":
    main()
