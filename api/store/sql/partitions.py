"""Statements for partitions of raw readings by calendar month (UTC) on Postgres."""

from __future__ import annotations

from typing import Final

from api.store.query import Dialect, Query
from api.store.tables import HOUR_COUNTER, READING

BEFORE: Final = f"{READING.name}_before_"  # existing rows from before partitioning
MONTH: Final = f"{READING.name}_in_"
_OLD: Final = f"{READING.name}_old"
_BOUND: Final = f"{READING.name}_bound"


def is_partitioned() -> Query:
    """Returns a row if raw readings are partitioned."""
    return Query(
        "SELECT 1 FROM pg_partitioned_table AS p JOIN pg_class AS c ON c.oid = p.partrelid"
        " WHERE c.relnamespace = current_schema()::regnamespace AND c.relname = ?",
        (READING.name,),
    )


def parts() -> Query:
    """Returns (name) of each partition."""
    return Query(
        "SELECT c.relname::text FROM pg_inherits AS i"
        " JOIN pg_class AS c ON c.oid = i.inhrelid JOIN pg_class AS p ON p.oid = i.inhparent"
        " WHERE p.relnamespace = current_schema()::regnamespace AND p.relname = ?"
        " ORDER BY c.relname",
        (READING.name,),
    )


def last_hour() -> Query:
    """Returns (start of the last hour with readings, or null)."""
    return Query(f"SELECT MAX(ts) FROM {HOUR_COUNTER.name}")


def bound(until_ms: int) -> list[str]:
    """Refuses new rows from ``until_ms`` on, without checking the existing ones."""
    return [
        *unbound(),
        f"ALTER TABLE {READING.name} ADD CONSTRAINT {_BOUND} CHECK (ts < {until_ms}) NOT VALID",
    ]


def validate_bound() -> str:
    """Checks existing rows against the bound. Readers and writers aren't blocked."""
    return f"ALTER TABLE {READING.name} VALIDATE CONSTRAINT {_BOUND}"


def unbound(table: str = READING.name) -> list[str]:
    return [f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {_BOUND}"]


def lock() -> str:
    return f"LOCK TABLE {READING.name} IN ACCESS EXCLUSIVE MODE"


def has_rows() -> Query:
    """Returns a row if there are raw readings."""
    return Query(f"SELECT 1 FROM {READING.name} LIMIT 1")


def set_aside() -> list[str]:
    """Renames the existing table, so that the partitioned one can take its name."""
    return [
        f"ALTER TABLE {READING.name} RENAME TO {_OLD}",
        f"ALTER INDEX {READING.name}_pkey RENAME TO {_OLD}_pkey",
    ]


def create(dialect: Dialect) -> str:
    return f"{READING.ddl(dialect)[0]} PARTITION BY RANGE (ts)"


def drop_empty() -> list[str]:
    return [f"DROP TABLE {_OLD}"]


def attach_old(until: str, until_ms: int) -> list[str]:
    """Attaches the existing table as the partition before a month. Its rows are neither moved nor
    checked again, since the constraint proves their range."""
    name = f"{BEFORE}{until}"
    return [
        f"ALTER TABLE {_OLD} RENAME TO {name}",
        f"ALTER INDEX {_OLD}_pkey RENAME TO {name}_pkey",
        f"ALTER TABLE {READING.name} ATTACH PARTITION {name}"
        f" FOR VALUES FROM (MINVALUE) TO ({until_ms})",
        *unbound(name),
    ]


def add_month(name: str, low_ms: int, high_ms: int) -> Query:
    """Adds a month's partition. Readers and writers of the others are blocked only briefly."""
    return Query(
        f"CREATE TABLE IF NOT EXISTS {name} PARTITION OF {READING.name}"
        f" FOR VALUES FROM ({low_ms}) TO ({high_ms})"
    )


def count(low_ms: int, high_ms: int) -> Query:
    """Returns (raw readings in [low, high)), from the hour counters: there may be hundreds of
    millions."""
    return Query(
        f"SELECT COALESCE(SUM(n), 0)::bigint FROM {HOUR_COUNTER.name} WHERE ts >= ? AND ts < ?",
        (low_ms, high_ms),
    )


def drop(name: str) -> Query:
    return Query(f"DROP TABLE {name}")
