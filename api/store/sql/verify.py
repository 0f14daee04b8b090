"""Statements that compare rollups with a recomputation from raw readings."""

from __future__ import annotations

from functools import cache

from api.catalog import COARSEST_STORED, ROLLED_METRICS, Resolution
from api.store.query import Query, both
from api.store.sql.arithmetic import PLAIN, Arithmetic
from api.store.sql.rollups import Range, flat
from api.store.sql.series import between
from api.store.tables import DEVICE, HOUR_COUNTER, READING, ROLLUPS, TIME_SERIES, Table

DERIVED: tuple[tuple[Table, Resolution], ...] = (
    *((table, resolution) for resolution, table in ROLLUPS.items()),
    (HOUR_COUNTER, COARSEST_STORED),
)
"""The derived tables, and the resolution of their rows."""

_SUMS = frozenset(f"{metric.name}_sum" for metric in ROLLED_METRICS)


def device_keys() -> Query:
    return Query(f"SELECT key FROM {DEVICE.name} ORDER BY key")


def extent(device_key: int) -> Query:
    """Returns (first, last) instant of the device in any table of the time series, or nulls."""
    parts = (
        Query(
            f"SELECT MIN(ts) AS low, MAX(ts) AS high FROM {table.name} WHERE device_id = ?",
            (device_key,),
        )
        for table in TIME_SERIES
    )
    union = both(*parts, between=" UNION ALL ")
    return Query(f"SELECT MIN(low), MAX(high) FROM ({union.sql}) AS extents", union.params)


def compare(
    table: Table, resolution: Resolution, window: Range, arithmetic: Arithmetic = PLAIN
) -> Query:
    """Returns (buckets in the window, how many of them are wrong, missing or orphaned)."""
    device_key, low, high = window
    rows = between(device_key, low, high - 1)
    params = (*rows.params, device_key, *rows.params)
    return Query(_compare(table, resolution, rows.sql, arithmetic), params)


def forget(table: Table, window: Range) -> Query:
    """Deletes the window's rows of a derived table, to be rebuilt."""
    device_key, low, high = window
    rows = between(device_key, low, high - 1)
    return Query(f"DELETE FROM {table.name} WHERE {rows.sql}", rows.params)


@cache
def _compare(table: Table, resolution: Resolution, rows: str, arithmetic: Arithmetic) -> str:
    bucket = f"ts / {resolution.fixed_ms} * {resolution.fixed_ms}"
    fresh = dict(zip(ROLLUPS[resolution].names[2:], flat(resolution, arithmetic), strict=True))
    columns = [name for name in table.names if name not in table.key]
    scales = [f"{arithmetic.magnitude(m.name)} AS {m.name}_scale" for m in ROLLED_METRICS]
    made = ", ".join([*(f"{fresh[name]} AS {name}" for name in columns), *scales])
    wrong = " OR ".join(_differs(name, arithmetic) for name in columns)
    # A seek for each recomputed row; orphans are the rows that no seek found. A full join of two
    # derived tables has no index, and grows with the square of the window.
    met = (
        "SELECT COUNT(*) AS fresh, COUNT(s.ts) AS met,"
        f" COALESCE(SUM(CASE WHEN s.ts IS NULL OR {wrong} THEN 1 ELSE 0 END), 0) AS wrong"
        f" FROM (SELECT {bucket} AS ts, {made} FROM {READING.name}"
        f" WHERE {rows} GROUP BY {bucket}) AS f"
        f" LEFT JOIN {table.name} AS s ON s.device_id = ? AND s.ts = f.ts"
    )
    stored = f"SELECT COUNT(*) AS kept FROM {table.name} WHERE {rows}"
    return f"SELECT fresh + kept - met, wrong + kept - met FROM ({met}) AS m, ({stored}) AS k"


def _differs(column: str, arithmetic: Arithmetic) -> str:
    if column not in _SUMS:
        return f"s.{column} IS DISTINCT FROM f.{column}"
    magnitude = f"f.{column.removesuffix('_sum')}_scale"
    return arithmetic.differs(f"s.{column}", f"f.{column}", magnitude)
