"""Service API keys and their grants."""

from __future__ import annotations

from api.store.base import Key
from api.store.query import Query
from api.store.tables import API_KEY, KEY_GRANT, KEY_USE

_KEY = (
    "k.key_id, k.organization_id, k.name, k.digest, k.everything, k.created_ms, k.expires_ms,"
    " k.revoked_ms, g.kind, g.value"
)
_FROM = f"FROM {API_KEY.name} AS k LEFT JOIN {KEY_GRANT.name} AS g ON g.key_id = k.key_id"


def by_digest(digest: bytes) -> Query:
    """Returns a row for each part of the key's grant; one row with nulls where it has none."""
    return Query(f"SELECT {_KEY} {_FROM} WHERE k.digest = ?", (digest,))


def by_id(key_id: str) -> Query:
    """Returns the same rows as `by_digest`."""
    return Query(f"SELECT {_KEY} {_FROM} WHERE k.key_id = ?", (key_id,))


def everyone() -> Query:
    """Returns the same rows for every key, oldest key first."""
    return Query(f"SELECT {_KEY} {_FROM} ORDER BY k.created_ms, k.key_id")


def clashes(key: Key) -> Query:
    return Query(
        f"SELECT 1 FROM {API_KEY.name} WHERE key_id = ? OR digest = ?", (key.key_id, key.digest)
    )


def revoke(key_id: str, at_ms: int) -> Query:
    return Query(
        f"UPDATE {API_KEY.name} SET revoked_ms = ? WHERE key_id = ? AND revoked_ms IS NULL",
        (at_ms, key_id),
    )


def change(key: Key, everything: int) -> Query:
    return Query(
        f"UPDATE {API_KEY.name} SET name = ?, everything = ?, expires_ms = ?, revoked_ms = ?"
        " WHERE key_id = ?",
        (key.name, everything, key.expires_ms, key.revoked_ms, key.key_id),
    )


def of_organization(organization_id: str) -> Query:
    """Returns the rows of `everyone` for one organization."""
    return Query(
        f"SELECT {_KEY} {_FROM} WHERE k.organization_id = ? ORDER BY k.created_ms, k.key_id",
        (organization_id,),
    )


def forget_all_grants(key_id: str) -> Query:
    return Query(f"DELETE FROM {KEY_GRANT.name} WHERE key_id = ?", (key_id,))


def uses() -> Query:
    return Query(f"SELECT key_id, used_ms FROM {KEY_USE.name}")


def save_use(key_id: str, used_ms: int) -> Query:
    return Query(
        f"INSERT INTO {KEY_USE.name} AS kept (key_id, used_ms) VALUES (?, ?)"
        " ON CONFLICT (key_id) DO UPDATE SET used_ms = CASE"
        " WHEN excluded.used_ms > kept.used_ms THEN excluded.used_ms ELSE kept.used_ms END",
        (key_id, used_ms),
    )


def forget_grants(key_id: str, kind: str) -> Query:
    return Query(f"DELETE FROM {KEY_GRANT.name} WHERE key_id = ? AND kind = ?", (key_id, kind))
