"""Stores registers as they were sent, and derives the readings of each and of its neighbours.

A device's derived readings depend only on its registers and settings, not on the order of arrival.
Each change derives the affected steps again and writes those that differ.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Final, NamedTuple

import orjson

from api.catalog import (
    COARSEST_STORED,
    DAY_MS,
    HOUR_MS,
    ONE_MINUTE,
    ROLLED_METRICS,
    STORED,
)
from api.metering.register import Flag, RegisterSettings, settings_of
from api.store import batch, register_rows
from api.store.base import Device, Instant, RegisterEntry, RegisterRow, Row, Span
from api.store.corrections import CorrectionsPart
from api.store.dialect_interface import Transaction
from api.store.rebuild import rebuild
from api.store.sql import corrections as corrections_sql
from api.store.sql import ingest as ingest_sql
from api.store.sql import insight as insight_sql
from api.store.sql import registers as sql
from api.store.sql import retention as retention_sql
from api.store.sql import rollups
from api.store.sql import series as series_sql
from api.store.sql.arithmetic import Arithmetic
from api.store.sql.rollups import Range
from api.store.tables import READING, REGISTER
from api.timez import LAST_INSTANT_MS

MAX_LOOKUP: Final = 20_000  # instants per statement
NEVER_MS: Final = -1


@dataclass(slots=True)
class Derived:
    """What a transaction derives. ``rows``: readings that are new or changed, with their seq, by
    device and instant. ``gone``: instants that no longer have a reading. ``readings``: changed or
    not. ``corrected``: (device key, first, last instant) where corrections must be applied
    again."""

    rows: list[Row] = field(default_factory=list[Row])
    gone: set[Instant] = field(default_factory=set[Instant])
    readings: list[Row] = field(default_factory=list[Row])
    corrected: list[Range] = field(default_factory=list[Range])


class _Device(NamedTuple):
    """A device whose steps are derived. Readings before ``raw_from_ms`` are deleted for good."""

    key: int
    settings: RegisterSettings
    raw_from_ms: int
    corrected: bool


class RegistersPart(CorrectionsPart):
    """The registers of `api.store.base.Ingest` for every dialect."""

    def registers(
        self,
        device: Device,
        span: Span,
        *,
        limit: int,
        offset: int = 0,
        newest_first: bool = False,
    ) -> list[RegisterEntry]:
        low, high = series_sql.closed(span)
        query = sql.page(device.key, low, high, limit, offset, newest_first=newest_first)
        rows = [RegisterRow(*row) for row in self.fetch(query)]
        if newest_first:
            rows.reverse()
        if not rows:
            return []
        before = [RegisterRow(*row) for row in self.fetch(sql.before(device.key, rows[0].ts))]
        settings = register_rows.device_settings(device)
        entries = register_rows.entries([*before, *rows], settings)[len(before) :]
        return entries[::-1] if newest_first else entries

    def count_registers(self, device: Device, span: Span) -> int:
        return int(self.fetch(sql.count(device.key, *series_sql.closed(span)))[0][0])

    def count_beside_registers(self, device: Device, span: Span) -> int:
        query = sql.count_beside(device.key, *series_sql.closed(span))
        return int(self.fetch(query)[0][0])

    def register_falls(self, device: Device, from_ms: int) -> list[RegisterEntry]:
        falls: list[RegisterEntry] = []
        for (ts,) in self.fetch(sql.without_volume(device.key, from_ms)):
            near = [RegisterRow(*row) for row in self.fetch(sql.around(device.key, ts, ts))]
            entries = register_rows.entries(near, register_rows.device_settings(device))
            falls += [each for each in entries if each.ts == ts and Flag.BACK in each.flags]
        return falls

    def spread_spans(self, device: Device, span: Span) -> list[tuple[int, int]]:
        settings = register_rows.device_settings(device)
        # Most devices have no registers: looking for one costs a tenth of looking for gaps.
        if not settings.spread or not self.fetch(sql.first(device.key)):
            return []
        low, high = series_sql.closed(span)
        query = sql.spread_gaps(device.key, low - 2 * HOUR_MS, high + HOUR_MS, settings.gap_ms)
        spans: list[tuple[int, int]] = []
        for after, up_to in self.fetch(query):
            if up_to <= low or after >= high:
                continue
            if spans and spans[-1][1] == after:
                spans[-1] = (spans[-1][0], up_to)
            else:
                spans.append((after, up_to))
        return spans

    def derive_again(self, device: Device) -> int:
        self.add_partitions(self.register_days(device.key))

        def derive(arithmetic: Arithmetic) -> int:
            with self.transaction() as transaction:
                transaction.lock_devices([device.key])
                return self.derive_around(transaction, device.key, 0, LAST_INSTANT_MS, arithmetic)

        return self.reckon(derive)

    def register_days(self, key: int) -> Iterator[int]:
        """Yields an instant of each day between a device's first and last register."""
        ends = [
            row[1]
            for end in (NEVER_MS, LAST_INSTANT_MS)
            for row in self.fetch(sql.around(key, end, end))
        ]
        if ends:
            yield from range(ends[0], ends[-1], DAY_MS)

    # --- For the parts that write readings ---

    def add_partitions(self, instants: Iterable[int]) -> None:
        """Creates the partitions for these instants, in a dialect that has partitions."""

    def gap_instants(self, rows: Sequence[RegisterRow]) -> Iterator[int]:
        """Yields an instant of each day in which readings of these registers may lie."""
        for row in rows:
            near = [each[1] for each in self.fetch(sql.around(row.device, row.ts, row.ts))]
            yield from range(min((*near, row.ts)), max((*near, row.ts)), DAY_MS)
            yield max((*near, row.ts))

    def take_in_registers(
        self, transaction: Transaction, ordered: Sequence[RegisterRow], corrected: Collection[int]
    ) -> tuple[list[RegisterRow], Derived]:
        """Stores new registers from a sorted batch, and writes the readings derived from them.
        Returns the new registers, and what the caller, who has locked the devices, must
        `recompute`."""
        derived = Derived()
        last = self._last_stored(transaction, ordered)
        existing: dict[Instant, RegisterRow] = {}
        if last:
            doubtful = [row for row in ordered if row.ts <= last.get(row.device, NEVER_MS)]
            existing = self._registers_at(transaction, doubtful)
        fresh, changed = register_rows.changes(ordered, existing)
        by_device = {k: list(rows) for k, rows in groupby(changed, batch.device_of)}
        for key, rows in by_device.items() if existing else ():
            if again := [row.ts for row in rows if (key, row.ts) in existing]:
                transaction.run(sql.forget(self.dialect, key, again))
        transaction.insert(REGISTER, REGISTER.names, changed)
        for device in self._devices(transaction, list(by_device), corrected):
            key, rows = device.key, by_device[device.key]
            pieces = list(register_rows.pieces(rows))
            alone = key not in last  # no stored register lies between the new ones
            chains = [
                self._chain_of(transaction, key, each[0].ts, each[-1].ts, each if alone else None)
                for each in pieces
            ]
            # A stored register after the new ones may end a gap whose readings lie among them.
            is_latest = chains[-1][-1].ts <= rows[-1].ts
            derived_until = NEVER_MS
            for piece, chain in zip(pieces, chains, strict=True):
                low, high = piece[0].ts, piece[-1].ts
                derived_until = self._derive(
                    transaction, device, (low, high), chain, derived,
                    from_ms=derived_until + 1,
                    all_new=is_latest and low > last.get(key, NEVER_MS),
                )  # fmt: skip
        self._write_derived(transaction, derived)
        return fresh, derived

    def derive_around(
        self, transaction: Transaction, key: int, low: int, high: int, arithmetic: Arithmetic
    ) -> int:
        """Derives the steps that overlap [low, high] again, and recomputes everything that depends
        on them. Returns how many readings changed. The caller has locked the device."""
        derived = Derived()
        corrected = self.corrected_among(transaction, [key])
        for device in self._devices(transaction, [key], corrected):
            chain = self._chain_of(transaction, key, low, high)
            self._derive(transaction, device, (low, high), chain, derived)
        self._write_derived(transaction, derived)
        self.recompute(transaction, derived.rows, derived.gone, arithmetic)
        return len(derived.rows) + len(derived.gone)

    def recompute(
        self,
        transaction: Transaction,
        rows: Sequence[Row],
        gone: Collection[Instant],
        arithmetic: Arithmetic,
    ) -> None:
        """Recomputes the buckets of sorted new rows and of deleted ones, and marks them as due."""
        instants = batch.by_device(rows)
        if rows:
            hours = batch.hours_met(instants)
            last_hours = {
                device: hour
                for device, hour in transaction.fetch(ingest_sql.last_hours(self.dialect, hours))
            }
            self.recompute_touched(transaction, rows, instants, last_hours, arithmetic)
        for window in register_rows.hours(gone):
            rebuild(transaction, self.dialect, window, arithmetic)
        if gone:
            instants = batch.by_device(sorted([*rows, *gone], key=batch.instant_of))
        if instants:
            transaction.run(insight_sql.mark_due(self.dialect, batch.earliest(instants)))

    def recompute_touched(
        self,
        transaction: Transaction,
        rows: Sequence[Row],
        instants: batch.Instants,
        last_hours: Mapping[int, int],
        arithmetic: Arithmetic,
    ) -> None:
        """Recomputes the buckets of new rows, which are at these instants."""
        joint, alone = batch.by_company(instants, last_hours)
        metrics = batch.measured(rows) if alone else ROLLED_METRICS
        single, crowded = batch.one_a_bucket(alone, ONE_MINUTE)
        recompute = partial(rollups.recompute, self.dialect)
        if single:
            ranges = batch.touched(single, ONE_MINUTE, {})
            transaction.run(recompute(ONE_MINUTE, ranges, metrics=metrics, single=True))
        minutes = ((joint, ROLLED_METRICS), (crowded, metrics))
        coarser = ((joint, ROLLED_METRICS), (alone, metrics))
        if len(metrics) == len(ROLLED_METRICS):  # apart they would only take more statements
            coarser = ((instants, ROLLED_METRICS),)
        for resolution in STORED:
            for some, of in minutes if resolution is ONE_MINUTE else coarser:
                if ranges := batch.touched(some, resolution, last_hours):
                    transaction.run(recompute(resolution, ranges, arithmetic, of))
        hours = batch.touched(instants, COARSEST_STORED, last_hours)
        transaction.run(rollups.recount(self.dialect, hours))

    # --- Deriving ---

    def _last_stored(
        self, transaction: Transaction, ordered: Sequence[RegisterRow]
    ) -> dict[int, int]:
        """Returns for each device the last stored instant between its first and its last of these
        sorted registers; a device without any there is left out."""
        if not ordered:
            return {}
        ends: dict[int, tuple[int, int]] = {}
        for key, rows in groupby(ordered, batch.device_of):
            own = list(rows)
            ends[key] = own[0].ts, own[-1].ts + 1
        ranges = [(key, *both) for key, both in ends.items()]
        query = ingest_sql.last_instants(self.dialect, REGISTER, ranges)
        return {key: ts for key, ts in transaction.fetch(query)}

    def _chain_of(
        self,
        transaction: Transaction,
        key: int,
        low: int,
        high: int,
        inside: Sequence[RegisterRow] | None = None,
    ) -> list[RegisterRow]:
        """Returns the registers in [low, high] and the nearest ones before and after.
        ``inside``: those in the range, if the caller has them."""
        if inside is None:
            return [RegisterRow(*row) for row in transaction.fetch(sql.around(key, low, high))]
        near = [RegisterRow(*row) for row in transaction.fetch(sql.neighbours(key, low, high))]
        before, after = near[:1], near[1:]
        if before and before[0].ts > high:
            before, after = [], before
        return [*before, *inside, *after]

    def _registers_at(
        self, transaction: Transaction, ordered: Sequence[RegisterRow]
    ) -> dict[Instant, RegisterRow]:
        instants = list(dict.fromkeys(map(batch.instant_of, ordered)))
        stored: dict[Instant, RegisterRow] = {}
        for start in range(0, len(instants), MAX_LOOKUP):
            query = sql.stored_at(self.dialect, instants[start : start + MAX_LOOKUP])
            for row in transaction.fetch(query):
                stored[row[0], row[1]] = RegisterRow(*row)
        return stored

    def _devices(
        self, transaction: Transaction, keys: Sequence[int], corrected: Collection[int]
    ) -> list[_Device]:
        if not keys:
            return []
        limit = transaction.fetch(retention_sql.raw_from())
        raw_from_ms = int(limit[0][0]) if limit else 0
        return [
            _Device(
                key,
                settings_of(None if config is None else orjson.loads(config), interval_s),
                raw_from_ms,
                key in corrected,
            )
            for key, config, interval_s in sorted(
                transaction.fetch(sql.settings(self.dialect, keys)), key=itemgetter(0)
            )
        ]

    def _derive(
        self,
        transaction: Transaction,
        device: _Device,
        span: tuple[int, int],
        chain: Sequence[RegisterRow],
        derived: Derived,
        *,
        from_ms: int = 0,
        all_new: bool = False,
    ) -> int:
        """Derives the readings of the registers in a span and of the first one after them, from
        ``from_ms`` on. ``chain``: from `_chain_of`. ``all_new``: no register from the span's
        beginning on existed before, so that no reading was derived there. Returns the last instant
        derived."""
        low, high = span
        has_before = bool(chain) and chain[0].ts < low
        has_after = bool(chain) and chain[-1].ts > high
        first = max(chain[0].ts + 1 if has_before else low, device.raw_from_ms, from_ms)
        last = chain[-1].ts if has_after else high
        if device.corrected:
            for statement in corrections_sql.restore(device.key, first, last):
                transaction.run(statement)
            derived.corrected.append((device.key, first, last))
        rows = register_rows.readings(chain, device.settings)
        rows = rows[bisect_left(rows, first, key=itemgetter(1)) :]
        derived.readings += rows
        if not all_new:
            rows = self._changed(transaction, (device.key, first, last), rows, derived)
        derived.rows += rows
        return last

    def _changed(
        self, transaction: Transaction, span: Range, rows: Sequence[Row], derived: Derived
    ) -> list[Row]:
        """Returns those of the readings of a span that differ from the stored ones, which it
        deletes."""
        key = span[0]
        there = {row[1]: tuple(row) for row in transaction.fetch(sql.derived(*span))}
        changed = [row for row in rows if there.get(row[1]) != row]
        gone = there.keys() - {row[1] for row in rows}
        if outdated := gone | (there.keys() & {row[1] for row in changed}):
            transaction.run(sql.forget_derived(self.dialect, key, sorted(outdated)))
        derived.gone |= {(key, ts) for ts in gone}
        return changed

    def _write_derived(self, transaction: Transaction, derived: Derived) -> None:
        transaction.insert(READING, READING.names, derived.rows)
        for span in derived.corrected:
            self.apply_corrections(transaction, *span)
