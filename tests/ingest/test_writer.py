"""One writer with many sources: each row gets its result once it is stored, whatever happens
meanwhile."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from typing import Any, cast

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.errors import Busy, Unavailable
from api.ingest import live_rows
from api.ingest.announcer import Stored
from api.ingest.assigned_timestamps import AssignedTimestamps
from api.ingest.decode import Rejection
from api.ingest.device_cache import DeviceCache
from api.ingest.submission import Entry, Receipt, RowResult, Submission
from api.ingest.writer import Writer
from api.store.base import Device, ReadingRow, Store
from tests.store import strategies
from tests.store.fleet import NOON_MS, new_meters, reading, steady
from tests.store.test_writing import assert_true_to, rows_of

PATIENCE_S = 30.0
STORED, REPEATED, REFUSED = RowResult.STORED, RowResult.REPEATED, RowResult.REFUSED


@contextmanager
def writing(store: Any, *hooks: Any, **options: Any) -> Iterator[Writer]:
    writer = Writer(store, hooks, **options)
    yield writer
    writer.close()


def sent(*entries: Entry, source: str = "test", org: str = "acme") -> Submission:
    return Submission(org, source, entries)


def row_results(future: Future[Receipt]) -> Sequence[RowResult]:
    return future.result(PATIENCE_S).row_results


class Moody:
    """A store whose next writes raise an error or wait for an event, as scripted."""

    def __init__(self, store: Store, *moods: Exception | threading.Event) -> None:
        self._store, self.moods = store, list(moods)
        self.sizes: list[int] = []

    def add(self, rows: Sequence[ReadingRow], **more: Any) -> list[ReadingRow]:
        mood = self.moods.pop(0) if self.moods else None
        if isinstance(mood, Exception):
            raise mood
        if mood is not None:
            assert mood.wait(PATIENCE_S)
        self.sizes.append(len(rows))
        return self._store.add(rows, **more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


# --- Results -------------------------------------------------------------------------------------


def test_each_row_gets_its_result_in_order(store: Store) -> None:
    [meter] = new_meters(store, 1)
    one, two = reading(meter, NOON_MS, quality=1), reading(meter, NOON_MS, quality=2)
    refused = Rejection("unknown device", "M-?")
    with writing(store) as writer:
        assert row_results(writer.submit(sent(one, refused, one, two))) == [
            STORED, REFUSED, REPEATED, STORED,
        ]  # fmt: skip
        receipt = writer.submit(sent(two, refused)).result(PATIENCE_S)
    assert receipt.count() == {REPEATED: 1, REFUSED: 1}
    [stored] = store.refusals("acme")
    assert (stored.reason, stored.device, stored.source, stored.count) == (
        "unknown device", "M-?", "test", 2,
    )  # fmt: skip
    assert_true_to(store, meter, [one, two], 10)


def test_nothing_is_acknowledged_before_it_can_be_read(store: Store) -> None:
    [meter] = new_meters(store, 1)
    with writing(store) as writer:
        for number, row in enumerate(steady(meter, 30), 1):
            row_results(writer.submit(sent(row)))
            assert len(rows_of(store, meter)) == number


@settings(max_examples=15, deadline=None)
@given(drawn=st.lists(strategies.readings, min_size=1, max_size=4), seed=st.integers(0, 2**32))
def test_batched_rows_give_the_same_store_as_single_ones(
    sqlite_world: Store, drawn: list[Any], seed: int
) -> None:
    meters = new_meters(sqlite_world, len(drawn))
    rows = [
        (meter.key, instant, *values)
        for meter, pairs in zip(meters, drawn, strict=True)
        for instant, values in pairs
    ] * 2
    random.Random(seed).shuffle(rows)
    with writing(sqlite_world) as writer:
        futures = [writer.submit(sent(*rows[n : n + 3])) for n in range(0, len(rows), 3)]
        messages = [fate for future in futures for fate in row_results(future)]
    assert messages.count(STORED) == len(set(rows))
    assert messages.count(REPEATED) == len(rows) - len(set(rows))
    for meter in meters:
        assert_true_to(sqlite_world, meter, [row for row in rows if row[0] == meter.key], 1e6)


@pytest.fixture(scope="module")
def sqlite_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    from api.store.open import open_store

    store = open_store(f"sqlite:///{tmp_path_factory.mktemp('writer') / 'weir.sqlite'}")
    store.upgrade()
    yield store
    store.close()


def test_concurrent_sources_are_batched_and_none_is_lost(store: Store) -> None:
    meters = new_meters(store, 8)
    moody = Moody(store)

    def source(meter: Device) -> None:
        messages = [writer.submit(sent(row, row)) for row in steady(meter, 50)]
        assert [row_results(future) for future in messages] == [[STORED, REPEATED]] * 50

    with writing(moody) as writer:
        threads = [threading.Thread(target=source, args=(meter,)) for meter in meters]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE_S)
    assert sum(moody.sizes) == 8 * 50 * 2
    assert len(moody.sizes) < 8 * 50 / 4
    for meter in meters:
        assert_true_to(store, meter, steady(meter, 50), 10_000)


# --- A missing store, and batches that can't be stored -------------------------------------------


def test_a_missing_store_is_waited_for(store: Store) -> None:
    [meter] = new_meters(store, 1)
    moody = Moody(store, Unavailable("gone"), Unavailable("gone"))
    with writing(moody) as writer:
        futures = [writer.submit(sent(row)) for row in steady(meter, 3)]
        assert [row_results(future) for future in futures] == [[STORED]] * 3
        assert (writer.problem, writer.waiting_rows) == ("", 0)
        assert writer.last_commit_ms is not None


def test_a_locked_file_is_waited_for(sqlite_store: Store, sqlite_url: str) -> None:
    [meter] = new_meters(sqlite_store, 1)
    other = apsw.Connection(sqlite_url.removeprefix("sqlite:///"))
    other.execute("BEGIN IMMEDIATE")
    with writing(sqlite_store) as writer:
        future = writer.submit(sent(*steady(meter, 1)))
        with pytest.raises(TimeoutError):
            future.result(0.3)
        other.execute("ROLLBACK")
        assert row_results(future) == [STORED]
    other.close()


def test_an_unstorable_batch_fails_alone(store: Store) -> None:
    [meter] = new_meters(store, 1)
    begin = threading.Event()
    poison = reading(meter, NOON_MS, quality=float("inf"))
    with writing(Moody(store, begin)) as writer:
        good = [writer.submit(sent(row)) for row in steady(meter, 2)]
        bad = writer.submit(sent(poison))
        good += [writer.submit(sent(row)) for row in steady(meter, 2, seed=1)]
        begin.set()
        assert [row_results(future) for future in good] == [[STORED]] * 4
        with pytest.raises(ValueError, match="finite"):
            bad.result(PATIENCE_S)


def test_a_full_queue_refuses_until_there_is_room(store: Store) -> None:
    [meter] = new_meters(store, 1)
    begin, rows = threading.Event(), steady(meter, 12)
    with writing(Moody(store, begin), most_waiting=3) as writer:
        under_way = writer.submit(sent(rows[0]))
        eventually(lambda: writer.waiting_rows == 0)
        waiting = [writer.submit(sent(row)) for row in rows[1:4]]
        with pytest.raises(Busy) as refused:
            writer.submit(sent(rows[4]))
        assert refused.value.retry_after_s
        threading.Timer(0.1, begin.set).start()
        waiting.append(writer.submit(sent(rows[4]), wait_s=PATIENCE_S))
        assert [row_results(future) for future in (under_way, *waiting)] == [[STORED]] * 5
        assert row_results(writer.submit(sent(*rows[5:]))) == [STORED] * 7  # larger than the limit


def test_sources_that_can_wait_leave_room_for_others(store: Store) -> None:
    """A backlog from the broker of any length doesn't refuse rows sent by HTTP."""
    [meter] = new_meters(store, 1)
    rows = steady(meter, 9)
    begin = threading.Event()
    with writing(Moody(store, begin), most_waiting=4) as writer:
        under_way = writer.submit(sent(rows[0]))
        eventually(lambda: writer.waiting_rows == 0)
        patient = [writer.submit(sent(row), wait_s=0.01) for row in rows[1:3]]
        with pytest.raises(Busy):
            writer.submit(sent(rows[3]), wait_s=0.01)
        at_once = [writer.submit(sent(row)) for row in rows[4:6]]
        with pytest.raises(Busy):
            writer.submit(sent(rows[6]))
        begin.set()
        assert [row_results(f) for f in (under_way, *patient, *at_once)] == [[STORED]] * 5


