"""The shapes of the administration's bodies and answers."""

from __future__ import annotations

from typing import Any, Final

from api.catalog import BACKEND_VERSION
from api.domain.device_fields import FIELDS, EditableField
from api.openapi.components import (
    BOOLEAN,
    COMPONENTS,
    INSTANT,
    NUMBER,
    STRING,
    Schema,
    array,
    nullable,
    one_of,
    record,
    ref,
)
from api.openapi.document import Info
from api.roles import Role

_OBJECT: Final[Schema] = {"type": "object", "additionalProperties": True}
_TYPES: Final[dict[str, Schema]] = {
    "text": STRING, "zone": STRING, "number": NUMBER, "flag": BOOLEAN, "instant": INSTANT,
    "list": array(STRING),
}  # fmt: skip


def _schema(field: EditableField) -> Schema:
    schema = one_of(field.choices) if field.kind == "choice" else _TYPES[field.kind]
    about = " ".join(part for part in (f"{field.label}.", field.hint) if part)
    return (schema if field.required or field.kind == "list" else nullable(schema)) | {
        "description": about
    }


def _optional(fields: dict[str, Schema], *required: str) -> Schema:
    return record(fields, optional=tuple(name for name in fields if name not in required))


def _page(of: str) -> Schema:
    return record({"count": NUMBER, "limit": NUMBER, "offset": NUMBER, "data": array(ref(of))})


_VALUES: Final = {field.name: _schema(field) for field in FIELDS}
_SEEN: Final = INSTANT | {"description": "As it was read; refused if it has changed since."}
_VERSION: Final = STRING | {"description": "As it was read; refused if it has changed since."}
_ORGANIZATION: Final[dict[str, Schema]] = {
    "name": STRING,
    "price": nullable(NUMBER) | {"description": "Per gallon, of devices without their own."},
    "currency": STRING | {"description": "Of prices that name none, such as EUR."},
    "zone": STRING | {"description": "Of new devices."},
    "holidays": array(STRING) | {"description": "Days that count as Sundays: 2026-12-25."},
    "updated": _SEEN,
}
_KEY: Final[dict[str, Schema]] = {
    "keyId": STRING,
    "organizationId": STRING,
    "name": STRING,
    "state": one_of(("active", "expired", "revoked")),
    "ingest": BOOLEAN | {"description": "It only sends readings, and has no role."},
    "role": nullable(one_of(tuple(role.value for role in Role))),
    "allDevices": BOOLEAN,
    "groups": array(STRING),
    "devices": array(record({"id": STRING, "serialNumber": STRING})),
    "created": INSTANT,
    "expires": nullable(INSTANT),
    "revoked": nullable(INSTANT),
    "lastUsed": nullable(INSTANT) | {"description": "Exact to a few minutes."},
    "own": BOOLEAN | {"description": "The key of this request."},
    "version": STRING,
}
_EXCHANGE: Final = _optional(
    {"at": INSTANT, "first": NUMBER, "last": nullable(NUMBER)}, "at", "first"
)

