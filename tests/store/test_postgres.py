"""Behaviour of a database server: it goes away, comes back, refuses, holds a lock."""

from __future__ import annotations

from collections.abc import Iterator

import psycopg
import pytest

from api.catalog import METRICS, RAW
from api.errors import Unavailable
from api.store import connections, postgres
from api.store.base import Progress, Span
from api.store.postgres import PostgresStore
from api.store.query import Query
from api.store.sql import series
from tests import servers
from tests.store.fleet import new_meters, steady


@pytest.fixture
def store(postgres_url: str) -> Iterator[PostgresStore]:
    made = PostgresStore(postgres_url)
    made.upgrade()
    yield made
    made.close()


def end_all_sessions(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_an_unreachable_server_is_unavailable_at_once() -> None:
    store = PostgresStore(f"postgresql://weir@127.0.0.1:{servers.free_port()}/weir")
    for ask in (store.check, store.keys, store.upgrade, lambda: store.create_organization("x")):
        with pytest.raises(Unavailable, match="can't be reached") as away:
            ask()
        assert away.value.retry_after_s is not None
    assert "weir" not in str(away.value)


def test_a_restart_between_requests_goes_unnoticed(store: PostgresStore, postgres_url: str) -> None:
    (device,) = new_meters(store, 1)
    store.write(steady(device, 5))
    end_all_sessions(postgres_url)
    assert store.count(device, RAW, Span()) == 5
    end_all_sessions(postgres_url)
    assert store.write(steady(device, 6)).stored == 1


def test_a_read_survives_connections_that_were_cut(
    store: PostgresStore, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (device,) = new_meters(store, 1)
    store.write(steady(device, 5))
    with store.transaction(), store.transaction(), store.transaction():
        pass  # three connections, idle from here on
    end_all_sessions(postgres_url)
    monkeypatch.setattr(connections, "_has_input", lambda _: False)
    assert store.count(device, RAW, Span()) == 5
    assert store.write(steady(device, 6)).stored == 1


def test_a_read_is_tried_twice_at_most(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted: list[Query] = []

    def cut_off(connection: connections.Connection, query: Query) -> None:
        wanted.append(query)
        connection.close()
        raise psycopg.OperationalError("gone")

    store.check()
    monkeypatch.setattr(postgres, "_fetch", cut_off)
    for attempts in (2, 1):  # once idle and once fresh; then none is idle
        wanted.clear()
        with pytest.raises(Unavailable):
            store.check()
        assert len(wanted) == attempts


def test_a_query_that_fails_on_a_live_connection_is_not_retried(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted: list[Query] = []
    fetch = postgres._fetch

    def counted(connection: connections.Connection, query: Query) -> list[tuple[object, ...]]:
        wanted.append(query)
        return fetch(connection, query)

    store.check()
    monkeypatch.setattr(postgres, "_fetch", counted)
    slow = Query("SELECT set_config('statement_timeout', '10', false), pg_sleep(0)")
    store.fetch(slow)
    with pytest.raises(Unavailable):
        store.fetch(Query("SELECT pg_sleep(5)"))
    assert len(wanted) == 2


def test_a_session_that_ends_within_a_transaction_rolls_it_back(
    store: PostgresStore, postgres_url: str
) -> None:
    (device,) = new_meters(store, 1)

    def cut_off() -> None:
        with store.transaction() as transaction:
            transaction.run(Query("DELETE FROM device"))
            end_all_sessions(postgres_url)
            transaction.run(Query("SELECT 1"))

    with pytest.raises(Unavailable):
        cut_off()
    assert store.ingest_keys("acme")[device.serial_number] == device.key


def test_sessions_of_a_read_only_store_cannot_write(store: PostgresStore) -> None:
    reader = PostgresStore(store.url, read_only=True)
    with pytest.raises(Exception, match="read-only transaction"):
        reader.fetch(Query("DELETE FROM device RETURNING key"))
    reader.close()


def test_connections_are_reused_and_limited(store: PostgresStore, postgres_url: str) -> None:
    (device,) = new_meters(store, 1)
    for _ in range(20):
        store.write(steady(device, 5))
        store.count(device, RAW, Span())
    with psycopg.connect(postgres_url) as connection:
        row = connection.execute(
            "SELECT COUNT(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND application_name = 'weir'"
        ).fetchone()
    assert row == (1,)


def test_a_finished_import_updates_the_planners_statistics(
    store: PostgresStore, postgres_url: str
) -> None:
    (meter,) = new_meters(store, 1)
    rows = steady(meter, 500)
    store.write(rows, progress=Progress("digest", meter.organization_id, complete=True))
    with psycopg.connect(postgres_url) as connection:
        statistics = connection.execute("SELECT reltuples FROM pg_class WHERE relname = 'reading'")
        assert statistics.fetchone() == (500,)


def test_a_chart_of_raw_readings_is_an_index_only_scan(
    store: PostgresStore, postgres_url: str
) -> None:
    (meter,) = new_meters(store, 1)
    store.write(steady(meter, 500))
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        # Until a commit is visible to all, its rows are checked in the table.
        connection.execute("CHECKPOINT")
        connection.execute("VACUUM ANALYZE reading")
    columns = series.row_columns(RAW, frozenset(METRICS))
    page = series.page(meter.key, RAW, columns, Span(), (), 1_000, 0)
    plan = store.fetch(Query(f"EXPLAIN (ANALYZE, COSTS OFF) {page.sql}", page.params))
    texts = [str(line).strip() for (line,) in plan]
    assert any("Index Only Scan using reading_pkey" in line for line in texts), texts
    assert "Heap Fetches: 0" in texts


def test_a_batch_of_more_devices_than_locks_is_stored(store: PostgresStore) -> None:
    devices = new_meters(store, 10_000)
    rows = [row for device in devices for row in steady(device, 1)]
    assert store.write(rows).stored == 10_000
