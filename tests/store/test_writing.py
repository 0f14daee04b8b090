"""Writing readings: the result is the same for any order, lateness and repetition."""

from __future__ import annotations

import math
import random
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.catalog import FLOW_RATE, HOUR_MS, METRICS, MINUTE_MS, RAW, STORED
from api.store import batch
from api.store.base import Device, Progress, ReadingRow, Span, Store, Verdict, Written
from tests.store import strategies
from tests.store.fleet import NOON_MS, new_meters, reading, steady
from tests.store.recomputed import assert_same_rows, distinct, rolled
from tests.tables import cases

ALL = Span()
quick = settings(max_examples=25, deadline=None)


def rows_of(store: Store, device: Device, resolution: Any = RAW) -> list[Any]:
    return store.rows(device, resolution, ALL, limit=1_000_000)


def by_value(row: Any) -> Any:
    """A sort key for rows with nulls, which treats -0.0 and 0.0 as equal."""
    return [(value is None, value or 0.0) for value in row]


def assert_true_to(store: Store, device: Device, written: list[ReadingRow], scale: float) -> None:
    """Asserts that raw rows, rollups and counters equal a recount of these readings."""
    rows = distinct(written)
    assert sorted(rows_of(store, device), key=by_value) == sorted(rows, key=by_value)
    for resolution in STORED:
        assert_same_rows(rows_of(store, device, resolution), rolled(rows, resolution), scale)
    for resolution in (RAW, *STORED):
        assert store.count(device, resolution, ALL) == len(rolled(rows, resolution))


