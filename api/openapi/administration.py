"""The schemas of the administration's requests and responses."""

from __future__ import annotations

from typing import Any, Final

from api.catalog import BACKEND_VERSION, UNIT_SYSTEMS
from api.domain.device_fields import FIELDS, EditableField
from api.openapi.components import (
    ANYTHING,
    BOOLEAN,
    COMPONENTS,
    INSTANT,
    NUMBER,
    STRING,
    Schema,
    array,
    nullable,
    one_of,
    page_of,
    record,
    ref,
)
from api.openapi.document import Info
from api.roles import Role

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


_VALUES: Final = {field.name: _schema(field) for field in FIELDS}
_SEEN: Final = INSTANT | {
    "description": "The value as it was read; the change is refused if it has changed since."
}
_VERSION: Final = STRING | {
    "description": "The value as it was read; the change is refused if it has changed since."
}
_ORGANIZATION: Final[dict[str, Schema]] = {
    "name": STRING,
    "price": nullable(NUMBER)
    | {"description": "Per gallon, for devices without a price of their own."},
    "currency": STRING | {"description": "The currency of prices that name none, such as EUR."},
    "zone": STRING | {"description": "The time zone of new devices."},
    "units": one_of(UNIT_SYSTEMS) | {"description": "The units of readers who haven't chosen any."},
    "holidays": array(STRING) | {"description": "Days that count as Sundays: 2026-12-25."},
    "updated": _SEEN,
}
_KEY: Final[dict[str, Schema]] = {
    "keyId": STRING,
    "organizationId": STRING,
    "name": STRING,
    "state": one_of(("active", "expired", "revoked")),
    "ingest": BOOLEAN | {"description": "The key only sends readings, and has no role."},
    "role": nullable(one_of(tuple(role.value for role in Role))),
    "allDevices": BOOLEAN,
    "groups": array(STRING),
    "devices": array(record({"id": STRING, "serialNumber": STRING})),
    "created": INSTANT,
    "expires": nullable(INSTANT),
    "revoked": nullable(INSTANT),
    "lastUsed": nullable(INSTANT) | {"description": "Exact to a few minutes."},
    "own": BOOLEAN | {"description": "Whether this is the key of this request."},
    "version": STRING,
}
_EXCHANGE: Final = _optional(
    {"at": INSTANT, "first": NUMBER, "last": nullable(NUMBER)}, "at", "first"
)

_COMPONENTS: Final[dict[str, Any]] = {
    "AdminOrganization": record({"id": STRING, **_ORGANIZATION}),
    "OrganizationBody": _optional(_ORGANIZATION),
    "DemoFleet": record(
        {
            "state": one_of(("none", "filling", "complete", "removing")),
            "share": NUMBER | {"description": "The share of its history that is stored, 0 to 1."},
            "possible": BOOLEAN | {"description": "The store is empty, so it can be requested."},
            "writer": BOOLEAN | {"description": "The process that creates it is running."},
        },
        optional=("writer",),
    ),
    "DemoBody": ANYTHING,
    "RemoveDemoBody": record({"confirm": STRING | {"description": "demo"}}),
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
    "AdminDevices": page_of("AdminDevice"),
    "DeviceField": record(
        {
            "name": STRING, "label": STRING, "section": STRING, "kind": STRING, "unit": STRING,
            "hint": STRING, "choices": array(STRING), "required": BOOLEAN, "inGrid": BOOLEAN,
        }
    ),
    "DeviceFields": page_of("DeviceField"),
    "DeviceValues": _optional(_VALUES) | {"description": "null clears a value."},
    "NewDeviceBody": _optional({"serialNumber": STRING, "set": ref("DeviceValues")},
                               "serialNumber"),
    "DevicesBody": _optional(
        {
            "devices": array(STRING) | {"description": "UUIDs."},
            "updated": array(INSTANT) | {"description": "updated of each device as it was read."},
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
            "last": nullable(NUMBER) | {"description": "The old meter's last register."},
            "first": NUMBER | {"description": "The new meter's first register; default 0."},
            "networkUniqueIdentifier": nullable(STRING),
            "updated": _SEEN,
        },
        "at",
    ),
    "UndoExchangeBody": _optional({"at": INSTANT, "updated": _SEEN}, "at"),
    "DeviceFile": record({"csv": STRING}),
    "DeviceFileBody": _optional(
        {"csv": STRING, "preview": BOOLEAN | {"description": "Default true: change nothing."}},
        "csv",
    ),
    "DeviceFileResult": record(
        {
            "preview": BOOLEAN, "created": NUMBER, "changed": NUMBER, "unchanged": NUMBER,
            "refused": NUMBER, "rows": array(ref("DeviceFileRow")),
            "at": nullable(INSTANT) | {"description": "Of the import, to undo it."},
        }
    ),
    "UndoDeviceFileBody": record({"at": INSTANT}),
    "UndoneDeviceFile": record({"restored": NUMBER, "deleted": NUMBER, "stay": array(STRING)}),
    "DeviceFileRow": record(
        {
            "line": NUMBER,
            "serialNumber": STRING,
            "deed": one_of(("create", "change", "refused")),
            "problem": nullable(STRING),
            "changes": array(ANYTHING) | {"description": "field, before, after."},
        }
    ),
    "AdminGroup": record(
        {"name": STRING, "devices": NUMBER, "inactive": NUMBER, "keys": array(STRING)}
    ),
    "AdminGroups": page_of("AdminGroup"),
    "NewGroupBody": record({"name": STRING, "devices": array(STRING)}),
    "GroupBody": _optional(
        {"name": STRING, "newName": STRING, "add": array(STRING), "remove": array(STRING)}, "name"
    ),
    "ChangedGroup": _optional({"name": STRING, "devices": NUMBER, "changed": NUMBER},
                              "name", "devices"),
    "GroupNameBody": record({"name": STRING}),
    "Key": record(_KEY),
    "NewKey": record({**_KEY, "key": STRING | {"description": "The secret, shown once."}}),
    "Keys": page_of("Key"),
    "KeyBody": _optional(
        {
            "name": STRING,
            "role": one_of(tuple(role.value for role in Role)),
            "ingest": BOOLEAN,
            "allDevices": BOOLEAN,
            "groups": array(STRING),
            "devices": array(STRING) | {"description": "Devices by any identifier."},
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
                        "exists": BOOLEAN | {"description": "Whether there is such a device now."},
                    }
                )
            ),
            "suspicious": array(
                record(
                    {
                        "device": STRING, "reason": STRING, "first": INSTANT, "last": INSTANT,
                        "sample": STRING,
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
            "topic": STRING | {"description": "The topic of a device's readings."},
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
        "keys": "Keys, roles and scopes.",
        "quality": "Readings that were refused or have no time.",
        "service": "The service itself.",
    },
    schemas=_COMPONENTS,
    document_tag="service",
)
