"""The schemas of notes, maintenance, corrections and of the audit log."""

from __future__ import annotations

from typing import Any, Final

from api.catalog import METRICS
from api.domain.annotations import EXCLUDE, SCALE
from api.metering.maintenance import Repeat
from api.openapi.components import (
    INSTANT,
    NUMBER,
    STRING,
    UUID,
    Schema,
    array,
    nullable,
    one_of,
    page_of,
    record,
    ref,
)
from api.store.base import AnnotationKind

_METRIC: Final = one_of(tuple(metric.name for metric in METRICS))
_REPEAT: Final = nullable(one_of(tuple(repeat.value for repeat in Repeat if repeat.value)))
_TEXT: Final = STRING | {"minLength": 1, "maxLength": 2_000}
_COMMON: Final[dict[str, Schema]] = {
    "kind": one_of(tuple(AnnotationKind)),
    "id": UUID,
    "deviceId": nullable(UUID) | {"description": "null: of a group."},
    "serialNumber": nullable(STRING),
    "group": nullable(STRING),
    "from": INSTANT,
    "to": nullable(INSTANT) | {"description": "Exclusive. null: an instant."},
    "created": INSTANT,
    "createdBy": STRING,
    "changed": nullable(INSTANT),
    "changedBy": nullable(STRING),
}
_MAINTENANCE: Final[dict[str, Schema]] = {
    "reason": STRING,
    "repeat": _REPEAT,
    "until": nullable(INSTANT),
    "zone": STRING | {"description": "The time zone in which it repeats."},
}
_CORRECTION: Final[dict[str, Schema]] = {
    "reason": STRING,
    "metrics": array(_METRIC),
    "effect": one_of((EXCLUDE, SCALE)),
    "factor": nullable(NUMBER),
    "state": one_of(("in-force", "revoked")),
    "revoked": nullable(INSTANT),
    "revokedBy": nullable(STRING),
    "revokeReason": nullable(STRING),
}
_WHOSE: Final[dict[str, Schema]] = {
    "device": STRING | {"description": "Any identifier. Send a device or a group."},
    "group": STRING,
}
_VALUES: Final = record({metric.name: nullable(NUMBER) for metric in METRICS})
_CORRECTION_BODY: Final[dict[str, Schema]] = {
    "device": STRING,
    "from": INSTANT,
    "to": INSTANT,
    "effect": one_of((EXCLUDE, SCALE)),
    "factor": NUMBER | {"description": "To scale."},
    "metrics": array(_METRIC)
    | {"description": "Default: all metrics if excluded; flow rate and volume if scaled."},
    "reason": _TEXT,
}


def _some(fields: dict[str, Schema]) -> Schema:
    return record(fields, optional=tuple(fields))


ANNOTATION_COMPONENTS: Final[dict[str, Any]] = {
    "Annotation": {"oneOf": [ref("Note"), ref("Maintenance"), ref("Correction")]},
    "AnnotationPage": page_of("Annotation"),
    "Note": record(_COMMON | {"text": STRING}),
    "NotePage": page_of("Note"),
    "NoteBody": record(
        _WHOSE | {"from": INSTANT, "to": nullable(INSTANT), "text": _TEXT},
        optional=("device", "group", "to"),
    ),
    "NoteChanges": _some({"from": INSTANT, "to": nullable(INSTANT), "text": _TEXT}),
    "Maintenance": record(_COMMON | _MAINTENANCE),
    "MaintenancePage": page_of("Maintenance"),
    "MaintenanceBody": record(
        _WHOSE
        | {
            "from": INSTANT,
            "to": INSTANT,
            "reason": _TEXT,
            "repeat": _REPEAT,
            "until": nullable(INSTANT),
            "zone": STRING,
        },
        optional=("device", "group", "repeat", "until", "zone"),
    ),
    "MaintenanceChanges": _some(
        {
            "from": INSTANT,
            "to": INSTANT,
            "reason": _TEXT,
            "repeat": _REPEAT,
            "until": nullable(INSTANT),
        }
    ),
    "Correction": record(_COMMON | _CORRECTION),
    "CorrectionPage": page_of("Correction"),
    "CorrectionBody": record(_CORRECTION_BODY, optional=("factor", "metrics")),
    "CorrectionPreview": record(
        {
            "readings": NUMBER,
            "values": NUMBER | {"description": "Readings that have one of the metrics."},
            "gallons": record({"before": nullable(NUMBER), "after": nullable(NUMBER)}),
        }
    ),
    "CorrectedReadings": record(
        {"data": array(record({"recorded_at": INSTANT, "original": _VALUES, "counts_as": _VALUES}))}
    ),
    "RevokeBody": record({"reason": _TEXT}),
    "AuditEntry": record(
        {
            "id": STRING,
            "at": INSTANT,
            "author": STRING,
            "kind": STRING,
            "action": STRING,
            "subject": STRING,
            "before": nullable({"type": "object"}),
            "after": nullable({"type": "object"}),
            "reason": STRING,
        }
    ),
    "AuditPage": page_of("AuditEntry"),
}
