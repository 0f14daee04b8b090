"""The interface of every store for notes, maintenance, corrections and removal."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, Protocol

from api.metering.maintenance import Repeat
from api.store.base.audit import AuditEntry
from api.store.base.directory import Device, Scope
from api.store.base.series import Span


class AnnotationKind(StrEnum):
    NOTE = "note"
    MAINTENANCE = "maintenance"
    CORRECTION = "correction"


@dataclass(frozen=True, slots=True)
class Annotation:
    """A note, planned maintenance or a correction, of a device or a group.

    Exactly one of ``device_key`` and ``group_name`` is set. The span is [from_ms, to_ms); ``to_ms``
    None makes a note of an instant. ``body`` is a note's text, or the reason. Maintenance
    ``repeats`` until ``until_ms`` on the wall clock of ``zone``. For a correction, ``metrics`` are
    columns, ``factor`` None excludes their values, and ``ended_ms`` is when it was revoked.
    """

    id: str
    organization_id: str
    kind: AnnotationKind
    device_key: int | None
    group_name: str | None
    from_ms: int
    to_ms: int | None
    body: str
    created_ms: int
    created_by: str
    repeats: Repeat = Repeat.ONCE
    until_ms: int | None = None
    zone: str = "UTC"
    metrics: tuple[str, ...] = ()
    factor: float | None = None
    changed_ms: int | None = None
    changed_by: str | None = None
    ended_ms: int | None = None
    ended_by: str | None = None
    end_reason: str | None = None


class AnnotationEntry(NamedTuple):
    """``device_id`` and ``serial_number`` are None for a group's annotation."""

    annotation: Annotation
    device_id: str | None
    serial_number: str | None


@dataclass(frozen=True, slots=True)
class AnnotationQuery:
    """A selection, latest first. None and "" select everything. ``device`` includes annotations of
    its groups within the scope's grant. ``text`` is part of the body. ``from_ms`` and ``to_ms``
    (inclusive) select annotations that overlap them. ``ended`` includes revoked corrections."""

    kinds: Collection[AnnotationKind] = ()
    device: Device | None = None
    group: str | None = None
    text: str = ""
    from_ms: int | None = None
    to_ms: int | None = None
    ended: bool = True
    limit: int = 100
    offset: int = 0


class Touched(NamedTuple):
    """Raw readings in a span: their number, and how many have a value of one of the metrics."""

    readings: int
    values: int


class OriginalReading(NamedTuple):
    """A reading changed by a correction, as it was received: values in the order of METRICS."""

    ts: int
    values: tuple[float | None, ...]


class Annotations(Protocol):
    """Changes are audited in the same transaction, and the devices concerned become due."""

    def annotations(self, scope: Scope, query: AnnotationQuery) -> list[AnnotationEntry]: ...

    def count_annotations(self, scope: Scope, query: AnnotationQuery) -> int: ...

    def annotation(
        self, scope: Scope, kind: AnnotationKind, annotation_id: str
    ) -> AnnotationEntry | None: ...

    def keep_annotation(self, annotation: Annotation, audit: Sequence[AuditEntry]) -> None:
        """Saves a new or changed note or maintenance."""
        ...

    def drop_annotation(self, annotation: Annotation, audit: Sequence[AuditEntry]) -> None:
        """Deletes a note or maintenance."""
        ...

    def maintenance_of(self, keys: Sequence[int]) -> dict[int, list[Annotation]]:
        """Returns, by device key, its own maintenance and its groups'; no entry where there is
        none."""
        ...

    def notes_of(
        self, keys: Sequence[int], from_ms: int, to_ms: int
    ) -> dict[int, list[Annotation]]:
        """Returns, by device key, its own notes and its groups' that overlap [from_ms, to_ms)."""
        ...

    def has_group(self, organization_id: str, name: str) -> bool: ...


class Corrections(Protocol):
    """A correction changes the effective values of the readings in a span. The original readings
    are stored separately; revoking a correction restores them, and every rollup."""

    def touched_by(self, device: Device, span: Span, metrics: Sequence[str]) -> Touched:
        """Counts what a correction of that span would change."""
        ...

    def correct(self, correction: Annotation, audit: Sequence[AuditEntry]) -> Touched:
        """Applies a correction. Raises UserError where raw readings of the span were pruned, or a
        scaled value doesn't fit a double."""
        ...

    def revoke_correction(self, correction: Annotation, audit: Sequence[AuditEntry]) -> None:
        """Revokes a correction; ``correction`` is its new state. Raises UserError where raw
        readings of the span were pruned."""
        ...

    def corrections_of(self, keys: Sequence[int]) -> dict[int, list[Annotation]]:
        """Returns the corrections in force by device key, in the order in which they are
        applied."""
        ...

    def originals(self, device: Device, span: Span, limit: int) -> list[OriginalReading]:
        """Returns the readings of the span that a correction has changed, as they were received."""
        ...


class Removal(Protocol):
    """Deletes readings and devices. Rollups, counters and due marks are updated in the same
    transaction."""

    def delete_readings(
        self, device: Device, from_ms: int, to_ms: int, audit: Sequence[AuditEntry]
    ) -> int:
        """Deletes the readings in [from_ms, to_ms), and the rollups of pruned ones. Returns the
        number of raw readings. Raises UserError where a bucket whose raw readings were pruned would
        be cut."""
        ...

    def set_device_active(self, device: Device, active: bool, audit: Sequence[AuditEntry]) -> None:
        """Raises UserError where another active device has its serial number or network
        identifier."""
        ...

    def delete_device(self, device: Device, audit: Sequence[AuditEntry]) -> int:
        """Deletes a device, its readings and all other data about it. Returns the number of raw
        readings."""
        ...

    def forget_device(self, key: int) -> None:
        """Deletes rows that arrived after their device was deleted. Doesn't touch existing
        devices."""
        ...

    def delete_organization(self, organization_id: str, audit: Sequence[AuditEntry] = ()) -> int:
        """Deletes the organization with its devices, readings, keys and refusals; returns the
        number of raw readings. Each device has its own transaction, so the call may be interrupted
        and repeated. Nothing may write readings of its devices meanwhile. Of its audit log, only
        ``audit`` remains."""
        ...
