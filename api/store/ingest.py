"""Writes readings: find the new ones, insert them, recompute the touched rollups."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace

from api.catalog import COARSEST_STORED, STORED
from api.store import batch
from api.store.base import (
    Clockless,
    Instant,
    Progress,
    ReadingRow,
    Refusal,
    RefusalSummary,
    Row,
    Written,
)
from api.store.corrections import CorrectionsPart
from api.store.dialect_interface import T, Transaction
from api.store.refusals import merged, within_cap
from api.store.sql import ingest as sql
from api.store.sql import insight as insight_sql
from api.store.sql import rollups
from api.store.sql.arithmetic import Arithmetic
from api.store.tables import READING

MAX_LOOKUP = 20_000  # instants in one statement


class IngestPart(CorrectionsPart):
    """`api.store.base.Ingest` for every dialect."""

    def add_partitions(self, rows: Sequence[ReadingRow]) -> None:
        """Create the partitions these rows need, in a dialect that has partitions."""

    def with_partitions(self, rows: Sequence[ReadingRow], take_in: Callable[[Arithmetic], T]) -> T:
        """Run ``take_in`` once the partitions of these rows exist."""
        self.add_partitions(rows)
        return self.reckon(take_in)

    def write(
        self,
        rows: Sequence[ReadingRow],
        *,
        refusals: Sequence[Refusal] = (),
        progress: Progress | None = None,
    ) -> Written:
        ordered = batch.in_order(rows)

        def take_in(arithmetic: Arithmetic) -> Written:
            return self._write(ordered, len(rows), refusals, progress, arithmetic)

        written = self.with_partitions(ordered, take_in)
        if progress is not None and progress.complete:
            self.settle()
        return written

    def add(
        self,
        rows: Sequence[ReadingRow],
        *,
        refusals: Sequence[Refusal] = (),
        undated: Collection[Instant] = (),
        progress: Collection[Progress] = (),
    ) -> list[ReadingRow]:
        ordered = batch.in_order(rows)

        def take_in(arithmetic: Arithmetic) -> batch.New:
            with self.transaction() as transaction:
                accepted, too_old = self.split_by_retention(transaction, ordered)
                new = self._take_in(transaction, accepted, arithmetic)
                self._save_undated(transaction, new, undated)
                self._save_refusals(transaction, [*refusals, *too_old])
                if progress:
                    transaction.lock_directory()
                for reached in progress:
                    transaction.run(sql.save_progress(reached))
            return new

        return self.with_partitions(ordered, take_in).readings

    def _write(
        self,
        ordered: list[ReadingRow],
        arrived: int,
        refusals: Sequence[Refusal],
        progress: Progress | None,
        arithmetic: Arithmetic,
    ) -> Written:
        with self.transaction() as transaction:
            accepted, too_old = self.split_by_retention(transaction, ordered)
            stored = len(self._take_in(transaction, accepted, arithmetic).rows)
            refused = sum(refusal.count for refusal in too_old)
            written = Written(stored, arrived - stored - refused, refused)
            self._save_refusals(transaction, [*refusals, *too_old])
            if progress is not None:
                counted = replace(
                    progress,
                    stored=progress.stored + written.stored,
                    repeated=progress.repeated + written.repeated,
                    refused=progress.refused + written.too_old,
                )
                transaction.run(sql.save_progress(counted))
        return written

    def _take_in(
        self, transaction: Transaction, ordered: list[ReadingRow], arithmetic: Arithmetic
    ) -> batch.New:
        if not ordered:
            return batch.New([], [])
        hours = batch.hours_met(ordered)
        transaction.lock_devices([device for device, _, _ in hours])
        last_hours: dict[int, int] = dict(
            (device, hour)
            for device, hour in transaction.fetch(sql.last_hours(self.dialect, hours))
        )
        corrected = self.corrected_among(transaction, [device for device, _, _ in hours])
        new = self._new_rows(transaction, ordered, last_hours, corrected)
        transaction.insert(READING, READING.names[:-1], new.first)
        transaction.insert(READING, READING.names, new.further)
        rows = new.rows
        if corrected:
            self.correct_new(transaction, rows, corrected)
        if rows:
            self._recompute(transaction, rows, last_hours, arithmetic)
            transaction.run(insight_sql.mark_due(self.dialect, batch.earliest(rows)))
        return new

    def _new_rows(
        self,
        transaction: Transaction,
        ordered: list[ReadingRow],
        last_hours: dict[int, int],
        corrected: set[int],
    ) -> batch.New:
        instants = batch.doubtful(ordered, last_hours)
        existing: list[Row] = []
        for start in range(0, len(instants), MAX_LOOKUP):
            lookup = instants[start : start + MAX_LOOKUP]
            stored = transaction.fetch(sql.stored_at(self.dialect, lookup))
            if corrected:
                stored = self.as_they_came(transaction, stored, lookup)
            existing += stored
        return batch.decide(existing, ordered)

    def _recompute(
        self,
        transaction: Transaction,
        new: list[Row],
        last_hours: dict[int, int],
        arithmetic: Arithmetic,
    ) -> None:
        for resolution in STORED:
            ranges = batch.touched(new, resolution, last_hours)
            transaction.run(rollups.recompute(self.dialect, resolution, ranges, arithmetic))
        hours = batch.touched(new, COARSEST_STORED, last_hours)
        transaction.run(rollups.recount(self.dialect, hours))

    def _save_undated(
        self, transaction: Transaction, new: batch.New, undated: Collection[Instant]
    ) -> None:
        """Mark new rows without an instant of their own; a repeat of a dated row stays dated."""
        fresh = {batch.instant_of(row) for row in new.rows} & set(undated) if undated else ()
        if fresh:
            transaction.run(sql.save_undated(self.dialect, sorted(fresh)))

    def clockless(self, organization_id: str | None = None) -> list[Clockless]:
        return [Clockless(*row) for row in self.fetch(sql.clockless(organization_id))]

    def _save_refusals(self, transaction: Transaction, refusals: Sequence[Refusal]) -> None:
        if not refusals:
            return
        transaction.lock_directory()
        for organization_id in {refusal.organization_id for refusal in refusals}:
            causes = transaction.fetch(sql.refusal_causes(organization_id))
            fresh = merged(r for r in refusals if r.organization_id == organization_id)
            for refusal in within_cap(fresh, {(row[0], row[1], row[2]) for row in causes}):
                transaction.run(sql.save_refusal(refusal))

    def progress(self, digest: str, organization_id: str) -> Progress | None:
        rows = self.fetch(sql.progress(digest, organization_id))
        return Progress(*rows[0][:-1], complete=bool(rows[0][-1])) if rows else None

    def refusals(self, organization_id: str | None = None) -> list[RefusalSummary]:
        return [RefusalSummary(*row) for row in self.fetch(sql.refusals(organization_id))]
