"""Schema upgrades and verification, for every dialect."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from api.catalog import DAY_MS, HOUR_MS, Resolution
from api.store import migrations
from api.store.base import Row, Verdict
from api.store.query import Query
from api.store.rebuild import rebuild
from api.store.retention import RetentionPart
from api.store.schema_upgrade import Versioned
from api.store.sql import verify as verify_sql
from api.store.sql.arithmetic import Arithmetic
from api.store.sql.rollups import Range
from api.store.tables import TIME_SERIES, Table
from api.timez import floor_to

WINDOW_MS = 31 * DAY_MS  # hours verified, and rebuilt if wrong, in one step


class UpkeepPart(Versioned, RetentionPart):
    """`api.store.base.Upkeep` except opening and closing, for every dialect."""

    schema = migrations

    def upgrade(self) -> tuple[int, int]:
        versions = super().upgrade()
        if self._grow():
            self.verify(repair=True)
        return versions

    def _grow(self) -> bool:
        """Adds what the catalog has gained. Returns whether that was anything."""
        with self.transaction() as transaction:
            transaction.lock_directory()
            there = {
                table.name: {row[0] for row in transaction.fetch(self.dialect.columns(table.name))}
                for table in TIME_SERIES
            }
            statements = migrations.growth(self.dialect, there)
            for statement in statements:
                transaction.run(Query(statement))
        return bool(statements)

    def verify(self, *, repair: bool = False) -> Verdict:
        buckets = wrong = 0
        for (device_key,) in self.fetch(verify_sql.device_keys()):
            for window in self._windows(device_key):
                verdict = self._verify(window)
                buckets += verdict.buckets
                wrong += verdict.wrong
                if repair and verdict.wrong:
                    self.reckon(partial(self._rebuild, window))
        return Verdict(buckets, wrong)

    def _windows(self, device_key: int) -> Iterator[Range]:
        low, high = self.fetch(verify_sql.extent(device_key))[0]
        if low is not None:
            # Hours whose raw readings were deleted can't be compared or rebuilt.
            first = max(low, self.raw_from_ms() or low)
            for start in range(floor_to(first, HOUR_MS), high + 1, WINDOW_MS):
                yield device_key, start, start + WINDOW_MS

    def _verify(self, window: Range) -> Verdict:
        counts = [
            self._compare(table, resolution, window) for table, resolution in verify_sql.DERIVED
        ]
        return Verdict(sum(row[0] for row in counts), sum(row[1] for row in counts))

    def _compare(self, table: Table, resolution: Resolution, window: Range) -> Row:
        def compare(arithmetic: Arithmetic) -> Row:
            return self.fetch(verify_sql.compare(table, resolution, window, arithmetic))[0]

        return self.reckon(compare)

    def _rebuild(self, window: Range, arithmetic: Arithmetic) -> None:
        with self.transaction() as transaction:
            transaction.lock_devices([window[0]])
            rebuild(transaction, self.dialect, window, arithmetic)
