"""Notes, maintenance and corrections: which values are valid, and who may change them."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple
from uuid import uuid4

from api.catalog import AGGREGATES, DAY_MS, FLOW_AMOUNT, METRICS, RAW
from api.domain.identify import identify, storable
from api.errors import (
    Conflict,
    Forbidden,
    NotFound,
    UserError,
    invalid_fields,
)
from api.metering.maintenance import Repeat
from api.roles import Role
from api.store.base import (
    Annotation,
    AnnotationEntry,
    AnnotationKind,
    AuditEntry,
    Device,
    Scope,
    Span,
    Store,
    Touched,
)
from api.timez import now_ms as clock_ms
from api.timez import stamp

LONGEST_MS: Final = 366 * DAY_MS  # of one maintenance
LONGEST_REPEAT_MS: Final = 2 * 366 * DAY_MS  # from the first of a series to the last
EXCLUDE, SCALE = "exclude", "scale"
NOT_YOURS: Final = "Only its author or an administrator may change this note."


class Author(NamedTuple):
    """Who makes a change: a Key ID or the like, and the role."""

    name: str
    role: Role


@dataclass(frozen=True, slots=True)
class Wanted:
    """A request for a new annotation; ``device`` is any identifier."""

    device: str | None
    group: str | None
    from_ms: int
    to_ms: int | None
    body: str
    repeats: Repeat = Repeat.ONCE
    until_ms: int | None = None
    zone: str | None = None
    metrics: tuple[str, ...] = ()
    factor: float | None = None


class Preview(NamedTuple):
    """What a correction would change: the number of readings, the values in them, and the gallons
    in its span before and after (None where no volume changes)."""

    touched: Touched
    gallons_before: float | None
    gallons_after: float | None


# --- Lookup --------------------------------------------------------------------------------------


def find(store: Store, scope: Scope, kind: AnnotationKind, annotation_id: str) -> AnnotationEntry:
    """Returns the annotation. Raises NotFound where the scope has none with that id."""
    entry = store.annotation(scope, kind, annotation_id) if storable(annotation_id) else None
    if entry is None:
        raise NotFound(f"{kind.value.capitalize()} not found, or you don't have access.")
    return entry


# --- Creating and changing -----------------------------------------------------------------------


def create(
    store: Store, scope: Scope, kind: AnnotationKind, wanted: Wanted, author: Author
) -> AnnotationEntry:
    """Creates a note or maintenance. Raises BadRequest or NotFound."""
    device = _whose(store, scope, wanted)
    made = _checked(_new(scope, kind, wanted, device, author))
    entry = _entry(made, device)
    store.keep_annotation(made, [_audit(entry, None, "create", author)])
    return entry


def change(store: Store, entry: AnnotationEntry, author: Author, **fields: Any) -> AnnotationEntry:
    """Changes fields of the annotation."""
    _refuse_others(entry, author)
    after = _checked(
        replace(entry.annotation, **fields, changed_ms=clock_ms(), changed_by=author.name)
    )
    changed = entry._replace(annotation=after)
    store.keep_annotation(after, [_audit(changed, entry, "change", author)])
    return changed


def drop(store: Store, entry: AnnotationEntry, author: Author) -> None:
    _refuse_others(entry, author)
    store.drop_annotation(entry.annotation, [_audit(None, entry, "delete", author)])


def _refuse_others(entry: AnnotationEntry, author: Author) -> None:
    """Only authors and administrators may change notes. Everything else takes an administrator
    anyway."""
    if author.name != entry.annotation.created_by and not author.role.may_administer:
        raise Forbidden(NOT_YOURS)


# --- Corrections ---------------------------------------------------------------------------------


def correct(store: Store, scope: Scope, wanted: Wanted, author: Author) -> AnnotationEntry:
    device = _whose(store, scope, wanted)
    made = _checked(_new(scope, AnnotationKind.CORRECTION, wanted, device, author))
    entry = _entry(made, device)
    if device is None:
        raise invalid_fields(device="is required: a correction is of one device")
    if not store.touched_by(device, _span(made), made.metrics).readings:
        raise Conflict("There are no readings in this span.")
    with _refused_as_conflict():
        store.correct(made, [_audit(entry, None, "create", author)])
    return entry


def revoke(store: Store, entry: AnnotationEntry, reason: str, author: Author) -> AnnotationEntry:
    """Revokes a correction. Raises Conflict where it is already revoked."""
    if entry.annotation.ended_ms is not None:
        raise Conflict("This correction is revoked already.")
    ended = replace(entry.annotation, ended_ms=clock_ms(), ended_by=author.name, end_reason=reason)
    after = entry._replace(annotation=ended)
    with _refused_as_conflict():
        store.revoke_correction(ended, [_audit(after, entry, "revoke", author)])
    return after


@contextmanager
def _refused_as_conflict() -> Generator[None]:
    """Turns the store's refusals (pruned readings, values that don't fit a number) into
    Conflict."""
    try:
        yield
    except UserError as error:
        raise Conflict(str(error)) from None


def preview(store: Store, scope: Scope, wanted: Wanted) -> Preview:
    """Previews a correction that hasn't been made yet."""
    device = _whose(store, scope, wanted)
    if device is None:
        raise invalid_fields(device="is required: a correction is of one device")
    made = _checked(_new(scope, AnnotationKind.CORRECTION, wanted, device, Author("", Role.VIEWER)))
    touched = store.touched_by(device, _span(made), made.metrics)
    if FLOW_AMOUNT.name not in made.metrics:
        return Preview(touched, None, None)
    gallons = _gallons(store, device, _span(made))
    if gallons is None:
        return Preview(touched, None, None)
    return Preview(touched, gallons, gallons * made.factor if made.factor is not None else None)


