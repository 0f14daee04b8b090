"""Readings as they arrive from a fleet, with every rollup, against inserting raw rows alone."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from time import perf_counter

from api.catalog import RAW, STORED
from api.store.base import Device, ReadingRow, Row, Span, Store
from api.store.open import open_store
from benchmarks import goals, plain
from benchmarks.clock import Race, Run, Runner
from benchmarks.floor import Floor
from benchmarks.ground import Ground, Wrong, begun, in_order

BATCHES = {1_000: (goals.INGEST, goals.INGEST_RATE), 100: ()}
_BULK = 50_000
_CHECKED = 6_000


def races(ground: Ground, rounds: int) -> Iterator[Race]:
    for size, wanted in BATCHES.items():
        batches = _arriving(ground, size * rounds, size)
        goals_here = wanted if ground.dialect == "sqlite" else ()
        yield _race(ground, f"as they arrive, batches of {size:,}", batches, goals_here)
    yield _race(ground, f"history by device, batches of {_BULK:,}", _history(ground), ())


def _race(
    ground: Ground,
    question: str,
    batches: list[list[ReadingRow]],
    wanted: tuple[goals.Goal, ...],
) -> Race:
    first, second = (ground.floor(_empty(ground), writes=True) for _ in range(2))
    events = sum(map(len, batches)) // len(batches)
    return Race(
        question,
        batches,
        (_raw_only(first), _raw_only(second)),
        (Runner("all rollups", _ours(_writer(ground)), wanted, events),),
        warm_up=0,  # a batch written twice is another question
    )


def _arriving(ground: Ground, total: int, size: int) -> list[list[ReadingRow]]:
    keys = {index: index + 1 for index in range(ground.fleet.devices)}
    rows = ground.fleet.arrivals(keys, total)
    return [rows[start : start + size] for start in range(0, len(rows) - size + 1, size)]


def _history(ground: Ground) -> list[list[ReadingRow]]:
    devices = range(min(8, ground.fleet.devices))
    return [ground.fleet.readings(index, index + 1)[:_BULK] for index in devices]


def _empty(ground: Ground) -> str:
    """The URL of a new store with the fleet's devices and no reading."""
    url = ground.fresh()
    store, _ = begun(url, ground.fleet)
    store.close()
    return url


def _writer(ground: Ground) -> Store:
    store = open_store(_empty(ground))
    ground.opened.callback(store.close)
    return store


def _raw_only(floor: Floor) -> Run:
    return lambda batch: floor.write(plain.insert_raw(), batch)


def _ours(store: Store) -> Run:
    def run(batch: Sequence[ReadingRow]) -> float:
        start = perf_counter()
        store.write(batch)
        return perf_counter() - start

    return run


# --- Exactness -----------------------------------------------------------------------------------


def check(ground: Ground) -> None:
    """Shuffled, split and repeated readings leave the state of the same ones in order, written
    once; writing them again changes nothing; every rollup is a recomputation from raw."""
    (one, devices), (other, _) = _pair(ground), _pair(ground)
    rows = ground.fleet.arrivals({n: device.key for n, device in enumerate(devices)}, _CHECKED)
    one.write(rows)
    state = _state(one, devices)
    shuffled = rows + rows[::3]
    random.Random(ground.fleet.seed).shuffle(shuffled)
    for start in range(0, len(shuffled), 701):
        other.write(shuffled[start : start + 701])
    if _state(other, devices) != state:
        raise Wrong("shuffled and repeated readings left another state than readings in order")
    if one.write(rows).stored or _state(one, devices) != state:
        raise Wrong("a replay changed the store")
    verdict = other.verify()
    if verdict.wrong or not verdict.buckets:
        raise Wrong(f"{verdict.wrong} of {verdict.buckets} rollups aren't their recomputation")


def _pair(ground: Ground) -> tuple[Store, list[Device]]:
    """A new store without readings, and its devices; those of all such stores have equal keys."""
    store, organization = begun(ground.fresh(), ground.fleet)
    ground.opened.callback(store.close)
    return store, in_order(store, organization)


def _state(store: Store, devices: Sequence[Device]) -> list[list[Row]]:
    return [
        store.rows(device, resolution, Span(), limit=_CHECKED)
        for device in devices
        for resolution in (RAW, *STORED)
    ]
