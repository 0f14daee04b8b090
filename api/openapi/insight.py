"""The schemas of Weir's own interface, and the description of its document."""

from __future__ import annotations

from typing import Any, Final

from api.catalog import BACKEND_VERSION, UNIT_SYSTEMS
from api.metering.register import Flag
from api.metering.status import STATE_NAMES, State
from api.metering.units import LITRES
from api.metering.windows import SPANS
from api.openapi.alerts import ALERT_COMPONENTS
from api.openapi.annotations import ANNOTATION_COMPONENTS
from api.openapi.billing import BILLING_COMPONENTS
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
from api.openapi.expectations import EXPECTATION_COMPONENTS
from api.openapi.findings import FINDING_COMPONENTS
from api.openapi.imports import IMPORT_COMPONENTS
from api.roles import Role

_GALLONS: Final = nullable(NUMBER) | {"description": "Gallons."}
_DBM: Final = nullable(NUMBER) | {"description": "dBm; null unless the last reading is current."}
_STATUS: Final[dict[str, Schema]] = {
    "device": ref("Device"),
    "state": one_of(STATE_NAMES),
    "cadence": nullable(NUMBER) | {"description": "Usual seconds between two readings."},
    "eventDriven": BOOLEAN
    | {"description": "The intervals between readings vary too much to expect one every cadence."},
    "lastSeen": nullable(INSTANT),
    "flow": nullable(NUMBER) | {"description": "gal/min; null unless the last reading is current."},
    "windows": record({span.name: ref("StatusWindow") for span in SPANS}),
    "volume": record({"today": _GALLONS, "month": _GALLONS}),
    "radio": record({"signalStrength": _DBM, "networkRssi": _DBM}),
    "findings": array(STRING) | {"description": "The kinds of the open findings."},
    "asOf": nullable(INSTANT) | {"description": "null: not computed yet."},
}


_RATES: Final = array(nullable(NUMBER)) | {"description": "gal/min; null: no row."}
_COSTS: Final = array(record({"currency": STRING, "amount": NUMBER}))
_KINDS: Final[Schema] = {"type": "object", "additionalProperties": NUMBER}
_ON_A_PAGE: Final[dict[str, Schema]] = {
    "finding": nullable(ref("Finding")),
    "line": nullable(
        record(
            {
                "start": INSTANT,
                "step": NUMBER,
                "mean": _RATES,
                "least": _RATES,
                "greatest": _RATES,
                "usual": nullable(record({"start": INSTANT, "step": NUMBER, "rates": _RATES})),
            },
            about="Flow in rows of step seconds. usual: the usual flow by the hour, for devices"
            " with an open finding, in windows of 24 h and 7 d.",
        )
    ),
    "strip": nullable(
        record(
            {
                "start": INSTANT,
                "step": NUMBER,
                "observed": array(NUMBER),
                "expected": array(NUMBER),
            },
            about="Uptime in cells of step seconds: buckets with a reading, and buckets due.",
        )
    ),
    "notes": array(record({"from": INSTANT, "to": nullable(INSTANT), "text": STRING}))
    | {"description": "The latest notes of the window, oldest first. to is null for an instant."},
}


