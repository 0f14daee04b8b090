"""The schemas of alerts, rules, receivers, silences and messages."""

from __future__ import annotations

from typing import Any, Final

from api.insight.alerts.model import EVENTS
from api.insight.alerts.rules import COMPARISONS, METRIC_BY_NAME, SOURCES, STATES
from api.insight.findings import KINDS, SEVERITIES
from api.insight.receivers import KINDS as RECEIVER_KINDS
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
    page_of,
    record,
    ref,
)
from api.store.base.alerts import ALERT_STATES

_KINDS: Final = tuple(kind.name for kind in KINDS)
_RECEIVERS: Final = tuple(kind.name for kind in RECEIVER_KINDS)
_MESSAGE_STATES: Final = ("queued", "sent", "dead", "dropped")


def _about(schema: Schema, text: str) -> Schema:
    return schema | {"description": text}


_RULE: Final[dict[str, Schema]] = {
    "name": STRING,
    "enabled": BOOLEAN,
    "source": _about(one_of(SOURCES), "Open findings, a state, or a value against a limit."),
    "kinds": _about(array(one_of(_KINDS)), "Of findings; empty: all."),
    "severity": _about(one_of(SEVERITIES), "Of findings, at least."),
    "costPerDay": _about(NUMBER, "The least cost a day of a finding; 0: any."),
    "states": array(one_of(STATES)),
    "metric": nullable(one_of(tuple(METRIC_BY_NAME))),
    "comparison": one_of(COMPARISONS),
    "limit": NUMBER,
    "duration": _about(NUMBER, "Seconds for which a value is beyond the limit."),
    "devices": _about(
        array(STRING), "Any identifiers. With devices and groups both empty: all devices."
    ),
    "groups": array(STRING),
    "hold": _about(NUMBER, "Seconds before it fires."),
    "reminder": _about(NUMBER, "Seconds between reminders; 0: none."),
    "receivers": _about(array(STRING), "Ids of receivers."),
}
_STORED: Final[dict[str, Schema]] = {"createdBy": STRING, "created": INSTANT, "updated": INSTANT}
_ALERT: Final[dict[str, Schema]] = {
    "id": UUID,
    "rule": record({"id": STRING, "name": nullable(STRING)}),
    "deviceId": UUID,
    "serialNumber": STRING,
    "label": STRING,
    "subject": _about(STRING, "A kind of finding, state, or a metric."),
    "kind": _about(STRING, "The subject's name on screens."),
    "findingId": nullable(STRING),
    "state": one_of(ALERT_STATES),
    "severity": one_of(SEVERITIES),
    "words": STRING,
    "value": nullable(NUMBER),
    "unit": STRING,
    "costPerDay": nullable(NUMBER),
    "start": INSTANT,
    "fired": INSTANT,
    "ended": nullable(INSTANT),
    "notified": nullable(INSTANT),
    "notSent": nullable(STRING) | {"description": "Why no message was sent."},
    "outcome": _about(STRING, "A description of what was sent."),
    "unstable": BOOLEAN,
    "group": nullable(record({"id": STRING, "name": STRING, "size": NUMBER})),
    "acknowledged": nullable(record({"at": INSTANT, "by": STRING, "text": STRING})),
}
_MESSAGE: Final[dict[str, Schema]] = {
    "id": STRING,
    "receiver": record({"id": STRING, "name": nullable(STRING)}),
    "event": one_of(EVENTS),
    "state": one_of(_MESSAGE_STATES),
    "created": INSTANT,
    "attempts": NUMBER,
    "next": nullable(INSTANT) | {"description": "The time of the next attempt."},
    "done": nullable(INSTANT),
    "response": STRING,
}
_RECEIVER: Final[dict[str, Schema]] = {
    "id": UUID,
    "name": STRING,
    "kind": one_of(_RECEIVERS),
    "enabled": BOOLEAN,
    "trouble": _about(STRING, "Why it was switched off, or can't send here."),
    "config": {"type": "object", "additionalProperties": True},
    **_STORED,
}
_SILENCE: Final[dict[str, Schema]] = {
    "id": UUID,
    "rule": nullable(STRING),
    "deviceId": nullable(STRING),
    "group": nullable(STRING),
    "kind": nullable(STRING),
    "from": INSTANT,
    "until": INSTANT,
    "active": BOOLEAN,
    "reason": STRING,
    "createdBy": STRING,
    "created": INSTANT,
}


ALERT_COMPONENTS: Final[dict[str, Any]] = {
    "Alert": record(_ALERT),
    "AlertPage": page_of("Alert"),
    "AlertDetail": record(_ALERT | {"messages": array(ref("AlertMessage"))}),
    "AlertMessage": record(_MESSAGE),
    "AlertMessagePage": page_of("AlertMessage"),
    "AlertRule": record({"id": UUID, **_RULE, **_STORED, "words": STRING}),
    "AlertRulePage": page_of("AlertRule"),
    "RuleBody": record(_RULE, optional=tuple(_RULE)),
    "RulePreview": record(
        {
            "days": NUMBER,
            "count": NUMBER,
            "open": _about(NUMBER, "How many of them are open now."),
            "covered": _about(NUMBER, "The number of devices that the rule applies to."),
            "note": STRING,
            "devices": array(
                record(
                    {
                        "deviceId": UUID,
                        "serialNumber": STRING,
                        "label": STRING,
                        "count": NUMBER,
                        "spans": array(
                            record(
                                {
                                    "subject": STRING,
                                    "fired": INSTANT,
                                    "ended": nullable(INSTANT),
                                }
                            )
                        ),
                    }
                )
            ),
        }
    ),
    "AlertReceiver": record(_RECEIVER),
    "AlertReceiverPage": page_of("AlertReceiver"),
    "AlertReceiverMade": record(
        _RECEIVER
        | {"secrets": {"type": "object", "additionalProperties": STRING,
                       "description": "Generated for it, and never shown again."}}
    ),
    "ReceiverBody": record(
        {
            "name": STRING,
            "kind": one_of(_RECEIVERS),
            "enabled": BOOLEAN,
            "url": STRING,
            "secret": STRING,
            "to": array(STRING),
            "topic": STRING,
        },
        optional=("name", "kind", "enabled", "url", "secret", "to", "topic"),
    ),
    "AlertSilence": record(_SILENCE),
    "AlertSilencePage": page_of("AlertSilence"),
    "SilenceBody": record(
        {
            "device": STRING, "group": STRING, "rule": STRING, "kind": STRING,
            "reason": STRING | {"maxLength": 500}, "from": INSTANT, "until": INSTANT,
        },
        optional=("device", "group", "rule", "kind", "reason", "from"),
    ),
    "AcknowledgeBody": record({"text": STRING | {"maxLength": 500}}, optional=("text",)),
    "Deleted": record({"deleted": STRING}),
}  # fmt: skip