def _gallons(store: Store, device: Device, span: Span) -> float | None:
    edges = (span.from_ms or 0, (span.to_ms or 0) + 1)
    pieces = store.pieces(device, RAW, span, edges)
    return pieces[0].values[_TOTAL] if pieces else None


_TOTAL: Final = next(
    i for i, a in enumerate(AGGREGATES) if (a.function, a.metric) == ("total", FLOW_AMOUNT)
)


def _span(correction: Annotation) -> Span:
    return Span(correction.from_ms, (correction.to_ms or correction.from_ms + 1) - 1)


# --- Checks --------------------------------------------------------------------------------------


def _whose(store: Store, scope: Scope, wanted: Wanted) -> Device | None:
    """Returns the device, or None for a group. A group outside the grant counts as missing."""
    if (wanted.device is None) == (wanted.group is None):
        raise invalid_fields(device="give a device or a group")
    if wanted.device is not None:
        return identify(store, scope, wanted.device)
    group, grant = wanted.group or "", scope.grant
    covered = grant.everything or group in grant.groups
    if not (covered and storable(group) and store.has_group(scope.organization_id, group)):
        raise NotFound("Group not found, or you don't have access.")
    return None


def _new(
    scope: Scope, kind: AnnotationKind, wanted: Wanted, device: Device | None, author: Author
) -> Annotation:
    return Annotation(
        id=str(uuid4()),
        organization_id=scope.organization_id,
        kind=kind,
        device_key=None if device is None else device.key,
        group_name=wanted.group,
        from_ms=wanted.from_ms,
        to_ms=wanted.to_ms,
        body=wanted.body,
        created_ms=clock_ms(),
        created_by=author.name,
        repeats=wanted.repeats,
        until_ms=wanted.until_ms,
        zone=wanted.zone or ("UTC" if device is None else device.time_zone),
        metrics=wanted.metrics,
        factor=wanted.factor,
    )