_COMPONENTS: Final[dict[str, Any]] = {
    "Device": COMPONENTS["Device"],
    "StatusWindow": record(
        {
            "uptime": record({"actual": NUMBER, "expected": NUMBER}),
            "quality": record({"min": nullable(NUMBER), "max": nullable(NUMBER)}),
        }
    ),
    "Status": record(_STATUS | _ON_A_PAGE, optional=tuple(_ON_A_PAGE)),
    "StatusPage": record(
        {
            "count": NUMBER,
            "limit": NUMBER,
            "offset": NUMBER,
            "data": array(ref("Status")),
            "summary": ref("StatusSummary"),
            "groups": array(STRING),
        },
        optional=("summary", "groups"),
    ),
    "MeteredVolume": record(
        {
            "deviceId": STRING,
            "serialNumber": STRING,
            "label": STRING,
            "gallons": nullable(NUMBER) | {"description": "Over the compared hours."},
        }
    ),
    "Balance": record(
        {
            "main": ref("MeteredVolume"),
            "subMeters": array(ref("MeteredVolume")),
            "outlet": _GALLONS,
            "difference": nullable(NUMBER)
            | {"description": "Gallons; negative where the sub-meters measured more."},
            "share": nullable(NUMBER)
            | {"description": "The difference as a share of the main's gallons, 0 to 1."},
            "hours": record({"compared": NUMBER, "of": NUMBER})
            | {"description": "Compares only hours in which every meter has 90 % of its readings."},
        }
    ),
    "Register": record(
        {
            "recordedAt": INSTANT,
            "register": NUMBER | {"description": "The register of the meter, in unit."},
            "unit": one_of(tuple(LITRES)),
            "since": nullable(INSTANT) | {"description": "The time of the previous register."},
            "volume": nullable(NUMBER)
            | {"description": "Gallons since then; null for the first register and where unknown."},
            "flags": array(one_of(tuple(flag.value for flag in Flag)))
            | {
                "description": "What is unusual about the volume: spread evenly over a gap, of two"
                " meters (exchange), past the register's end (rollover), unknown because the"
                " register went back."
            },
            "fall": nullable(NUMBER) | {"description": "By how many gallons it went back."},
        }
    ),
    "RegisterPage": record(
        {"count": NUMBER, "limit": NUMBER, "offset": NUMBER, "data": array(ref("Register"))}
    ),
    "Group": record({"name": STRING, "devices": NUMBER}),
    "GroupPage": record(
        {"count": NUMBER, "limit": NUMBER, "offset": NUMBER, "data": array(ref("Group"))}
    ),
    "DeviceStatus": record(
        _STATUS
        | {
            "price": nullable(
                record(
                    {
                        "perGallon": NUMBER,
                        "currency": STRING,
                        "source": one_of(("device", "organization", "tariff")),
                        "tariff": nullable(STRING)
                        | {"description": "The tariff that this is the marginal rate of."},
                    }
                )
            )
        }
    ),
    "StatusSummary": record(
        {
            "monthEnd": nullable(ref("MonthEndSum"))
            | {"description": "The month end of all devices together; null before any is known."},
            "budgets": record({"count": NUMBER, "likely": NUMBER, "exceeded": NUMBER})
            | {"description": "The groups of the scope, whatever the search and group."},
            "devices": NUMBER,
            "subMeters": NUMBER
            | {
                "description": "Devices whose water another device of the sums measures too: flow,"
                " volume and cost leave them out."
            },
            "states": record({state: NUMBER for state in STATE_NAMES if state != State.INACTIVE}),
            "flow": nullable(NUMBER),
            "volumeToday": _GALLONS,
            "costToday": _COSTS,
            "uptime24h": nullable(NUMBER) | {"description": "0 to 1."},
            "findings": _KINDS | {"description": "Devices with an open finding, by kind."},
            "asOf": nullable(INSTANT) | {"description": "The time of the oldest status."},
            "evaluated": NUMBER | {"description": "Devices that the sums cover."},
            "flowing": NUMBER,
            "quiet": NUMBER | {"description": "Devices with a current reading of zero."},
            "uptime": record(
                {
                    span.name: record({"observed": NUMBER, "expected": NUMBER}, about="Seconds.")
                    for span in SPANS
                }
            ),
            "usualToday": record(
                {"devices": NUMBER, "volume": NUMBER, "usual": NUMBER},
                about="Of the devices with a history: gallons of today so far, and of the same"
                " weekday by this time of day, the mean of four weeks.",
            ),
            "attention": record(
                {
                    "devices": NUMBER,
                    "kinds": _KINDS,
                    "costPerDay": _COSTS,
                    "notices": _KINDS,
                },
                about="Devices with an open finding that is critical or a warning, and by kind;"
                " what these cost a day; and notices by kind.",
            ),
            "unchecked": record(
                {"devices": NUMBER, "checkedTo": nullable(INSTANT)},
                about="Devices whose readings wait longer than usual to be checked for findings,"
                " and up to when those of all are.",
            ),
        }
    ),
    **FINDING_COMPONENTS,
    **IMPORT_COMPONENTS,
    **ALERT_COMPONENTS,
    **ANNOTATION_COMPONENTS,
    **EXPECTATION_COMPONENTS,
    **BILLING_COMPONENTS,
    "Me": record(
        {
            "id": STRING,
            "kind": one_of(("key", "token", "embed")),
            "organizationId": STRING,
            "role": one_of(tuple(role.value for role in Role)),
            "mayEmbed": BOOLEAN,
            "units": one_of(UNIT_SYSTEMS)
            | {"description": "Those of the organization: the default of its readers."},
            "currency": STRING | {"description": "Of the organization's prices."},
        }
    ),
    "Problem": COMPONENTS["Problem"],
}
INSIGHT_INFO: Final = Info(
    title="Weir insight",
    description="The state of each device now, and what needs attention."
    f" Served by Weir {BACKEND_VERSION}.",
    tags={
        "status": "The current state of devices.",
        "findings": "Spans in which a device's data show a problem.",
        "alerts": "Alerts, rules, receivers, silences and messages.",
        "annotations": "Notes, maintenance and corrections of readings.",
        "audit": "The audit log.",
        "expectations": "Usual hours, forecasts and comparisons.",
        "billing": "Budgets, tariffs and costs, and scheduled reports.",
        "imports": "Files of readings, uploaded in pieces and imported in the background.",
        "service": "The service itself.",
    },
    schemas=_COMPONENTS,
    document_tag="service",
)
