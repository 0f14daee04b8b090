"""Raw readings in monthly partitions on Postgres: the same results, and old ones are dropped as
whole tables."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.catalog import DAY_MS, HOUR_MS, LADDER, MINUTE_MS, RAW, STORED
from api.errors import UserError
from api.store.base import Device, LatestQuery, ReadingRow, Span, Store
from api.store.open import open_store
from api.store.partitions import Partitions, end_ms, following, month_of, months_without, start_ms
from api.store.query import Query
from api.store.sql import partitions as sql
from api.timez import now_ms, parse_instant
from tests import citus
from tests.commands.shell import eventually
from tests.store.fleet import new_meters, reading
from tests.tables import cases

EVERYTHING = Span()
START_MS = parse_instant("2026-01-30T00:00:00Z")
FEBRUARY_MS = parse_instant("2026-02-01T00:00:00Z")
MARCH_MS = parse_instant("2026-03-01T00:00:00Z")


@pytest.fixture(params=citus.SERVERS)
def engine(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def plain(request: pytest.FixtureRequest, engine: str) -> Iterator[Store]:
    """An empty store without partitions, not distributed yet."""
    store = open_store(request.getfixturevalue(f"{engine}_url"))
    store.upgrade()
    yield store
    store.close()


def every_six_hours(meter: Device, *, days: int) -> list[ReadingRow]:
    steps = range(0, days * DAY_MS, 6 * HOUR_MS)
    return [reading(meter, START_MS + step, flow_rate=step / DAY_MS) for step in steps]


def answers(store: Store, meter: Device) -> list[Any]:
    """What a reader sees of the meter."""
    return [
        *(store.rows(meter, r, EVERYTHING, limit=10_000) for r in LADDER),
        *(store.count(meter, r, Span(START_MS + DAY_MS, MARCH_MS)) for r in LADDER),
        store.latest([meter], LatestQuery(EVERYTHING, last=True)),
        store.bounds(meter, RAW, EVERYTHING),
    ]


def parts(store: Any) -> set[str]:
    return {name for (name,) in store.fetch(sql.parts())}


def test_a_partitioned_store_returns_the_same(plain: Store, engine: str) -> None:
    meter, twin = new_meters(plain, 2)
    rows = every_six_hours(meter, days=60)
    plain.write(rows)
    before = answers(plain, meter)
    assert plain.partition()
    if engine == "citus":
        plain.distribute(citus.SHARDS)
    assert answers(plain, meter) == before
    plain.write([(twin.key, *row[1:]) for row in reversed(rows)])
    plain.write(rows)
    assert [a for a in answers(plain, twin) if isinstance(a, list)] == [
        a for a in before if isinstance(a, list)
    ]
    assert plain.verify().wrong == 0


def test_existing_readings_stay_as_one_partition(plain: Store) -> None:
    (meter,) = new_meters(plain, 1)
    plain.write(every_six_hours(meter, days=3))
    made = plain.partition()
    assert made == [f"reading_before_{following(month_of(now_ms() + DAY_MS))}"]
    assert plain.partition() == made


def test_partitions_are_made_with_their_readings(plain: Store, engine: str) -> None:
    (meter,) = new_meters(plain, 1)
    plain.partition()
    if engine == "citus":
        plain.distribute(citus.SHARDS)
    plain.write([reading(meter, FEBRUARY_MS - 1, flow_rate=1.0)])
    plain.write([reading(meter, at, flow_rate=2.0) for at in (MARCH_MS, FEBRUARY_MS)])
    assert {f"reading_in_2026_0{n}" for n in (1, 2, 3)} <= parts(plain)
    assert plain.count(meter, RAW, EVERYTHING) == 3


def test_old_months_are_dropped_whole(plain: Store, engine: str) -> None:
    meter, silent = new_meters(plain, 2)
    plain.partition()
    if engine == "citus":
        plain.distribute(citus.SHARDS)
    plain.write(every_six_hours(meter, days=60))
    plain.write([reading(silent, START_MS, flow_rate=1.0)])
    hourly = plain.rows(meter, STORED[-1], EVERYTHING, limit=1_000)
    old = plain.count(meter, RAW, Span(None, MARCH_MS - 1)) + 1
    assert plain.prune(MARCH_MS, pretend=True) == old
    assert plain.prune(MARCH_MS) == old
    assert not {"reading_in_2026_01", "reading_in_2026_02"} & parts(plain)
    assert plain.rows(meter, STORED[-1], EVERYTHING, limit=1_000) == hourly
    assert plain.count(meter, RAW, EVERYTHING) == 240 - old + 1
    assert plain.count(silent, RAW, EVERYTHING) == 0
    assert plain.verify().wrong == 0


def test_a_limit_inside_a_partition_deletes_its_rows_only(plain: Store) -> None:
    (meter,) = new_meters(plain, 1)
    plain.write(every_six_hours(meter, days=60))
    plain.partition()
    assert plain.prune(FEBRUARY_MS) == 8
    assert parts(plain) == {f"reading_before_{following(month_of(now_ms() + DAY_MS))}"}
    assert plain.rows(meter, RAW, EVERYTHING, limit=1)[0][0] == FEBRUARY_MS


def test_a_running_writer_notices_the_switch(plain: Store) -> None:
    (meter,) = new_meters(plain, 1)
    writer = open_store(plain.url)  # pyright: ignore[reportAttributeAccessIssue]
    writer.write([reading(meter, now_ms() - MINUTE_MS, flow_rate=1.0)])
    plain.partition()
    writer.write([reading(meter, now_ms() + DAY_MS - MINUTE_MS, flow_rate=1.0)])
    assert writer.count(meter, RAW, EVERYTHING) == 2
    writer.close()


@pytest.mark.parametrize("at_ms", [FEBRUARY_MS, now_ms() + 70 * DAY_MS], ids=["late", "ahead"])
def test_a_writer_with_an_older_check_can_still_write(plain: Store, at_ms: int) -> None:
    (meter,) = new_meters(plain, 1)
    writer = open_store(plain.url)  # pyright: ignore[reportAttributeAccessIssue]
    writer.write([])
    plain.partition()
    assert writer.write([reading(meter, at_ms, flow_rate=1.0)]).stored == 1
    assert writer.add([reading(meter, at_ms + 32 * DAY_MS, flow_rate=1.0)]).readings
    writer.close()


def test_readings_are_stored_while_partitions_are_made(plain: Store) -> None:
    meters = new_meters(plain, 3)
    began_ms = START_MS - START_MS % HOUR_MS
    halt = threading.Event()

    def send(meter: Device) -> int:
        writer = open_store(plain.url)  # pyright: ignore[reportAttributeAccessIssue]
        hours = 0
        while not halt.is_set():  # through one month after the other
            hours += 100
            writer.write([reading(meter, began_ms + hours * HOUR_MS, flow_rate=1.0)])
        writer.close()
        return hours // 100

    def here() -> int:
        return sum(plain.count(meter, RAW, EVERYTHING) for meter in meters)

    with ThreadPoolExecutor(len(meters)) as pool:
        sent = [pool.submit(send, meter) for meter in meters]
        try:
            eventually(lambda: here() > 60, "readings were coming in")
            assert plain.partition()
            before = here()
            eventually(lambda: here() > before + 60, "readings came in again")
        finally:
            halt.set()
        assert sum(future.result() for future in sent) == here()
    assert plain.verify().wrong == 0


def test_an_interrupted_switch_blocks_nothing(
    plain: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    (meter,) = new_meters(plain, 1)
    plain.write(every_six_hours(meter, days=3))
    with monkeypatch.context() as broken:
        broken.setattr(Partitions, "_switch", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            plain.partition()
    assert plain.write([reading(meter, now_ms() + 70 * DAY_MS, flow_rate=1.0)]).stored == 1
    assert plain.partition()
    assert plain.count(meter, RAW, EVERYTHING) == 13


def test_existing_readings_are_scanned_before_the_switch(
    plain: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    (meter,) = new_meters(plain, 1)
    plain.write(every_six_hours(meter, days=3))
    switch, seen = Partitions._switch, list[Any]()

    def watched(self: Partitions, until: str) -> None:
        store: Any = plain
        seen.extend(store.fetch(Query("SELECT convalidated FROM pg_constraint WHERE contype = 'c'"
                                      " AND conrelid = 'reading'::regclass")))  # fmt: skip
        switch(self, until)

    monkeypatch.setattr(Partitions, "_switch", watched)
    plain.partition()
    assert seen == [(True,)]


def test_a_file_has_no_partitions(sqlite_store: Store) -> None:
    with pytest.raises(UserError, match="Postgres"):
        sqlite_store.partition()


def test_a_distributed_store_is_refused(cluster_url: str) -> None:
    store = citus.made(cluster_url)
    with pytest.raises(UserError, match="partition before distributing"):
        store.partition()
    store.close()


# --- Months --------------------------------------------------------------------------------------


@given(st.integers(0, 4_102_444_800_000))
def test_an_instant_lies_in_its_month(instant_ms: int) -> None:
    month = month_of(instant_ms)
    assert start_ms(month) <= instant_ms < start_ms(following(month))
    assert end_ms(sql.MONTH + month) == start_ms(following(month))


@cases(
    ("there", "missing"),
    [
        ([], ["2026_01", "2026_02", "2026_03"]),
        (["reading_in_2026_02"], ["2026_01", "2026_03"]),
        (["reading_before_2026_02"], ["2026_02", "2026_03"]),
        (["reading_before_2026_04"], []),
        (["reading_before_2026_03", "reading_in_2026_03"], []),
    ],
)
def test_only_missing_months_are_made(there: list[str], missing: list[str]) -> None:
    assert months_without(there, [MARCH_MS, START_MS, FEBRUARY_MS, FEBRUARY_MS + 1]) == missing
