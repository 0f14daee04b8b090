"""Statements for the schema's version."""

from __future__ import annotations

from api.store.query import Dialect, Query


def create_version_table(dialect: Dialect, table: str) -> Query:
    return Query(
        f"CREATE TABLE IF NOT EXISTS {table}"
        f" (version {dialect.types['int']} NOT NULL PRIMARY KEY){dialect.table_suffix}"
    )


def version(table: str) -> Query:
    return Query(f"SELECT COALESCE(MAX(version), 0) FROM {table}")


def record_version(table: str, version: int) -> Query:
    return Query(f"INSERT INTO {table} (version) VALUES (?)", (version,))
