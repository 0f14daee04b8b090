"""Weir's own interface: the status of devices."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from api.catalog import HOUR_MS, INSIGHT_PREFIX
from api.domain.identify import identify, identify_each, storable
from api.insight import billing_changes
from api.insight.fleet_page import Line, Strip, attention, lines, strips
from api.insight.tariffs import price_now
from api.metering.status import State
from api.metering.uptime import share
from api.metering.windows import DEFAULT_SPAN, SPANS, Span
from api.openapi import Operation, ref
from api.openapi.imports import IMPORT_OPERATIONS
from api.openapi.insight import INSIGHT_INFO
from api.params import Query
from api.params.insight import PageQuery, StatusListQuery, SummaryQuery
from api.routes.alerts import ALERT_ACTIONS, ALERT_ROUTES
from api.routes.annotations import ANNOTATION_ACTIONS, ANNOTATION_ROUTES
from api.routes.audit import AUDIT_ROUTES
from api.routes.balance import BALANCE_ROUTES
from api.routes.billing import BILLING_ACTIONS, BILLING_ROUTES, month_end_object
from api.routes.credential import CREDENTIAL_ROUTES
from api.routes.document import document_route
from api.routes.endpoint import Action, Call, Reply, Route
from api.routes.expectations import EXPECTATION_ROUTES
from api.routes.finding_settings import FINDING_SETTINGS_ACTIONS, FINDING_SETTINGS_ROUTES
from api.routes.findings import FINDING_ACTIONS, FINDING_ROUTES, finding_object
from api.routes.registers import REGISTER_ROUTES
from api.routes.serialize import device_object, instant
from api.routes.volumes import VOLUME_ROUTES
from api.store.base import (
    Annotation,
    Attention,
    Device,
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

MOST_NOTES: Final = 20  # parts of a device
_EMPTY: Final = StatusSummary(
    0, 0, {}, None, None, (), {}, None, 0, 0, 0, ((0, 0),) * len(SPANS), 0, UsualToday(0, 0.0, 0.0)
)
_NEVER: Final = Status(
    0, 0, 0, 0, State.NO_DATA, None, 0, False, 0, None,
    tuple(WindowStatus() for _ in SPANS), None, None, None, None, "", "",
)  # fmt: skip


def list_statuses(call: Call[StatusListQuery]) -> Reply:
    params = call.query
    query = StatusQuery(
        text=params.q or "",
        states=params.states,
        group=params.group,
        kind=params.kind,
        order_by=params.order_by,
        descending=params.descending,
        limit=params.limit,
        offset=params.offset,
    )
    count, entries = 0, list[StatusEntry]()
    if _can_match(params):
        count = call.store.count_statuses(call.scope, query)
        if params.ids:
            entries = _entries(call.store, call.scope, params.ids)
        elif count > params.offset:
            entries = call.store.statuses(call.scope, query)
    body: dict[str, Any] = {
        "count": count,
        "limit": params.limit,
        "offset": params.offset,
        "data": _rows(call.store, call.scope, entries, _allowed_parts(call), params.window),
    }
    if "summary" in params.include:
        body["summary"] = _summary(call.store, call.scope, params, kind=None)
    if "groups" in params.include:
        body["groups"] = [each.name for each in call.store.groups(call.scope)]
    return Reply(body)


def _allowed_parts(call: Call[StatusListQuery]) -> Collection[str]:
    """An embed has notes only if it was created to show them."""
    hidden = call.principal is not None and not call.principal.sees_notes
    return [part for part in call.query.include if part != "notes" or not hidden]


def _entries(store: Store, scope: Scope, ids: Sequence[str]) -> list[StatusEntry]:
    devices = identify_each(store, scope, ids)
    entries = {entry.device.key: entry for entry in store.statuses_of(scope, devices)}
    return [entries[device.key] for device in devices if device.key in entries]


def _rows(
    store: Store,
    scope: Scope,
    entries: Sequence[StatusEntry],
    parts: Collection[str],
    span: Span,
) -> list[dict[str, Any]]:
    now, devices = now_ms(), [entry.device for entry in entries]
    rows = [status_object(entry) for entry in entries]
    data: dict[str, Mapping[int, Any]] = {
        "finding": store.worst_open(devices) if "finding" in parts else {},
        "line": lines(store, entries, span, now) if "line" in parts else {},
        "strip": strips(store, entries, span, now) if "strip" in parts else {},
        "notes": _notes(store, scope, devices, span, now) if "notes" in parts else {},
    }
    for part in parts:
        if part in data:
            for row, device in zip(rows, devices, strict=True):
                value = data[part].get(device.key)
                row[part] = None if value is None else _OBJECTS[part](value)
    return rows


def _notes(
    store: Store, scope: Scope, devices: Sequence[Device], span: Span, now_ms: int
) -> dict[int, list[Annotation]]:
    """Returns each device's latest notes, oldest first; a group's only where the grant covers the
    group."""
    grant = scope.grant
    keys = [device.key for device in devices]
    by_device = store.notes_of(keys, now_ms - span.length_ms, now_ms)

    def seen(device: Device) -> list[Annotation]:
        return [
            note
            for note in by_device.get(device.key, ())
            if note.group_name is None or grant.everything or note.group_name in grant.groups
        ]

    return {
        device.key: sorted(seen(device), key=lambda note: note.from_ms)[-MOST_NOTES:]
        for device in devices
    }


def get_summary(call: Call[SummaryQuery]) -> Reply:
    return Reply(_summary(call.store, call.scope, call.query, kind=call.query.kind))


def _summary(store: Store, scope: Scope, params: SummaryQuery, kind: str | None) -> dict[str, Any]:
    if not _can_match(params):
        nothing = month_end_object([], [])
        return summary_object(_EMPTY, Attention({}, (), {}, 0, None)) | nothing
    query = StatusQuery(text=params.q or "", group=params.group, kind=kind)
    made = summary_object(store.summarize(scope, query), attention(store, scope, query, now_ms()))
    sums, budgets = store.month_end_sums(scope, query), billing_changes.budgets(store, scope)
    return made | month_end_object(sums, budgets)


def list_groups(call: Call[PageQuery]) -> Reply:
    params, groups = call.query, call.store.groups(call.scope)
    page = groups[params.offset : params.offset + params.limit]
    return Reply(
        {
            "count": len(groups),
            "limit": params.limit,
            "offset": params.offset,
            "data": [{"name": group.name, "devices": group.devices} for group in page],
        }
    )


def get_status(call: Call[Query]) -> Reply:
    """Returns one device's status, with its price."""
    device = identify(call.store, call.scope, call.identifier)
    entry = call.store.status_of(call.scope, device)
    price = price_now(call.store, device, now_ms())
    price_object = price and {
        "perGallon": price.per_gallon,
        "currency": price.currency,
        "source": "tariff" if price.tariff else "device" if price.own else "organization",
        "tariff": price.tariff or None,
    }
    return Reply(status_object(entry) | {"price": price_object})