_COMPONENTS: Final[dict[str, Any]] = {
    "AdminOrganization": record({"id": STRING, **_ORGANIZATION}),
    "OrganizationBody": _optional(_ORGANIZATION),
    "AdminDevice": record(
        {
            "id": STRING,
            "serialNumber": STRING,
            "updated": INSTANT,
            "created": INSTANT,
            **_VALUES,
            "exchanges": array(_EXCHANGE),
        }
    ),
    "AdminDevices": _page("AdminDevice"),
    "DeviceField": record(
        {
            "name": STRING, "label": STRING, "section": STRING, "kind": STRING, "hint": STRING,
            "choices": array(STRING), "required": BOOLEAN, "inGrid": BOOLEAN,
        }
    ),
    "DeviceFields": _page("DeviceField"),
    "DeviceValues": _optional(_VALUES) | {"description": "null takes a value back."},
    "NewDeviceBody": _optional({"serialNumber": STRING, "set": ref("DeviceValues")},
                               "serialNumber"),
    "DevicesBody": _optional(
        {
            "devices": array(STRING) | {"description": "UUIDs."},
            "updated": array(INSTANT) | {"description": "Of each of devices, as they were read."},
            "set": ref("DeviceValues"),
            "reason": STRING,
        },
        "devices", "set",
    ),
    "ChangedDevices": record({"changed": NUMBER, "data": array(ref("AdminDevice"))}),
    "DeviceExtent": record(
        {
            "id": STRING, "serialNumber": STRING, "label": STRING, "readings": NUMBER,
            "first": nullable(INSTANT), "last": nullable(INSTANT),
        }
    ),
    "DeleteDeviceBody": _optional({"serialNumber": STRING, "reason": STRING}, "serialNumber"),
    "DeletedDevice": record({"id": STRING, "readings": NUMBER}),
    "ExchangeBody": _optional(
        {
            "at": INSTANT,
            "last": nullable(NUMBER) | {"description": "Of the old meter's register."},
            "first": NUMBER | {"description": "Of the new meter's register; default 0."},
            "networkUniqueIdentifier": nullable(STRING),
            "updated": _SEEN,
        },
        "at",
    ),
    "UndoExchangeBody": _optional({"at": STRING, "updated": _SEEN}, "at"),
    "DeviceFile": record({"csv": STRING}),
    "DeviceFileBody": _optional(
        {"csv": STRING, "preview": BOOLEAN | {"description": "Default true: change nothing."}},
        "csv",
    ),
    "DeviceFileResult": record(
        {
            "preview": BOOLEAN, "created": NUMBER, "changed": NUMBER, "unchanged": NUMBER,
            "refused": NUMBER, "rows": array(ref("DeviceFileRow")),
        }
    ),
    "DeviceFileRow": record(
        {
            "line": NUMBER,
            "serialNumber": STRING,
            "deed": one_of(("create", "change", "refused")),
            "problem": nullable(STRING),
            "changes": array(_OBJECT) | {"description": "field, before, after."},
        }
    ),
    "AdminGroup": record(
        {"name": STRING, "devices": NUMBER, "inactive": NUMBER, "keys": array(STRING)}
    ),
    "AdminGroups": _page("AdminGroup"),
    "NewGroupBody": record({"name": STRING, "devices": array(STRING)}),
    "GroupBody": _optional(
        {"name": STRING, "newName": STRING, "add": array(STRING), "remove": array(STRING)}, "name"
    ),
    "ChangedGroup": _optional({"name": STRING, "devices": NUMBER, "changed": NUMBER},
                              "name", "devices"),
    "GroupNameBody": record({"name": STRING}),
    "Key": record(_KEY),
    "NewKey": record({**_KEY, "key": STRING | {"description": "The secret, shown once."}}),
    "Keys": _page("Key"),
    "KeyBody": _optional(
        {
            "name": STRING,
            "role": one_of(tuple(role.value for role in Role)),
            "ingest": BOOLEAN,
            "allDevices": BOOLEAN,
            "groups": array(STRING),
            "devices": array(STRING) | {"description": "By any identifier."},
            "expires": nullable(INSTANT),
            "version": _VERSION,
        }
    ),
    "VersionBody": _optional({"version": _VERSION}),
    "Quality": record(
        {
            "refused": NUMBER,
            "refusals": array(
                record(
                    {
                        "source": STRING, "reason": STRING, "device": STRING, "count": NUMBER,
                        "first": INSTANT, "last": INSTANT, "sample": STRING,
                    }
                )
            ),
            "undated": array(
                record({"device": STRING, "count": NUMBER, "first": INSTANT, "last": INSTANT})
            ),
        }
    ),
    "Reception": record(
        {
            "topic": STRING | {"description": "Where a device publishes its readings."},
            "devices": NUMBER, "refused": NUMBER, "writer": BOOLEAN, "broker": BOOLEAN,
            "problem": STRING, "lastMessage": nullable(INSTANT),
        }
    ),
    "Problem": COMPONENTS["Problem"],
}  # fmt: skip

ADMIN_INFO: Final = Info(
    title="Weir administration",
    description="Organization, devices, groups and keys, for administrators."
    f" Served by Weir {BACKEND_VERSION}.",
    tags={
        "organization": "Name, price, zone and holidays.",
        "devices": "Devices and their fields.",
        "groups": "Groups of devices.",
        "keys": "Who may do what.",
        "quality": "Readings that were refused or have no time.",
        "service": "The service itself.",
    },
    schemas=_COMPONENTS,
    document_tag="service",
)
