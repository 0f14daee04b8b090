"""The schema's version, and comparing what is rolled up with a recomputation from raw."""

from __future__ import annotations

from api.store.migrations import VERSION_TABLE
from api.store.sql.query import Dialect, Query


def create_version_table(dialect: Dialect) -> Query:
    return Query(
        f"CREATE TABLE IF NOT EXISTS {VERSION_TABLE}"
        f" (version {dialect.types['int']} NOT NULL PRIMARY KEY){dialect.table_suffix}"
    )


def version() -> Query:
    return Query(f"SELECT COALESCE(MAX(version), 0) FROM {VERSION_TABLE}")


def record_version(version: int) -> Query:
    return Query(f"INSERT INTO {VERSION_TABLE} (version) VALUES (?)", (version,))
