"""Registers, and the readings that are derived from them: those with `DERIVED_SEQ`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from api.catalog import HOUR_MS, METRICS
from api.store.query import Dialect, Query, both, of_one_device
from api.store.sql.series import between
from api.store.tables import DERIVED_SEQ, DEVICE, HOUR_COUNTER, READING, REGISTER

_COLUMNS: Final = ", ".join(REGISTER.names)
_VALUES: Final = ", ".join(metric.name for metric in METRICS)


def stored_at(dialect: Dialect, instants: Sequence[tuple[int, int]]) -> Query:
    """Returns the registers at these (device, ts)."""
    one = of_one_device(instants)
    columns = ", ".join(f"s.{name}" for name in REGISTER.names)
    return Query(
        f"SELECT {columns} FROM {dialect.relation(('device_id', 'ts'))} AS r"
        f" CROSS JOIN {REGISTER.name} AS s"
        f" WHERE s.device_id = r.device_id AND s.ts = r.ts{one.sql}",
        (*dialect.bind(instants), *one.params),
    )


def settings(dialect: Dialect, keys: Sequence[int]) -> Query:
    """Returns (key, config, reporting_interval_s)."""
    return Query(
        "SELECT d.key, d.config, d.reporting_interval_s"
        f" FROM {dialect.relation(('key',))} AS r CROSS JOIN {DEVICE.name} AS d"
        " WHERE d.key = r.key",
        dialect.bind([(key,) for key in keys]),
    )


def around(device_key: int, low: int, high: int) -> Query:
    """Returns the registers in [low, high], the last before them and the first after them, in
    order."""
    before = _beside(device_key, "<", low, " DESC")
    after = _beside(device_key, ">", high)
    inside = between(device_key, low, high)
    inside = Query(f"SELECT {_COLUMNS} FROM {REGISTER.name} WHERE {inside.sql}", inside.params)
    union = both(before, inside, after, between=" UNION ALL ")
    return Query(f"{union.sql} ORDER BY ts", union.params)


def neighbours(device_key: int, low: int, high: int) -> Query:
    """Selects the last register before ``low`` and the first one after ``high``, in order."""
    before, after = _beside(device_key, "<", low, " DESC"), _beside(device_key, ">", high)
    union = both(before, after, between=" UNION ALL ")
    return Query(f"{union.sql} ORDER BY ts", union.params)


def _beside(device_key: int, operator: str, ts: int, direction: str = "") -> Query:
    return Query(
        f"SELECT * FROM (SELECT {_COLUMNS} FROM {REGISTER.name}"
        f" WHERE device_id = ? AND ts {operator} ? ORDER BY ts{direction} LIMIT 1) AS s",
        (device_key, ts),
    )


def spread_gaps(device_key: int, low: int, high: int, longer_than_ms: int) -> Query:
    """Selects (after, up to) of the gaps over which a volume is spread, in order. Each has derived
    readings at the ends of hours: those in the hours from ``low`` to ``high`` are looked up."""
    register = f"FROM {REGISTER.name} AS g WHERE g.device_id = d.device_id AND g.ts"
    return Query(
        "SELECT DISTINCT s.after_ms, s.up_to_ms FROM"
        f" (SELECT (SELECT MAX(g.ts) {register} < d.ts) AS after_ms,"
        f" (SELECT MIN(g.ts) {register} >= d.ts) AS up_to_ms"
        f" FROM {HOUR_COUNTER.name} AS h CROSS JOIN {READING.name} AS d"
        " WHERE h.device_id = ? AND h.ts >= ? AND h.ts <= ? AND d.device_id = h.device_id"
        f" AND d.ts = h.ts + {HOUR_MS - 1} AND d.seq = {DERIVED_SEQ}"
        " AND d.flow_amount IS NOT NULL) AS s"
        " WHERE s.up_to_ms - s.after_ms > ? ORDER BY s.after_ms",
        (device_key, low, high, longer_than_ms),
    )


def first(device_key: int) -> Query:
    """Selects a device's first register: no row for a device that has none."""
    sql = f"SELECT ts FROM {REGISTER.name} WHERE device_id = ? ORDER BY ts LIMIT 1"
    return Query(sql, (device_key,))


def forget(dialect: Dialect, device_key: int, instants: Sequence[int]) -> Query:
    return _delete(dialect, REGISTER.name, device_key, instants)


def derived(device_key: int, low: int, high: int) -> Query:
    """Returns (device_id, ts, values…, seq) of the derived readings in [low, high]."""
    rows = between(device_key, low, high)
    return Query(
        f"SELECT device_id, ts, {_VALUES}, seq FROM {READING.name}"
        f" WHERE {rows.sql} AND seq = {DERIVED_SEQ}",
        rows.params,
    )


def forget_derived(dialect: Dialect, device_key: int, instants: Sequence[int]) -> Query:
    query = _delete(dialect, READING.name, device_key, instants)
    return Query(f"{query.sql} AND seq = {DERIVED_SEQ}", query.params)


def _delete(dialect: Dialect, table: str, device_key: int, instants: Sequence[int]) -> Query:
    return Query(
        f"DELETE FROM {table} WHERE device_id = ?"
        f" AND ts IN (SELECT r.ts FROM {dialect.relation(('ts',))} AS r)",
        (device_key, *dialect.bind([(ts,) for ts in instants])),
    )


def page(
    device_key: int, low: int, high: int, limit: int, offset: int, *, newest_first: bool
) -> Query:
    rows = between(device_key, low, high)
    direction = " DESC" if newest_first else ""
    return Query(
        f"SELECT {_COLUMNS} FROM {REGISTER.name} WHERE {rows.sql}"
        f" ORDER BY ts{direction} LIMIT ? OFFSET ?",
        (*rows.params, limit, offset),
    )


def before(device_key: int, ts: int) -> Query:
    """Returns the last register before an instant."""
    return _beside(device_key, "<", ts, " DESC")


def count(device_key: int, low: int, high: int) -> Query:
    rows = between(device_key, low, high)
    return Query(f"SELECT COUNT(*) FROM {REGISTER.name} WHERE {rows.sql}", rows.params)


def count_beside(device_key: int, low: int, high: int) -> Query:
    rows = between(device_key, low, high)
    return Query(
        f"SELECT COUNT(*) FROM {READING.name} WHERE {rows.sql} AND seq <> {DERIVED_SEQ}",
        rows.params,
    )


def without_volume(device_key: int, from_ms: int) -> Query:
    """Returns the instants, from ``from_ms`` on, of registers whose reading has no volume."""
    return Query(
        f"SELECT s.ts FROM {REGISTER.name} AS s JOIN {READING.name} AS d"
        f" ON d.device_id = s.device_id AND d.ts = s.ts AND d.seq = {DERIVED_SEQ}"
        " WHERE s.device_id = ? AND s.ts >= ? AND d.flow_amount IS NULL ORDER BY s.ts",
        (device_key, from_ms),
    )
