"""Rules of the schema, checked on each database's statements."""

from __future__ import annotations

import re

import pytest

from api.catalog import METRICS, RAW, ROLLED_METRICS, STORED
from api.store.postgres import DIALECT as POSTGRES
from api.store.query import Dialect
from api.store.sqlite import DIALECT as SQLITE
from api.store.tables import (
    HOUR_COUNTER,
    READING,
    ROLLUPS,
    TABLES,
    TIME_SERIES,
    Table,
    counter,
)
from tests.tables import cases

dialects = pytest.mark.parametrize("dialect", [SQLITE, POSTGRES], ids=lambda d: d.name)


def statements(table: Table, dialect: Dialect) -> str:
    return "; ".join(table.ddl(dialect))


@dialects
@pytest.mark.parametrize("table", TIME_SERIES, ids=lambda t: t.name)
def test_a_time_series_can_be_distributed_by_device(table: Table, dialect: Dialect) -> None:
    """Its key starts with the device, and nothing else in it is unique, a reference or a
    sequence."""
    text = statements(table, dialect)
    assert re.search(r"PRIMARY KEY \(device_id, ts", text)
    for word in ("REFERENCES", "FOREIGN", "SERIAL", "IDENTITY", "AUTOINCREMENT", "TRIGGER"):
        assert word not in text.upper()
    assert text.upper().count("UNIQUE") == 0
    assert "CREATE INDEX" not in text


@cases("table", TABLES)
def test_sqlite_tables_are_strict_and_clustered_by_key(table: Table) -> None:
    assert table.ddl(SQLITE)[0].endswith("STRICT, WITHOUT ROWID")


def test_postgres_has_raw_values_in_the_index() -> None:
    include = f"INCLUDE ({', '.join(metric.name for metric in METRICS)})"
    assert include in statements(READING, POSTGRES)


def test_postgres_compares_text_by_code_point() -> None:
    for table in TABLES:
        for column in table.columns:
            if column.kind == "text":
                assert f'{column.name} TEXT COLLATE "C"' in statements(table, POSTGRES)


def test_the_columns_follow_the_catalog() -> None:
    assert READING.names == ("device_id", "ts", *(m.name for m in METRICS), "seq")
    assert list(ROLLUPS) == list(STORED)
    for index, resolution in enumerate(STORED):
        names = ROLLUPS[resolution].names
        children = [counter(child) for child in (RAW, *STORED[:index])]
        assert names[: 2 + len(children)] == ("device_id", "ts", *children)
        for metric in ROLLED_METRICS:
            assert {f"{metric.name}_sum", f"{metric.name}_n"} <= set(names)
            assert (f"{metric.name}_min" in names) is metric.extremes
    assert HOUR_COUNTER.names == ("device_id", "ts", "n", *(counter(r) for r in STORED[:-1]))
