"""How long images take: from the request to the last byte, including the query of rows and the
making of the figure, drawn by the machine's one Chromium.

python -m benchmarks.images
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from uuid import uuid4

from werkzeug.test import Client as Browser

from api.auth import key_digest
from api.client import Client
from api.server import create_service
from api.settings import Settings
from api.store.base import Grant, Key, NewDevice, Scope, Store
from api.store.open import open_store
from api.timez import MINUTE_MS, now_ms
from web.auth import Access
from web.dashboard import create_dashboard

ORGANIZATION: Final = "org-images"
DEVICES: Final = 50
DAYS: Final = 30
GOAL_MS: Final = 300
CASES: Final = (
    ("chart, 24 h, png", "devices/I-00/chart.png?range=24h"),
    ("chart, 7 d, png at twice the size", "devices/I-00/chart.png?range=7d&scale=2"),
    ("chart, 30 d, png", "devices/I-00/chart.png?range=30d"),
    ("chart, 30 d, svg", "devices/I-00/chart.svg?range=30d"),
    ("chart, 30 d, pdf", "devices/I-00/chart.pdf?range=30d"),
    ("wall of 50, png", "fleet.png"),
    ("wall of 50, svg (no browser)", "fleet.svg"),
    ("wall of 50, pdf", "fleet.pdf"),
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    rounds = parser.parse_args().rounds
    with TemporaryDirectory(prefix="weir-images-") as folder:
        store, key = _filled(Path(folder))
        request = _asking(store, key, Path(folder))
        cold_ms = _timed(lambda: request(CASES[0][1]))
        print(f"| Image | median | 95th of {rounds} | bytes |\n|---|---|---|---|")
        print(f"| the first of all: Chromium starts | {cold_ms:.0f} ms | | |")
        missed = [name for name, path in CASES if _median_ms(name, path, request, rounds) > GOAL_MS]
        store.close()
    print(f"\nGoal: {GOAL_MS} ms, median, warm. Missed by: {', '.join(missed) or 'none'}.")
    return 1 if missed else 0


def _median_ms(name: str, path: str, request: Callable[[str], int], rounds: int) -> float:
    size = request(path)  # warms up
    times = sorted(_timed(lambda: request(path)) for _ in range(rounds))
    median, late = statistics.median(times), times[min(rounds - 1, round(rounds * 0.95))]
    print(f"| {name} | {median:.0f} ms | {late:.0f} ms | {size:,} |", flush=True)
    return median


def _timed(run: Callable[[], object]) -> float:
    start_s = time.perf_counter()
    run()
    return (time.perf_counter() - start_s) * 1000


def _asking(store: Store, key: str, folder: Path) -> Callable[[str], int]:
    """Runs the dashboard in this process: the cost of a socket isn't measured."""
    settings = Settings.from_env({"WEIR_SECRET_KEY": "a secret of the benchmark, long enough"})
    client = Client.in_process(create_service(store, settings))
    access = Access(settings.secret, folder, demo_key=lambda: key, local_only=True)
    browser = Browser(create_dashboard(client, access, folder).server)

    def ask(path: str) -> int:
        address = f"/export/{path}"
        near = {"REMOTE_ADDR": "127.0.0.1"}
        answer = browser.get(address, base_url="http://localhost", environ_base=near)
        if answer.status_code != 200:
            raise SystemExit(f"{address}: {answer.status_code} {answer.text[:300]}")
        return len(answer.data)

    return ask


def _filled(folder: Path) -> tuple[Store, str]:
    """Fills a store with fifty devices that report each minute: one for a month, the others for a
    day."""
    store, key = open_store(f"sqlite:///{folder / 'images.sqlite'}"), str(uuid4())
    store.upgrade()
    store.create_organization("Images", organization_id=ORGANIZATION)
    serials = [f"I-{n:02}" for n in range(DEVICES)]
    new = (NewDevice(s, {"label": s, "reportingInterval": 60.0}) for s in serials)
    store.import_devices(ORGANIZATION, new)
    scope = Scope(ORGANIZATION, Grant(everything=True))
    store.create_key(Key("key_images", ORGANIZATION, "", key_digest(key), scope.grant, 0))
    end = now_ms() // MINUTE_MS * MINUTE_MS
    for index, device in enumerate(store.resolve(scope, serials)):
        assert device is not None
        minutes = (DAYS if index == 0 else 1) * 1440
        minutely = [
            (device.key, end - n * MINUTE_MS, (n * 7 + index) % 97 / 10, 60.0, 1.0,
             90.0 + n % 10, -90.0, -80.0, 20.0)
            for n in range(minutes)
        ]  # fmt: skip
        store.write(minutely)
    return store, key


if __name__ == "__main__":
    raise SystemExit(main())
