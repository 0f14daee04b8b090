"""The registers of a device as they were sent, each with the volume since the one before."""

from __future__ import annotations

from typing import Any, Final

from api.catalog import INSIGHT_PREFIX
from api.domain.identify import identify
from api.openapi import Operation, ref
from api.params.insight import RegisterListQuery
from api.routes.endpoint import Call, Reply, Route
from api.routes.serialize import instant
from api.store.base import RegisterEntry, Span


def list_registers(call: Call[RegisterListQuery]) -> Reply:
    device, params = identify(call.store, call.scope, call.identifier), call.query
    span = Span(params.from_ms, params.to_ms)
    count = call.store.count_registers(device, span)
    entries: list[RegisterEntry] = []
    if count > params.offset:
        entries = call.store.registers(
            device,
            span,
            limit=params.limit,
            offset=params.offset,
            newest_first=params.descending,
        )
    return Reply(
        {
            "count": count,
            "limit": params.limit,
            "offset": params.offset,
            "data": [_object(each) for each in entries],
        }
    )


def _object(entry: RegisterEntry) -> dict[str, Any]:
    return {
        "recordedAt": instant(entry.ts),
        "register": entry.register,
        "unit": entry.unit,
        "since": None if entry.from_ms is None else instant(entry.from_ms),
        "volume": entry.gallons,
        "flags": list(entry.flags),
        "fall": entry.fall if entry.fall else None,
    }


REGISTER_ROUTES: Final = (
    Route(
        Operation(
            id="listRegisters",
            path=f"{INSIGHT_PREFIX}/devices/{{id}}/registers",
            tag="status",
            summary="The registers of the meter, and the volume of each step",
            answer=ref("RegisterPage"),
            query=RegisterListQuery,
            of_device=True,
        ),
        list_registers,
    ),
)
