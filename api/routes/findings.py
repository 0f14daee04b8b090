"""Endpoints of findings: list, evidence, dismissal, and undoing a dismissal."""

from __future__ import annotations

from typing import Any, Final

from api.catalog import INSIGHT_PREFIX
from api.domain.identify import identify, storable
from api.errors import NotFound
from api.insight.finding_dismissal import NOT_A_PROBLEM, Threshold, dismissed, restored
from api.insight.finding_evidence import Evidence, evidence
from api.openapi import Operation, ref
from api.params import NoBody, Query
from api.params.findings import DismissBody, FindingListQuery
from api.routes.endpoint import Action, ActionCall, Call, Reply, Route
from api.routes.serialize import instant
from api.store.base import FindingEntry, FindingQuery, FindingRow, Scope, Store
from api.timez import now_ms

NO_SUCH_FINDING: Final = "Finding not found, or you don't have access."


def list_findings(call: Call[FindingListQuery]) -> Reply:
    params = call.query
    device = None if params.device is None else identify(call.store, call.scope, params.device)
    query = FindingQuery(
        device=device,
        group=params.group,
        kinds=params.kinds,
        severities=params.severities,
        states=params.states,
        from_ms=params.from_ms,
        to_ms=params.to_ms,
        limit=params.limit,
        offset=params.offset,
    )
    valid = params.group is None or storable(params.group)
    count = call.store.count_findings(call.scope, query) if valid else 0
    wanted = not params.count and count > params.offset
    entries = call.store.findings(call.scope, query, matches=count) if wanted else []
    return Reply(
        {
            "count": count,
            "limit": params.limit,
            "offset": params.offset,
            "data": [finding_object(each) for each in entries],
        }
    )


def get_finding(call: Call[Query]) -> Reply:
    entry = _entry(call.store, call.scope, call.identifier)
    (device,) = call.store.devices_by_key([entry.finding.key])
    series = evidence(call.store, device, entry.finding, now_ms())
    finding = entry.finding
    return Reply(
        finding_object(entry)
        | {
            "offersNewNormal": finding.offers_new_normal,
            "dismissed": _dismissal(finding),
            "evidence": evidence_object(series),
        }
    )


def dismiss(call: ActionCall[DismissBody]) -> Reply:
    entry = _entry(call.store, call.scope, call.identifier)
    judged, threshold = dismissed(
        call.store,
        call.scope,
        entry,
        by=call.by,
        reason=call.body.reason,
        at_ms=call.now_ms,
        judgement=call.body.judgement,
    )
    return Reply(judged_object(judged, threshold))


def restore(call: ActionCall[NoBody]) -> Reply:
    entry = _entry(call.store, call.scope, call.identifier)
    return Reply(
        judged_object(*restored(call.store, call.scope, entry, by=call.by, at_ms=call.now_ms))
    )


def _entry(store: Store, scope: Scope, finding_id: str) -> FindingEntry:
    entry = store.finding(scope, finding_id.lower()) if storable(finding_id) else None
    if entry is None:
        raise NotFound(NO_SUCH_FINDING)
    return entry


# --- As JSON -------------------------------------------------------------------------------------


def finding_object(entry: FindingEntry) -> dict[str, Any]:
    finding = entry.finding
    return {
        "id": finding.id,
        "deviceId": entry.device_id,
        "serialNumber": entry.serial_number,
        "kind": finding.kind,
        "severity": finding.severity,
        "state": finding.state,
        "start": instant(finding.start_ms),
        "end": None if finding.end_ms is None else instant(finding.end_ms),
        "openedAt": instant(finding.opened_ms),
        "value": finding.value,
        "unit": finding.unit,
        "usual": finding.usual,
        "gallons": finding.gallons,
        "costPerDay": finding.cost_per_day,
        "words": finding.words,
    }


def _dismissal(finding: FindingRow) -> dict[str, str] | None:
    if finding.dismissed_ms is None:
        return None
    return {
        "at": instant(finding.dismissed_ms),
        "by": finding.dismissed_by or "",
        "as": finding.judgement or NOT_A_PROBLEM.name,
        "reason": finding.reason or "",
    }


def evidence_object(series: Evidence) -> dict[str, Any]:
    return {
        "resolution": series.resolution.name,
        "metric": series.column.name,
        "unit": series.column.metric.unit,
        "from": instant(series.span.from_ms or 0),
        "to": instant(series.span.to_ms or 0),
        "data": [{"bucket_start": instant(at), "value": value} for at, value in series.rows],
    }


def judged_object(entry: FindingEntry, threshold: Threshold) -> dict[str, Any]:
    return {
        "finding": finding_object(entry),
        "threshold": {
            "kind": threshold.kind,
            "before": threshold.before,
            "factor": threshold.factor,
            "words": threshold.words,
        },
    }


_LIST: Final = f"{INSIGHT_PREFIX}/findings"
_ONE: Final = f"{_LIST}/{{id}}"
_ID: Final = "A finding's id."
FINDING_ROUTES: Final = (
    Route(
        Operation(
            id="listFindings",
            path=_LIST,
            tag="findings",
            summary="Findings, worst first: severity, cost a day, the device's usual volume, age",
            answer=ref("FindingPage"),
            query=FindingListQuery,
            named_in_query=True,
        ),
        list_findings,
    ),
    Route(
        Operation(
            id="getFinding",
            path=_ONE,
            tag="findings",
            summary="One finding with its evidence",
            answer=ref("FindingDetail"),
            query=Query,
            named=_ID,
        ),
        get_finding,
    ),
)
FINDING_ACTIONS: Final = (
    Action(
        Operation(
            id="dismissFinding",
            path=f"{_ONE}/dismiss",
            tag="findings",
            summary="Dismisses it: as not a problem, being repaired, or the new normal",
            answer=ref("Judged"),
            query=Query,
            named=_ID,
            body=ref("DismissBody"),
        ),
        dismiss,
        DismissBody,
    ),
    Action(
        Operation(
            id="restoreFinding",
            path=f"{_ONE}/restore",
            tag="findings",
            summary="Undoes a dismissal and its effects on the device",
            answer=ref("Judged"),
            query=Query,
            named=_ID,
            body=ref("NoBody"),
        ),
        restore,
        NoBody,
    ),
)