def eventually(check: Callable[[], bool]) -> None:
    deadline = threading.Event()
    for _ in range(int(PATIENCE_S / 0.01)):
        if check():
            return
        deadline.wait(0.01)
    raise AssertionError("it never came")


# --- Closing -------------------------------------------------------------------------------------


def test_closing_writes_queued_rows_and_refuses_new_ones(store: Store) -> None:
    [meter] = new_meters(store, 1)
    writer = Writer(store)
    futures = [writer.submit(sent(row)) for row in steady(meter, 20)]
    writer.close()
    assert [future.result(0).row_results for future in futures] == [[STORED]] * 20
    with pytest.raises(Unavailable):
        writer.submit(sent())


def test_rows_that_cannot_be_written_before_closing_are_not_acknowledged(store: Store) -> None:
    [meter] = new_meters(store, 1)
    writer = Writer(Moody(store, *[Unavailable("gone")] * 100))
    futures = [writer.submit(sent(row)) for row in steady(meter, 3)]
    writer.close(0.3)
    for future in futures:
        with pytest.raises(Unavailable, match="gone"):
            future.result(0)
    assert rows_of(store, meter) == []


def test_a_cancelled_wait_stops_nobody_else(store: Store) -> None:
    [meter] = new_meters(store, 1)
    begin, rows = threading.Event(), steady(meter, 3)
    with writing(Moody(store, begin)) as writer:
        first = writer.submit(sent(rows[0]))
        eventually(lambda: writer.waiting_rows == 0)
        assert writer.submit(sent(rows[1])).cancel()
        begin.set()
        assert row_results(first) == [STORED]
        assert row_results(writer.submit(sent(rows[2]))) == [STORED]
    assert len(rows_of(store, meter)) == 2


