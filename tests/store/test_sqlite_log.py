"""The log beside a store's file: deleted while in use, and checkpointed in time; and a damaged
file, which stores nothing until a check passes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from api.catalog import RAW
from api.errors import StoreDamaged, Unavailable
from api.ingest.submission import Submission
from api.ingest.writer import Writer
from api.store import damage_mark, sqlite
from api.store.base import Device, Span
from api.store.open import open_web_store
from api.store.query import Query
from api.store.sqlite import LOG_GONE, NOT_CHECKED, SqliteStore
from api.store.sqlite_transaction import SqliteTransaction
from tests.ingest.mqtt.conftest import eventually
from tests.store.fleet import NOON_MS, new_meters, reading, steady


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "weir.sqlite"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    made = SqliteStore(str(path))
    made.upgrade()
    yield made
    made.close()


def delete_log(path: Path, *suffixes: str) -> None:
    for suffix in suffixes or ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink()


def rows_of_a_copy(path: Path) -> int:
    """The rows in a plain copy of the file, without its log."""
    copy = path.with_name("copy.sqlite")
    shutil.copyfile(path, copy)
    connection = apsw.Connection(str(copy))
    try:
        [(count,)] = connection.execute("SELECT count(*) FROM reading").fetchall()
    except apsw.SQLError:  # not even its tables
        count = 0
    connection.close()
    copy.unlink()
    return int(count)


# --- A deleted log -------------------------------------------------------------------------------


@pytest.mark.parametrize("suffixes", [("-wal",), ("-shm",), ("-wal", "-shm")])
def test_a_deleted_log_is_saved_and_no_longer_written(
    store: SqliteStore, path: Path, suffixes: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    (device,) = new_meters(store, 1)
    store.write(steady(device, 500))
    assert store.count(device, RAW, Span()) == 500
    delete_log(path, *suffixes)
    assert store.file().problem == LOG_GONE
    assert store.count(device, RAW, Span()) == 500  # readers still have the deleted one open
    for _ in range(2):
        with pytest.raises(Unavailable, match="log"):
            store.write(steady(device, 501))
    assert rows_of_a_copy(path) == 500
    monkeypatch.setattr(store, "_paused_until_s", 0.0)  # after the pause
    assert store.write(steady(device, 501)).stored == 1
    assert store.count(device, RAW, Span()) == 501
    assert store.file().problem == ""
    assert store.check_pages() == []


def test_a_log_deleted_within_a_commit_acknowledges_nothing(
    store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (device,) = new_meters(store, 1)
    store.write(steady(device, 10))
    real = SqliteTransaction.run

    def run(transaction: SqliteTransaction, query: Query) -> None:
        delete_log(path)
        real(transaction, query)

    monkeypatch.setattr(SqliteTransaction, "run", run)
    with pytest.raises(Unavailable, match="log"):
        store.create_organization("Second")
    assert [organization.name for organization in store.organizations()] == ["Acme"]
    assert rows_of_a_copy(path) == 10


def test_a_writer_that_waited_for_a_deleted_logs_lock_writes_nothing(
    store: SqliteStore, path: Path
) -> None:
    """Two processes: one notices first and saves the log; the other had it open too."""
    (device,) = new_meters(store, 1)
    other = SqliteStore(str(path))
    other.write(steady(device, 10))
    store.write(steady(device, 20))
    delete_log(path)
    for one in (store, other):
        with pytest.raises(Unavailable, match="log"):
            one.write(steady(device, 30))
    assert rows_of_a_copy(path) == 20
    assert store.check_pages() == []
    other.close()


def test_a_new_log_of_another_process_is_left_alone(store: SqliteStore, path: Path) -> None:
    (device,) = new_meters(store, 1)
    store.checkpoint()
    store.write(steady(device, 10))
    delete_log(path)
    begin = "import sys; from api.store.sqlite import SqliteStore as S; import os;"
    begin += " S(sys.argv[1]).create_organization('Another'); os._exit(0)"
    subprocess.run([sys.executable, "-c", begin, str(path)], check=True)
    with pytest.raises(Unavailable, match="log"):
        store.write(steady(device, 20))
    [saved] = path.parent.glob("weir.sqlite-saved-*")
    assert rows_of_a_copy(saved) == 10
    assert store.check_pages() == []
    assert {organization.name for organization in store.organizations()} == {"Acme", "Another"}


# --- Checkpoints in time -------------------------------------------------------------------------


def submission(device: Device, count: int) -> Submission:
    return Submission("acme", "test", steady(device, count))


def test_an_idle_writer_checkpoints(store: SqliteStore, path: Path) -> None:
    (device,) = new_meters(store, 1)
    writer = Writer(store)
    writer.submit(submission(device, 10)).result(20)
    eventually(lambda: rows_of_a_copy(path) == 10)
    writer.close()


def test_a_busy_writer_checkpoints_in_time(store: SqliteStore, path: Path) -> None:
    (device,) = new_meters(store, 1)
    writer = Writer(store, checkpoint_s=0.0)
    for count in range(1, 20):
        writer.submit(submission(device, count)).result(20)
    eventually(lambda: rows_of_a_copy(path) >= 18)
    writer.close()


def test_an_idle_writer_notices_a_deleted_log(
    store: SqliteStore, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "LOG_PAUSE_S", 0.5)
    (device,) = new_meters(store, 1)
    writer = Writer(store, checkpoint_s=1e9)
    writer.submit(submission(device, 10)).result(20)
    delete_log(path)
    eventually(lambda: rows_of_a_copy(path) == 10)
    assert writer.submit(submission(device, 12)).result(20)
    eventually(lambda: writer.stall_reason == "")
    writer.close()


def test_the_webs_writes_are_checkpointed_at_once(tmp_path: Path) -> None:
    web = open_web_store(f"sqlite:///{tmp_path / 'weir.sqlite'}")
    web.upgrade()
    copy = tmp_path / "copy.sqlite"
    shutil.copyfile(tmp_path / "weir.web.sqlite", copy)
    connection = apsw.Connection(str(copy))
    assert connection.execute("SELECT count(*) FROM embed").fetchall() == [(0,)]
    connection.close()
    web.close()


# --- Damage --------------------------------------------------------------------------------------


def spoil(path: Path) -> None:
    connection = apsw.Connection(str(path))
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    leaves = connection.execute(
        "SELECT pgoffset, pgsize FROM dbstat WHERE name = 'reading' AND pagetype = 'leaf'"
    ).fetchall()
    connection.close()
    offset, size = leaves[len(leaves) // 2]
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(b"\xde\xad\xbe\xef" * (size // 4))


def read_all(store: SqliteStore, device: Device) -> object:
    return store.fetch(Query("SELECT sum(flow_rate) FROM reading"))


def write_one(store: SqliteStore, device: Device) -> object:
    return store.write([reading(device, NOON_MS - 1, quality=1.0)])


@pytest.mark.parametrize(
    "meet", [read_all, lambda store, _: store.verify()], ids=["read", "verify"]
)
def test_after_the_first_damaged_page_nothing_is_stored_until_a_check_passes(
    store: SqliteStore,
    path: Path,
    meet: Callable[[SqliteStore, Device], object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (device,) = new_meters(store, 1)
    store.write(steady(device, 20_000))
    store.checkpoint()
    whole = path.read_bytes()
    store.close()
    spoil(path)
    assert write_one(SqliteStore(str(path)), device)  # nobody has read it yet
    with pytest.raises(StoreDamaged):
        meet(SqliteStore(str(path), read_only=True), device)
    later = SqliteStore(str(path))  # of another process too
    for _ in range(2):
        with pytest.raises(StoreDamaged, match="until a check"):
            write_one(later, device)
    assert later.file().problem == NOT_CHECKED
    assert later.check_pages()  # as `weir db check` does
    with pytest.raises(StoreDamaged):
        later.checkpoint()
    later.close()
    path.write_bytes(whole)
    monkeypatch.setattr(damage_mark, "CHECK_EVERY_S", 0.0)
    monkeypatch.setattr(later, "_damage", damage_mark.DamageMark(path))
    assert write_one(later, device)
    assert later.file().problem == ""
    later.close()


def test_a_file_that_replaces_a_damaged_one_is_written_at_once(
    store: SqliteStore, path: Path, tmp_path: Path
) -> None:
    (device,) = new_meters(store, 1)
    store.write(steady(device, 20_000))
    store.checkpoint()
    shutil.copyfile(path, tmp_path / "backup")
    store.close()
    spoil(path)
    with pytest.raises(StoreDamaged):
        read_all(store, device)
    store.close()
    delete_log(path)
    os.replace(tmp_path / "backup", path)
    assert write_one(store, device)


def test_a_transaction_that_finds_damage_is_the_last_one(store: SqliteStore, path: Path) -> None:
    (device,) = new_meters(store, 1)
    store.write(steady(device, 20_000))
    store.close()
    spoil(path)

    with pytest.raises(StoreDamaged), store.transaction() as transaction:
        transaction.fetch(Query("SELECT sum(flow_rate) FROM reading"))
    with pytest.raises(StoreDamaged, match="until a check"):
        write_one(store, device)
