"""`python -m benchmarks.administration`: processor time of pages of ``/admin/v1/devices``.

Creates a store with that many devices in a temporary folder and calls the route without HTTP.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path
from tempfile import TemporaryDirectory
from time import thread_time
from types import SimpleNamespace
from typing import Any, Final

from api.params.administration import DeviceListQuery
from api.routes.administration import list_devices
from api.store.base import Grant, NewDevice, Scope, Store
from api.store.open import open_store

_WORDS: Final = ("Tower", "Bridge", "Mill", "Depot", "Straße", "Ärztehaus", "Market", "School")
_BATCH: Final = 10_000


def fill(store: Store, devices: int) -> None:
    rng = random.Random(1)
    store.create_organization("Acme", organization_id="acme")
    for start in range(0, devices, _BATCH):
        new = [
            NewDevice(
                f"S-{n:06}",
                {
                    "label": f"{rng.choice(_WORDS)} {rng.randrange(10_000)}",
                    "networkUniqueIdentifier": f"NET{n:08X}",
                },
                groups=(f"g{n % 40}",),
            )
            for n in range(start, min(devices, start + _BATCH))
        ]
        store.import_devices("acme", new)


def queries(devices: int) -> list[dict[str, str]]:
    return [
        {},
        {"offset": str(devices - 100)},
        {"q": "tower 12"},
        {"q": "ärzte"},
        {"q": "in no label"},
        {"group": "g7"},
        {"group": "g7", "q": "mill"},
    ]


def timed_ms(store: Store, query: dict[str, str], times: int) -> list[float]:
    scope = Scope("acme", Grant(everything=True))
    call: Any = SimpleNamespace(store=store, scope=scope, query=DeviceListQuery(**query))  # pyright: ignore[reportArgumentType]
    elapsed: list[float] = []
    for _ in range(times):
        started = thread_time()
        list_devices(call)
        elapsed.append((thread_time() - started) * 1000)
    return sorted(elapsed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", type=int, default=100_000)
    parser.add_argument("--times", type=int, default=40)
    options = parser.parse_args()
    with TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{Path(folder) / 'devices.sqlite'}")
        store.upgrade()
        fill(store, options.devices)
        for query in queries(options.devices):
            elapsed = timed_ms(store, query, options.times)
            p95 = elapsed[int(0.95 * len(elapsed))]
            print(f"{query!s:40} median {elapsed[len(elapsed) // 2]:6.1f} ms, p95 {p95:6.1f} ms")
        store.close()


if __name__ == "__main__":
    main()
