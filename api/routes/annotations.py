"""Endpoints of notes, maintenance and corrections."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from api.catalog import INSIGHT_PREFIX, METRICS, RAW
from api.domain import annotations as domain
from api.domain.annotations import AnnotationEntry, Author, annotation_object
from api.domain.identify import identify, storable
from api.errors import Forbidden, Unavailable
from api.insight.reevaluation import reevaluate
from api.openapi import Operation, ref
from api.params import NoBody, Query
from api.params.annotations import (
    AnnotationListQuery,
    CorrectedReadingsQuery,
    CorrectionBody,
    EveryKindQuery,
    MaintenanceBody,
    MaintenanceChanges,
    NoteBody,
    NoteChanges,
    RevokeBody,
)
from api.roles import Role
from api.routes.endpoint import Action, ActionCall, Call, Reply, Route
from api.routes.serialize import instant
from api.store.base import AnnotationKind, AnnotationQuery, Span

NOTE, MAINTENANCE, CORRECTION = AnnotationKind
PATHS: Final = {
    NOTE: f"{INSIGHT_PREFIX}/notes",
    MAINTENANCE: f"{INSIGHT_PREFIX}/maintenance",
    CORRECTION: f"{INSIGHT_PREFIX}/corrections",
}


def author(call: ActionCall[Any]) -> Author:
    return Author(call.principal.id, call.principal.role)


# --- Responses -----------------------------------------------------------------------------------


def _must_see_notes(call: Call[Any]) -> None:
    """Refuses an embed that doesn't show notes: a team's notes aren't for visitors of other
    sites."""
    if call.principal is not None and not call.principal.sees_notes:
        raise Forbidden("This embed shows no notes, maintenance or corrections.")


def list_of(kind: AnnotationKind) -> Callable[[Call[AnnotationListQuery]], Reply]:
    return lambda call: _listed(call, (kind,))


def list_all(call: Call[EveryKindQuery]) -> Reply:
    return _listed(call, tuple(map(AnnotationKind, call.query.kinds)))


def _listed(call: Call[Any], kinds: tuple[AnnotationKind, ...]) -> Reply:
    _must_see_notes(call)
    params: AnnotationListQuery = call.query
    device = None if params.device is None else identify(call.store, call.scope, params.device)
    query = AnnotationQuery(
        kinds=kinds,
        device=device,
        group=params.group,
        text=params.q or "",
        from_ms=params.from_ms,
        to_ms=params.to_ms,
        ended=params.revoked,
        limit=params.limit,
        offset=params.offset,
    )
    possible = all(storable(text) for text in (params.group, params.q) if text is not None)
    count = call.store.count_annotations(call.scope, query) if possible else 0
    entries = call.store.annotations(call.scope, query) if count > params.offset else []
    return Reply(
        {
            "count": count,
            "limit": params.limit,
            "offset": params.offset,
            "data": [annotation_object(entry) for entry in entries],
        }
    )


def get_of(kind: AnnotationKind) -> Callable[[Call[Query]], Reply]:
    def answer(call: Call[Query]) -> Reply:
        _must_see_notes(call)
        return Reply(annotation_object(domain.find(call.store, call.scope, kind, call.identifier)))

    return answer


def create_of(kind: AnnotationKind) -> Callable[[ActionCall[Any]], Reply]:
    def answer(call: ActionCall[Any]) -> Reply:
        entry = domain.create(call.store, call.scope, kind, call.body.wanted, author(call))
        return Reply(annotation_object(entry))

    return answer


def change_of(kind: AnnotationKind) -> Callable[[ActionCall[Any]], Reply]:
    def answer(call: ActionCall[Any]) -> Reply:
        entry = domain.find(call.store, call.scope, kind, call.identifier)
        changed = domain.change(call.store, entry, author(call), **call.body.changes)
        return Reply(annotation_object(changed))

    return answer


def delete_of(kind: AnnotationKind) -> Callable[[ActionCall[NoBody]], Reply]:
    def answer(call: ActionCall[NoBody]) -> Reply:
        entry = domain.find(call.store, call.scope, kind, call.identifier)
        domain.drop(call.store, entry, author(call))
        return Reply(annotation_object(entry))

    return answer


def create_correction(call: ActionCall[CorrectionBody]) -> Reply:
    entry = domain.correct(call.store, call.scope, call.body.wanted, author(call))
    _follow(call, entry)
    return Reply(annotation_object(entry))


def _follow(call: ActionCall[Any], entry: AnnotationEntry) -> None:
    """Updates status and findings after the commit. Where that fails now, the writer does it."""
    with suppress(Unavailable):
        reevaluate(call.store, [entry.annotation.device_key or 0])


def preview_correction(call: ActionCall[CorrectionBody]) -> Reply:
    preview = domain.preview(call.store, call.scope, call.body.wanted)
    return Reply(
        {
            "readings": preview.touched.readings,
            "values": preview.touched.values,
            "gallons": {"before": preview.gallons_before, "after": preview.gallons_after},
        }
    )


def revoke_correction(call: ActionCall[RevokeBody]) -> Reply:
    entry = domain.find(call.store, call.scope, CORRECTION, call.identifier)
    revoked = domain.revoke(call.store, entry, call.body.reason, author(call))
    _follow(call, revoked)
    return Reply(annotation_object(revoked))


def corrected_readings(call: Call[CorrectedReadingsQuery]) -> Reply:
    """Returns the readings that a correction has changed: original and effective values."""
    _must_see_notes(call)
    entry = domain.find(call.store, call.scope, CORRECTION, call.identifier)
    annotation = entry.annotation
    device = identify(call.store, call.scope, entry.device_id or "")
    span = Span(annotation.from_ms, (annotation.to_ms or annotation.from_ms + 1) - 1)
    originals = call.store.originals(device, span, call.query.limit)
    rows = call.store.rows(device, RAW, span, limit=call.query.limit)
    counts = {row[0]: row[1:] for row in rows}
    names = [metric.name for metric in METRICS]
    data = [
        {
            "recorded_at": instant(each.ts),
            "original": dict(zip(names, each.values, strict=True)),
            "counts_as": dict(zip(names, counts.get(each.ts, each.values), strict=True)),
        }
        for each in originals
    ]
    return Reply({"data": data})


# --- Routes --------------------------------------------------------------------------------------


_NAMES: Final = {NOTE: "Note", MAINTENANCE: "Maintenance", CORRECTION: "Correction"}
_MANY: Final = {NOTE: "Notes", MAINTENANCE: "Maintenance", CORRECTION: "Corrections"}
_OF: Final = " of devices and groups, the latest first"


def _reading(kind: AnnotationKind) -> tuple[Route, ...]:
    name, path = _NAMES[kind], PATHS[kind]
    return (
        Route(
            Operation(
                id=f"list{_MANY[kind]}",
                path=path,
                tag="annotations",
                summary=f"{_MANY[kind]}{_OF}",
                answer=ref(f"{name}Page"),
                query=AnnotationListQuery,
                named_in_query=True,
            ),
            list_of(kind),
        ),
        Route(
            Operation(
                id=f"get{name}",
                path=f"{path}/{{id}}",
                tag="annotations",
                summary=f"One of the {path.rpartition('/')[2]}",
                answer=ref(name),
                query=Query,
                named="Its id.",
            ),
            get_of(kind),
        ),
    )


def _changing(
    kind: AnnotationKind, body: type[Any], changes: type[Any], role: Role
) -> tuple[Action, ...]:
    """Creating, changing and deleting a kind of annotation."""
    name, path = _NAMES[kind], PATHS[kind]
    create = Operation(
        id=f"create{name}",
        path=path,
        tag="annotations",
        summary=f"{name} on a device or a group",
        answer=ref(name),
        query=Query,
        body=ref(f"{name}Body"),
        status=201,
        named_in_query=True,
    )
    change = Operation(
        id=f"change{name}",
        path=f"{path}/{{id}}",
        tag="annotations",
        summary="Changes the fields that are sent",
        answer=ref(name),
        query=Query,
        named="Its id.",
        body=ref(f"{name}Changes"),
        verb="patch",
    )
    delete = replace(
        change,
        id=f"delete{name}",
        summary="Deletes it; the audit log keeps its values",
        body=ref("NoBody"),
        verb="delete",
    )
    return (
        Action(create, create_of(kind), body, role),
        Action(change, change_of(kind), changes, role),
        Action(delete, delete_of(kind), NoBody, role),
    )


_CORRECTIONS: Final = PATHS[CORRECTION]
ANNOTATION_ROUTES: Final = (
    Route(
        Operation(
            id="listAnnotations",
            path=f"{INSIGHT_PREFIX}/annotations",
            tag="annotations",
            summary=f"Notes, maintenance and corrections{_OF}, in one list",
            answer=ref("AnnotationPage"),
            query=EveryKindQuery,
            named_in_query=True,
        ),
        list_all,
    ),
    *(route for kind in AnnotationKind for route in _reading(kind)),
    Route(
        Operation(
            id="listCorrectedReadings",
            path=f"{_CORRECTIONS}/{{id}}/readings",
            tag="annotations",
            summary="The readings that a correction has changed: original and effective values",
            answer=ref("CorrectedReadings"),
            query=CorrectedReadingsQuery,
            named="The correction's id.",
        ),
        corrected_readings,
    ),
)
ANNOTATION_ACTIONS: Final = (
    *_changing(NOTE, NoteBody, NoteChanges, Role.OPERATOR),
    *_changing(MAINTENANCE, MaintenanceBody, MaintenanceChanges, Role.ADMINISTRATOR),
    Action(
        Operation(
            id="createCorrection",
            path=_CORRECTIONS,
            tag="annotations",
            summary="Excludes or scales the readings of a span; every sum follows at once",
            answer=ref("Correction"),
            query=Query,
            body=ref("CorrectionBody"),
            status=201,
            named_in_query=True,
        ),
        create_correction,
        CorrectionBody,
        Role.ADMINISTRATOR,
    ),
    Action(
        Operation(
            id="previewCorrection",
            path=f"{_CORRECTIONS}/preview",
            tag="annotations",
            summary="Previews what a correction would change",
            answer=ref("CorrectionPreview"),
            query=Query,
            body=ref("CorrectionBody"),
            named_in_query=True,
        ),
        preview_correction,
        CorrectionBody,
        Role.ADMINISTRATOR,
    ),
    Action(
        Operation(
            id="revokeCorrection",
            path=f"{_CORRECTIONS}/{{id}}/revoke",
            tag="annotations",
            summary="Revokes a correction: restores the readings",
            answer=ref("Correction"),
            query=Query,
            named="The correction's id.",
            body=ref("RevokeBody"),
        ),
        revoke_correction,
        RevokeBody,
        Role.ADMINISTRATOR,
    ),
)
