"""Weir's own interface: what is known of each device."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from api.catalog import INSIGHT_PREFIX
from api.domain.identify import identify, identify_each, storable
from api.insight.fleet_page import Line, Strip, attention, lines, strips
from api.metering.cost import price_of
from api.metering.status import State
from api.metering.windows import DEFAULT_SPAN, SPANS, Span
from api.openapi import Operation, ref
from api.openapi.insight import INSIGHT_INFO
from api.params import Query
from api.params.insight import PageQuery, StatusListQuery, SummaryQuery
from api.routes.alerts import ALERT_ACTIONS, ALERT_ROUTES
from api.routes.annotations import ANNOTATION_ACTIONS, ANNOTATION_ROUTES
from api.routes.audit import AUDIT_ROUTES
from api.routes.balance import BALANCE_ROUTES
from api.routes.credential import CREDENTIAL_ROUTES
from api.routes.document import document_route
from api.routes.endpoint import Action, Call, Reply, Route
from api.routes.expectations import EXPECTATION_ROUTES
from api.routes.findings import FINDING_ACTIONS, FINDING_ROUTES, finding_object
from api.routes.serialize import device_object, instant
from api.store.base import (
    Attention,
    Scope,
    Status,
    StatusEntry,
    StatusQuery,
    StatusSummary,
    Store,
    UsualToday,
    WindowStatus,
)
from api.timez import now_ms

_EMPTY: Final = StatusSummary(
    0, 0, {}, None, None, (), {}, None, 0, 0, 0, ((0, 0),) * len(SPANS), 0, UsualToday(0, 0.0, 0.0)
)
_NEVER: Final = Status(
    0, 0, 0, 0, State.NO_DATA, None, 0, False, 0, None,
    tuple(WindowStatus() for _ in SPANS), None, None, None, None, "", "",
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
        if asked.ids:
            entries = _entries(call.store, call.scope, asked.ids)
        elif count > asked.offset:
            entries = call.store.statuses(call.scope, query)
    body: dict[str, Any] = {
        "count": count,
        "limit": asked.limit,
        "offset": asked.offset,
        "data": _rows(call.store, entries, asked.include, asked.window),
    }
    if "summary" in asked.include:
        body["summary"] = _summary(call.store, call.scope, asked, kind=None)
    if "groups" in asked.include:
        body["groups"] = [each.name for each in call.store.groups(call.scope)]
    return Reply(body)


def _entries(store: Store, scope: Scope, ids: Sequence[str]) -> list[StatusEntry]:
    devices = identify_each(store, scope, ids)
    found = {entry.device.key: entry for entry in store.statuses_of(scope, devices)}
    return [found[device.key] for device in devices if device.key in found]


def _rows(
    store: Store, entries: Sequence[StatusEntry], parts: Collection[str], span: Span
) -> list[dict[str, Any]]:
    now, devices = now_ms(), [entry.device for entry in entries]
    rows = [status_object(entry) for entry in entries]
    shown: dict[str, Mapping[int, Any]] = {
        "finding": store.worst_open(devices) if "finding" in parts else {},
        "line": lines(store, entries, span, now) if "line" in parts else {},
        "strip": strips(store, entries, span, now) if "strip" in parts else {},
    }
    for part in parts:
        if part in shown:
            for row, device in zip(rows, devices, strict=True):
                found = shown[part].get(device.key)
                row[part] = None if found is None else _OBJECTS[part](found)
    return rows


def get_summary(call: Call[SummaryQuery]) -> Reply:
    return Reply(_summary(call.store, call.scope, call.query, kind=call.query.kind))


def _summary(store: Store, scope: Scope, asked: SummaryQuery, kind: str | None) -> dict[str, Any]:
    if not _can_match(asked):
        return summary_object(_EMPTY, Attention({}, (), {}, 0, None))
    query = StatusQuery(text=asked.q or "", group=asked.group, kind=kind)
    return summary_object(store.summarize(scope, query), attention(store, scope, query, now_ms()))


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


def line_object(line: Line) -> dict[str, Any]:
    return {
        "start": instant(line.start_ms),
        "step": line.step_ms // 1000,
        "mean": [None if row is None else row.mean for row in line.rows],
        "least": [None if row is None else row.least for row in line.rows],
        "greatest": [None if row is None else row.greatest for row in line.rows],
    }


def strip_object(strip: Strip) -> dict[str, Any]:
    return {
        "start": instant(strip.start_ms),
        "step": strip.step_ms // 1000,
        "observed": strip.observed,
        "expected": strip.expected,
    }


_OBJECTS: Final[dict[str, Callable[[Any], dict[str, Any]]]] = {
    "finding": finding_object,
    "line": line_object,
    "strip": strip_object,
}


def summary_object(found: StatusSummary, open_: Attention) -> dict[str, Any]:
    states = [state for state in State if state is not State.INACTIVE]
    observed, expected = found.uptimes[SPANS.index(DEFAULT_SPAN)]
    return {
        "devices": found.devices,
        "subMeters": found.sub_meters,
        "states": {state.value: found.states.get(state, 0) for state in states},
        "flow": found.flow,
        "volumeToday": found.volume_today,
        "costToday": [{"currency": c.currency, "amount": c.amount} for c in found.costs],
        "uptime24h": observed / expected if expected else None,
        "findings": found.findings,
        "asOf": None if found.as_of_ms is None else instant(found.as_of_ms),
        "evaluated": found.evaluated,
        "flowing": found.flowing,
        "quiet": found.quiet,
        "uptime": {
            span.name: {"observed": observed_ms // 1000, "expected": expected_ms // 1000}
            for span, (observed_ms, expected_ms) in zip(SPANS, found.uptimes, strict=True)
        },
        "usualToday": {
            "devices": found.usual.devices,
            "volume": found.usual.volume,
            "usual": found.usual.usual,
        },
        "attention": {
            "devices": found.alarming,
            "kinds": open_.kinds,
            "costPerDay": [{"currency": c.currency, "amount": c.amount} for c in open_.costs],
            "notices": open_.notices,
        },
        "unchecked": {
            "devices": open_.unchecked,
            "checkedTo": None if open_.checked_ms is None else instant(open_.checked_ms),
        },
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
    *ANNOTATION_ROUTES,
    *AUDIT_ROUTES,
    *EXPECTATION_ROUTES,
    *BALANCE_ROUTES,
    *CREDENTIAL_ROUTES,
)
INSIGHT_ACTIONS: tuple[Action, ...] = (*FINDING_ACTIONS, *ALERT_ACTIONS, *ANNOTATION_ACTIONS)
INSIGHT_ROUTES: tuple[Route, ...] = (
    *_ANSWERING,
    document_route(
        (*_ANSWERING, *INSIGHT_ACTIONS), INSIGHT_PREFIX, "getInsightApiJson", INSIGHT_INFO
    ),
)
