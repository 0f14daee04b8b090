"""Service API keys, for every dialect. Only the digest of a secret is stored."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Final

from api.errors import Conflict, UserError
from api.roles import Role
from api.store.audit import AuditPart
from api.store.base import Grant, Key, Row
from api.store.base.audit import AuditEntry
from api.store.dialect_interface import Transaction
from api.store.sql import directory as directory_sql
from api.store.sql import groups as group_sql
from api.store.sql import keys as sql
from api.store.tables import API_KEY, KEY_GRANT
from api.timez import now_ms

LAST: Final = "This is the last administrator's key for all devices: create another one first."
LAST_LASTING: Final = (
    "The other administrators' keys for all devices expire: create one without an expiry first."
)

# Kinds of grants. Ingest keys have their own kinds and no other mark, so that an older program,
# which doesn't know these, lets them read nothing.
_DEVICE, _GROUP = "device", "group"
_INGEST: Final = "ingest "
_EVERYTHING: Final = "everything"
_ROLE: Final = "role"  # none for keys from before roles existed: they keep their rights


class KeysPart(AuditPart):
    """The keys of `api.store.base.Directory`, for every dialect."""

    def create_key(self, key: Key, audit: Sequence[AuditEntry] = ()) -> None:
        with self.transaction() as transaction:
            transaction.lock_directory()
            self._check(transaction, key)
            transaction.insert(API_KEY, API_KEY.names, [_row(key)])
            transaction.insert(KEY_GRANT, KEY_GRANT.names, _grants(key))
            self.record_in(transaction, audit)

    def _check(self, transaction: Transaction, key: Key) -> None:
        organization_id = key.organization_id
        if key.ingest and key.grant == Grant():
            raise UserError("an ingest key needs access to a device")
        if not transaction.fetch(directory_sql.organization(organization_id)):
            raise UserError(f"no organization {organization_id}")
        if transaction.fetch(sql.clashes(key)):
            raise UserError(f"key {key.key_id} already exists")
        self._check_grant(transaction, key)

    def _check_grant(self, transaction: Transaction, key: Key) -> None:
        organization_id = key.organization_id
        ids = [device_id.lower() for device_id in key.grant.devices]
        stored_ids = transaction.fetch(directory_sql.device_ids(self.dialect, organization_id, ids))
        _require_all("device", ids, stored_ids)
        groups = transaction.fetch(group_sql.names(organization_id))
        _require_all("group", key.grant.groups, groups)

    def key(self, digest: bytes) -> Key | None:
        keys = _keys(self.fetch(sql.by_digest(digest)))
        return keys[0] if keys else None

    def named_key(self, key_id: str) -> Key | None:
        keys = _keys(self.fetch(sql.by_id(key_id)))
        return keys[0] if keys else None

    def keys(self) -> list[Key]:
        return _keys(self.fetch(sql.everyone()))

    def change_key(self, before: Key, after: Key, audit: Sequence[AuditEntry] = ()) -> None:
        with self.transaction() as transaction:
            transaction.lock_directory()
            stored = _keys(transaction.fetch(sql.by_id(before.key_id)))
            if stored != [before]:
                raise Conflict("Somebody else has changed this key meanwhile.", reason="changed")
            self._check_grant(transaction, after)
            transaction.run(sql.change(after, int(after.grant.everything and not after.ingest)))
            transaction.run(sql.forget_all_grants(after.key_id))
            transaction.insert(KEY_GRANT, KEY_GRANT.names, _grants(after))
            if _administers(before) and not (_administers(after) and _lasts_as(after, before)):
                rest = _keys(transaction.fetch(sql.of_organization(after.organization_id)))
                others = [key for key in rest if _administers(key) and key.key_id != after.key_id]
                if not any(_lasts_as(key, before) for key in others):
                    raise Conflict(LAST_LASTING if others else LAST, reason="last-administrator")
            self.record_in(transaction, audit)

    def key_uses(self) -> dict[str, int]:
        return dict((row[0], int(row[1])) for row in self.fetch(sql.uses()))

    def save_key_uses(self, uses: Mapping[str, int]) -> None:
        with self.transaction() as transaction:
            transaction.lock_directory()
            for key_id, used_ms in sorted(uses.items()):
                transaction.run(sql.save_use(key_id, used_ms))

    def revoke_key(self, key_id: str, at_ms: int, audit: Sequence[AuditEntry] = ()) -> bool:
        with self.transaction() as transaction:
            transaction.lock_directory()
            rows = _keys(transaction.fetch(sql.by_id(key_id)))
            if rows and rows[0].revoked_ms is None:
                transaction.run(sql.revoke(key_id, at_ms))
                self.record_in(transaction, audit)
            return bool(rows)

    def set_key_role(self, key_id: str, role: Role, audit: Sequence[AuditEntry] = ()) -> bool:
        with self.transaction() as transaction:
            transaction.lock_directory()
            rows = _keys(transaction.fetch(sql.by_id(key_id)))
            if not rows:
                return False
            if rows[0].ingest:
                raise UserError(f"key {key_id} only sends readings: it has no role")
            transaction.run(sql.forget_grants(key_id, _ROLE))
            transaction.insert(KEY_GRANT, KEY_GRANT.names, [(key_id, _ROLE, role.value)])
            self.record_in(transaction, audit)
            return True


def _administers(key: Key) -> bool:
    return (
        key.role.may_administer
        and not key.ingest
        and key.grant.everything
        and key.revoked_ms is None
        and (key.expires_ms is None or key.expires_ms > now_ms())
    )


def _lasts_as(key: Key, other: Key) -> bool:
    """Whether a key doesn't expire, or the other one does too: after the last expiry nobody could
    administer."""
    return key.expires_ms is None or other.expires_ms is not None


def _require_all(called: str, wanted: Iterable[str], rows: Iterable[Row]) -> None:
    missing = sorted(set(wanted) - {row[0] for row in rows})
    if missing:
        raise UserError(f"{called.capitalize()} {missing[0]}: not found in this organization")


def _row(key: Key) -> Row:
    return (
        key.key_id,
        key.organization_id,
        key.name,
        key.digest,
        int(key.grant.everything and not key.ingest),
        key.created_ms,
        key.expires_ms,
        key.revoked_ms,
    )


def _grants(key: Key) -> list[Row]:
    devices = {device_id.lower() for device_id in key.grant.devices}
    parts = [(_DEVICE, value) for value in devices]
    parts += [(_GROUP, value) for value in key.grant.groups]
    if not key.ingest:
        parts += [(_ROLE, key.role.value)]
        return [(key.key_id, kind, value) for kind, value in parts]
    parts += [(_EVERYTHING, "")] * key.grant.everything
    return [(key.key_id, _INGEST + kind, value) for kind, value in parts]


def _keys(rows: Iterable[Row]) -> list[Key]:
    return [_key(identity, list(parts)) for identity, parts in groupby(rows, itemgetter(slice(8)))]


def _key(identity: Row, parts: list[Row]) -> Key:
    key_id, organization_id, name, digest, everything, created_ms, expires_ms, revoked = identity
    granted = [(kind, value) for *_, kind, value in parts if kind is not None]
    ingest = any(kind.startswith(_INGEST) for kind, _ in granted)
    prefix = _INGEST if ingest else ""
    grant = Grant(
        everything=bool(everything) or (prefix + _EVERYTHING, "") in granted,
        groups=frozenset(value for kind, value in granted if kind == prefix + _GROUP),
        devices=frozenset(value for kind, value in granted if kind == prefix + _DEVICE),
    )
    lived = (created_ms, expires_ms, revoked)
    roles = [Role(value) for kind, value in granted if kind == _ROLE]
    role = roles[0] if roles else Role.OPERATOR
    return Key(key_id, organization_id, name, bytes(digest), grant, *lived, ingest, role)