# --- Publishers ----------------------------------------------------------------------------------


def test_publishers_get_only_new_rows_with_their_device(store: Store) -> None:
    [meter] = new_meters(store, 1)
    rows, messages = steady(meter, 4), list[Stored]()

    def broken(stored: Sequence[Stored]) -> None:
        raise RuntimeError("no broker")

    with writing(store, broken, messages.extend) as writer:
        writer.submit(sent(*rows[:3], rows[0], Rejection("no device", ""))).result(PATIENCE_S)
        writer.submit(sent(*rows)).result(PATIENCE_S)
    assert messages == [Stored("acme", meter.id, row) for row in rows]


def test_a_hanging_publisher_blocks_nothing(store: Store) -> None:
    [meter] = new_meters(store, 1)
    hanging = threading.Event()
    writer = Writer(store, [lambda _: hanging.wait(PATIENCE_S)])
    for row in steady(meter, 5):
        assert row_results(writer.submit(sent(row))) == [STORED]
    writer.close(0.1)
    hanging.set()


# --- Rows as live sources send them --------------------------------------------------------------


@pytest.mark.parametrize("when", [{}, {"recordedAt": None}, {"recorded_at": None}])
def test_a_reading_without_a_timestamp_is_of_now(store: Store, when: dict[str, None]) -> None:
    [meter] = new_meters(store, 1)
    with writing(store) as writer:
        devices = writer.device_cache.devices("acme")
        payload = {"device": meter.serial_number, "flowRate": 2, **when}
        sent_in = live_rows.submission(
            "acme", "test", [payload], devices, NOON_MS, AssignedTimestamps()
        )
        assert row_results(writer.submit(sent_in)) == [STORED]
    assert rows_of(store, meter) == [reading(meter, NOON_MS, flow_rate=2)[1:]]


@pytest.mark.parametrize("payload", [None, 3, [], "x", {"device": "nobody"}, {"flowRate": 10**400}])
def test_an_invalid_reading_is_refused_with_its_text(store: Store, payload: object) -> None:
    new_meters(store, 1)
    with writing(store) as writer:
        devices = writer.device_cache.devices("acme")
        sent_in = live_rows.submission(
            "acme", "hostile", [payload], devices, NOON_MS, AssignedTimestamps()
        )
        assert row_results(writer.submit(sent_in)) == [REFUSED]
    [stored] = store.refusals("acme")
    assert (stored.source, stored.sample) == ("hostile", live_rows.sample(payload))


def test_unknown_organizations_are_looked_up_once_and_soon_dropped(
    store: Store,
) -> None:
    new_meters(store, 1)
    query: list[str] = []

    class Counting:
        def ingest_keys(self, organization_id: str) -> Any:
            query.append(organization_id)
            return {} if "made up" in organization_id else store.ingest_keys(organization_id)

    device_cache = DeviceCache(cast("Any", Counting()))
    for _ in range(3):
        assert not device_cache.devices("nobody")
        assert device_cache.devices("acme")
    assert query == ["nobody", "acme"]
    assert not device_cache.devices("nobody", within_s=0)
    assert query.count("nobody") == 2
    for n in range(2_500):
        device_cache.devices(f"made up {n}")
    assert len(device_cache._unknown) <= 1_000
    assert device_cache.devices("acme")
    assert query.count("acme") == 1


def test_a_new_device_is_recognized_at_its_first_reading(store: Store) -> None:
    with writing(store) as writer:
        [first] = new_meters(store, 1)
        assert writer.device_cache.devices("acme").find(first.id) == first.key
        [second] = new_meters(store, 1)
        assert writer.device_cache.devices("acme").find(second.id) is None
        assert writer.device_cache.devices("acme", within_s=0).find(second.id) == second.key
        assert writer.device_cache.device_id("acme", second.key) == second.id
