"""A dashboard over a small fleet, served on loopback, for tests of pages and of browsers."""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from dash import Dash
from werkzeug.serving import make_server

from api.auth.signed import SignedAddresses
from api.catalog import DAY_MS, HOUR_MS, MINUTE_MS
from api.client import Client
from api.ingest.imports.folder import ImportFolders
from api.ingest.imports.job import run
from api.ingest.imports.service import ImportService
from api.insight.status_projection import Projection
from api.server import create_service
from api.store.base import Grant, NewDevice, ReadingRow, Scope, Store
from api.store.open import open_store
from api.timez import now_ms
from tests.world import SETTINGS, all_seeing_key, ms
from web.auth import Access
from web.dashboard import create_dashboard

ORGANIZATION: Final = "org-northside"
ORGANIZATION_NAME: Final = "Northside Properties"

# Serial numbers of the devices, by their purpose.
CLOCKS: Final = "FM-CLOCKS"  # every 20 s on the days that New York's clocks change
LIVE: Final = "FM-LIVE"  # every minute for ten days up to now, with a gap of 5 h 50 min
TRICKY: Final = "FM-<b>&amp;"  # a label that is HTML markup
NEVER: Final = "FM-NEVER"
RETIRED: Final = "FM-RETIRED"
MANY: Final = 120  # and as many as requested, without readings

SPRING: Final = ms("2026-03-08T05:00Z")  # New York's midnight; 23 hours
AUTUMN: Final = ms("2026-11-01T04:00Z")  # 25 hours
HOLE_MS: Final = 350 * MINUTE_MS
HOLE_ENDS_BEFORE_NOW_MS: Final = 30 * HOUR_MS


@dataclass(frozen=True)
class Fleet:
    """``ids`` by serial number. ``started_ms`` is the instant up to which the live device
    reported."""

    store: Store
    key: str
    ids: dict[str, str]
    started_ms: int


def make_fleet(folder: Path, many: int = MANY) -> Fleet:
    store = open_store(f"sqlite:///{folder / 'fleet.sqlite'}")
    store.upgrade()
    store.create_organization(ORGANIZATION_NAME, organization_id=ORGANIZATION)
    store.import_devices(ORGANIZATION, _devices(many))
    scope = Scope(ORGANIZATION, Grant(everything=True))
    key = all_seeing_key(store, ORGANIZATION)
    started = now_ms()
    devices = dict(
        zip((CLOCKS, LIVE, TRICKY), store.resolve(scope, (CLOCKS, LIVE, TRICKY)), strict=True)
    )
    keys = {serial: device.key for serial, device in devices.items() if device is not None}
    for start in (SPRING, AUTUMN):
        store.write(_flow(keys[CLOCKS], start - DAY_MS, start + 2 * DAY_MS, 20_000))
    hole_end = started - HOLE_ENDS_BEFORE_NOW_MS
    store.write(_flow(keys[LIVE], started - 10 * DAY_MS, hole_end - HOLE_MS, MINUTE_MS))
    store.write(_flow(keys[LIVE], hole_end, started, MINUTE_MS))
    store.write(_flow(keys[TRICKY], started - HOUR_MS, started, MINUTE_MS))
    Projection(store).all_due(started)
    everything = Client.in_process(create_service(store, SETTINGS), key).devices(active="null")
    return Fleet(store, key, {d.serial_number: d.id for d in everything.devices}, started)


def _devices(many: int) -> list[NewDevice]:
    zone = {"deviceTimeZone": "America/New_York", "model": "FX-200"}
    named = [
        NewDevice(CLOCKS, {"label": "Clock tower", "reportingInterval": 20.0, **zone}),
        NewDevice(
            LIVE,
            {
                "label": "Tenant 12 main",
                "networkUniqueIdentifier": "70B3D57ED0051A2C",
                "installedOn": "2025-03-12T17:00:00Z",
                "deviceTimeZone": "America/Denver",
                "model": "FX-200",
            },
        ),
        NewDevice(TRICKY, {"label": "<img src=x onerror=alert(1)> & Sons", **zone}),
        NewDevice(NEVER, {"label": "East riser", **zone}),
        NewDevice(RETIRED, {"label": "Old main", "active": False, **zone}),
    ]
    return named + [NewDevice(f"ZZ-{n:03}", {"label": f"Zone {n:03} drip"}) for n in range(many)]


def _flow(key: int, start_ms: int, end_ms: int, step_ms: int) -> list[ReadingRow]:
    """Two peaks a day with noise; quality is above 90 %."""
    random_ = random.Random(key * 1_000 + step_ms)
    rows: list[ReadingRow] = []
    for at in range(start_ms, end_ms, step_ms):
        hour = at % DAY_MS / HOUR_MS
        rate = 1 + 12 * max(0.0, 1 - abs(hour - 13) / 3) + 8 * max(0.0, 1 - abs(hour - 1) / 2)
        rate = round(max(0.0, rate * random_.uniform(0.6, 1.4)), 3)
        gallons = round(rate * step_ms / MINUTE_MS, 4)
        quality = float(random_.randrange(88, 100))
        rows.append((key, at, rate, step_ms / 1000, gallons, quality, -90.0, -80.0, 21.5))
    return rows


@dataclass(frozen=True)
class Site:
    """A dashboard at an address. While ``broken`` is set its service fails."""

    url: str
    app: Dash
    client: Client
    fleet: Fleet
    broken: threading.Event


@contextmanager
def served(fleet: Fleet, folder: Path) -> Iterator[Site]:
    """Serves on loopback, where visitors are signed in."""
    broken = threading.Event()

    def start(import_id: str) -> None:
        job = partial(run, fleet.store, ImportFolders(folder).any(import_id))
        threading.Thread(target=job, daemon=True).start()

    imports = ImportService(fleet.store, folder, start)
    service = create_service(fleet.store, SETTINGS, imports=imports)

    def fragile(environ, start_response):
        if not broken.is_set():
            return service(environ, start_response)
        start_response("500 OOPS", [("Content-Type", "application/problem+json")])
        return [b'{"detail": "The store is on fire."}']

    client = Client.in_process(fragile)
    access = Access(
        secret="a secret of the tests that is long enough",
        folder=folder,
        demo_key=lambda: fleet.key,
        local_only=True,
    )
    app = create_dashboard(client, access, links=SignedAddresses(fleet.store, SETTINGS))
    server = make_server("127.0.0.1", 0, app.server, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}"
        yield Site(url, app, client.as_principal(fleet.key), fleet, broken)
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
        client.close()
