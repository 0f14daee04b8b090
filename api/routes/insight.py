"""Weir's own interface: what is known of each device."""

from __future__ import annotations

from typing import Any

from api.catalog import INSIGHT_PREFIX
from api.domain.identify import identify, storable
from api.metering.cost import price_of
from api.metering.status import State
from api.metering.windows import SPANS
from api.openapi import Operation, ref
from api.openapi.insight import INSIGHT_INFO
from api.params import Query
from api.params.insight import PageQuery, StatusListQuery, SummaryQuery
from api.routes.alerts import ALERT_ACTIONS, ALERT_ROUTES
from api.routes.credential import CREDENTIAL_ROUTES
from api.routes.document import document_route
from api.routes.endpoint import Action, Call, Reply, Route
from api.routes.expectations import EXPECTATION_ROUTES
from api.routes.findings import FINDING_ACTIONS, FINDING_ROUTES
from api.routes.serialize import device_object, instant
from api.store.base import Status, StatusEntry, StatusQuery, StatusSummary, WindowStatus

_NEVER = Status(
    0, 0, 0, 0, State.NO_DATA, None, 0, False, 0, None,
    tuple(WindowStatus() for _ in SPANS), None, None, None, "", "",
)  # fmt: skip


def list_statuses(call: Call[StatusListQuery]) -> Reply:
    asked = call.query
    query = StatusQuery(
        text=asked.q or "",
        states=asked.states,
        group=asked.group,
        kind=asked.kind,
        order_by=asked.order_by,
        descending=asked.descending,
        limit=asked.limit,
        offset=asked.offset,
    )
    count, entries = 0, list[StatusEntry]()
    if _can_match(asked):
        count = call.store.count_statuses(call.scope, query)
        entries = call.store.statuses(call.scope, query) if count > asked.offset else []
    return Reply(
        {
            "count": count,
            "limit": asked.limit,
            "offset": asked.offset,
            "data": [status_object(entry) for entry in entries],
        }
    )


def get_summary(call: Call[SummaryQuery]) -> Reply:
    asked = call.query
    empty = StatusSummary(0, 0, {}, None, None, (), 0, 0, {}, None)
    query = StatusQuery(text=asked.q or "", group=asked.group, kind=asked.kind)
    found = call.store.summarize(call.scope, query) if _can_match(asked) else empty
    return Reply(summary_object(found))


def list_groups(call: Call[PageQuery]) -> Reply:
    asked, found = call.query, call.store.groups(call.scope)
    page = found[asked.offset : asked.offset + asked.limit]
    return Reply(
        {
            "count": len(found),
            "limit": asked.limit,
            "offset": asked.offset,
            "data": [{"name": group.name, "devices": group.devices} for group in page],
        }
    )


def get_status(call: Call[Query]) -> Reply:
    """One device's row, with the price of its water."""
    device = identify(call.store, call.scope, call.identifier)
    entry = call.store.status_of(call.scope, device)
    organization = call.store.organization(device.organization_id)
    default = organization.default_cost_per_gallon if organization else None
    kept = entry.status or _NEVER
    price = price_of(kept.price, kept.currency, default)
    shown = price and {
        "perGallon": price.per_gallon,
        "currency": price.currency,
        "source": "device" if price.own else "organization",
    }
    return Reply(status_object(entry) | {"price": shown})


def _can_match(asked: SummaryQuery) -> bool:
    return all(storable(text) for text in (asked.q, asked.group) if text is not None)


def status_object(entry: StatusEntry) -> dict[str, Any]:
    kept = entry.status or _NEVER
    known = entry.status is not None
    state = kept.state if entry.device.active else State.INACTIVE
    return {
        "device": device_object(entry.device),
        "state": str(state),
        "cadence": kept.cadence_ms / 1000 if known else None,
        "eventDriven": kept.event_driven,
        "lastSeen": None if kept.seen_ms is None else instant(kept.seen_ms),
        "flow": kept.flow,
        "windows": {
            span.name: {
                "uptime": {"actual": window.actual, "expected": window.expected},
                "quality": {"min": window.quality_min, "max": window.quality_max},
            }
            for span, window in zip(SPANS, kept.windows, strict=True)
        },
        "volume": {"today": kept.volume_today, "month": kept.volume_month},
        "radio": {"signalStrength": kept.signal_strength, "networkRssi": kept.network_rssi},
        "findings": list(entry.findings),
        "asOf": instant(kept.as_of_ms) if known else None,
    }


def summary_object(found: StatusSummary) -> dict[str, Any]:
    states = [state for state in State if state is not State.INACTIVE]
    return {
        "devices": found.devices,
        "subMeters": found.sub_meters,
        "states": {state.value: found.states.get(state, 0) for state in states},
        "flow": found.flow,
        "volumeToday": found.volume_today,
        "costToday": [{"currency": c.currency, "amount": c.amount} for c in found.costs],
        "uptime24h": found.observed_ms / found.expected_ms if found.expected_ms else None,
        "findings": found.findings,
        "asOf": None if found.as_of_ms is None else instant(found.as_of_ms),
    }


_ANSWERING = (
    Route(
        Operation(
            id="listStatuses",
            path=f"{INSIGHT_PREFIX}/devices",
            tag="status",
            summary="The status of devices, searched, filtered, ordered and paged",
            answer=ref("StatusPage"),
            query=StatusListQuery,
        ),
        list_statuses,
    ),
    Route(
        Operation(
            id="getSummary",
            path=f"{INSIGHT_PREFIX}/summary",
            tag="status",
            summary="Counts and sums over the active devices of the scope",
            answer=ref("StatusSummary"),
            query=SummaryQuery,
        ),
        get_summary,
    ),
    Route(
        Operation(
            id="getStatus",
            path=f"{INSIGHT_PREFIX}/devices/{{id}}",
            tag="status",
            summary="The status and the price of one device",
            answer=ref("DeviceStatus"),
            query=Query,
            of_device=True,
        ),
        get_status,
    ),
    Route(
        Operation(
            id="listGroups",
            path=f"{INSIGHT_PREFIX}/groups",
            tag="status",
            summary="The groups that the credential may know of, with their active devices",
            answer=ref("GroupPage"),
            query=PageQuery,
        ),
        list_groups,
    ),
    *FINDING_ROUTES,
    *ALERT_ROUTES,
    *EXPECTATION_ROUTES,
    *CREDENTIAL_ROUTES,
)
INSIGHT_ACTIONS: tuple[Action, ...] = (*FINDING_ACTIONS, *ALERT_ACTIONS)
INSIGHT_ROUTES: tuple[Route, ...] = (
    *_ANSWERING,
    document_route(
        (*_ANSWERING, *INSIGHT_ACTIONS), INSIGHT_PREFIX, "getInsightApiJson", INSIGHT_INFO
    ),
)
