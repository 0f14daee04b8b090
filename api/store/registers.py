"""Stores registers as they were sent, and derives the readings of each and of its neighbours.

A device's derived readings depend on its registers and its settings alone: what came in which order
has no effect. Each change derives the steps that it touches and writes those that differ.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final, NamedTuple, cast

import orjson

from api.catalog import BESIDE_REGISTER, COARSEST_STORED, DAY_MS, HOUR_MS, STORED
from api.metering.register import (
    LARGEST,
    PARTS_A_GALLON,
    Flag,
    Register,
    RegisterSettings,
    booked,
    settings_of,
    steps,
)
from api.metering.units import LITRES
from api.store import batch
from api.store.base import Device, Instant, ReadingRow, RegisterEntry, RegisterRow, Row, Span
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
from api.store.tables import DERIVED_SEQ, READING, REGISTER
from api.timez import LAST_INSTANT_MS, floor_to

MAX_LOOKUP: Final = 20_000  # instants in one statement
TOGETHER_MS: Final = DAY_MS  # registers this near to each other are derived in one piece
NEVER_MS: Final = -1


@dataclass(slots=True)
class Derived:
    """What a transaction derives. ``rows``: readings that are new or changed, with their seq.
    ``gone``: instants that have none any more. ``readings``: by instant, changed or not.
    ``corrected``: (device key, first, last instant) where corrections are to be applied again."""

    rows: dict[Instant, Row] = field(default_factory=dict[Instant, Row])
    gone: set[Instant] = field(default_factory=set[Instant])
    readings: dict[Instant, ReadingRow] = field(default_factory=dict[Instant, ReadingRow])
    corrected: list[Range] = field(default_factory=list[Range])

    @property
    def in_order(self) -> list[Row]:
        return [self.rows[instant] for instant in sorted(self.rows)]


class _Device(NamedTuple):
    """A device whose steps are derived. ``raw_from_ms``: before it, readings are gone for good."""

    key: int
    settings: RegisterSettings
    raw_from_ms: int
    corrected: bool


def in_order(rows: Sequence[RegisterRow]) -> list[RegisterRow]:
    """The distinct registers by device and instant. Raises ValueError for one that can't be
    stored."""
    for row in rows:
        numbers = (row.value, *(number for number in row[4:] if number is not None))
        if not all(map(math.isfinite, numbers)) or abs(row.value) > LARGEST:
            raise ValueError(f"a register has a number that can't be stored: {row}")
        if row.ts < 0 or (row.unit and row.unit not in LITRES):
            raise ValueError(f"a register must have a known unit and a timestamp from 1970: {row}")
    return sorted(dict.fromkeys(rows), key=batch.instant_of)


def merged(one: RegisterRow, other: RegisterRow | None) -> RegisterRow:
    """Two registers of one instant as one: the larger values, so that their order has no effect."""
    if other is None:
        return one if one.value else one._replace(value=0.0)  # -0.0 equals it
    unit, value = max((one.unit, one.value), (other.unit, other.value))
    beside = [
        max((number for number in pair if number is not None), default=None)
        for pair in zip(one[4:], other[4:], strict=True)
    ]
    return RegisterRow(one.device, one.ts, value + 0.0, unit, *beside)


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
        entries = _entries([*before, *rows], _settings_of(device))[len(before) :]
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
            entries = _entries(near, _settings_of(device))
            falls += [each for each in entries if each.ts == ts and Flag.BACK in each.flags]
        return falls

    def derive_again(self, device: Device) -> int:
        self.add_partitions(self.register_days(device.key))

        def derive(arithmetic: Arithmetic) -> int:
            with self.transaction() as transaction:
                transaction.lock_devices([device.key])
                return self.derive_around(transaction, device.key, 0, LAST_INSTANT_MS, arithmetic)

        return self.reckon(derive)

    def register_days(self, key: int) -> Iterator[int]:
        """An instant of each day between a device's first and last register."""
        ends = [
            row[1]
            for end in (NEVER_MS, LAST_INSTANT_MS)
            for row in self.fetch(sql.around(key, end, end))
        ]
        if ends:
            yield from range(ends[0], ends[-1], DAY_MS)

    # --- For those who write readings ---

    def add_partitions(self, instants: Iterable[int]) -> None:
        """Create the partitions these instants need, in a dialect that has partitions."""

    def gap_instants(self, rows: Sequence[RegisterRow]) -> Iterator[int]:
        """An instant of each day in which readings of these registers may lie."""
        for row in rows:
            near = [each[1] for each in self.fetch(sql.around(row.device, row.ts, row.ts))]
            yield from range(min((*near, row.ts)), max((*near, row.ts)), DAY_MS)
            yield max((*near, row.ts))

    def take_in_registers(
        self, transaction: Transaction, ordered: Sequence[RegisterRow], corrected: Collection[int]
    ) -> tuple[dict[RegisterRow, ReadingRow], Derived]:
        """Keep what is new of sorted registers, and write the readings that follow from it: the
        new ones with their readings, and what the caller, who has locked the devices, is to
        `recompute`."""
        derived = Derived()
        existing = self._registers_at(transaction, ordered)
        changed: dict[Instant, RegisterRow] = {}
        fresh: list[RegisterRow] = []
        for row in ordered:
            there = existing.get((row.device, row.ts))
            instant = (row.device, row.ts)
            both = merged(row, there)
            if both != there:
                fresh.append(row)
                before = changed.get(instant)
                changed[instant] = both if before is None else merged(both, before)
        by_device: defaultdict[int, list[int]] = defaultdict(list)
        for key, ts in changed:
            by_device[key].append(ts)
        for key, instants in by_device.items():
            if again := [ts for ts in instants if (key, ts) in existing]:
                transaction.run(sql.forget(self.dialect, key, again))
        transaction.insert(REGISTER, REGISTER.names, list(changed.values()))
        new = changed.keys() - existing.keys()
        for device in self._devices(transaction, list(by_device), corrected):
            for first, last in _pieces(by_device[device.key]):
                self._derive(transaction, device, first, last, derived, new)
        self._write_derived(transaction, derived)
        return {row: derived.readings[row.device, row.ts] for row in fresh}, derived

    def derive_around(
        self, transaction: Transaction, key: int, low: int, high: int, arithmetic: Arithmetic
    ) -> int:
        """Derive the steps that touch [low, high], and recompute all that follows from them; how
        many readings changed. The caller has locked the device."""
        derived = Derived()
        corrected = self.corrected_among(transaction, [key])
        for device in self._devices(transaction, [key], corrected):
            self._derive(transaction, device, low, high, derived)
        self._write_derived(transaction, derived)
        self.recompute(transaction, derived.in_order, derived.gone, arithmetic)
        return len(derived.rows) + len(derived.gone)

    def recompute(
        self,
        transaction: Transaction,
        rows: Sequence[Row],
        gone: Collection[Instant],
        arithmetic: Arithmetic,
    ) -> None:
        """Recompute the buckets of sorted new rows and of deleted ones, and mark them as due."""
        if rows:
            hours = batch.hours_met(rows)
            last_hours = {
                device: hour
                for device, hour in transaction.fetch(ingest_sql.last_hours(self.dialect, hours))
            }
            self.recompute_touched(transaction, rows, last_hours, arithmetic)
        for window in _hours(gone):
            rebuild(transaction, self.dialect, window, arithmetic)
        if rows or gone:
            earliest = batch.earliest([*rows, *gone])
            transaction.run(insight_sql.mark_due(self.dialect, earliest))

    def recompute_touched(
        self,
        transaction: Transaction,
        rows: Sequence[Row],
        last_hours: Mapping[int, int],
        arithmetic: Arithmetic,
    ) -> None:
        for resolution in STORED:
            ranges = batch.touched(rows, resolution, last_hours)
            transaction.run(rollups.recompute(self.dialect, resolution, ranges, arithmetic))
        hours = batch.touched(rows, COARSEST_STORED, last_hours)
        transaction.run(rollups.recount(self.dialect, hours))

    # --- Deriving ---

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
            for key, config, interval_s in transaction.fetch(sql.settings(self.dialect, keys))
        ]

    def _derive(
        self,
        transaction: Transaction,
        device: _Device,
        low: int,
        high: int,
        derived: Derived,
        new: Collection[Instant] = (),
    ) -> None:
        """The readings of the registers in [low, high] and of the first one after them. ``new``:
        registers that were not there before."""
        key = device.key
        chain = [RegisterRow(*row) for row in transaction.fetch(sql.around(key, low, high))]
        has_before = bool(chain) and chain[0].ts < low
        has_after = bool(chain) and chain[-1].ts > high
        first = max(chain[0].ts + 1 if has_before else low, device.raw_from_ms)
        last = chain[-1].ts if has_after else high
        if device.corrected:
            for statement in corrections_sql.restore(key, first, last):
                transaction.run(statement)
            derived.corrected.append((key, first, last))
        wanted = {row[:2]: row for row in _readings(chain, device.settings) if row[1] >= first}
        there: dict[Instant, Row] = {}
        inside = chain[1:] if has_before else chain
        if not new or not all((key, row.ts) in new for row in inside):
            rows = transaction.fetch(sql.derived(key, first, last))
            there = {(row[0], row[1]): tuple(row) for row in rows}
        changed = {instant: row for instant, row in wanted.items() if there.get(instant) != row}
        gone = there.keys() - wanted.keys()
        if outdated := [ts for _, ts in sorted(gone | (changed.keys() & there.keys()))]:
            transaction.run(sql.forget_derived(self.dialect, key, outdated))
        derived.rows.update((instant, (*row, DERIVED_SEQ)) for instant, row in changed.items())
        derived.gone |= gone
        derived.readings.update(wanted)

    def _write_derived(self, transaction: Transaction, derived: Derived) -> None:
        transaction.insert(READING, READING.names, derived.in_order)
        for span in derived.corrected:
            self.apply_corrections(transaction, *span)