@quick
@given(
    first=strategies.readings,
    second=strategies.readings,
    seed=st.integers(0, 2**32),
    cuts=st.lists(st.floats(0, 1), max_size=4),
    alone_from=st.sampled_from((1, batch.ALONE_FROM)),
)
def test_any_order_batches_and_repeats_give_the_same_store(
    store: Store, first: list[Any], second: list[Any], seed: int, cuts: list[float], alone_from: int
) -> None:
    devices = new_meters(store, 2)
    drawn = [
        (device.key, instant, *values)
        for device, pairs in zip(devices, (first, second), strict=True)
        for instant, values in pairs
    ]
    shuffled = drawn * 2
    random.Random(seed).shuffle(shuffled)
    edges = [round(cut * len(shuffled)) for cut in (0.0, *sorted(cuts), 1.0)]
    parts = [shuffled[low:high] for low, high in pairwise(edges)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(batch, "ALONE_FROM", alone_from)
        written = [store.write(part) for part in parts]
    assert sum(w.stored for w in written) == len(set(drawn))
    assert [sum(w) for w in written] == [len(part) for part in parts]
    for device in devices:
        mine = [row for row in drawn if row[0] == device.key]
        assert_true_to(store, device, mine, scale=40e6)


@pytest.mark.parametrize(
    "step_ms", [1_000, 10_000, MINUTE_MS, 15 * MINUTE_MS, HOUR_MS, 7 * HOUR_MS]
)
@pytest.mark.parametrize("order", ["in order", "backwards", "late half first", "shuffled"])
def test_every_cadence_and_order_gives_the_same_rollups(
    store: Store, step_ms: int, order: str
) -> None:
    (device,) = new_meters(store, 1)
    rows = steady(device, 400, step_ms=step_ms, start_ms=NOON_MS + 12_345)
    arriving = {
        "in order": rows,
        "backwards": rows[::-1],
        "late half first": rows[200:] + rows[:200],
        "shuffled": random.Random(step_ms).sample(rows, len(rows)),
    }[order]
    for start in range(0, len(arriving), 90):
        store.write(arriving[start : start + 90])
    assert_true_to(store, device, rows, scale=400 * 100)


def test_a_replayed_batch_changes_nothing(store: Store) -> None:
    (device,) = new_meters(store, 1)
    rows = steady(device, 500)
    assert store.write(rows) == Written(500, 0)
    before = [rows_of(store, device, resolution) for resolution in (RAW, *STORED)]
    assert store.write(rows) == Written(0, 500)
    assert store.write(rows[100:300][::-1]) == Written(0, 200)
    assert [rows_of(store, device, resolution) for resolution in (RAW, *STORED)] == before


def test_two_different_events_at_one_instant_are_both_stored_in_order(
    store: Store,
) -> None:
    (device,) = new_meters(store, 1)
    events = [reading(device, NOON_MS, flow_rate=float(rate)) for rate in (5, 3, 4, 3, 5)]
    assert store.write(events[:2]) == Written(2, 0)
    assert store.write(events) == Written(1, 4)
    rate = 1 + METRICS.index(FLOW_RATE)
    assert [row[rate] for row in rows_of(store, device)] == [5.0, 3.0, 4.0]
    assert store.count(device, RAW, ALL) == 3


def test_null_equals_null_in_repeats(store: Store) -> None:
    (device,) = new_meters(store, 1)
    assert store.write([reading(device, NOON_MS)]) == Written(1, 0)
    assert store.write([reading(device, NOON_MS)]) == Written(0, 1)
    assert store.write([reading(device, NOON_MS, quality=0.0)]) == Written(1, 0)


def test_repeats_within_one_batch_count_as_repeats(store: Store) -> None:
    (device,) = new_meters(store, 1)
    row = reading(device, NOON_MS, flow_rate=1.0)
    assert store.write([row, row, row]) == Written(1, 2)


def test_an_empty_batch_stores_nothing(store: Store) -> None:
    assert store.write([]) == Written(0, 0)


@cases("number", [math.nan, math.inf, -math.inf])
@cases("metric", METRICS)
def test_a_number_that_is_not_finite_refuses_the_batch(
    store: Store, number: float, metric: Any
) -> None:
    (device,) = new_meters(store, 1)
    good = reading(device, NOON_MS, flow_rate=1.0)
    with pytest.raises(ValueError, match="finite"):
        store.write([good, reading(device, NOON_MS + 1, **{metric.name: number})])
    assert rows_of(store, device) == []


@cases("row", [(1, NOON_MS, 1.0), (1, -1, *[1.0] * 7), (1, NOON_MS, *[1.0] * 8)])
def test_rows_of_another_shape_are_refused(store: Store, row: Any) -> None:
    with pytest.raises(ValueError, match="a reading must have"):
        store.write([row])


def test_large_finite_numbers_are_stored_unchanged(store: Store) -> None:
    (device,) = new_meters(store, 1)
    store.write([reading(device, NOON_MS, flow_rate=1.5e308, quality=-1.5e308)])
    (row,) = rows_of(store, device)
    assert row[1 + METRICS.index(FLOW_RATE)] == 1.5e308


def test_progress_is_stored_with_the_batch_and_adds_up(store: Store) -> None:
    (device,) = new_meters(store, 1)
    rows = steady(device, 10)
    store.write(rows, progress=Progress("file", "acme", position=12, refused=2))
    assert store.progress("file", "acme") == Progress("file", "acme", 12, 10, 0, 2)
    later = Progress("file", "acme", 20, stored=10, refused=2, complete=True)
    store.write(rows[:4], progress=later)
    assert store.progress("file", "acme") == Progress("file", "acme", 20, 10, 4, 2, complete=True)
    assert store.progress("file", "other") is None


def test_a_failed_batch_stores_nothing(empty_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    (device,) = new_meters(empty_store, 1)

    def fail(*_: object) -> None:
        raise RuntimeError("power cut")

    monkeypatch.setattr("api.store.sql.rollups.recount", fail)
    with pytest.raises(RuntimeError):
        empty_store.write(steady(device, 50), progress=Progress("file", "acme", 50))
    monkeypatch.undo()
    assert rows_of(empty_store, device) == []
    assert empty_store.progress("file", "acme") is None
    assert empty_store.verify() == Verdict(0, 0)
    assert empty_store.write(steady(device, 50)) == Written(50, 0)


def test_a_batch_of_many_devices_is_divided(store: Store) -> None:
    devices = new_meters(store, 300)
    rows = [row for device in devices for row in steady(device, 3, seed=device.key)]
    random.Random(7).shuffle(rows)
    assert store.write(rows) == Written(900, 0)
    for device in devices[::60]:
        assert_true_to(store, device, [r for r in rows if r[0] == device.key], scale=300)
