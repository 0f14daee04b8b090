"""Writes readings: detects the new ones, inserts them, recomputes the affected rollups."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from api.store import batch
from api.store.base import (
    SUSPICIOUS,
    Added,
    Clockless,
    Instant,
    Progress,
    ReadingRow,
    Refusal,
    RefusalSummary,
    RegisterRow,
    Row,
    Written,
)
from api.store.dialect_interface import T, Transaction
from api.store.refusals import merged, within_cap
from api.store.register_rows import in_order as registers_in_order
from api.store.registers import NEVER_MS, Derived, RegistersPart
from api.store.sql import ingest as sql
from api.store.sql import insight as insight_sql
from api.store.sql.arithmetic import Arithmetic
from api.store.tables import READING

MAX_LOOKUP = 20_000  # instants per statement


class Arriving(NamedTuple):
    """Distinct rows in order of device and instant."""

    rows: list[ReadingRow]
    registers: list[RegisterRow]

    @classmethod
    def of(cls, rows: Sequence[ReadingRow], registers: Sequence[RegisterRow]) -> Arriving:
        return cls(batch.in_order(rows), registers_in_order(registers) if registers else [])

    @property
    def keys(self) -> list[int]:
        return sorted({row[0] for row in self.rows} | {row[0] for row in self.registers})


class Taken(NamedTuple):
    """The new rows of a transaction. ``derived``: readings derived from its registers."""

    readings: list[ReadingRow]
    registers: list[RegisterRow]
    derived: Derived

    @property
    def added(self) -> Added:
        readings = {batch.instant_of(row): row[:-1] for row in self.derived.readings}
        return Added(self.readings, {row: readings[row.device, row.ts] for row in self.registers})


class IngestPart(RegistersPart):
    """`api.store.base.Ingest` for every dialect."""

    def with_partitions(self, arriving: Arriving, take_in: Callable[[Arithmetic], T]) -> T:
        """Creates the partitions of these rows, then runs ``take_in``."""
        self.add_partitions(row[1] for row in arriving.rows)
        if arriving.registers:
            self.add_partitions(self.gap_instants(arriving.registers))
        return self.reckon(take_in)

    def write(
        self,
        rows: Sequence[ReadingRow],
        *,
        registers: Sequence[RegisterRow] = (),
        refusals: Sequence[Refusal] = (),
        progress: Progress | None = None,
    ) -> Written:
        arriving = Arriving.of(rows, registers)
        arrived = len(rows) + len(registers)

        def take_in(arithmetic: Arithmetic) -> Written:
            return self._write(arriving, arrived, refusals, progress, arithmetic)

        written = self.with_partitions(arriving, take_in)
        if progress is not None and progress.complete:
            self.settle()
        return written

    def add(
        self,
        rows: Sequence[ReadingRow],
        *,
        registers: Sequence[RegisterRow] = (),
        refusals: Sequence[Refusal] = (),
        undated: Collection[Instant] = (),
        progress: Collection[Progress] = (),
    ) -> Added:
        arriving = Arriving.of(rows, registers)

        def take_in(arithmetic: Arithmetic) -> Added:
            with self.transaction() as transaction:
                accepted, too_old = self._accepted(transaction, arriving)
                added = self._take_in(transaction, accepted, arithmetic).added
                self._save_undated(transaction, added, undated)
                self._save_refusals(transaction, [*refusals, *too_old])
                if progress:
                    transaction.lock_directory()
                for reached in progress:
                    transaction.run(sql.save_progress(reached))
            return added

        return self.with_partitions(arriving, take_in)

    def _write(
        self,
        arriving: Arriving,
        arrived: int,
        refusals: Sequence[Refusal],
        progress: Progress | None,
        arithmetic: Arithmetic,
    ) -> Written:
        with self.transaction() as transaction:
            accepted, too_old = self._accepted(transaction, arriving)
            taken = self._take_in(transaction, accepted, arithmetic)
            stored = len(taken.readings) + len(taken.registers)
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

    def _accepted(
        self, transaction: Transaction, arriving: Arriving
    ) -> tuple[Arriving, list[Refusal]]:
        rows, too_old = self.split_by_retention(transaction, arriving.rows)
        registers, older = self.split_by_retention(transaction, arriving.registers)
        return Arriving(rows, registers), [*too_old, *older]

    def _take_in(
        self, transaction: Transaction, arriving: Arriving, arithmetic: Arithmetic
    ) -> Taken:
        keys = arriving.keys
        if not keys:
            return Taken([], [], Derived())
        transaction.lock_devices(keys)
        corrected = self.corrected_among(transaction, keys)
        if not arriving.registers:
            new, last_hours = self._take_in_rows(transaction, arriving.rows, corrected)
            if rows := new.rows:
                instants = batch.by_device(rows)
                self.recompute_touched(transaction, rows, instants, last_hours, arithmetic)
                transaction.run(insight_sql.mark_due(self.dialect, batch.earliest(instants)))
            return Taken(new.readings, [], Derived())
        new, _ = self._take_in_rows(transaction, arriving.rows, corrected)
        fresh, derived = self.take_in_registers(transaction, arriving.registers, corrected)
        rows = derived.rows
        if new.rows:
            rows = sorted([*new.rows, *rows], key=batch.instant_of)
        self.recompute(transaction, rows, derived.gone, arithmetic)
        return Taken(new.readings, fresh, derived)

    def _take_in_rows(
        self, transaction: Transaction, ordered: list[ReadingRow], corrected: set[int]
    ) -> tuple[batch.New, dict[int, int]]:
        """Inserts the new ones of sorted readings. Returns these, and each device's last hour with
        readings before them."""
        if not ordered:
            return batch.New([], []), {}
        instants = batch.by_device(ordered)
        hours = batch.hours_met(instants)
        last_hours: dict[int, int] = dict(
            (device, hour)
            for device, hour in transaction.fetch(sql.last_hours(self.dialect, hours))
        )
        doubtful = batch.doubtful(instants, last_hours)
        new = self._new_rows(transaction, ordered, doubtful, corrected)
        transaction.insert(READING, READING.names[:-1], new.first)
        transaction.insert(READING, READING.names, new.further)
        if corrected:
            self.correct_new(transaction, new.rows, corrected)
        return new, last_hours

    def _new_rows(
        self,
        transaction: Transaction,
        ordered: list[ReadingRow],
        doubtful: list[Instant],
        corrected: set[int],
    ) -> batch.New:
        existing: list[Row] = []
        for start in range(0, len(doubtful), MAX_LOOKUP):
            lookup = doubtful[start : start + MAX_LOOKUP]
            stored = transaction.fetch(sql.stored_at(self.dialect, lookup))
            if corrected:
                stored = self.as_they_came(transaction, stored, lookup)
            existing += stored
        return batch.decide(existing, ordered)

    def _save_undated(
        self, transaction: Transaction, added: Added, undated: Collection[Instant]
    ) -> None:
        """Marks new rows that were sent without a timestamp; a repeat of a dated row stays
        dated."""
        new = (*added.readings, *added.registers)
        fresh = {(row[0], row[1]) for row in new} & set(undated) if undated else ()
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
        return [each for each in self._all_refusals(organization_id) if each.source != SUSPICIOUS]

    def suspicions(self, organization_id: str | None = None) -> list[RefusalSummary]:
        reports = [
            each for each in self._all_refusals(organization_id) if each.source == SUSPICIOUS
        ]
        if not reports:
            return []
        changed = {(row[0], row[1]): row[2] for row in self.fetch(sql.changed(organization_id))}
        return [
            each
            for each in reports
            if each.last_seen_ms > changed.get((each.organization_id, each.device), NEVER_MS)
        ]

    def _all_refusals(self, organization_id: str | None) -> list[RefusalSummary]:
        return [RefusalSummary(*row) for row in self.fetch(sql.refusals(organization_id))]
