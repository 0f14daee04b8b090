"""Statements for the retention of raw readings. Rollups stay."""

from __future__ import annotations

from api.store.query import Query
from api.store.tables import (
    DEVICE,
    HOUR_COUNTER,
    READING,
    READING_ORIGINAL,
    REGISTER,
    RETENTION,
    UNDATED,
)

_WHAT = "raw"


def raw_from() -> Query:
    """Returns (from_ms), or no row if all readings are kept."""
    return Query(f"SELECT from_ms FROM {RETENTION.name} WHERE name = ?", (_WHAT,))


def save_raw_from(from_ms: int) -> Query:
    """Raises the limit. It never falls, since deleted readings don't come back."""
    return Query(
        f"INSERT INTO {RETENTION.name} AS kept (name, from_ms) VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET from_ms = excluded.from_ms"
        " WHERE kept.from_ms < excluded.from_ms",
        (_WHAT, from_ms),
    )


def last_hour(device_key: int) -> Query:
    """Returns (the device's last hour with readings, or null)."""
    return Query(f"SELECT MAX(ts) FROM {HOUR_COUNTER.name} WHERE device_id = ?", (device_key,))


def first(device_key: int) -> Query:
    """Returns (the device's first raw instant, or null)."""
    return Query(f"SELECT MIN(ts) FROM {READING.name} WHERE device_id = ?", (device_key,))


def count(device_key: int, low: int, high: int) -> Query:
    return Query(
        f"SELECT COUNT(*) FROM {READING.name} WHERE device_id = ? AND ts >= ? AND ts < ?",
        (device_key, low, high),
    )


def delete_raw(device_key: int, low: int, high: int) -> Query:
    """Deletes the raw readings in [low, high)."""
    return Query(
        f"DELETE FROM {READING.name} WHERE device_id = ? AND ts >= ? AND ts < ?",
        (device_key, low, high),
    )


def forget_count(device_key: int, before: int) -> Query:
    """Sets the raw count of hours to 0 where readings were deleted."""
    return Query(
        f"UPDATE {HOUR_COUNTER.name} SET n = 0 WHERE device_id = ? AND ts < ? AND n <> 0",
        (device_key, before),
    )


def forget_undated(device_key: int, before: int) -> Query:
    """Deletes the marks of deleted readings."""
    return Query(f"DELETE FROM {UNDATED.name} WHERE device_id = ? AND ts < ?", (device_key, before))


def forget_originals(device_key: int, before: int) -> Query:
    """Deletes the original values of deleted readings."""
    return Query(
        f"DELETE FROM {READING_ORIGINAL.name} WHERE device_id = ? AND ts < ?", (device_key, before)
    )


def forget_registers(device_key: int, before: int) -> Query:
    """Deletes old registers except the newest of them, from which the next one's volume is
    derived."""
    return Query(
        f"DELETE FROM {REGISTER.name} WHERE device_id = ? AND ts <"
        f" (SELECT MAX(ts) FROM {REGISTER.name} WHERE device_id = ? AND ts < ?)",
        (device_key, device_key, before),
    )


def owner(device_key: int) -> Query:
    """Returns (organization_id, serial_number)."""
    return Query(
        f"SELECT organization_id, serial_number FROM {DEVICE.name} WHERE key = ?", (device_key,)
    )
