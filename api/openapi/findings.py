"""The schemas of findings and of judgements on them."""

from __future__ import annotations

from typing import Any, Final

from api.insight.finding_dismissal import JUDGEMENT_BY_NAME
from api.insight.findings import KINDS, SEVERITIES
from api.openapi.components import (
    BOOLEAN,
    INSTANT,
    NUMBER,
    STRING,
    UUID,
    Schema,
    array,
    nullable,
    one_of,
    record,
    ref,
)
from api.store.base.findings import FINDING_STATES, LEVELS

_JUDGEMENTS: Final = tuple(JUDGEMENT_BY_NAME)
_FINDING: Final[dict[str, Schema]] = {
    "id": UUID,
    "deviceId": UUID,
    "serialNumber": STRING,
    "kind": one_of(tuple(kind.name for kind in KINDS)),
    "severity": one_of(SEVERITIES),
    "state": one_of(FINDING_STATES),
    "start": INSTANT,
    "end": nullable(INSTANT),
    "openedAt": INSTANT
    | {"description": "When the rule could first detect it, by the time of the data."},
    "value": NUMBER,
    "unit": STRING | {"description": "The unit of value and usual."},
    "usual": nullable(NUMBER),
    "gallons": nullable(NUMBER),
    "costPerDay": nullable(NUMBER) | {"description": "In the currency of the device's price."},
    "words": STRING,
}
FINDING_COMPONENTS: Final[dict[str, Any]] = {
    "Finding": record(_FINDING),
    "FindingPage": record(
        {"count": NUMBER, "limit": NUMBER, "offset": NUMBER, "data": array(ref("Finding"))}
    ),
    "FindingDetail": record(
        _FINDING
        | {
            "offersNewNormal": BOOLEAN,
            "dismissed": nullable(
                record({"at": INSTANT, "by": STRING, "as": one_of(_JUDGEMENTS), "reason": STRING})
            ),
            "evidence": record(
                {
                    "resolution": STRING,
                    "metric": STRING,
                    "unit": STRING,
                    "from": INSTANT,
                    "to": INSTANT,
                    "data": array(record({"bucket_start": INSTANT, "value": nullable(NUMBER)})),
                }
            ),
        }
    ),
    "Judged": record(
        {
            "finding": ref("Finding"),
            "threshold": record(
                {
                    "kind": STRING,
                    "before": NUMBER,
                    "factor": NUMBER | {"description": "The factor on this device's threshold."},
                    "words": STRING,
                }
            ),
        }
    ),
    "DismissBody": record(
        {
            "as": one_of(_JUDGEMENTS)
            | {
                "description": "not-a-problem (the default) and meant-to-run raise the device's"
                " threshold of that kind; being-repaired changes nothing; new-normal lets an open"
                " finding's kind learn from what flows since it began."
            },
            "reason": STRING | {"maxLength": 500},
        },
        optional=("as", "reason"),
    ),
    "FindingSettings": record(
        {
            "count": NUMBER,
            "limit": NUMBER,
            "offset": NUMBER,
            "level": one_of(LEVELS),
            "target": nullable(STRING) | {"description": "The device's id or the group's name."},
            "data": array(ref("FindingSetting")),
        }
    ),
    "FindingSetting": record(
        {
            "kind": STRING,
            "key": STRING,
            "label": STRING,
            "unit": STRING,
            "flag": BOOLEAN | {"description": "1 is on, 0 is off."},
            "value": NUMBER | {"description": "The value in effect."},
            "origin": one_of(("default", "config", *LEVELS))
            | {"description": "The level at which it is set."},
            "of": nullable(STRING) | {"description": "The group's name, if a group sets it."},
            "own": BOOLEAN
            | {"description": "Whether it is set at the requested target itself, not inherited."},
            "inherited": NUMBER | {"description": "The value without the target's own setting."},
            "least": NUMBER,
            "most": NUMBER,
        }
    ),
    "FindingSettingsBody": record(
        {
            "kind": one_of(tuple(kind.name for kind in KINDS)),
            "set": {
                "type": "object",
                "additionalProperties": {"anyOf": [NUMBER, BOOLEAN], "nullable": True},
                "description": "Settings by key; null clears one.",
            },
            "device": nullable(STRING) | {"description": "Any identifier."},
            "group": nullable(STRING) | {"description": "A group's name, instead of a device."},
        },
        optional=("device", "group"),
    ),
    "NoBody": {"type": "object", "additionalProperties": False},
}
