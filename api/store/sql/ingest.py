"""Statements for writing readings: lookups, refusals and progress."""

from __future__ import annotations

from collections.abc import Sequence

from api.catalog import METRICS
from api.store.base import Progress, Refusal
from api.store.query import Dialect, Query, of_one_device
from api.store.sql.rollups import Range
from api.store.table_definition import Table
from api.store.tables import DEVICE, HOUR_COUNTER, IMPORT_PROGRESS, READING, REFUSAL, UNDATED

_VALUES = ", ".join(f"s.{metric.name}" for metric in METRICS)


def last_hours(dialect: Dialect, ranges: Sequence[Range]) -> Query:
    """Returns (device_id, last hour with readings) within each range; no row if none has."""
    return last_instants(dialect, HOUR_COUNTER, ranges)


def last_instants(dialect: Dialect, table: Table, ranges: Sequence[Range]) -> Query:
    """Returns (device_id, last instant of a row) within each range; no row if none has."""
    one = of_one_device(ranges)
    return Query(
        "SELECT s.device_id, MAX(s.ts)"
        f" FROM {dialect.relation(('device_id', 'low', 'high'))} AS r"
        f" CROSS JOIN {table.name} AS s"
        f" WHERE s.device_id = r.device_id AND s.ts >= r.low AND s.ts < r.high{one.sql}"
        " GROUP BY s.device_id",
        (*dialect.bind(ranges), *one.params),
    )


def stored_at(dialect: Dialect, instants: Sequence[tuple[int, int]]) -> Query:
    """Returns the rows (device_id, ts, values…, seq) stored at these (device, ts)."""
    one = of_one_device(instants)
    return Query(
        f"SELECT s.device_id, s.ts, {_VALUES}, s.seq"
        f" FROM {dialect.relation(('device_id', 'ts'))} AS r CROSS JOIN {READING.name} AS s"
        f" WHERE s.device_id = r.device_id AND s.ts = r.ts{one.sql}",
        (*dialect.bind(instants), *one.params),
    )


def save_undated(dialect: Dialect, instants: Sequence[tuple[int, int]]) -> Query:
    return Query(
        f"INSERT INTO {UNDATED.name} (device_id, ts) SELECT r.device_id, r.ts"
        f" FROM {dialect.relation(('device_id', 'ts'))} AS r WHERE true"
        " ON CONFLICT (device_id, ts) DO NOTHING",
        dialect.bind(instants),
    )


def clockless(organization_id: str | None) -> Query:
    """Returns (organization_id, serial_number, count, first, last) of devices with undated
    readings."""
    where = "" if organization_id is None else " WHERE d.organization_id = ?"
    return Query(
        "SELECT d.organization_id, d.serial_number, u.n, u.first_ms, u.last_ms"
        " FROM (SELECT device_id, COUNT(*) AS n, MIN(ts) AS first_ms, MAX(ts) AS last_ms"
        f" FROM {UNDATED.name} GROUP BY device_id) AS u JOIN {DEVICE.name} AS d"
        f" ON d.key = u.device_id{where}"
        " ORDER BY d.organization_id, u.n DESC, d.serial_number",
        () if organization_id is None else (organization_id,),
    )


def refusal_causes(organization_id: str) -> Query:
    return Query(
        f"SELECT source, reason, device FROM {REFUSAL.name} WHERE organization_id = ?",
        (organization_id,),
    )


def save_refusal(refusal: Refusal) -> Query:
    """Adds to the count of its (organization, source, reason, device); keeps the last sample."""
    return Query(
        f"INSERT INTO {REFUSAL.name} AS kept (organization_id, source, reason, device, count,"
        " first_seen_ms, last_seen_ms, sample) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (organization_id, source, reason, device) DO UPDATE SET"
        " count = kept.count + excluded.count,"
        " first_seen_ms = CASE WHEN excluded.first_seen_ms < kept.first_seen_ms"
        " THEN excluded.first_seen_ms ELSE kept.first_seen_ms END,"
        " last_seen_ms = CASE WHEN excluded.last_seen_ms > kept.last_seen_ms"
        " THEN excluded.last_seen_ms ELSE kept.last_seen_ms END,"
        " sample = excluded.sample",
        (
            refusal.organization_id,
            refusal.source,
            refusal.reason,
            refusal.device,
            refusal.count,
            refusal.at_ms,
            refusal.at_ms,
            refusal.sample,
        ),
    )


def refusals(organization_id: str | None) -> Query:
    """Returns every stored refusal, or one organization's, newest first."""
    where = "" if organization_id is None else " WHERE organization_id = ?"
    return Query(
        "SELECT organization_id, source, reason, device, count, first_seen_ms, last_seen_ms,"
        f" sample FROM {REFUSAL.name}{where}"
        " ORDER BY last_seen_ms DESC, organization_id, source, reason, device",
        () if organization_id is None else (organization_id,),
    )


def changed(organization_id: str | None) -> Query:
    """Selects (organization_id, serial_number, last change) of the active devices."""
    where = "" if organization_id is None else " AND organization_id = ?"
    return Query(
        f"SELECT organization_id, serial_number, updated_ms FROM {DEVICE.name} WHERE active = 1"
        f"{where}",
        () if organization_id is None else (organization_id,),
    )


def progress(digest: str, organization_id: str) -> Query:
    return Query(
        "SELECT digest, organization_id, position, stored, repeated, refused, complete"
        f" FROM {IMPORT_PROGRESS.name} WHERE digest = ? AND organization_id = ?",
        (digest, organization_id),
    )


def save_progress(progress: Progress) -> Query:
    return Query(
        f"INSERT INTO {IMPORT_PROGRESS.name}"
        " (digest, organization_id, position, stored, repeated, refused, complete)"
        " VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (digest, organization_id) DO UPDATE SET"
        " position = excluded.position, stored = excluded.stored, repeated = excluded.repeated,"
        " refused = excluded.refused, complete = excluded.complete",
        (
            progress.digest,
            progress.organization_id,
            progress.position,
            progress.stored,
            progress.repeated,
            progress.refused,
            int(progress.complete),
        ),
    )
