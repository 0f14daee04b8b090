"""Schema upgrades and verification, for every dialect."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from api.catalog import DAY_MS, HOUR_MS, STORED, Resolution
from api.errors import StoreMissing, Unavailable, UserError
from api.store import migrations
from api.store.base import Row, Verdict
from api.store.core import Seam
from api.store.sql import rollups
from api.store.sql import upkeep as sql
from api.store.sql import verify as verify_sql
from api.store.sql.arithmetic import Arithmetic
from api.store.sql.query import Query
from api.store.sql.rollups import Range
from api.store.tables import TIME_SERIES, Table
from api.timez import floor_to

WINDOW_MS = 31 * DAY_MS  # verified, and where wrong rebuilt, at a time


class UpkeepPart(Seam):
    """`api.store.base.Upkeep` but for opening and closing, for every dialect."""

    def upgrade(self) -> tuple[int, int]:
        self.prepare()
        before = version = self._step()
        while version < migrations.CURRENT:
            version = self._step()
        if self._grow():
            self.verify(repair=True)
        return before, version

    def _step(self) -> int:
        """Take the step from the version found to the next one; the version found."""
        with self.transaction() as transaction:
            transaction.lock_directory()
            transaction.run(sql.create_version_table(self.dialect))
            version = int(transaction.fetch(sql.version())[0][0])
            _refuse_newer(version)
            if version < migrations.CURRENT:
                for statement in migrations.STEPS[version](self.dialect):
                    transaction.run(Query(statement))
                transaction.run(sql.record_version(version + 1))
            return version

    def _grow(self) -> bool:
        """Whether the catalog had gained something that the time series lacked."""
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

    def prepare(self) -> None:
        """Make sure there is something to upgrade. Dialects that can create a store do it here."""

    def check(self) -> None:
        version = int(self.fetch(sql.version())[0][0])
        if version < migrations.CURRENT:
            raise StoreMissing("The store's schema is older than this program: flask db upgrade.")
        if version > migrations.CURRENT:
            raise Unavailable(
                f"The store's schema has version {version}, newer than this program's"
                f" {migrations.CURRENT}."
            )

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
            for start in range(floor_to(low, HOUR_MS), high + 1, WINDOW_MS):
                yield device_key, start, start + WINDOW_MS

    def _verify(self, window: Range) -> Verdict:
        found = [
            self._compare(table, resolution, window) for table, resolution in verify_sql.DERIVED
        ]
        return Verdict(sum(row[0] for row in found), sum(row[1] for row in found))

    def _compare(self, table: Table, resolution: Resolution, window: Range) -> Row:
        def compare(arithmetic: Arithmetic) -> Row:
            return self.fetch(verify_sql.compare(table, resolution, window, arithmetic))[0]

        return self.reckon(compare)

    def _rebuild(self, window: Range, arithmetic: Arithmetic) -> None:
        with self.transaction() as transaction:
            transaction.lock_devices([window[0]])
            for table, _ in verify_sql.DERIVED:
                transaction.run(verify_sql.forget(table, window))
            for resolution in STORED:
                transaction.run(rollups.recompute(self.dialect, resolution, [window], arithmetic))
            transaction.run(rollups.recount(self.dialect, [window]))


def _refuse_newer(version: int) -> None:
    if version > migrations.CURRENT:
        raise UserError(
            f"the store has schema version {version}, newer than this program's"
            f" {migrations.CURRENT}: use the program that made it, or a newer one"
        )
