"""Checks that memory stays flat: ``python -m benchmarks.soak --minutes 60``.

Runs the production server under a steady load: fifty meters whose readings arrive by HTTP every
second, and readers of charts, summaries and the fleet page. The memory of each of its processes is
read every second. Exit status 1 if one grew or ended, or a response was bad.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import httpx

from api.auth.authenticator import key_digest
from api.catalog import DAY_MS, HOUR_MS, KEY_HEADER, MINUTE_MS, PATH_PREFIX
from api.store.base import Grant, Key, NewDevice, ReadingRow, Scope, Store
from api.store.open import open_store
from api.timez import now_ms, stamp
from benchmarks.report import conditions
from benchmarks.site.served import production

METERS: Final = 50
ORGANIZATION: Final = "soak"
HISTORY_MS: Final = 7 * DAY_MS
READERS: Final = 2
PAUSE_S: Final = 0.05  # seconds between two requests of a reader
WARM: Final = 0.4  # of the run: caches fill
MAY_GROW_MIB: Final = 12.0
MAY_GROW_SHARE: Final = 0.06
MIB: Final = 1024.0  # KiB
_BOARD: Final[dict[str, Any]] = {
    "output": "fleet-board.data",
    "outputs": {"id": "fleet-board", "property": "data"},
    "inputs": [{"id": "fleet-question", "property": "data", "value": {"window": "24h"}}],
    "changedPropIds": ["fleet-question.data"],
    "parsedChangedPropsIds": ["fleet-question.data"],
    "state": [],
}


@dataclass
class Load:
    """The work of meters and readers until ``end`` is set, and the responses they got."""

    url: str
    sending: str
    reading: str
    ids: list[str]
    end: threading.Event = field(default_factory=threading.Event)
    statuses: Counter[str] = field(default_factory=Counter[str])
    acknowledged: int = 0

    def run(self, work: Callable[[httpx.Client, random.Random], httpx.Response], pause_s: float,
            seed: int) -> None:  # fmt: skip
        rng = random.Random(seed)
        with httpx.Client(base_url=self.url, timeout=30, trust_env=False) as http:
            if http.post("/sign-in", data={"key": self.reading}).status_code != 303:
                self.statuses["no session"] += 1
            while not self.end.wait(pause_s):
                try:
                    status = str(work(http, rng).status_code)
                except httpx.HTTPError as error:
                    status = type(error).__name__
                self.statuses[status] += 1

    def send(self, http: httpx.Client, rng: random.Random) -> httpx.Response:
        at = stamp(now_ms(), fraction=True)
        rows = [
            {"device": id, "recordedAt": at, "flowRate": rng.random(), "flowAmount": 0.1}
            for id in self.ids
        ]
        answer = http.post("/ingest/v1/readings", json=rows, headers={KEY_HEADER: self.sending})
        if answer.status_code == 200:
            self.acknowledged += answer.json()["accepted"]
        return answer

    def look(self, http: httpx.Client, rng: random.Random) -> httpx.Response:
        if rng.random() < 0.2:
            return http.post("/_dash-update-component", json=_BOARD)
        headers = {KEY_HEADER: self.reading}
        if rng.random() < 0.3:
            params: dict[str, Any] = {"ids": ",".join(self.ids), "metrics": "uptime,lastSeen"}
            return http.get(f"{PATH_PREFIX}/flow/latest", params=params, headers=headers)
        to_ms = now_ms() - rng.randrange(HISTORY_MS)
        span = {"from": stamp(to_ms - rng.choice((HOUR_MS, DAY_MS))), "to": stamp(to_ms)}
        path = f"{PATH_PREFIX}/flow/adaptive/{rng.choice(self.ids)}"
        return http.get(path, params={**span, "maxDatapoints": 1000}, headers=headers)


# --- Memory --------------------------------------------------------------------------------------


def resident_mib(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / MIB
    return 0.0


def family(pid: int) -> list[int]:
    """Returns a process and all of its descendants."""
    below = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(each for child in below for each in family(int(child)))]


def growth(samples: list[float]) -> tuple[float, float]:
    """Returns (MiB held once warm, MiB of growth from there to the end): medians of the first and
    the last quarter of the time after warming up."""
    warm = samples[int(len(samples) * WARM) :]
    quarter = max(1, len(warm) // 4)
    base = statistics.median(warm[:quarter])
    return base, statistics.median(warm[-quarter:]) - base


def is_flat(samples: list[float]) -> bool:
    base, grown = growth(samples)
    return grown <= max(MAY_GROW_MIB, MAY_GROW_SHARE * base)


# --- The run -------------------------------------------------------------------------------------


def prepared(folder: Path, url: str) -> tuple[str, str, list[str]]:
    """Returns (key that sends, key that reads, ids) of a week-old fleet."""
    store = open_store(url)
    store.upgrade()
    store.create_organization("Soak", organization_id=ORGANIZATION)
    grant = Grant(everything=True)
    names = [f"S-{n:02}" for n in range(METERS)]
    store.import_devices(ORGANIZATION, [NewDevice(name) for name in names])
    resolved = store.resolve(Scope(ORGANIZATION, grant), names)
    devices = [device for device in resolved if device is not None]
    start = now_ms() - HISTORY_MS
    empty = (None,) * 5
    for device in devices:
        rows: list[ReadingRow] = [
            (device.key, start + n * 5 * MINUTE_MS, float(n % 9), 0.1, *empty)  # pyright: ignore[reportAssignmentType]
            for n in range(HISTORY_MS // (5 * MINUTE_MS))
        ]
        store.write(rows)
    sending, reading = (_key(store, ingest) for ingest in (True, False))
    store.close()
    return sending, reading, [device.id for device in devices]


def _key(store: Store, ingest: bool) -> str:
    secret = str(uuid4())
    name = f"key_soak_{'in' if ingest else 'out'}"
    grant = Grant(everything=True)
    store.create_key(Key(name, ORGANIZATION, "soak", key_digest(secret), grant, 0, ingest=ingest))
    return secret


def soak(seconds: float) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="weir-soak-") as name, ExitStack() as begun:
        folder = Path(name)
        store_url = f"sqlite:///{folder / 'weir.sqlite'}"
        sending, reading, ids = prepared(folder, store_url)
        url, parent = begun.enter_context(production(store_url, folder, 2))
        load = Load(url, sending, reading, ids)
        works = [(load.send, 1.0), *[(load.look, PAUSE_S)] * READERS]
        threads = [
            threading.Thread(target=load.run, args=(work, pause_s, seed))
            for seed, (work, pause_s) in enumerate(works)
        ]
        for thread in threads:
            thread.start()
        samples: dict[int, list[float]] = {}
        try:
            deadline = time.monotonic() + seconds
            while time.monotonic() < deadline:
                time.sleep(1)
                for pid in family(parent):
                    samples.setdefault(pid, []).append(resident_mib(pid))
        finally:
            load.end.set()
            for thread in threads:
                thread.join()
        return _summary(load, samples)


def _summary(load: Load, samples: dict[int, list[float]]) -> dict[str, Any]:
    most = max(map(len, samples.values()))
    processes = [
        {"samples": len(each), "warm_mib": round(growth(each)[0], 1),
         "grew_mib": round(growth(each)[1], 1), "most_mib": round(max(each), 1),
         "flat": is_flat(each), "whole_run": len(each) >= most - 5}
        for each in samples.values()
    ]  # fmt: skip
    good = all(each["flat"] and each["whole_run"] for each in processes)
    return {
        "answers": dict(load.statuses), "acknowledged": load.acknowledged, "processes": processes,
        "flat": good and set(load.statuses) == {"200"},
    }  # fmt: skip


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    minutes = parser.parse_args(arguments).minutes
    if not 0.2 <= minutes <= 600:
        parser.error("from 0.2 to 600 minutes")
    command = f"python -m benchmarks.soak --minutes {minutes:g}"
    report = {"conditions": conditions(command, {}), **soak(minutes * 60)}
    print(json.dumps(report, indent=2))
    return 0 if report["flat"] else 1


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