def _can_match(params: SummaryQuery) -> bool:
    return all(storable(text) for text in (params.q, params.group) if text is not None)


def status_object(entry: StatusEntry) -> dict[str, Any]:
    status = entry.status or _NEVER
    has_status = entry.status is not None
    state = status.state if entry.device.active else State.INACTIVE
    return {
        "device": device_object(entry.device),
        "state": str(state),
        "cadence": status.cadence_ms / 1000 if has_status else None,
        "eventDriven": status.event_driven,
        "lastSeen": None if status.seen_ms is None else instant(status.seen_ms),
        "flow": status.flow,
        "windows": {
            span.name: {
                "uptime": {"actual": window.actual, "expected": window.expected},
                "quality": {"min": window.quality_min, "max": window.quality_max},
            }
            for span, window in zip(SPANS, status.windows, strict=True)
        },
        "volume": {"today": status.volume_today, "month": status.volume_month},
        "radio": {"signalStrength": status.signal_strength, "networkRssi": status.network_rssi},
        "findings": list(entry.findings),
        "asOf": instant(status.as_of_ms) if has_status else None,
    }


def line_object(line: Line) -> dict[str, Any]:
    return {
        "start": instant(line.start_ms),
        "step": line.step_ms // 1000,
        "mean": [None if row is None else row.mean for row in line.rows],
        "least": [None if row is None else row.least for row in line.rows],
        "greatest": [None if row is None else row.greatest for row in line.rows],
        "usual": None
        if line.usual is None
        else {
            "start": instant(line.usual.start_ms),
            "step": HOUR_MS // 1000,
            "rates": line.usual.rates,
        },
    }


