"""The cost of findings: the evaluator beside ingest, and the list with many findings."""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import astuple
from pathlib import Path
from typing import Final

import numpy as np

from api.catalog import METRICS
from api.insight.finding_evaluator import Evaluator, EvaluatorThread
from api.insight.findings import KINDS, SEVERITIES
from api.store.base import (
    Device,
    FindingQuery,
    FindingRow,
    Grant,
    NewDevice,
    ReadingRow,
    Scope,
    Store,
)
from api.store.open import open_store
from api.store.sql import findings as sql
from api.timez import DAY_MS, MINUTE_MS

ORG: Final = "bench"
SCOPE: Final = Scope(ORG, Grant(everything=True))
START_MS: Final = 1_767_225_600_000  # 2026-01-01
DEVICES: Final = 20
DAYS: Final = 7
LIVE_MIN: Final = 120
TURNS: Final = 10
TURN_S: Final = 4.0
EVERY_MIN: Final = 5  # a device is evaluated within the hour
METERS: Final = 10_000
FINDINGS: Final = 100_000
ROUNDS: Final = 40


@contextmanager
def _store(devices: int, **fields: object) -> Iterator[Store]:
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(f"sqlite:///{Path(folder) / 'weir.sqlite'}")
        store.upgrade()
        store.create_organization(ORG, organization_id=ORG, cost_per_gallon=0.01)
        new = [NewDevice(f"B-{n:06}", fields, groups=(f"g{n % 50}",)) for n in range(devices)]
        store.import_devices(ORG, new)
        yield store
        store.close()


# --- The evaluator beside ingest -----------------------------------------------------------------


def evaluator(seeds: Sequence[int]) -> None:
    """With the same readings: storing them with their rollups, and evaluating them."""
    with _store(DEVICES, reportingInterval=60.0) as store:
        resolved = store.resolve(SCOPE, [f"B-{n:06}" for n in range(DEVICES)])
        devices = [device for device in resolved if device is not None]
        flows = np.random.default_rng(1).gamma(0.5, 2, (DEVICES, 1440 * (DAYS + 1)))
        stored = 0.0
        for device, row in zip(devices, flows, strict=True):
            for day in range(DAYS):
                minutes = range(day * 1440, (day + 1) * 1440)
                rows = [_reading(device, minute, row[minute]) for minute in minutes]
                stored += _taken(lambda rows=rows: store.write(rows))
        evaluated = Evaluator(store)
        first = _taken(evaluated.up_to_date)
        count = DEVICES * DAYS * 1440
        print(f"  a week at once, a reading: {stored / count * 1e6:.1f} µs to store,"
              f" {first / count * 1e6:.2f} µs to evaluate (processor)")  # fmt: skip
        again = []
        for minute in range(DAYS * 1440 + 4, DAYS * 1440 + LIVE_MIN, EVERY_MIN):
            for device, row in zip(devices, flows, strict=True):
                store.write([_reading(device, minute - n, row[minute - n]) for n in range(5)])
            again.append(_taken(evaluated.up_to_date) / DEVICES)
        each = float(np.mean(again))
        print(f"  live, a device every {EVERY_MIN} min: {each * 1e3:.2f} ms of processor;"
              f" of 10,000 devices {each * 10_000 / EVERY_MIN / 60:.1%} of a core")  # fmt: skip
        alone, beside = _throughput(store, devices, flows)
        print(
            f"  ingest alone {alone:,.0f} readings a second, beside an evaluator that has more to"
            f" do than time {beside:,.0f}: {beside / alone:.0%} of it (goal: 95)"
        )


def _taken(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _throughput(store: Store, devices: Sequence[Device], flows: np.ndarray) -> tuple[float, float]:
    """Returns readings per second of processor and of wall time, alone and beside the evaluator: in
    turns, so that a busy machine slows both alike. Every device is due for evaluation at all
    times."""
    seconds, thread = {False: 0.0, True: 0.0}, EvaluatorThread(store, busy=lambda: True)
    readings = {False: 0, True: 0}
    for turn in range(TURNS):
        beside = turn % 2 == 1
        if beside:
            thread = EvaluatorThread(store, busy=lambda: True)
            thread.start()
        began = time.perf_counter()
        while time.perf_counter() - began < TURN_S:
            at = DAYS * 1440 + (readings[False] + readings[True]) // len(devices) % 1440
            rows = [
                _reading(device, at + n, row[(at + n) % row.size])
                for device, row in zip(devices, flows, strict=True)
                for n in range(60)
            ]
            store.write(rows)
            readings[beside] += len(rows)
        seconds[beside] += time.perf_counter() - began
        if beside:
            thread.stop()
    return readings[False] / seconds[False], readings[True] / seconds[True]


def _reading(device: Device, minute: int, rate: float) -> ReadingRow:
    values = {"flow_rate": float(rate), "flow_amount": float(rate), "quality": 90.0}
    at_ms = START_MS + minute * MINUTE_MS
    row = (device.key, at_ms, *(values.get(metric.name) for metric in METRICS))
    return row  # pyright: ignore[reportReturnType]


# --- The inbox -----------------------------------------------------------------------------------


def inbox(seeds: Sequence[int]) -> None:
    """Pages of findings among 100,000 of 10,000 devices: the store's count and page together."""
    with _store(METERS) as store:
        _fill(store)
        some = Scope(ORG, Grant(groups=frozenset({"g7"})))
        for name, scope, query in (
            ("open", SCOPE, FindingQuery(states=["open"])),
            ("open, one kind", SCOPE, FindingQuery(states=["open"], kinds=["stuck"])),
            ("open, critical", SCOPE, FindingQuery(states=["open"], severities=["critical"])),
            ("open, one group", SCOPE, FindingQuery(states=["open"], group="g7")),
            ("open, of a key for one group", some, FindingQuery(states=["open"])),
            ("closed", SCOPE, FindingQuery(states=["closed"])),
            ("closed, page 100", SCOPE, FindingQuery(states=["closed"], offset=5_000)),
        ):
            walls, processor = _query_cost(store, scope, query)
            print(
                f"  {name:28} {store.count_findings(scope, query):6,}: p95 {walls:5.1f} ms,"
                f" {processor:5.1f} ms of processor (goal: 50)"
            )


def _query_cost(store: Store, scope: Scope, query: FindingQuery) -> tuple[float, float]:
    walls: list[float] = []
    start = time.process_time()
    for _ in range(ROUNDS):
        began = time.perf_counter()
        count = store.count_findings(scope, query)
        store.findings(scope, query, matches=count)
        walls.append(time.perf_counter() - began)
    processor = (time.process_time() - start) / ROUNDS
    return float(np.percentile(walls, 95)) * 1e3, processor * 1e3


def _fill(store: Store) -> None:
    dice, keys = random.Random(1), store.device_keys(ORG)
    with store.transaction() as transaction:  # pyright: ignore[reportAttributeAccessIssue]
        for n in range(FINDINGS):
            rank, key = dice.randrange(3), dice.choice(keys)
            row = astuple(
                FindingRow(
                    key, dice.choice(KINDS).name, START_MS + n, f"id-{n}", SEVERITIES[rank], rank,
                    START_MS + n, None if dice.random() < 0.1 else START_MS + n + DAY_MS,
                    1.0, "h", None, None, dice.random() * 99 if dice.random() < 0.5 else None,
                    "words", False, dice.random() * 1000,
                )
            )  # fmt: skip
            transaction.run(sql.keep(row))
