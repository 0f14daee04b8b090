"""A real service over a store with one device: readings in, numbers out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from api.client import Client
from api.server import create_service
from api.store.base import Grant, NewDevice, ReadingRow, Scope, Store
from api.store.open import open_store
from tests.world import SETTINGS, all_seeing_key

Reading = tuple[int, float, float]
"""(Instant, rate in gal/min, gallons)."""


@dataclass
class Bench:
    """One device in an otherwise empty store."""

    store: Store
    client: Client
    device_id: str
    key: int

    def write(self, readings: Sequence[Reading], quality: float = 90.0) -> None:
        rows: list[ReadingRow] = [
            (self.key, at, rate, 60.0, gallons, quality, -90.0, -80.0, 21.0)
            for at, rate, gallons in readings
        ]
        self.store.write(rows)


@contextmanager
def bench(folder: Path) -> Iterator[Bench]:
    store = open_store(f"sqlite:///{folder / 'bench.sqlite'}")
    store.upgrade()
    store.create_organization("Bench", organization_id="org-bench")
    store.import_devices("org-bench", [NewDevice("B-1", {"label": "bench"})])
    (device,) = store.resolve(Scope("org-bench", Grant(everything=True)), ["B-1"])
    assert device is not None
    key = all_seeing_key(store, "org-bench")
    client = Client.in_process(create_service(store, SETTINGS), key)
    try:
        yield Bench(store, client, client.devices().devices[0].id, device.key)
    finally:
        client.close()
        store.close()
