"""The shapes of the answers of Weir's own interface, and what its document says of itself."""

from __future__ import annotations

from typing import Any, Final

from api.catalog import BACKEND_VERSION
from api.metering.status import State
from api.metering.windows import SPANS
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
from api.roles import Role

_STATES: Final = tuple(state.value for state in State)
_GALLONS: Final = nullable(NUMBER) | {"description": "Gallons."}
_DBM: Final = nullable(NUMBER) | {"description": "dBm, if the last reading is current."}
_STATUS: Final[dict[str, Schema]] = {
    "device": ref("Device"),
    "state": one_of(_STATES),
    "cadence": nullable(NUMBER) | {"description": "Usual seconds between two readings."},
    "eventDriven": BOOLEAN
    | {"description": "The steps between readings vary too much to expect one each cadence."},
    "lastSeen": nullable(INSTANT),
    "flow": nullable(NUMBER) | {"description": "gal/min, if the last reading is current."},
    "windows": record({span.name: ref("StatusWindow") for span in SPANS}),
    "volume": record({"today": _GALLONS, "month": _GALLONS}),
    "radio": record({"signalStrength": _DBM, "networkRssi": _DBM}),
    "findings": array(STRING) | {"description": "The kinds that are open."},
    "asOf": nullable(INSTANT) | {"description": "null: not evaluated yet."},
}


def _page(name: str) -> Schema:
    return record({"count": NUMBER, "limit": NUMBER, "offset": NUMBER, "data": array(ref(name))})


_COMPONENTS: Final[dict[str, Any]] = {
    "Device": COMPONENTS["Device"],
    "StatusWindow": record(
        {
            "uptime": record({"actual": NUMBER, "expected": NUMBER}),
            "quality": record({"min": nullable(NUMBER), "max": nullable(NUMBER)}),
        }
    ),
    "Status": record(_STATUS),
    "StatusPage": _page("Status"),
    "Group": record({"name": STRING, "devices": NUMBER}),
    "GroupPage": _page("Group"),
    "DeviceStatus": record(
        _STATUS
        | {
            "price": nullable(
                record(
                    {
                        "perGallon": NUMBER,
                        "currency": STRING,
                        "source": one_of(("device", "organization")),
                    }
                )
            )
        }
    ),
    "StatusSummary": record(
        {
            "devices": NUMBER,
            "subMeters": NUMBER
            | {
                "description": "Devices whose water another device of the sums measures too: flow,"
                " volume and cost leave them out."
            },
            "states": record({state: NUMBER for state in _STATES if state != State.INACTIVE}),
            "flow": nullable(NUMBER),
            "volumeToday": _GALLONS,
            "costToday": array(record({"currency": STRING, "amount": NUMBER})),
            "uptime24h": nullable(NUMBER) | {"description": "0 to 1."},
            "findings": {"type": "object", "additionalProperties": NUMBER},
            "asOf": nullable(INSTANT),
        }
    ),
    **FINDING_COMPONENTS,
    **EXPECTATION_COMPONENTS,
    "Me": record(
        {
            "id": STRING,
            "kind": one_of(("key", "token", "embed")),
            "organizationId": STRING,
            "role": one_of(tuple(role.value for role in Role)),
            "mayEmbed": BOOLEAN,
        }
    ),
    "Problem": COMPONENTS["Problem"],
}
INSIGHT_INFO: Final = Info(
    title="Weir insight",
    description="What the readings mean: the state of each device now, and what needs attention."
    f" Served by Weir {BACKEND_VERSION}.",
    tags={
        "status": "The present state of devices.",
        "findings": "Spans in which something was not as it should be.",
        "expectations": "What is usual of a device, and what is coming.",
        "service": "The service itself.",
    },
    schemas=_COMPONENTS,
    document_tag="service",
)
