"""The water balance of a main: its inlet, its outlets (sub-meters), and the difference."""

from __future__ import annotations

from typing import Any, Final

from api.catalog import INSIGHT_PREFIX
from api.domain.identify import identify
from api.insight.water_balance import balance_of
from api.openapi import Operation, ref
from api.params.balance import BalanceQuery
from api.routes.endpoint import Call, Reply, Route
from api.store.base import Device
from api.timez import now_ms


def get_balance(call: Call[BalanceQuery]) -> Reply:
    main, params = identify(call.store, call.scope, call.identifier), call.query
    until_ms = min(params.to_ms + 1, now_ms())
    below, result = balance_of(call.store, call.scope, main, params.from_ms, until_ms)
    compared = result.compared > 0
    return Reply(
        {
            "main": _named(main) | {"gallons": result.inlet if compared else None},
            "subMeters": [
                _named(device) | {"gallons": gallons if compared else None}
                for device, gallons in zip(below, result.outlets, strict=True)
            ],
            "outlet": result.outlet if compared and below else None,
            "difference": result.difference,
            "share": result.share,
            "hours": {"compared": result.compared, "of": result.hours},
        }
    )


def _named(device: Device) -> dict[str, Any]:
    return {
        "deviceId": device.id,
        "serialNumber": device.serial_number,
        "label": device.label,
    }


BALANCE_ROUTES: Final = (
    Route(
        Operation(
            id="getBalance",
            path=f"{INSIGHT_PREFIX}/devices/{{id}}/balance",
            tag="status",
            summary="A main against its sub-meters: unaccounted-for water",
            answer=ref("Balance"),
            query=BalanceQuery,
            of_device=True,
        ),
        get_balance,
    ),
)
