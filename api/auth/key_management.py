"""Creates and changes keys. The secret of a key is shown once, at its creation."""

from __future__ import annotations

import secrets
from typing import Any
from uuid import uuid4

from api.auth.authenticator import key_digest
from api.errors import BadRequest, UserError
from api.roles import Role
from api.store.base import AuditEntry, Grant, Key, Store
from api.timez import now_ms, stamp


def new_key(
    store: Store,
    organization_id: str,
    name: str,
    grant: Grant,
    expires_ms: int | None,
    *,
    by: str,
    ingest: bool = False,
    role: Role = Role.OPERATOR,
) -> tuple[Key, str]:
    """Creates a key. Returns it with its secret, which can't be shown again. Raises UserError if
    the grant names an unknown device or group."""
    secret, at_ms = str(uuid4()), now_ms()
    made = Key(
        f"key_{secrets.token_hex(10)}", organization_id, name, key_digest(secret), grant, at_ms,
        expires_ms, None, ingest, role,
    )  # fmt: skip
    audit = AuditEntry(
        at_ms, organization_id, by, "key", "create", made.key_id, after=described(made), reason=name
    )
    store.create_key(made, [audit])
    return made, secret


def change_key(store: Store, before: Key, after: Key, *, by: str, action: str = "change") -> None:
    """Changes a key. Raises BadRequest if the grant names an unknown device or group, and Conflict
    as `Directory.change_key` does."""
    audit = AuditEntry(
        now_ms(), before.organization_id, by, "key", action, before.key_id, described(before),
        described(after),
    )  # fmt: skip
    try:
        store.change_key(before, after, [audit])
    except UserError as error:
        raise BadRequest(f"{error}.") from None


def described(key: Key) -> dict[str, Any]:
    return {
        "keyId": key.key_id,
        "organizationId": key.organization_id,
        "name": key.name,
        "state": state(key),
        "ingest": key.ingest,
        "role": None if key.ingest else key.role.value,
        "allDevices": key.grant.everything,
        "groups": sorted(key.grant.groups),
        "devices": sorted(key.grant.devices),
        "created": stamp(key.created_ms),
        "expires": _when(key.expires_ms),
        "revoked": _when(key.revoked_ms),
    }


def _when(instant_ms: int | None) -> str | None:
    return None if instant_ms is None else stamp(instant_ms)


def state(key: Key) -> str:
    if key.revoked_ms is not None:
        return "revoked"
    return "expired" if key.expires_ms is not None and key.expires_ms <= now_ms() else "active"
