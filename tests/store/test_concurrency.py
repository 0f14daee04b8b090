"""Several readers and writers at once, in threads and in processes."""

from __future__ import annotations

import multiprocessing
import os
import random
import threading
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import pytest

from api.catalog import RAW, STORED
from api.store.base import Device, Span, Store
from api.store.open import open_store
from tests.store.fleet import everything, new_meters, steady
from tests.store.recomputed import rolled

BATCH = 100
BATCHES = 12


def write_all(url: str, device_keys: list[int], seed: int) -> int:
    """Writes every batch of every device in a random order; returns the number of new rows."""
    store = open_store(url)
    batches = [
        [row for key in device_keys for row in steady(key, BATCH * BATCHES)[start : start + BATCH]]
        for start in range(0, BATCH * BATCHES, BATCH)
    ]
    random.Random(seed).shuffle(batches)
    stored = sum(store.write(batch).stored for batch in batches)
    store.close()
    return stored


def count_whole_batches(url: str, device: Device, finished: Callable[[], bool]) -> list[int]:
    """The counts seen while others write; asserts that each is of complete batches."""
    store = open_store(url, read_only=True)
    seen = list[int]()
    while not finished() or not seen:
        seen.append(store.count(device, RAW, Span()))
        rows = store.rows(device, RAW, Span(), limit=100_000)
        assert len(rows) % BATCH == 0
        assert [row[0] for row in rows] == sorted(row[0] for row in rows)
    store.close()
    return seen


@pytest.mark.parametrize("pool", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_two_writers_of_the_same_readings_store_each_once(
    empty_store: Store, store_url: str, pool: Any
) -> None:
    devices = new_meters(empty_store, 3)
    keys = [device.key for device in devices]
    context = (
        {"mp_context": multiprocessing.get_context("spawn")} if pool is ProcessPoolExecutor else {}
    )
    with pool(2, **context) as workers:
        writers = [workers.submit(write_all, store_url, keys, seed) for seed in (1, 2)]
        seen = count_whole_batches(
            store_url, devices[0], lambda: all(writer.done() for writer in writers)
        )
        stored = sum(writer.result() for writer in writers)
    assert stored == BATCH * BATCHES * len(devices)
    assert all(count % BATCH == 0 for count in seen)
    assert seen == sorted(seen)
    assert empty_store.verify().wrong == 0
    for device in devices:
        rows = [row[1:] for row in steady(device, BATCH * BATCHES)]
        for resolution in STORED:
            assert empty_store.count(device, resolution, Span()) == len(rolled(rows, resolution))


def test_threads_share_one_store(empty_store: Store) -> None:
    devices = new_meters(empty_store, 4)
    for device in devices:
        empty_store.write(steady(device, 300, seed=device.key))
    wanted = [empty_store.rows(device, RAW, Span(), limit=1_000) for device in devices]
    start = threading.Barrier(8)

    def look(index: int) -> bool:
        start.wait()
        device = devices[index % 4]
        return all(
            empty_store.rows(device, RAW, Span(), limit=1_000) == wanted[index % 4]
            and empty_store.write(steady(device, 300, seed=device.key)).stored == 0
            for _ in range(10)
        )

    with ThreadPoolExecutor(8) as workers:
        assert all(workers.map(look, range(8)))


def test_concurrent_imports_give_each_device_its_own_key(
    empty_store: Store, store_url: str
) -> None:
    empty_store.create_organization("Acme", organization_id="acme")

    def add(_: int) -> list[int]:
        store = open_store(store_url)
        keys = [new_meters(store, 1)[0].key for _ in range(10)]
        store.close()
        return keys

    with ThreadPoolExecutor(4) as workers:
        keys = [key for result in workers.map(add, range(4)) for key in result]
    assert sorted(keys) == list(range(1, 41))
    assert len(empty_store.ingest_keys("acme")) == 80


# Systems without fork don't have the problem.
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_has_connections_of_its_own(empty_store: Store) -> None:
    (device,) = new_meters(empty_store, 1)
    empty_store.write(steady(device, 10))
    child = os.fork()
    if child == 0:
        try:
            result = empty_store.count(device, RAW, Span())
            wrote = empty_store.write(steady(device, 20)).stored
            os._exit(0 if (result, wrote) == (10, 10) else 1)
        finally:
            os._exit(2)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert empty_store.count(device, RAW, Span()) == 20
    assert empty_store.write(steady(device, 30)).stored == 10
    assert empty_store.resolve(everything("acme"), [device.serial_number]) == [device]
