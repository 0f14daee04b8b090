"""Statements that delete an organization with everything of its own.

They are derived from the table definitions, so that new tables are included.
"""

from __future__ import annotations

from typing import Final

from api.store.sql.query import Query
from api.store.tables import API_KEY, DEVICE, KEY_GRANT, ORGANIZATION, READING, SMALL_TABLES, TABLES

_KEYS: Final = ("device_id", "device_key", "ancestor_key")


def device_keys(organization_id: str) -> Query:
    return Query(f"SELECT key FROM {DEVICE.name} WHERE organization_id = ?", (organization_id,))


def count_readings(device_key: int) -> Query:
    return Query(f"SELECT COUNT(*) FROM {READING.name} WHERE device_id = ?", (device_key,))


def of_device(device_key: int) -> list[Query]:
    """Delete a device's rows in every table: time series, groups, status, mains and sub-meters."""
    columns = [
        (table.name, column.name)
        for table in TABLES
        for column in table.columns
        if column.name in _KEYS and column.kind == "int"  # elsewhere a device is its UUID
    ]
    return [
        Query(f"DELETE FROM {name} WHERE {column} = ?", (device_key,)) for name, column in columns
    ]


def of_organization(organization_id: str) -> list[Query]:
    """Its keys with their grants, its devices and everything else under its id, then itself."""
    params = (organization_id,)
    grants = Query(
        f"DELETE FROM {KEY_GRANT.name} WHERE key_id IN"
        f" (SELECT key_id FROM {API_KEY.name} WHERE organization_id = ?)",
        params,
    )
    tables = [table.name for table in SMALL_TABLES if "organization_id" in table.names]
    return [
        grants,
        *(Query(f"DELETE FROM {name} WHERE organization_id = ?", params) for name in tables),
        Query(f"DELETE FROM {ORGANIZATION.name} WHERE id = ?", params),
    ]
