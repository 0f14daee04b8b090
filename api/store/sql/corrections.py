"""Corrections of readings: the original values, and the effective ones.

``reading`` has the effective values. A reading that a correction changes is first copied, once,
into ``reading_original``; restoring copies it back. Ranges are inclusive at both ends.
"""

from __future__ import annotations

from collections.abc import Sequence

from api.catalog import METRICS
from api.store.query import Dialect, Query
from api.store.sql.series import between
from api.store.tables import READING, READING_ORIGINAL

GREATEST = 1e300  # largest scaled value: sums of such values still fit a double
_VALUES = tuple(metric.name for metric in METRICS)


def count(device_key: int, low: int, high: int, metrics: Sequence[str]) -> Query:
    """Returns (readings, readings that have a value of one of the metrics)."""
    rows = between(device_key, low, high)
    some = " OR ".join(f"{name} IS NOT NULL" for name in metrics) or "1 = 0"
    return Query(
        f"SELECT COUNT(*), COUNT(CASE WHEN {some} THEN 1 END) FROM {READING.name} WHERE {rows.sql}",
        rows.params,
    )


def too_large(device_key: int, low: int, high: int, metrics: Sequence[str], factor: float) -> Query:
    """Returns a row where a scaled value wouldn't fit."""
    rows = between(device_key, low, high)
    limit = GREATEST / max(abs(factor), 1.0)
    some = " OR ".join(f"ABS({name}) > ?" for name in metrics)
    return Query(
        f"SELECT 1 FROM {READING.name} WHERE {rows.sql} AND ({some}) LIMIT 1",
        (*rows.params, *(limit,) * len(metrics)),
    )


def restore(device_key: int, low: int, high: int) -> list[Query]:
    """Restores the readings of the range to their original values."""
    rows = between(device_key, low, high)
    o = READING_ORIGINAL.name
    values = ", ".join(f"{name} = {o}.{name}" for name in _VALUES)
    same = " AND ".join(f"{READING.name}.{name} = {o}.{name}" for name in READING.key)
    mine = f"{o}.device_id = ? AND {o}.ts >= ? AND {o}.ts <= ?"
    return [
        Query(
            f"UPDATE {READING.name} SET {values} FROM {o} WHERE {same} AND {mine}",
            rows.params,
        ),
        Query(f"DELETE FROM {o} WHERE {rows.sql}", rows.params),
    ]


def keep_originals(device_key: int, low: int, high: int) -> Query:
    """Copies the readings of the range, except for those already copied."""
    rows = between(device_key, low, high)
    names = ", ".join(READING.names)
    return Query(
        f"INSERT INTO {READING_ORIGINAL.name} ({names}) SELECT {names} FROM {READING.name}"
        f" WHERE {rows.sql} ON CONFLICT (device_id, ts, seq) DO NOTHING",
        rows.params,
    )


def apply(
    device_key: int, low: int, high: int, metrics: Sequence[str], factor: float | None
) -> Query:
    rows = between(device_key, low, high)
    if factor is None:
        changed, params = ", ".join(f"{name} = NULL" for name in metrics), ()
    else:
        changed = ", ".join(f"{name} = {name} * ?" for name in metrics)
        params = (float(factor),) * len(metrics)
    return Query(f"UPDATE {READING.name} SET {changed} WHERE {rows.sql}", (*params, *rows.params))


def originals_at(dialect: Dialect, instants: Sequence[tuple[int, int]]) -> Query:
    """Returns the original rows (device_id, ts, values…, seq) of readings that were changed."""
    values = ", ".join(f"s.{name}" for name in _VALUES)
    return Query(
        f"SELECT s.device_id, s.ts, {values}, s.seq"
        f" FROM {dialect.relation(('device_id', 'ts'))} AS r CROSS JOIN {READING_ORIGINAL.name}"
        " AS s WHERE s.device_id = r.device_id AND s.ts = r.ts",
        dialect.bind(instants),
    )


def originals(device_key: int, low: int, high: int, limit: int) -> Query:
    """Returns (ts, values…) in order of time."""
    rows = between(device_key, low, high)
    return Query(
        f"SELECT ts, {', '.join(_VALUES)} FROM {READING_ORIGINAL.name} WHERE {rows.sql}"
        " ORDER BY ts, seq LIMIT ?",
        (*rows.params, limit),
    )
