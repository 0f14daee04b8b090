"""The cost of updating and of reading the status: `python -m benchmarks.status`.

Creates a fleet whose devices report each minute, computes statuses as the writer does, and requests
the list and the summary. Reports times per device and per response, on this machine.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from api.catalog import METRICS
from api.insight.status_projection import AT_ONCE, Projection
from api.store.base import Grant, NewDevice, ReadingRow, Scope, Status, StatusQuery, Store
from api.store.base import WindowStatus as Window
from api.store.open import open_store
from api.timez import HOUR_MS, MINUTE_MS, floor_to, now_ms

ORG = "bench"
SCOPE = Scope(ORG, Grant(everything=True))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--devices", type=int, default=1_000, help="whose rows are made")
    parser.add_argument("--listed", type=int, default=10_000, help="among which are searched")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        _rows(Path(folder), options.devices)
        _answers(Path(folder), options.listed)


def _store(path: Path, devices: int) -> Store:
    store = open_store(f"sqlite:///{path}")
    store.upgrade()
    store.create_organization(ORG, organization_id=ORG, cost_per_gallon=0.01)
    store.import_devices(
        ORG,
        [
            NewDevice(
                f"B-{n:06}",
                {
                    "label": f"Meter {n}",
                    "installedOn": "2020-01-01T00:00:00Z",
                    "deviceTimeZone": "America/Denver",
                },
                groups=(f"group {n % 40}",),
            )
            for n in range(devices)
        ],
    )
    return store


def _rows(folder: Path, devices: int) -> None:
    store, dice = _store(folder / "rows.sqlite", devices), random.Random(1)
    keys, now = store.device_keys(), now_ms()
    minute = floor_to(now, MINUTE_MS) - MINUTE_MS
    for start in range(0, len(keys), 100):
        some = keys[start : start + 100]
        hours = [minute - n * HOUR_MS for n in range(3, 30 * 24)]
        minutes = [minute - n * MINUTE_MS for n in range(180)]
        store.write([_reading(key, at, dice) for key in some for at in (*hours, *minutes)])
    projection = Projection(store)
    began, cpu = time.perf_counter(), time.process_time()
    made = projection.all_due(now)
    _say("first row of a device", made, began, cpu)
    for minute_later in range(1, 4):
        at = now + minute_later * MINUTE_MS
        store.write([_reading(key, at - 1000, dice) for key in keys])
        began, cpu = time.perf_counter(), time.process_time()
        made = 0
        while count := projection.after_readings(at):
            made += count
        _say("row after a reading", made, began, cpu)
    store.close()


def _say(what: str, devices: int, began: float, cpu: float) -> None:
    wall_ms = (time.perf_counter() - began) * 1000 / max(1, devices)
    cpu_ms = (time.process_time() - cpu) * 1000 / max(1, devices)
    share = cpu_ms * 10_000 / 60_000
    print(
        f"{what}: {cpu_ms:.3f} ms of processor, {wall_ms:.3f} ms ({devices} devices);"
        f" of 10,000 a minute {share:.1%} of a core"
    )


def _reading(key: int, at: int, dice: random.Random) -> ReadingRow:
    values = {"flow_rate": dice.random(), "flow_amount": dice.random(), "quality": 90.0}
    row = (key, at, *(values.get(metric.name) for metric in METRICS))
    return row  # pyright: ignore[reportReturnType]


def _answers(folder: Path, devices: int) -> None:
    store, dice, now = _store(folder / "answers.sqlite", devices), random.Random(2), now_ms()
    rows = [
        Status(
            device.key, now, device.updated_ms, now + MINUTE_MS,
            dice.choices(("reporting", "degraded", "silent"), (90, 7, 3))[0],
            now - dice.randrange(60_000), 60_000, False, 60_000, dice.random(),
            tuple(Window(dice.randrange(1300, 1441), 1440, 80.0, 99.0) for _ in range(4)),
            dice.random() * 100, dice.random() * 1000, None, None, "USD",
            f"{device.label}\n{device.serial_number}".casefold(),
        )
        for start in range(0, devices, AT_ONCE)
        for device in store.devices_by_key(store.device_keys()[start : start + AT_ONCE])
    ]  # fmt: skip
    for start in range(0, len(rows), AT_ONCE):
        store.save_statuses(rows[start : start + AT_ONCE], (), "bench")
    questions = {
        "worst 50": StatusQuery(limit=50),
        "worst 50 from the middle": StatusQuery(limit=50, offset=devices // 2),
        "by volume, degraded": StatusQuery(
            states=("degraded",), order_by="volumeToday", descending=True, limit=50
        ),
        "search": StatusQuery(text="meter 99", limit=50),
        "group": StatusQuery(group="group 7", order_by="uptime30d", limit=50),
    }

    def wall(query: StatusQuery) -> Callable[[], object]:
        return lambda: (store.statuses(SCOPE, query), store.count_statuses(SCOPE, query))

    for name, query in questions.items():
        _time(f"{name}, of {devices:,}", wall(query))
    _time(f"summary, of {devices:,}", lambda: store.summarize(SCOPE, StatusQuery()))
    store.close()


def _time(what: str, query: Callable[[], object], times: int = 40) -> None:
    taken: list[float] = []
    cpu = time.process_time()
    for _ in range(times):
        began = time.perf_counter()
        query()
        taken.append((time.perf_counter() - began) * 1000)
    cpu_ms = (time.process_time() - cpu) * 1000 / times
    taken.sort()
    p95 = taken[int(0.95 * (len(taken) - 1))]
    print(
        f"{what}: p50 {statistics.median(taken):.1f} ms, p95 {p95:.1f} ms,"
        f" {cpu_ms:.1f} ms of processor"
    )


if __name__ == "__main__":
    main()