def _checked(made: Annotation) -> Annotation:
    """Raises BadRequest where the fields contradict each other."""
    from_ms, to_ms, until_ms = made.from_ms, made.to_ms, made.until_ms
    if not made.body:
        name = "text" if made.kind is AnnotationKind.NOTE else "reason"
        raise invalid_fields(**{name: "is required"})
    if to_ms is not None and to_ms <= from_ms:
        raise invalid_fields(to="must be after from")
    if made.kind is not AnnotationKind.NOTE and to_ms is None:
        raise invalid_fields(to="is required")
    if made.kind is AnnotationKind.CORRECTION and (to_ms or 0) > made.created_ms:
        raise invalid_fields(to="is in the future: only readings that are there can be corrected")
    if made.kind is AnnotationKind.MAINTENANCE:
        _check_repeat(made, (to_ms or 0) - from_ms, until_ms)
    return made


def _check_repeat(made: Annotation, length_ms: int, until_ms: int | None) -> None:
    if length_ms > LONGEST_MS:
        raise invalid_fields(to="is more than a year after from")
    if made.repeats is Repeat.ONCE:
        if until_ms is not None:
            raise invalid_fields(until="needs repeat")
        return
    if until_ms is None:
        raise invalid_fields(until="is required: until when it repeats")
    if not made.from_ms <= until_ms <= made.from_ms + LONGEST_REPEAT_MS:
        raise invalid_fields(until="must be within two years after from")
    if length_ms > SHORTEST_STEP_MS[made.repeats]:
        raise invalid_fields(to="is later than the next repeat begins")


SHORTEST_STEP_MS: Final = {
    Repeat.DAILY: DAY_MS,
    Repeat.WEEKLY: 7 * DAY_MS,
    Repeat.MONTHLY: 28 * DAY_MS,
}


# --- As JSON -------------------------------------------------------------------------------------


def _entry(made: Annotation, device: Device | None) -> AnnotationEntry:
    if device is None:
        return AnnotationEntry(made, None, None)
    return AnnotationEntry(made, device.id, device.serial_number)


def _audit(
    after: AnnotationEntry | None, before: AnnotationEntry | None, action: str, author: Author
) -> AuditEntry:
    entry = after or before
    assert entry is not None
    annotation = entry.annotation
    return AuditEntry(
        clock_ms(),
        annotation.organization_id,
        author.name,
        annotation.kind.value,
        action,
        annotation.id,
        None if before is None else annotation_object(before),
        None if after is None else annotation_object(after),
        reason=(annotation.end_reason or "" if action == "revoke" else annotation.body),
    )


def annotation_object(entry: AnnotationEntry) -> dict[str, Any]:
    annotation = entry.annotation
    shown: dict[str, Any] = {
        "kind": annotation.kind.value,
        "id": annotation.id,
        "deviceId": entry.device_id,
        "serialNumber": entry.serial_number,
        "group": annotation.group_name,
        "from": _text(annotation.from_ms),
        "to": _text(annotation.to_ms),
        "text" if annotation.kind is AnnotationKind.NOTE else "reason": annotation.body,
        "created": _text(annotation.created_ms),
        "createdBy": annotation.created_by,
        "changed": _text(annotation.changed_ms),
        "changedBy": annotation.changed_by,
    }
    if annotation.kind is AnnotationKind.MAINTENANCE:
        shown |= {
            "repeat": annotation.repeats.value or None,
            "until": _text(annotation.until_ms),
            "zone": annotation.zone,
        }
    if annotation.kind is AnnotationKind.CORRECTION:
        shown |= {
            "metrics": list(annotation.metrics),
            "effect": EXCLUDE if annotation.factor is None else SCALE,
            "factor": annotation.factor,
            "state": "in-force" if annotation.ended_ms is None else "revoked",
            "revoked": _text(annotation.ended_ms),
            "revokedBy": annotation.ended_by,
            "revokeReason": annotation.end_reason,
        }
    return shown


def _text(instant_ms: int | None) -> str | None:
    return None if instant_ms is None else stamp(instant_ms, fraction=True)


ALL_METRICS: Final = tuple(metric.name for metric in METRICS)