def strip_object(strip: Strip) -> dict[str, Any]:
    return {
        "start": instant(strip.start_ms),
        "step": strip.step_ms // 1000,
        "observed": strip.observed,
        "expected": strip.expected,
    }


def notes_object(notes: Sequence[Annotation]) -> list[dict[str, Any]]:
    return [
        {
            "from": instant(note.from_ms),
            "to": None if note.to_ms is None else instant(note.to_ms),
            "text": note.body,
        }
        for note in notes
    ]


_OBJECTS: Final[dict[str, Callable[[Any], Any]]] = {
    "finding": finding_object,
    "line": line_object,
    "strip": strip_object,
    "notes": notes_object,
}


def summary_object(summary: StatusSummary, open_: Attention) -> dict[str, Any]:
    states = [state for state in State if state is not State.INACTIVE]
    observed, expected = summary.uptimes[SPANS.index(DEFAULT_SPAN)]
    return {
        "devices": summary.devices,
        "subMeters": summary.sub_meters,
        "states": {state.value: summary.states.get(state, 0) for state in states},
        "flow": summary.flow,
        "volumeToday": summary.volume_today,
        "costToday": [{"currency": c.currency, "amount": c.amount} for c in summary.costs],
        "uptime24h": share(observed, expected),
        "findings": summary.findings,
        "asOf": None if summary.as_of_ms is None else instant(summary.as_of_ms),
        "evaluated": summary.evaluated,
        "flowing": summary.flowing,
        "quiet": summary.quiet,
        "uptime": {
            span.name: {"observed": observed_ms // 1000, "expected": expected_ms // 1000}
            for span, (observed_ms, expected_ms) in zip(SPANS, summary.uptimes, strict=True)
        },
        "usualToday": {
            "devices": summary.usual.devices,
            "volume": summary.usual.volume,
            "usual": summary.usual.usual,
        },
        "attention": {
            "devices": summary.alarming,
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
            summary="The groups within the credential's grant, with their active devices",
            answer=ref("GroupPage"),
            query=PageQuery,
        ),
        list_groups,
    ),
    *FINDING_ROUTES,
    *FINDING_SETTINGS_ROUTES,
    *ALERT_ROUTES,
    *ANNOTATION_ROUTES,
    *AUDIT_ROUTES,
    *EXPECTATION_ROUTES,
    *BALANCE_ROUTES,
    *REGISTER_ROUTES,
    *VOLUME_ROUTES,
    *BILLING_ROUTES,
    *CREDENTIAL_ROUTES,
)
INSIGHT_ACTIONS: tuple[Action, ...] = (
    *FINDING_ACTIONS,
    *FINDING_SETTINGS_ACTIONS,
    *ALERT_ACTIONS,
    *ANNOTATION_ACTIONS,
    *BILLING_ACTIONS,
)
INSIGHT_ROUTES: tuple[Route, ...] = (
    *_ANSWERING,
    document_route(
        (*_ANSWERING, *INSIGHT_ACTIONS),
        INSIGHT_PREFIX,
        "getInsightApiJson",
        INSIGHT_INFO,
        IMPORT_OPERATIONS,
    ),
)
