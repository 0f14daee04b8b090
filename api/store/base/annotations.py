"""Notes, maintenance and corrections, and what is removed, as every store promises them."""

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
    """What somebody wrote about a device or a group: a note, planned maintenance, a correction.

    Exactly one of ``device_key`` and ``group_name`` is set. [from_ms, to_ms) is its span; ``to_ms``
    None: an instant (of a note). ``body`` is a note's text, or the reason. Of maintenance:
    ``repeats`` up to ``until_ms`` on the wall clock of ``zone``. Of a correction: ``metrics`` are
    columns, ``factor`` None excludes their values, ``ended_ms`` says since when it is revoked.
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
    """``device_id`` and ``serial_number`` are None of a group's."""

    annotation: Annotation
    device_id: str | None
    serial_number: str | None


@dataclass(frozen=True, slots=True)
class AnnotationQuery:
    """Latest first. None and "" ask for all. Of ``device`` also its groups' that the scope's grant
    covers. ``text`` is part of the body. ``from_ms`` and ``to_ms`` (inclusive): those that have a
    part between them. ``ended``: revoked corrections too."""

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
    """Raw readings in a span: how many, and how many of them have a value of one of the metrics."""

    readings: int
    values: int


class OriginalReading(NamedTuple):
    """A reading that a correction has changed, as it came: values in the order of METRICS."""

    ts: int
    values: tuple[float | None, ...]


class Annotations(Protocol):
    """What changes is audited in the same transaction, and the devices it touches are due."""

    def annotations(self, scope: Scope, query: AnnotationQuery) -> list[AnnotationEntry]: ...

    def count_annotations(self, scope: Scope, query: AnnotationQuery) -> int: ...

    def annotation(
        self, scope: Scope, kind: AnnotationKind, annotation_id: str
    ) -> AnnotationEntry | None: ...

    def keep_annotation(self, annotation: Annotation, audit: Sequence[AuditEntry]) -> None:
        """A note or maintenance, new or changed."""
        ...

    def drop_annotation(self, annotation: Annotation, audit: Sequence[AuditEntry]) -> None:
        """A note or maintenance."""
        ...

    def maintenance_of(self, keys: Sequence[int]) -> dict[int, list[Annotation]]:
        """By device key, its own and its groups'; no entry where there is none."""
        ...

    def notes_of(
        self, keys: Sequence[int], from_ms: int, to_ms: int
    ) -> dict[int, list[Annotation]]:
        """By device key, its own and its groups' that have a part in [from_ms, to_ms)."""
        ...

    def has_group(self, organization_id: str, name: str) -> bool: ...


class Corrections(Protocol):
    """A correction changes what the readings of a span count as. The readings as they came are kept
    beside them; revoking puts them back, and every rollup with them."""

    def touched_by(self, device: Device, span: Span, metrics: Sequence[str]) -> Touched:
        """What a correction of that span would change."""
        ...

    def correct(self, correction: Annotation, audit: Sequence[AuditEntry]) -> Touched:
        """UserError where raw readings of the span were pruned, or a scaled value doesn't fit a
        number."""
        ...

    def revoke_correction(self, correction: Annotation, audit: Sequence[AuditEntry]) -> None:
        """``correction`` as it becomes. UserError where raw readings of the span were pruned."""
        ...

    def corrections_of(self, keys: Sequence[int]) -> dict[int, list[Annotation]]:
        """Those in force by device key, in the order in which they are applied."""
        ...

    def originals(self, device: Device, span: Span, limit: int) -> list[OriginalReading]:
        """The readings of the span that a correction has changed, as they came."""
        ...


class Removal(Protocol):
    """Rollups, counters and what is due follow in the same transaction."""

    def delete_readings(
        self, device: Device, from_ms: int, to_ms: int, audit: Sequence[AuditEntry]
    ) -> int:
        """Delete the readings in [from_ms, to_ms), also the rollups of pruned ones; how many raw
        ones that were. UserError where it would cut a bucket whose raw readings were pruned."""
        ...

    def set_device_active(self, device: Device, active: bool, audit: Sequence[AuditEntry]) -> None:
        """UserError where another active device has its serial number or network identifier."""
        ...

    def delete_device(self, device: Device, audit: Sequence[AuditEntry]) -> int:
        """With its readings and everything known of it; how many raw readings that were."""
        ...

    def forget_device(self, key: int) -> None:
        """Delete the rows of a device that is deleted already: readings that came late. Nothing of
        a device that exists."""
        ...

    def delete_organization(self, organization_id: str, audit: Sequence[AuditEntry] = ()) -> int:
        """Delete it with its devices, readings, keys and refusals; how many raw readings that
        were. One transaction a device, so it may be interrupted and called again. Nothing may
        write readings of its devices meanwhile. Of its audit log these entries stay."""
        ...
