"""Readings in the order of their arrival, with every rollup, compared with inserting raw rows
only."""

from __future__ import annotations

import csv
import random
from collections.abc import Callable, Iterator, Sequence
from math import isclose
from pathlib import Path
from typing import Any, NamedTuple

from api import timez
from api.catalog import RAW, STORED
from api.ingest.decode import COLUMNS
from api.ingest.pipeline import import_file
from api.store.base import Device, ReadingRow, Row, Span, Store
from api.store.open import open_store
from benchmarks import goals, plain
from benchmarks.clock import Race, Run, Runner
from benchmarks.fleet import serial
from benchmarks.ground import Ground, Wrong, begun, in_order
from benchmarks.stopwatch import timed

BATCHES = {1_000: (goals.INGEST, goals.INGEST_RATE), 100: ()}
_BULK = 50_000
_HISTORIES = 8
_CHECKED = 4_000


def races(ground: Ground, rounds: int) -> Iterator[Race]:
    for size, wanted in BATCHES.items():
        batches = _arriving(ground, size * rounds, size)
        runner = Runner(
            "all rollups",
            _ours(_writer(ground)),
            wanted if ground.dialect == "sqlite" else (),
            size,
        )
        yield Race(
            f"as they arrive, batches of {size:,}",
            batches,
            _raw_only(ground, lambda batch: batch),
            (runner,),
            warm_up=0,  # a second write would only find repeats
        )
    yield _bulk(ground)


class History(NamedTuple):
    """One device's readings in order, as rows and as a CSV file."""

    rows: list[ReadingRow]
    path: Path


def _bulk(ground: Ground) -> Race:
    histories = _histories(ground)
    events = sum(len(history.rows) for history in histories) // len(histories)
    store, write = _writer(ground), _ours(_writer(ground))
    [organization] = store.organizations()

    def imported(history: History) -> object:
        return import_file(store, organization.id, history.path, on_batch=lambda _: None)

    return Race(
        f"a device's history, {events:,} readings",
        histories,
        _raw_only(ground, lambda history: history.rows),
        (
            Runner("all rollups", lambda h: write(h.rows), (), events),
            Runner("from CSV", timed(imported), (), events),
        ),
        warm_up=0,
    )


def _histories(ground: Ground) -> list[History]:
    histories: list[History] = []
    folder = ground.scratch
    for index in range(min(_HISTORIES, ground.fleet.devices)):
        rows = next(ground.fleet.batches(index, index + 1, _BULK))
        path = folder / f"{ground.dialect}-{serial(index)}.csv"
        stamps = timez.stamps([row[1] for row in rows], fraction=True)
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(COLUMNS)
            writer.writerows(
                (serial(index), stamp, *row[2:]) for row, stamp in zip(rows, stamps, strict=True)
            )
        histories.append(History(rows, path))
    return histories


def _arriving(ground: Ground, total: int, size: int) -> list[list[ReadingRow]]:
    keys = {index: index + 1 for index in range(ground.fleet.devices)}
    rows = ground.fleet.arrivals(keys, total)
    return [rows[start : start + size] for start in range(0, len(rows) - size + 1, size)]


def _empty(ground: Ground) -> str:
    """Returns the URL of a new store with the fleet's devices and no readings."""
    url = ground.fresh()
    store, _ = begun(url, ground.fleet)
    store.close()
    return url


def _writer(ground: Ground) -> Store:
    store = open_store(_empty(ground))
    ground.opened.callback(store.close)
    return store


def _raw_only(ground: Ground, rows: Callable[[Any], Sequence[ReadingRow]]) -> tuple[Run, Run]:
    """Returns the two floors: raw rows inserted into stores of their own, without rollups or
    checks."""
    first, second = (ground.floor(_empty(ground), writes=True) for _ in range(2))
    sql = plain.insert_raw()
    return lambda a: first.write(sql, rows(a)), lambda a: second.write(sql, rows(a))


def _ours(store: Store) -> Run:
    return timed(store.write)


# --- Exactness -----------------------------------------------------------------------------------


def check(ground: Ground) -> None:
    """Checks that shuffled, split and repeated readings leave the same state as the same ones
    written once in order, that writing them again changes nothing, and that every rollup equals a
    recomputation from raw readings.

    Postgres adds in the order of its heap, so sums may differ in their last bits there.
    """
    (one, devices), (other, _) = _pair(ground), _pair(ground)
    rows = ground.fleet.arrivals({n: device.key for n, device in enumerate(devices)}, _CHECKED)
    one.write(rows)
    state = _state(one, devices)
    shuffled = rows + rows[::3]
    random.Random(ground.fleet.seed).shuffle(shuffled)
    for start in range(0, len(shuffled), 701):
        other.write(shuffled[start : start + 701])
    if not _equal(_state(other, devices), state, ground.dialect):
        raise Wrong("shuffled and repeated readings left another state than readings in order")
    if one.write(rows).stored or _state(one, devices) != state:
        raise Wrong("a replay changed the store")
    verdict = other.verify()
    if verdict.wrong or not verdict.buckets:
        raise Wrong(f"{verdict.wrong} of {verdict.buckets} rollups aren't their recomputation")


def _pair(ground: Ground) -> tuple[Store, list[Device]]:
    """Returns a new store without readings, and its devices; those of all such stores have equal
    keys."""
    store, organization = begun(ground.fresh(), ground.fleet)
    ground.opened.callback(store.close)
    return store, in_order(store, organization)


def _state(store: Store, devices: Sequence[Device]) -> list[Row]:
    return [
        row
        for device in devices
        for resolution in (RAW, *STORED)
        for row in store.rows(device, resolution, Span(), limit=_CHECKED)
    ]


def _equal(ours: list[Row], theirs: list[Row], dialect: str) -> bool:
    if dialect == "sqlite":
        return ours == theirs
    return len(ours) == len(theirs) and all(map(_close, ours, theirs))


def _close(ours: Row, theirs: Row) -> bool:
    return len(ours) == len(theirs) and all(
        a == b or (a is not None and b is not None and isclose(a, b, rel_tol=1e-12))
        for a, b in zip(ours, theirs, strict=True)
    )
