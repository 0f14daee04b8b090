"""The audit log, for administrators of a whole organization."""

from __future__ import annotations

from dataclasses import replace
from heapq import merge
from operator import attrgetter
from typing import Any, Final

from api.catalog import INSIGHT_PREFIX
from api.domain.identify import storable
from api.errors import Forbidden
from api.openapi import Operation, ref
from api.params.annotations import AuditListQuery
from api.roles import Role
from api.routes.endpoint import Call, Reply, Route
from api.routes.serialize import instant
from api.store.base import AuditEntry, AuditLog, AuditQuery

WHOLE: Final = "The audit log needs a credential for all of the organization's devices."


def list_audit(call: Call[AuditListQuery]) -> Reply:
    if not call.scope.grant.everything:
        raise Forbidden(WHOLE)
    params = call.query
    query = AuditQuery(
        organization_id=call.scope.organization_id,
        kind=params.kind,
        author=params.author,
        text=params.q or "",
        from_ms=params.from_ms,
        to_ms=params.to_ms,
        limit=params.limit,
        offset=params.offset,
    )
    texts = (params.kind, params.author, params.q)
    possible = all(storable(text) for text in texts if text is not None)
    logs: list[AuditLog] = [call.store, *([call.web] if call.web is not None else [])]
    count = sum(log.count_audit(query) for log in logs) if possible else 0
    rows = entries(logs, query) if count > params.offset else []
    return Reply(
        {
            "count": count,
            "limit": params.limit,
            "offset": params.offset,
            "data": [audit_object(entry) for entry in rows],
        }
    )


def entries(logs: list[AuditLog], query: AuditQuery) -> list[AuditEntry]:
    """Returns a page of several logs as one: changes of embeds are in the web's own log."""
    first = replace(query, limit=query.offset + query.limit, offset=0)
    newest = attrgetter("at_ms", "id")  # as each log lists them
    merged = merge(*(log.audit(first) for log in logs), key=newest, reverse=True)
    return list(merged)[query.offset : query.offset + query.limit]


def audit_object(entry: AuditEntry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "at": instant(entry.at_ms),
        "author": entry.author,
        "kind": entry.kind,
        "action": entry.action,
        "subject": entry.subject,
        "before": entry.before,
        "after": entry.after,
        "reason": entry.reason,
    }


AUDIT_ROUTES: Final = (
    Route(
        Operation(
            id="listAudit",
            path=f"{INSIGHT_PREFIX}/audit",
            tag="audit",
            summary="Who changed what, the latest first",
            answer=ref("AuditPage"),
            query=AuditListQuery,
        ),
        list_audit,
        role=Role.ADMINISTRATOR,
    ),
)
