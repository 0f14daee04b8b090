"""Upgrading, checking and verifying a store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from api.catalog import COARSEST_STORED, DAY_MS, HOUR_MS, MINUTE_MS, RAW, STORED
from api.errors import StoreMissing, Unavailable, UserError
from api.store import migrations
from api.store.base import ReadingRow, Span, Store, Verdict
from api.store.open import open_store
from api.store.query import Query
from tests.store.fleet import NOON_MS, new_meters, reading, steady
from tests.store.recomputed import rolled


def tamper(store: Any, *statements: str) -> None:
    with store.transaction() as transaction:
        for statement in statements:
            transaction.run(Query(statement))


# --- Schema --------------------------------------------------------------------------------------


def test_an_upgrade_makes_the_store_and_is_idempotent(store_url: str) -> None:
    store = open_store(store_url)
    with pytest.raises(StoreMissing):
        store.check()
    assert store.upgrade() == (0, migrations.CURRENT)
    assert store.upgrade() == (migrations.CURRENT, migrations.CURRENT)
    store.check()
    store.close()


def test_reads_of_a_missing_store_are_an_error(store_url: str) -> None:
    store = open_store(store_url)
    with pytest.raises(StoreMissing):
        store.organization("acme")
    with pytest.raises(StoreMissing):
        store.create_organization("Acme")
    store.close()


def test_a_newer_schema_is_refused(empty_store: Store) -> None:
    tamper(empty_store, f"INSERT INTO schema_version (version) VALUES ({migrations.CURRENT + 1})")
    with pytest.raises(UserError, match="newer"):
        empty_store.upgrade()
    with pytest.raises(Unavailable, match="newer"):
        empty_store.check()


def test_a_failed_step_is_rolled_back(store_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = ["CREATE TABLE fresh (id INTEGER PRIMARY KEY)", "CREATE NONSENSE"]
    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, lambda _: broken))
    monkeypatch.setattr(migrations, "CURRENT", migrations.CURRENT + 1)
    store: Any = open_store(store_url)
    with pytest.raises(Exception, match="NONSENSE"):
        store.upgrade()
    monkeypatch.undo()
    assert store.upgrade() == (migrations.CURRENT, migrations.CURRENT)
    tamper(store, "CREATE TABLE fresh (id INTEGER PRIMARY KEY)")
    store.close()


def test_later_steps_run_once_and_in_order(
    empty_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = (
        lambda _: ["CREATE TABLE fresh (id INTEGER PRIMARY KEY)"],
        lambda _: ["INSERT INTO fresh (id) VALUES (7)"],
    )
    before, now = migrations.CURRENT, migrations.CURRENT + len(steps)
    monkeypatch.setattr(migrations, "STEPS", (*migrations.STEPS, *steps))
    monkeypatch.setattr(migrations, "CURRENT", now)
    with pytest.raises(StoreMissing, match="older"):
        empty_store.check()
    assert empty_store.upgrade() == (before, now)
    assert empty_store.upgrade() == (now, now)


def test_a_read_only_store_reads_and_refuses_writes(store_url: str) -> None:
    writer = open_store(store_url)
    writer.upgrade()
    (device,) = new_meters(writer, 1)
    writer.write(steady(device, 5))
    reader = open_store(store_url, read_only=True)
    reader.check()
    assert reader.count(device, RAW, Span()) == 5
    for write in (
        lambda: reader.write(steady(device, 6)),
        lambda: reader.create_organization("x"),
        reader.upgrade,
        lambda: reader.revoke_key("key_x", 1),
    ):
        with pytest.raises(UserError, match="reading only"):
            write()
    reader.close()
    writer.close()


# --- Verifying -----------------------------------------------------------------------------------


def two_days(device_key: int) -> list[ReadingRow]:
    return steady(device_key, 576, step_ms=5 * MINUTE_MS)


def a_year_later(device_key: int) -> list[ReadingRow]:
    return steady(device_key, 3, start_ms=NOON_MS + 365 * DAY_MS)


@pytest.fixture
def filled(empty_store: Store) -> Store:
    first, second = new_meters(empty_store, 2)
    empty_store.write([*two_days(first.key), *a_year_later(first.key)])
    empty_store.write([reading(second, NOON_MS, flow_rate=1.0)])
    return empty_store


def test_an_intact_store_verifies(filled: Store) -> None:
    rows = [row[1:] for row in (*two_days(1), *a_year_later(1))]
    buckets = sum(len(rolled(rows, resolution)) + 1 for resolution in STORED)
    hours = len(rolled(rows, COARSEST_STORED)) + 1
    assert filled.verify() == Verdict(buckets + hours, 0)


TAMPERED = {
    "a sum": "UPDATE rollup_1min SET flow_rate_sum = flow_rate_sum + 1",
    "a count of values": "UPDATE rollup_5min SET quality_n = 9",
    "a count of rows": "UPDATE rollup_10min SET n = 2",
    "an extreme": "UPDATE rollup_1hour SET flow_rate_max = 5",
    "a value made null": "UPDATE rollup_1hour SET flow_rate_sum = NULL",
    "a missing row": "DELETE FROM rollup_5min",
    "an orphan": "UPDATE rollup_10min SET ts = ts - 36000000000",
    "a counter": "UPDATE hour_counter SET n_5min = 3",
    "a missing counter": "DELETE FROM hour_counter",
}


@pytest.mark.parametrize("what", TAMPERED)
def test_errors_are_found_and_repaired(filled: Store, what: str) -> None:
    whole = filled.verify()
    tamper(filled, f"{TAMPERED[what]} WHERE device_id = 2")
    result = filled.verify()
    assert result.wrong == (2 if what == "an orphan" else 1)  # there too many, here missing
    assert filled.verify(repair=True) == result
    assert filled.verify() == whole


def test_a_rounding_difference_is_not_an_error(filled: Store) -> None:
    tamper(filled, "UPDATE rollup_1hour SET flow_rate_sum = flow_rate_sum * (1 + 1e-14)")
    assert filled.verify().wrong == 0


def test_repair_rebuilds_everything_from_raw_readings(filled: Store) -> None:
    (device,) = new_meters(filled, 1)
    filled.write(steady(device, 200))
    before = [filled.rows(device, r, Span(), limit=1_000) for r in STORED]
    tamper(filled, *(f"DELETE FROM {r.table}" for r in STORED), "DELETE FROM hour_counter")
    assert filled.count(device, RAW, Span(NOON_MS, NOON_MS + 3 * HOUR_MS - 1)) == 0
    wrong = filled.verify(repair=True)
    assert wrong.wrong == wrong.buckets
    assert [filled.rows(device, r, Span(), limit=1_000) for r in STORED] == before
    assert filled.count(device, RAW, Span(NOON_MS, NOON_MS + 3 * HOUR_MS - 1)) == 180
    assert filled.verify().wrong == 0


def test_an_empty_store_verifies(empty_store: Store) -> None:
    assert empty_store.verify(repair=True) == Verdict(0, 0)
    new_meters(empty_store, 1)
    assert empty_store.verify() == Verdict(0, 0)


def test_the_url_chooses_the_database(tmp_path: Path) -> None:
    store: Any = open_store(f"sqlite:///{tmp_path}/a b/ü.sqlite")
    store.upgrade()
    assert (tmp_path / "a b" / "ü.sqlite").exists()
    store.close()