# --- Pure -----------------------------------------------------------------------------------------


def _settings_of(device: Device) -> RegisterSettings:
    return settings_of(device.config, device.reporting_interval_s)


def _chain(rows: Sequence[RegisterRow]) -> list[Register]:
    return [Register(row.ts, row.value, row.unit) for row in rows]


def _entries(rows: Sequence[RegisterRow], settings: RegisterSettings) -> list[RegisterEntry]:
    gallons = [settings.parts(row.value, row.unit) / PARTS_A_GALLON for row in rows]
    return [
        RegisterEntry(
            row.ts,
            settings.shown(row.value, row.unit),
            settings.shown_unit(row.unit),
            step.from_ms,
            step.gallons,
            tuple(flag.value for flag in step.flags),
            step.fall / PARTS_A_GALLON,
            before,
        )
        for row, step, before in zip(
            rows, steps(_chain(rows), settings), [None, *gallons[:-1]], strict=True
        )
    ]


def _readings(rows: Sequence[RegisterRow], settings: RegisterSettings) -> Iterator[ReadingRow]:
    """The readings of one device's registers in order of time. What came beside a register is in
    the reading at its instant."""
    nothing = (None,) * len(BESIDE_REGISTER)
    for row, step in zip(rows, steps(_chain(rows), settings), strict=True):
        for water in booked(step):
            beside = row[4:] if water.at_ms == row.ts else nothing
            values = (water.rate, water.seconds, water.gallons, *beside)
            yield cast("ReadingRow", (row.device, water.at_ms, *values))


def _pieces(instants: Sequence[int]) -> Iterator[tuple[int, int]]:
    """(first, last) of the runs of ascending instants that lie near each other."""
    first = instants[0]
    for before, after in pairwise(instants):
        if after - before > TOGETHER_MS:
            yield first, before
            first = after
    yield first, instants[-1]


def _hours(gone: Collection[Instant]) -> list[Range]:
    """Ranges of the hours that hold these instants, adjacent ones as one."""
    windows: list[Range] = []
    for key, hour in sorted({(key, floor_to(ts, HOUR_MS)) for key, ts in gone}):
        if windows and windows[-1][0] == key and windows[-1][2] == hour:
            windows[-1] = (key, windows[-1][1], hour + HOUR_MS)
        else:
            windows.append((key, hour, hour + HOUR_MS))
    return windows
