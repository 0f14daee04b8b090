"""Deletes old raw readings. Their rollups stay, and are never recomputed without them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import Final, TypeVar

from api.catalog import COARSEST_STORED, DAY_MS, HOUR_MS
from api.errors import UserError
from api.store.base import Device, ReadingRow, Refusal, RegisterRow, Span
from api.store.dialect_interface import Seam, Transaction
from api.store.sql import retention as sql
from api.store.sql import series as series_sql
from api.store.sql import verify as verify_sql
from api.timez import floor_to, now_ms, stamp

R = TypeVar("R", ReadingRow, RegisterRow)

STRIDE_MS: Final = 31 * DAY_MS  # readings of one transaction: a writer waits only briefly
SOURCE: Final = "retention"
REASON: Final = "before the oldest raw reading that is kept"


class RetentionPart(Seam):
    """`api.store.base.Retention` for every dialect."""

    def raw_from_ms(self) -> int | None:
        rows = self.fetch(sql.raw_from())
        return int(rows[0][0]) if rows else None

    def has_raw(self, device: Device, span: Span) -> bool:
        limit = self.raw_from_ms()
        low, high = series_sql.closed(span)
        if limit is None or low >= limit:
            return True
        hours = Span(floor_to(low, HOUR_MS), min(high, limit - 1))
        older = series_sql.count_by_hours(device.key, COARSEST_STORED, hours, 1)
        return older is None or not self.fetch(older)[0][0]

    def prune(self, before_ms: int, *, pretend: bool = False) -> int:
        if before_ms > now_ms():
            raise UserError("readings in the future can't be deleted")
        if before_ms % HOUR_MS:
            raise UserError(f"{stamp(before_ms)} is not on the hour, where rollups begin")
        if not pretend:
            # Raises the limit first: older readings are refused from now on, so that no rollup is
            # recomputed from an incomplete hour.
            with self.transaction() as transaction:
                transaction.lock_directory()
                transaction.run(sql.save_raw_from(before_ms))
            before_ms = max(before_ms, self.raw_from_ms() or 0)
        gone, dropped_ms = self.drop_before(before_ms, pretend=pretend)
        for (device_key,) in self.fetch(verify_sql.device_keys()):
            gone += self._prune(device_key, before_ms, dropped_ms, pretend)
        return gone

    def drop_before(self, before_ms: int, *, pretend: bool) -> tuple[int, int]:
        """Drops whole partitions, if the table has any. Returns (rows dropped, instant before which
        all readings are gone)."""
        del before_ms, pretend
        return 0, 0

    def _prune(self, device_key: int, before_ms: int, dropped_ms: int, pretend: bool) -> int:
        """Deletes a device's readings, except for its last hour with readings (unless a dropped
        partition contained it): that hour shows when the device was last seen."""
        last = self.fetch(sql.last_hour(device_key))[0][0]
        if last is None:
            return 0
        before_ms = max(min(before_ms, last), dropped_ms)
        gone = 0
        for low, high in self._strides(device_key, dropped_ms, before_ms):
            gone += int(self.fetch(sql.count(device_key, low, high))[0][0])
            if not pretend:
                with self.transaction() as transaction:
                    transaction.lock_devices([device_key])
                    transaction.run(sql.delete_raw(device_key, low, high))
        if not pretend:
            with self.transaction() as transaction:
                transaction.lock_devices([device_key])
                transaction.run(sql.forget_count(device_key, before_ms))
                transaction.run(sql.forget_undated(device_key, before_ms))
                transaction.run(sql.forget_originals(device_key, before_ms))
                transaction.run(sql.forget_registers(device_key, before_ms))
        return gone

    def _strides(self, device_key: int, from_ms: int, before_ms: int) -> Iterator[tuple[int, int]]:
        first = self.fetch(sql.first(device_key))[0][0]
        if first is not None:
            for low in range(max(floor_to(first, HOUR_MS), from_ms), before_ms, STRIDE_MS):
                yield low, min(low + STRIDE_MS, before_ms)

    # --- On writing ---

    def split_by_retention(
        self, transaction: Transaction, rows: list[R]
    ) -> tuple[list[R], list[Refusal]]:
        """Returns (rows to store, refusals of rows that are too old). Must run in the transaction
        that writes them: rollups of deleted hours must never be recomputed."""
        limit = transaction.fetch(sql.raw_from()) if rows else []
        if not limit or min(row[1] for row in rows) >= limit[0][0]:
            return rows, []
        from_ms = int(limit[0][0])
        old = [row for row in rows if row[1] < from_ms]
        refusals = [_refusal(transaction, key, old) for key in {row[0] for row in old}]
        return [row for row in rows if row[1] >= from_ms], refusals


def _refusal(
    transaction: Transaction, device_key: int, rows: Sequence[ReadingRow | RegisterRow]
) -> Refusal:
    organization_id, serial = transaction.fetch(sql.owner(device_key))[0]
    mine = [row for row in rows if row[0] == device_key]
    sample = f"recorded at {stamp(mine[-1][1])}"
    return Refusal(organization_id, SOURCE, REASON, serial, sample, now_ms(), len(mine))


def months_before(instant_ms: int, months: int) -> int:
    """Returns the first instant (UTC) of the month that is ``months`` before this one."""
    now = datetime.fromtimestamp(instant_ms / 1000, UTC)
    year, month = divmod(now.year * 12 + now.month - 1 - months, 12)
    return int(datetime(year, month + 1, 1, tzinfo=UTC).timestamp() * 1000)
