"""Exports ten million raw readings of one device as CSV and as a workbook, from the production
server.

Reports rows per second, the time to the first bytes, and how much the worker's memory grows
meanwhile. `--keep DIR` uses the store again, which takes minutes to fill.
"""

from __future__ import annotations

import argparse
import os
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final
from urllib.parse import urlencode
from uuid import uuid4

import httpx

from api.auth import key_digest
from api.catalog import RAW
from api.client import Client
from api.store.base import Grant, Key, NewDevice, ReadingRow, Scope, Span, Store
from api.store.open import open_store
from api.timez import stamp
from benchmarks.site.served import production

START_MS: Final = 1_767_225_600_000  # 2026-01-01
STEP_MS: Final = 1_000
BATCH: Final = 20_000
SERIAL: Final = "BENCH-EXPORT"
ORGANIZATION: Final = "org-exports"
LOOK_S: Final = 0.05
_MIB: Final = 1 << 20


@dataclass(frozen=True)
class Case:
    """Requests ``share`` of all rows."""

    name: str
    ending: str
    gzip: bool = False
    share: float = 1.0


CASES: Final = (
    Case("CSV, a hundredth of it", "csv", share=0.01),
    Case("CSV", "csv"),
    Case("CSV, gzip", "csv", gzip=True),
    Case("workbook, one full sheet", "xlsx", share=0.1),
    Case("workbook", "xlsx"),
)


@dataclass(frozen=True)
class Taken:
    rows: int
    seconds: float
    first_s: float
    bytes: int
    grown_mib: float
    most_mib: float


# --- The store -----------------------------------------------------------------------------------


def fill(url: str, rows: int) -> None:
    """Writes one reading a second; rows that exist aren't written again."""
    store = open_store(url)
    try:
        store.upgrade()
        if store.organization(ORGANIZATION) is None:
            store.create_organization("Exports", organization_id=ORGANIZATION)
            store.import_devices(ORGANIZATION, [NewDevice(SERIAL, {"label": "Exports"})])
        scope = Scope(ORGANIZATION, Grant(everything=True))
        (device,) = store.resolve(scope, [SERIAL])
        assert device is not None
        for first in range(_written(store, scope, rows), rows, BATCH):
            store.write(_readings(device.key, first, min(BATCH, rows - first)))
    finally:
        store.close()


def _written(store: Store, scope: Scope, rows: int) -> int:
    """Returns how many of the rows exist already."""
    (device,) = store.resolve(scope, [SERIAL])
    assert device is not None
    return min(rows, store.count(device, RAW, Span(None, None)))


def _readings(key: int, first: int, many: int) -> list[ReadingRow]:
    return [
        (key, START_MS + n * STEP_MS, n % 997 / 100, 1.0, n % 997 / 6000, 90.0, -90.0, -80.0, 21.5)
        for n in range(first, first + many)
    ]


def _new_key(url: str) -> str:
    store, secret = open_store(url), str(uuid4())
    try:
        grant = Grant(everything=True)
        name = f"key_{secret[:8]}"
        store.create_key(Key(name, ORGANIZATION, "exports", key_digest(secret), grant, 0))
    finally:
        store.close()
    return secret


# --- The server and its memory -------------------------------------------------------------------


def _workers(parent: int) -> list[int]:
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text("ascii").split()
    pids = [int(child) for child in children]
    return sorted(pids, key=_rss_mib, reverse=True)


def _rss_mib(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / _MIB


@contextmanager
def _watched(pid: int, seen: list[float]) -> Iterator[None]:
    ending = threading.Event()

    def look() -> None:
        while not ending.wait(LOOK_S):
            seen.append(_rss_mib(pid))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        ending.set()
        thread.join()


# --- Downloading ---------------------------------------------------------------------------------


def take(http: httpx.Client, pid: int, case: Case, device_id: str, rows: int) -> Taken:
    """Downloads the whole file and discards it."""
    wanted = round(rows * case.share)
    params = {"from": stamp(START_MS), "to": stamp(START_MS + (wanted - 1) * STEP_MS)}
    path = f"/download/devices/{device_id}/rows.{case.ending}?{urlencode(params)}"
    headers = {"Accept-Encoding": "gzip" if case.gzip else "identity"}
    before, seen, size, first_s = _rss_mib(pid), [0.0], 0, 0.0
    start = time.perf_counter()
    with _watched(pid, seen), http.stream("GET", path, headers=headers, timeout=600) as answer:
        answer.raise_for_status()
        for part in answer.iter_raw():
            first_s = first_s or time.perf_counter() - start
            size += len(part)
    seconds = time.perf_counter() - start
    return Taken(wanted, seconds, first_s, size, max(seen) - before, max(seen))


def row(case: Case, taken: Taken) -> str:
    return (
        f"| {case.name} | {taken.rows:,} | {taken.seconds:.1f} s"
        f" | {taken.rows / taken.seconds:,.0f} | {taken.first_s * 1000:.0f} ms"
        f" | {taken.bytes / 1e6:,.1f} MB | {taken.grown_mib:.0f} MiB | {taken.most_mib:.0f} MiB |"
    )


HEAD: Final = (
    "| File | Rows | Took | Rows a second | First bytes | Size | Memory grew | Worker at most |\n"
    "|---|---|---|---|---|---|---|---|"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--keep", type=Path, help="the folder of a store to use again")
    parser.add_argument("--fill", action="store_true", help="only fill the store")
    parser.add_argument("--case", action="append", help="the name of a file (repeatable)")
    options = parser.parse_args()
    with ExitStack() as opened:
        folder = options.keep or Path(opened.enter_context(TemporaryDirectory(prefix="weir-")))
        folder.mkdir(parents=True, exist_ok=True)
        url = f"sqlite:///{folder / 'exports.sqlite'}"
        fill(url, options.rows)
        if options.fill:
            return
        key = _new_key(url)
        site, parent = opened.enter_context(production(url, folder, workers=1))
        pid = _workers(parent)[0]
        device_id = Client.remote(site, key).devices().devices[0].id
        http = opened.enter_context(httpx.Client(base_url=site))
        assert http.post("/sign-in", data={"key": key}).status_code == 303
        print(HEAD)
        for case in CASES:
            if not options.case or case.name in options.case:
                print(row(case, take(http, pid, case, device_id, options.rows)), flush=True)


if __name__ == "__main__":
    main()
