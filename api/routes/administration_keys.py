"""``/admin/v1/keys``: access. A person is a key with that person's name."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import Any, Final

import orjson

from api.auth.key_management import change_key as store_change
from api.auth.key_management import described, new_key
from api.catalog import ADMIN_PREFIX
from api.domain.device_changes import require_whole
from api.domain.identify import storable
from api.errors import BadRequest, Conflict, NotFound, UserError, invalid_fields
from api.openapi import Operation, ref
from api.params import Query
from api.params.administration import KeyBody, VersionBody
from api.roles import Role
from api.routes.endpoint import Action, ActionCall, Call, Reply, Route
from api.routes.serialize import instant
from api.store.base import DeviceQuery, Grant, Key, Scope, Store
from api.timez import now_ms

CHANGED: Final = "Somebody else has changed this key meanwhile."


def list_keys(call: Call[Query]) -> Reply:
    require_whole(call.scope)
    assert call.principal is not None  # the route isn't public
    every_key, own = call.store.keys(), call.scope.organization_id
    keys = [key for key in every_key if key.organization_id == own]
    uses, labels = call.store.key_uses(), _labels(call.store, call.scope, keys)
    rows = [_object(key, labels, uses, call.principal.id) for key in keys]
    return Reply({"count": len(rows), "limit": len(rows), "offset": 0, "data": rows})


def _labels(store: Store, scope: Scope, keys: list[Key]) -> dict[str, str]:
    if not any(key.grant.devices for key in keys):
        return {}
    devices = store.devices(scope, DeviceQuery(active=None))
    return {device.id: device.serial_number for device in devices}


def _object(key: Key, labels: dict[str, str], uses: dict[str, int], own: str) -> dict[str, Any]:
    used_ms = uses.get(key.key_id)
    devices = [{"id": id, "serialNumber": labels.get(id, id)} for id in sorted(key.grant.devices)]
    return {
        **described(key),
        "devices": devices,
        "lastUsed": None if used_ms is None else instant(used_ms),
        "own": key.key_id == own,
        "version": version(key),
    }


def version(key: Key) -> str:
    """Returns a text that differs between any two states of a key, except for its expiry by
    time."""
    state = {name: value for name, value in described(key).items() if name != "state"}
    return hashlib.sha256(orjson.dumps(state)).hexdigest()[:16]


def create_key(call: ActionCall[KeyBody]) -> Reply:
    require_whole(call.scope)
    body = call.body
    _future(body.expires_ms)
    if body.ingest and body.role is not None:
        raise invalid_fields(role="has no meaning for a key that only sends readings")
    organization_id = call.scope.organization_id
    try:
        made, secret = new_key(
            call.store, organization_id, body.name or "", _grant(call), body.expires_ms,
            by=call.by, ingest=body.ingest, role=body.role or Role.OPERATOR,
        )  # fmt: skip
    except UserError as error:
        raise BadRequest(f"{error}.") from None
    return Reply({**_one(call, made), "key": secret})


def change_key(call: ActionCall[KeyBody]) -> Reply:
    require_whole(call.scope)
    before, body, given = _stored(call), call.body, call.body.model_fields_set
    if before.revoked_ms is not None:
        raise Conflict("The key is revoked: create another one.")
    if "ingest" in given and body.ingest != before.ingest:
        raise invalid_fields(ingest="can't be changed: create another key")
    after = before
    if "name" in given:
        after = replace(after, name=body.name or "")
    if body.role is not None:
        if before.ingest:
            raise invalid_fields(role="has no meaning for a key that only sends readings")
        after = replace(after, role=body.role)
    if "expires_ms" in given:
        _future(body.expires_ms)
        after = replace(after, expires_ms=body.expires_ms)
    if given & {"all_devices", "groups", "devices"}:
        after = replace(after, grant=_grant(call))
        if after.ingest and after.grant == Grant():
            raise invalid_fields(devices="is required: a key that sends readings needs a device")
    if after != before:
        store_change(call.store, before, after, by=call.by)
    return Reply(_one(call, after))


def revoke_key(call: ActionCall[VersionBody]) -> Reply:
    require_whole(call.scope)
    before = _stored(call)
    after = before
    if before.revoked_ms is None:
        after = replace(before, revoked_ms=call.now_ms)
        store_change(call.store, before, after, by=call.by, action="revoke")
    return Reply(_one(call, after))


def _one(call: ActionCall[Any], key: Key) -> dict[str, Any]:
    return _object(key, _labels(call.store, call.scope, [key]), call.store.key_uses(), call.by)


def _stored(call: ActionCall[Any]) -> Key:
    """Raises NotFound where the organization has no such key, Conflict where it has changed since
    the editor read it."""
    key = call.store.named_key(call.identifier) if storable(call.identifier) else None
    if key is None or key.organization_id != call.scope.organization_id:
        raise NotFound("Key not found.")
    if call.body.version not in (None, version(key)):
        raise Conflict(CHANGED, reason="changed")
    return key


def _grant(call: ActionCall[KeyBody]) -> Grant:
    body = call.body
    identifiers = [each for each in body.devices if storable(each)]
    devices = call.store.resolve(call.scope, identifiers) if identifiers else []
    for identifier, device in zip(identifiers, devices, strict=True):
        if device is None:
            raise invalid_fields(devices=f"{identifier[:80]} was not found")
    ids = frozenset(device.id for device in devices if device is not None)
    everything = body.all_devices is True
    if everything and (body.groups or ids):
        raise invalid_fields(allDevices="can't be given together with groups or devices")
    if not everything and not body.groups and not ids:
        raise invalid_fields(devices="choose all devices, a group or a device")
    return Grant(everything, frozenset(body.groups), ids)


def _future(expires_ms: int | None) -> None:
    if expires_ms is not None and expires_ms <= now_ms():
        raise invalid_fields(expires="is in the past")


_PATH: Final = f"{ADMIN_PREFIX}/keys"
_NAMED: Final = "A Key ID."
KEY_ROUTES: Final = (
    Route(
        Operation(
            id="listKeys",
            path=_PATH,
            tag="keys",
            summary="The organization's keys, without their secrets",
            answer=ref("Keys"),
            query=Query,
        ),
        list_keys,
        role=Role.ADMINISTRATOR,
    ),
)
KEY_ACTIONS: Final = (
    Action(
        Operation(
            id="createKey",
            path=_PATH,
            tag="keys",
            summary="Creates a key; its secret is shown once",
            answer=ref("NewKey"),
            query=Query,
            body=ref("KeyBody"),
            status=201,
        ),
        create_key,
        KeyBody,
        role=Role.ADMINISTRATOR,
    ),
    Action(
        Operation(
            id="changeKey",
            path=f"{_PATH}/{{id}}",
            verb="patch",
            named=_NAMED,
            tag="keys",
            summary="Changes a key's name, scope, role or expiry, within ten seconds everywhere",
            answer=ref("Key"),
            query=Query,
            body=ref("KeyBody"),
        ),
        change_key,
        KeyBody,
        role=Role.ADMINISTRATOR,
    ),
    Action(
        Operation(
            id="revokeKey",
            path=f"{_PATH}/{{id}}/revoke",
            named=_NAMED,
            tag="keys",
            summary="Ends a key for good, within ten seconds everywhere",
            answer=ref("Key"),
            query=Query,
            body=ref("VersionBody"),
        ),
        revoke_key,
        VersionBody,
        role=Role.ADMINISTRATOR,
    ),
)
