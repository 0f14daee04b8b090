"""The schemas of the responses, in OpenAPI 3.0: one named component for each object.

Written in the document's own dialect (``nullable``), and derived from the catalog where it has the
rows. Responses aren't validated against these at run time; tests do that.
"""

from __future__ import annotations

from typing import Any, Final

from api.catalog import (
    CATEGORIES,
    DEVICE_FIELDS,
    METRICS,
    RESOLUTIONS,
    STORED,
    FieldKind,
    Resolution,
)

Schema = dict[str, Any]

STRING: Final[Schema] = {"type": "string"}
NUMBER: Final[Schema] = {"type": "number"}
BOOLEAN: Final[Schema] = {"type": "boolean"}
INSTANT: Final[Schema] = {"type": "string", "format": "date-time"}
UUID: Final[Schema] = {"type": "string", "format": "uuid"}
ANYTHING: Final[Schema] = {"type": "object", "additionalProperties": True}


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def nullable(schema: Schema) -> Schema:
    return (
        {"allOf": [schema], "nullable": True} if "$ref" in schema else schema | {"nullable": True}
    )


def array(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def one_of(values: tuple[str, ...]) -> Schema:
    return {"type": "string", "enum": list(values)}


def page_of(name: str) -> Schema:
    return record({"count": NUMBER, "limit": NUMBER, "offset": NUMBER, "data": array(ref(name))})


def record(
    properties: dict[str, Schema], optional: tuple[str, ...] = (), about: str = ""
) -> Schema:
    """Returns the schema of an object; all properties are required except the optional ones."""
    schema: Schema = {"type": "object", "properties": properties}
    required = [name for name in properties if name not in optional]
    if required:
        schema["required"] = required
    return schema | ({"description": about} if about else {})


def _names(resolutions: tuple[Resolution, ...]) -> tuple[str, ...]:
    return tuple(resolution.name for resolution in resolutions)


_RESOLUTION: Final = one_of(_names(RESOLUTIONS))
_ZONE: Final = nullable(STRING) | {"description": "The IANA zone applied, if any."}
_COUNTED: Final = NUMBER | {"description": "The number of rows; present when count=true."}

# --- Rows ----------------------------------------------------------------------------------------


def _about_rows() -> str:
    columns = "; ".join(f"{r.name}: {', '.join(r.columns)}" for r in RESOLUTIONS)
    units = ", ".join(f"{metric.name} in {metric.unit}" for metric in METRICS)
    return f"The columns by resolution are {columns}. A value may be null. Units: {units}."


_ROW: Final[Schema] = {
    "type": "object",
    "description": _about_rows(),
    "additionalProperties": {
        "anyOf": [STRING, NUMBER],
        "nullable": True,
    },
}

# --- The directory -------------------------------------------------------------------------------

_KINDS: Final[dict[FieldKind, Schema]] = {
    "text": STRING,
    "flag": BOOLEAN,
    "instant": INSTANT,
    "object": ANYTHING,
    "texts": array(STRING),
    "number": NUMBER,
}
_DEVICE_DETAILS: Final[dict[str, Schema]] = {
    "category": one_of(CATEGORIES),
    "config": nullable(ANYTHING),
}


def _device() -> Schema:
    properties = {f.name: _DEVICE_DETAILS.get(f.name, _KINDS[f.kind]) for f in DEVICE_FIELDS}
    return record(properties, tuple(f.name for f in DEVICE_FIELDS if not f.required))


_ORGANIZATION: Final = record(
    {
        "id": STRING,
        "name": STRING,
        "active": BOOLEAN,
        "created": INSTANT,
        "updated": INSTANT,
        "defaultCostPerGallon": NUMBER,
        "accountOrganizations": ANYTHING,
        "subscriptions": ANYTHING,
    },
    optional=("active", "updated", "defaultCostPerGallon", "accountOrganizations", "subscriptions"),
)

# --- Billing: described for generated clients, returned by no endpoint ----------------------------

_INTERVAL: Final = one_of(("MONTHLY", "ANNUAL"))
_BILLING: Final[dict[str, Schema]] = {
    "DevicePreviewResponse": record(
        {
            "preview": nullable(ANYTHING)
            | {"description": "null when no subscription would be created"},
            "planKey": nullable(STRING),
            "billingInterval": _INTERVAL,
            "additional": nullable(ANYTHING),
            "plan": nullable(ANYTHING),
        },
        optional=("preview", "planKey", "additional", "plan"),
    ),
    "TransferDeviceBillingStatus": record(
        {
            "sourceSubscriptionsCanceled": BOOLEAN,
            "targetSubscriptionCreated": BOOLEAN,
            "errors": array(STRING),
        }
    ),
    "TransferDeviceResponseDto": record(
        {"device": ref("Device"), "billing": ref("TransferDeviceBillingStatus")}
    ),
    "TransferDevicePreviewResponseDto": record(
        {
            "preview": ANYTHING,
            "planKey": nullable(STRING),
            "billingInterval": STRING,
            "additional": ANYTHING,
            "plan": ANYTHING,
            "sourceSubscription": ANYTHING,
        }
    ),
}

# --- Everything ----------------------------------------------------------------------------------

COMPONENTS: Final[dict[str, Schema]] = {
    "VersionResponse": record({"version": STRING}),
    "Organization": _ORGANIZATION,
    "Device": _device(),
    "PaginatedDeviceResponse": record({"data": array(ref("Device")), "total": NUMBER}),
    "DatapointsResponse": record(
        {
            "resolution": _RESOLUTION,
            "timezone": _ZONE,
            "limit": NUMBER | {"description": "The page size; always 1 for total."},
            "offset": NUMBER | {"description": "The number of rows skipped; always 0 for total."},
            "data": array(_ROW),
            "count": _COUNTED,
        },
        optional=("timezone", "limit", "offset", "data", "count"),
        about="With count=true only resolution and count.",
    ),
    "AdaptiveResponse": record(
        {
            "resolution": _RESOLUTION,
            "count": NUMBER | {"description": "All rows at this resolution in the range."},
            "truncated": BOOLEAN
            | {"description": "Even 1hour has more than maxDatapoints rows; data is capped."},
            "timezone": _ZONE,
            "data": array(_ROW),
        }
    ),
    "LatestResponse": record(
        {
            "range": record({"from": INSTANT, "to": INSTANT}),
            "qualityResolution": nullable(STRING),
            "uptimeResolution": nullable(one_of(_names(STORED))),
            "expectedBuckets": NUMBER,
            "data": array(ref("LatestEntry")),
        }
    ),
    "LatestEntry": record(
        {
            "deviceId": UUID,
            "serialNumber": STRING,
            "networkUniqueIdentifier": STRING,
            "lastSeen": nullable(INSTANT),
            "uptime": record({"actual": NUMBER, "expected": NUMBER}),
            "quality": record({"min": nullable(NUMBER), "max": nullable(NUMBER)}),
            "lastDatapoint": nullable(ref("LatestDatapoint")),
        },
        optional=("lastSeen", "uptime", "quality", "lastDatapoint"),
        about="Contains only the requested metrics.",
    ),
    "LatestDatapoint": record(
        {"recordedAt": INSTANT, **{metric.field: nullable(NUMBER) for metric in METRICS}}
    ),
    **_BILLING,
    "Problem": record(
        {
            "type": STRING | {"description": "urn:weir:problem:<code>"},
            "title": STRING,
            "status": NUMBER,
            "detail": STRING,
            "instance": STRING | {"description": "The request's id, as in Request-Id."},
            "errors": array(record({"parameter": STRING, "detail": STRING})),
        },
        optional=("errors",),
        about="RFC 9457; errors lists every invalid parameter.",
    ),
}
