"""Statements that delete readings, a device, or an organization with all of its data.

Those of a device and an organization are derived from the table definitions, so that new tables are
included.
"""

from __future__ import annotations

from typing import Final

from api.store.alert_tables import ALERT_SILENCE
from api.store.query import Query
from api.store.table_definition import Table
from api.store.tables import (
    API_KEY,
    AUDIT,
    BILLING,
    DEVICE,
    INSIGHT_SETTING,
    KEY_GRANT,
    KEY_USE,
    ORGANIZATION,
    READING,
    READING_ORIGINAL,
    REGISTER,
    SMALL_TABLES,
    TABLES,
    TIME_SERIES,
    UNDATED,
)

_KEYS: Final = ("device_id", "device_key", "ancestor_key")


def device_keys(organization_id: str) -> Query:
    return Query(f"SELECT key FROM {DEVICE.name} WHERE organization_id = ?", (organization_id,))


def device_of_key(device_key: int) -> Query:
    return Query(f"SELECT key FROM {DEVICE.name} WHERE key = ?", (device_key,))


def count_readings(device_key: int) -> Query:
    return Query(f"SELECT COUNT(*) FROM {READING.name} WHERE device_id = ?", (device_key,))


def readings(device_key: int, low: int, high: int) -> list[Query]:
    """Deletes the raw readings in [low, high), and the rows stored beside them."""
    return [
        Query(
            f"DELETE FROM {table.name} WHERE device_id = ? AND ts >= ? AND ts < ?",
            (device_key, low, high),
        )
        for table in (READING, READING_ORIGINAL, UNDATED, REGISTER)
    ]


def instant_after(table: Table, device_key: int, rows: int) -> Query:
    """The instant of the row that follows so many rows of a device; nothing if there are fewer."""
    return Query(
        f"SELECT ts FROM {table.name} WHERE device_id = ? ORDER BY ts LIMIT 1 OFFSET ?",
        (device_key, rows),
    )


def up_to(table: Table, device_key: int, instant: int) -> Query:
    """Deletes the device's rows up to and including the instant."""
    return Query(f"DELETE FROM {table.name} WHERE device_id = ? AND ts <= ?", (device_key, instant))


def of_device(device_key: int, *, series: bool = True) -> list[Query]:
    """Deletes a device's rows in every table: time series, groups, status, mains and sub-meters."""
    columns = [
        (table.name, column.name)
        for table in TABLES
        if series or table not in TIME_SERIES
        for column in table.columns
        if column.name in _KEYS and column.kind == "int"  # in the other tables a device is its UUID
    ]
    return [
        Query(f"DELETE FROM {name} WHERE {column} = ?", (device_key,)) for name, column in columns
    ]


def device(device_key: int, device_id: str) -> list[Query]:
    """Deletes the rows that name the device in the directory, and the device itself."""
    return [
        Query(
            f"DELETE FROM {KEY_GRANT.name} WHERE kind IN ('device', 'ingest device') AND value = ?",
            (device_id,),
        ),
        Query(
            f"DELETE FROM {INSIGHT_SETTING.name} WHERE level = 'device' AND target = ?",
            (device_id,),
        ),
        Query(f"DELETE FROM {ALERT_SILENCE.name} WHERE device_id = ?", (device_id,)),
        Query(
            f"DELETE FROM {BILLING.name} WHERE kind = 'budget' AND name = ?",
            (f"device:{device_id}",),
        ),
        Query(f"DELETE FROM {DEVICE.name} WHERE key = ?", (device_key,)),
    ]


def set_active(device_key: int, active: bool, now_ms: int) -> Query:
    return Query(
        f"UPDATE {DEVICE.name} SET active = ?, updated_ms = ? WHERE key = ?",
        (int(active), now_ms, device_key),
    )


def of_organization(organization_id: str) -> list[Query]:
    """Deletes the organization's keys with their grants, its devices and everything else under its
    id, then the organization itself. Its audit log remains: it says who deleted it."""
    params = (organization_id,)
    of_keys = [
        Query(
            f"DELETE FROM {table.name} WHERE key_id IN"
            f" (SELECT key_id FROM {API_KEY.name} WHERE organization_id = ?)",
            params,
        )
        for table in (KEY_GRANT, KEY_USE)
    ]
    tables = [
        table.name
        for table in SMALL_TABLES
        if "organization_id" in table.names and table is not AUDIT
    ]
    return [
        *of_keys,
        *(Query(f"DELETE FROM {name} WHERE organization_id = ?", params) for name in tables),
        Query(f"DELETE FROM {ORGANIZATION.name} WHERE id = ?", params),
    ]
