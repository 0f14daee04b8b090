"""Faults of a database file: missing, deleted, replaced, corrupt, full, locked."""

from __future__ import annotations

from pathlib import Path
from time import sleep

import apsw
import pytest

from api.catalog import HOUR_MS, RAW
from api.errors import StoreMissing, Unavailable
from api.store import sqlite_connections
from api.store.base import Span
from api.store.query import Query
from api.store.sql import registers as registers_sql
from api.store.sqlite import LOOK_EVERY_S, SqliteStore
from tests.store.fleet import NOON_MS, new_meters, reading, steady


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "weir.sqlite"


@pytest.fixture
def store(path: Path) -> SqliteStore:
    made = SqliteStore(str(path))
    made.upgrade()
    return made


def test_reading_a_missing_file_does_not_make_one(path: Path) -> None:
    for read_only in (True, False):
        store = SqliteStore(str(path), read_only=read_only)
        with pytest.raises(StoreMissing, match="no store"):
            store.check()
        with pytest.raises(StoreMissing):
            store.keys()
    assert not path.exists()


def test_writing_to_a_missing_file_does_not_make_one(path: Path) -> None:
    with pytest.raises(StoreMissing):
        SqliteStore(str(path)).create_organization("Acme")
    assert not path.exists()


def test_a_file_without_weirs_tables_is_not_a_store(path: Path) -> None:
    apsw.Connection(str(path)).execute("CREATE TABLE other (id)").connection.close()
    with pytest.raises(StoreMissing, match="no schema"):
        SqliteStore(str(path)).check()


def test_a_deleted_file_is_noticed_at_the_next_check(store: SqliteStore, path: Path) -> None:
    (device,) = new_meters(store, 1)
    store.write(steady(device, 5))
    assert store.count(device, RAW, Span()) == 5
    path.unlink()
    sleep(LOOK_EVERY_S)
    with pytest.raises(StoreMissing):
        store.count(device, RAW, Span())
    with pytest.raises(StoreMissing):
        store.write(steady(device, 6))
    with pytest.raises(StoreMissing):
        store.check()


def test_a_replaced_file_is_used_at_once(store: SqliteStore, path: Path, tmp_path: Path) -> None:
    (device,) = new_meters(store, 1)
    store.write(steady(device, 5))
    other = SqliteStore(str(tmp_path / "other.sqlite"))
    other.upgrade()
    (device,) = new_meters(other, 1)
    other.write(steady(device, 7))
    other.close()
    assert store.count(device, RAW, Span()) == 5
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    (tmp_path / "other.sqlite").replace(path)
    sleep(LOOK_EVERY_S)
    assert store.count(device, RAW, Span()) == 7
    assert store.write(steady(device, 9)).stored == 2


def test_a_corrupt_file_is_left_as_it_is(path: Path) -> None:
    path.write_bytes(b"not a database, " * 1000)
    store = SqliteStore(str(path))
    for ask in (store.check, store.keys, store.upgrade, lambda: store.create_organization("x")):
        with pytest.raises(Unavailable):
            ask()
    assert path.read_bytes() == b"not a database, " * 1000


def test_a_full_disk_refuses_writes_and_serves_reads(store: SqliteStore) -> None:
    (device,) = new_meters(store, 1)
    store.write(steady(device, 50))
    with store.transaction() as transaction:
        pages = transaction.fetch(Query("PRAGMA page_count"))[0][0]
        transaction.run(Query(f"PRAGMA max_page_count={pages + 2}"))
    with pytest.raises(Unavailable, match="full"):
        store.write(steady(device, 20_000))
    assert store.count(device, RAW, Span()) == 50
    assert store.verify().wrong == 0
    with store.transaction() as transaction:
        transaction.run(Query("PRAGMA max_page_count=1000000"))
    assert store.write(steady(device, 20_000)).stored == 19_950


def test_a_writer_that_waits_too_long_is_busy(
    store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (device,) = new_meters(store, 1)
    monkeypatch.setattr(sqlite_connections, "BUSY_TIMEOUT_MS", 50)
    other = SqliteStore(str(path))
    with (
        store.transaction(),
        pytest.raises(Unavailable, match="busy") as busy,
    ):
        other.write([reading(device, NOON_MS, quality=1.0)])
    assert busy.value.retry_after_s is not None
    assert other.write([reading(device, NOON_MS, quality=1.0)]).stored == 1
    other.close()


def test_readers_never_block_a_checkpoint(store: SqliteStore, path: Path) -> None:
    """No cursor stays open after a read, so a checkpoint always reaches the end of the log."""
    (device,) = new_meters(store, 1)
    reader = SqliteStore(str(path), read_only=True)
    for start in range(5):
        store.write(steady(device, 200, start_ms=NOON_MS + start * 10**8))
        reader.rows(device, RAW, Span(), limit=10)
        reader.pieces(device, RAW, Span(), [0, NOON_MS, 10**13])
    log = apsw.Connection(str(path))
    log.execute("SELECT COUNT(*) FROM device").fetchall()  # opens the log
    pages, checkpointed = log.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    assert (pages, checkpointed) == (0, 0)
    log.close()
    reader.close()


def test_the_writer_is_durable_and_readers_cannot_write(store: SqliteStore) -> None:
    with store.transaction() as transaction:
        assert transaction.fetch(Query("PRAGMA journal_mode")) == [("wal",)]
        assert transaction.fetch(Query("PRAGMA synchronous")) == [(2,)]
    with pytest.raises(Unavailable):
        store.fetch(Query("DELETE FROM device"))


def test_finding_spread_volumes_joins_no_registers(store: SqliteStore) -> None:
    """A join would walk all registers of the device for each hour."""
    query = registers_sql.spread_gaps(1, 0, HOUR_MS, HOUR_MS)
    plan = store.fetch(Query(f"EXPLAIN QUERY PLAN {query.sql}", query.params))
    assert plan
    assert not [step for *_, step in plan if "EXISTS" in step]
