"""Notes, maintenance and corrections as rows, for every dialect."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from api.metering.maintenance import Repeat
from api.store.audit import AuditPart
from api.store.base import Row, Scope
from api.store.base.annotations import (
    Annotation,
    AnnotationEntry,
    AnnotationKind,
    AnnotationQuery,
)
from api.store.base.audit import AuditEntry
from api.store.dialect_interface import Transaction
from api.store.query import Query
from api.store.sql import annotations as sql
from api.store.sql import insight as insight_sql
from api.store.tables import ANNOTATION


class AnnotationsPart(AuditPart):
    """`api.store.base.Annotations` for every dialect."""

    def annotations(self, scope: Scope, query: AnnotationQuery) -> list[AnnotationEntry]:
        return [_entry(row) for row in self.fetch(sql.page(self.dialect, scope, query))]

    def count_annotations(self, scope: Scope, query: AnnotationQuery) -> int:
        return int(self.fetch(sql.count(self.dialect, scope, query))[0][0])

    def annotation(
        self, scope: Scope, kind: AnnotationKind, annotation_id: str
    ) -> AnnotationEntry | None:
        rows = self.fetch(sql.one(self.dialect, scope, kind, annotation_id))
        return _entry(rows[0]) if rows else None

    def keep_annotation(self, annotation: Annotation, audit: Sequence[AuditEntry]) -> None:
        with self.transaction() as transaction:
            transaction.lock_directory()
            transaction.run(sql.keep(values_of(annotation)))
            self._mark(transaction, annotation)
            self.record_in(transaction, audit)

    def drop_annotation(self, annotation: Annotation, audit: Sequence[AuditEntry]) -> None:
        with self.transaction() as transaction:
            transaction.lock_directory()
            self._mark(transaction, annotation)
            transaction.run(sql.drop(annotation))
            self.record_in(transaction, audit)

    def _mark(self, transaction: Transaction, annotation: Annotation) -> None:
        """Marks devices as due: maintenance changes their uptime and the data that their profile is
        trained on."""
        if annotation.kind is not AnnotationKind.MAINTENANCE:
            return
        keys = [annotation.device_key]
        if annotation.group_name is not None:
            whose = (annotation.organization_id, annotation.group_name)
            keys = [key for (key,) in transaction.fetch(sql.devices_of_group(*whose))]
        if keys:
            marks = [(key, annotation.from_ms) for key in keys if key is not None]
            transaction.run(insight_sql.mark_due(self.dialect, marks))

    def maintenance_of(self, keys: Sequence[int]) -> dict[int, list[Annotation]]:
        return self._by_device(sql.maintenance(self.dialect, keys)) if keys else {}

    def notes_of(
        self, keys: Sequence[int], from_ms: int, to_ms: int
    ) -> dict[int, list[Annotation]]:
        return self._by_device(sql.notes(self.dialect, keys, from_ms, to_ms)) if keys else {}

    def _by_device(self, query: Query) -> dict[int, list[Annotation]]:
        by_device: defaultdict[int, list[Annotation]] = defaultdict(list)
        for key, *row in self.fetch(query):
            by_device[key].append(with_values(row))
        return dict(by_device)

    def has_group(self, organization_id: str, name: str) -> bool:
        return bool(self.fetch(sql.devices_of_group(organization_id, name)))


def values_of(annotation: Annotation) -> list[object]:
    """Returns the values in the order of the table's columns."""
    values = [getattr(annotation, name) for name in ANNOTATION.names]
    values[_KIND] = annotation.kind.value
    values[_REPEATS] = annotation.repeats.value
    values[_METRICS] = ",".join(annotation.metrics)
    return values


def with_values(row: Sequence[Any]) -> Annotation:
    values = dict(zip(ANNOTATION.names, row, strict=True))
    values["kind"] = AnnotationKind(values["kind"])
    values["repeats"] = Repeat(values["repeats"])
    values["metrics"] = tuple(values["metrics"].split(",")) if values["metrics"] else ()
    return Annotation(**values)


def _entry(row: Row) -> AnnotationEntry:
    return AnnotationEntry(with_values(row[:-2]), row[-2], row[-1])


_KIND, _REPEATS, _METRICS = (
    ANNOTATION.names.index(name) for name in ("kind", "repeats", "metrics")
)
