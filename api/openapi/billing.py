"""The schemas of billing: costs, tariffs, budgets and scheduled reports."""

from __future__ import annotations

from typing import Any, Final

from api.insight.budgets import MEASURES
from api.insight.report_schedules import EVERY, RECEIVER_KINDS
from api.metering.forecast import Interval
from api.metering.tariff import WEEKDAYS
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

_AMOUNT: Final[Schema] = {
    "anyOf": [STRING, NUMBER],
    "description": "A decimal; in responses as text, to be exact.",
}
_RATE: Final = record(
    {
        "perGallon": _AMOUNT,
        "above": _AMOUNT | {"description": "Gallons of the month beyond which it applies."},
        "season": nullable(array(STRING)) | {"description": "First and last day: 06-01, 09-30."},
        "days": nullable(array(one_of(WEEKDAYS))),
        "hours": nullable(array(NUMBER))
        | {"description": "Local hours: from 17 to before 21; across midnight too."},
    },
    optional=("above", "season", "days", "hours"),
)
_VERSION: Final = record(
    {
        "from": STRING | {"description": "The local day from which it applies."},
        "fixed": _AMOUNT | {"description": "Per month, for the connection."},
        "rates": array(_RATE)
        | {"description": "Of those that apply at a time the first counts; the plain one is last."},
    },
    optional=("fixed",),
)
_TARIFF: Final[dict[str, Schema]] = {
    "name": STRING,
    "currency": STRING,
    "versions": array(_VERSION),
    "organization": BOOLEAN | {"description": "For all devices without a nearer price."},
    "groups": array(STRING),
    "devices": array(STRING) | {"description": "Ids; any identifier in a request."},
}
_BY: Final[dict[str, Schema]] = {"createdBy": STRING, "created": INSTANT, "updated": INSTANT}
_BUDGET: Final = record(
    {
        "id": UUID,
        "deviceId": nullable(STRING) | {"description": "null for a group's budget."},
        "group": nullable(STRING),
        "label": STRING,
        "devices": NUMBER | {"description": "The devices that count; sub-meters of others don't."},
        "measure": one_of(MEASURES),
        "amount": NUMBER | {"description": "Gallons, or money, a month."},
        "currency": nullable(STRING),
        "month": nullable(STRING),
        "soFar": nullable(NUMBER),
        "expected": nullable(NUMBER),
        "low80": nullable(NUMBER),
        "high80": nullable(NUMBER),
        "chance": nullable(NUMBER) | {"description": "The chance of exceeding it, 0 to 1."},
        "state": one_of(("within", "possible", "likely", "exceeded", "unknown")),
        **_BY,
    }
)


_SCHEDULE: Final[dict[str, Schema]] = {
    "name": STRING,
    "every": one_of(EVERY),
    "timezone": STRING | {"description": "The zone of its weeks and months; sent at 06:00."},
    "receivers": array(STRING) | {"description": f"Ids, of {', '.join(RECEIVER_KINDS)}."},
    "devices": array(STRING) | {"description": "Ids; any identifier in a request."},
    "group": nullable(STRING) | {"description": "Instead of devices. Without both: all devices."},
    "paused": BOOLEAN,
}


_ENDS: Final[dict[str, Schema]] = {
    "soFar": NUMBER,
    "expected": NUMBER,
    **{name: nullable(NUMBER) for name in Interval._fields},
}


def _body(properties: dict[str, Schema]) -> Schema:
    return record(properties, optional=tuple(properties)) | {"additionalProperties": False}


BILLING_COMPONENTS: Final[dict[str, Any]] = {
    "DeviceCosts": record(
        {
            "deviceId": STRING,
            "tariff": STRING,
            "currency": STRING,
            "timezone": STRING,
            "total": nullable(NUMBER),
            "days": array(record({"start": INSTANT, "cost": nullable(NUMBER)})),
        }
    ),
    "Costs": record({"count": NUMBER, "data": array(ref("DeviceCosts"))})
    | {"description": "Devices without a tariff are left out: theirs is volume times price."},
    "MonthEndSum": record(
        {
            "month": STRING,
            **_ENDS,
            "cost": array(record({"currency": STRING, **_ENDS})),
        }
    ),
    "Tariff": record({"id": UUID, **_TARIFF, **_BY}),
    "TariffPage": page_of("Tariff"),
    "TariffBody": _body(_TARIFF),
    "Budget": _BUDGET,
    "BudgetPage": page_of("Budget"),
    "ReportSchedule": record(
        {
            "id": UUID,
            **_SCHEDULE,
            "next": nullable(INSTANT) | {"description": "When it is sent next; null: paused."},
            "messages": array(ref("AlertMessage")) | {"description": "The latest, newest first."},
            **_BY,
        }
    ),
    "ReportSchedulePage": page_of("ReportSchedule"),
    "ReportScheduleBody": _body(_SCHEDULE),
    "BudgetBody": _body(
        {
            "device": nullable(STRING) | {"description": "Any identifier; or a group."},
            "group": nullable(STRING),
            "measure": one_of(MEASURES),
            "amount": _AMOUNT,
        }
    ),
}
