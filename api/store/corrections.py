"""Corrections: they change the effective values of the readings in a span, while the original
readings are kept.

Corrections in force are applied to the original readings in the order in which they were made. Any
change (a correction added or revoked, a late reading) first restores the range, so that the result
depends only on the corrections in force.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import partial

from api.catalog import HOUR_MS
from api.errors import UserError
from api.metering.units import plain
from api.store.annotations import values_of, with_values
from api.store.audit import AuditPart
from api.store.base import Device, Instant, Row, Span
from api.store.base.annotations import Annotation, OriginalReading, Touched
from api.store.base.audit import AuditEntry
from api.store.dialect_interface import Transaction
from api.store.rebuild import rebuild
from api.store.retention import RetentionPart
from api.store.sql import annotations as annotations_sql
from api.store.sql import corrections as sql
from api.store.sql import insight as insight_sql
from api.store.sql import retention as retention_sql
from api.store.sql import series as series_sql
from api.store.sql.arithmetic import Arithmetic
from api.timez import ceil_to, floor_to, stamp


class CorrectionsPart(RetentionPart, AuditPart):
    """`api.store.base.Corrections` for every dialect."""

    def touched_by(self, device: Device, span: Span, metrics: Sequence[str]) -> Touched:
        low, high = series_sql.closed(span)
        return Touched(*self.fetch(sql.count(device.key, low, high, metrics))[0])

    def correct(self, correction: Annotation, audit: Sequence[AuditEntry]) -> Touched:
        return self.reckon(partial(self._keep_correction, correction, audit))

    def revoke_correction(self, correction: Annotation, audit: Sequence[AuditEntry]) -> None:
        self.reckon(partial(self._keep_correction, correction, audit))

    def corrections_of(self, keys: Sequence[int]) -> dict[int, list[Annotation]]:
        rows = self.fetch(annotations_sql.corrections(self.dialect, keys)) if keys else []
        return _by_device(map(with_values, rows))

    def originals(self, device: Device, span: Span, limit: int) -> list[OriginalReading]:
        rows = self.fetch(sql.originals(device.key, *series_sql.closed(span), limit))
        return [OriginalReading(row[0], tuple(row[1:])) for row in rows]

    def _keep_correction(
        self, correction: Annotation, audit: Sequence[AuditEntry], arithmetic: Arithmetic
    ) -> Touched:
        """Saves a correction in its new state and applies the corrections in force to its span."""
        key, low, high = _range(correction)
        with self.transaction() as transaction:
            transaction.lock_devices([key])
            transaction.lock_directory()
            self._refuse_pruned(transaction, low)
            transaction.run(annotations_sql.keep(values_of(correction)))
            self.record_in(transaction, audit)
            counts = transaction.fetch(sql.count(key, low, high, correction.metrics))[0]
            self.apply_corrections(transaction, key, low, high)
            hours = (key, floor_to(low, HOUR_MS), ceil_to(high + 1, HOUR_MS))
            rebuild(transaction, self.dialect, hours, arithmetic)
            transaction.run(insight_sql.mark_due(self.dialect, [(key, low)]))
        return Touched(*counts)

    def _refuse_pruned(self, transaction: Transaction, low: int) -> None:
        limit = transaction.fetch(retention_sql.raw_from())
        if limit and floor_to(low, HOUR_MS) < limit[0][0]:
            raise UserError(
                f"raw readings before {stamp(limit[0][0])} were pruned: they can't be corrected,"
                " nor can a correction of them be revoked"
            )

    # --- For the parts that write readings ---

    def corrected_among(self, transaction: Transaction, keys: Iterable[int]) -> set[int]:
        """Returns those of the devices that have a correction in force."""
        rows = transaction.fetch(annotations_sql.corrected_devices())
        return {key for (key,) in rows}.intersection(keys) if rows else set()

    def as_they_came(
        self, transaction: Transaction, existing: list[Row], instants: Sequence[Instant]
    ) -> list[Row]:
        """Returns the stored rows (…, seq) at these instants with their original values."""
        rows = transaction.fetch(sql.originals_at(self.dialect, instants))
        originals = {(row[0], row[1], row[-1]): row for row in rows}
        return [originals.get((row[0], row[1], row[-1]), row) for row in existing]

    def correct_new(self, transaction: Transaction, rows: Sequence[Row], keys: set[int]) -> None:
        """Corrects new readings of a corrected span."""
        for key in keys:
            instants = [row[1] for row in rows if row[0] == key]
            if instants:
                self.apply_corrections(transaction, key, min(instants), max(instants))

    def apply_corrections(self, transaction: Transaction, key: int, low: int, high: int) -> None:
        """Restores the readings in [low, high], then applies the corrections in force to them."""
        for statement in sql.restore(key, low, high):
            transaction.run(statement)
        in_force = transaction.fetch(annotations_sql.corrections(self.dialect, [key]))
        for correction in map(with_values, in_force):
            _, first, last = _range(correction)
            first, last = max(first, low), min(last, high)
            if first > last:
                continue
            _apply(transaction, correction, key, first, last)


def _apply(
    transaction: Transaction, correction: Annotation, key: int, first: int, last: int
) -> None:
    metrics, factor = correction.metrics, correction.factor
    if factor is not None and transaction.fetch(sql.too_large(key, first, last, metrics, factor)):
        raise UserError(f"a reading times {plain(factor)} is more than a number can hold")
    transaction.run(sql.keep_originals(key, first, last))
    transaction.run(sql.apply(key, first, last, metrics, factor))


def _range(correction: Annotation) -> tuple[int, int, int]:
    """Returns (device key, first, last instant), both inclusive."""
    assert correction.device_key is not None
    assert correction.to_ms is not None
    return correction.device_key, correction.from_ms, correction.to_ms - 1


def _by_device(corrections: Iterable[Annotation]) -> dict[int, list[Annotation]]:
    by_device: defaultdict[int, list[Annotation]] = defaultdict(list)
    for each in corrections:
        by_device[each.device_key or 0].append(each)
    return dict(by_device)
