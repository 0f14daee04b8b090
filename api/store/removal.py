"""Deletes readings, devices and organizations."""

from __future__ import annotations

from collections.abc import Sequence
from time import sleep
from typing import Final

from api.catalog import HOUR_MS
from api.errors import UserError
from api.store.base import Device
from api.store.base.audit import AuditEntry
from api.store.dialect_interface import Taken, Transaction
from api.store.rebuild import rebuild
from api.store.registers import RegistersPart
from api.store.sql import insight as insight_sql
from api.store.sql import removal as sql
from api.store.sql import retention as retention_sql
from api.store.sql import verify as verify_sql
from api.store.sql.arithmetic import Arithmetic
from api.store.tables import TIME_SERIES
from api.timez import ceil_to, floor_to, now_ms, stamp

PART: Final = 50_000  # rows deleted in one transaction, which other writers wait for
PAUSE_S: Final = 0.02  # in which a waiting writer of an embedded store gets its turn


class RemovalPart(RegistersPart):
    """`api.store.base.Removal` for every dialect."""

    def delete_readings(
        self, device: Device, from_ms: int, to_ms: int, audit: Sequence[AuditEntry]
    ) -> int:
        def delete(arithmetic: Arithmetic) -> int:
            with self.transaction() as transaction:
                transaction.lock_devices([device.key])
                transaction.lock_directory()
                gone = self._delete_span(transaction, device.key, from_ms, to_ms, arithmetic)
                self.record_in(transaction, audit)
            return gone

        return self.reckon(delete)

    def _delete_span(
        self,
        transaction: Transaction,
        key: int,
        from_ms: int,
        to_ms: int,
        arithmetic: Arithmetic,
    ) -> int:
        """Deletes a span of readings. Where raw readings were pruned, the rollups are deleted, in
        whole hours only: a part of an hour can't be subtracted."""
        first, end = floor_to(from_ms, HOUR_MS), ceil_to(to_ms, HOUR_MS)
        limit = transaction.fetch(retention_sql.raw_from())
        limit_ms = int(limit[0][0]) if limit else first
        if (from_ms != first and first < limit_ms) or (to_ms != end and end <= limit_ms):
            raise UserError(
                f"raw readings before {stamp(limit_ms)} were pruned: there, only whole hours can be"
                " deleted"
            )
        gone = int(transaction.fetch(retention_sql.count(key, from_ms, to_ms))[0][0])
        for statement in sql.readings(key, from_ms, to_ms):
            transaction.run(statement)
        if first < limit_ms:
            for table, _ in verify_sql.DERIVED:
                transaction.run(verify_sql.forget(table, (key, first, min(end, limit_ms))))
        if end > limit_ms:
            rebuild(transaction, self.dialect, (key, max(first, limit_ms), end), arithmetic)
        self.derive_around(transaction, key, from_ms, to_ms - 1, arithmetic)
        transaction.run(insight_sql.mark_due(self.dialect, [(key, from_ms)]))
        return gone

    def set_device_active(self, device: Device, active: bool, audit: Sequence[AuditEntry]) -> None:
        try:
            with self.transaction() as transaction:
                transaction.lock_directory()
                transaction.run(sql.set_active(device.key, active, now_ms()))
                self.record_in(transaction, audit)
        except Taken:
            raise UserError(
                f"device {device.serial_number}: an active device has its serial number or network"
                " identifier"
            ) from None

    def delete_device(self, device: Device, audit: Sequence[AuditEntry]) -> int:
        """The first transaction deletes the device itself, so that no reader sees it any longer.
        Its rows follow in parts. The due mark makes the status projection finish an interrupted
        deletion."""
        with self.transaction() as transaction:
            transaction.lock_devices([device.key])
            transaction.lock_directory()
            gone = int(transaction.fetch(sql.count_readings(device.key))[0][0])
            for statement in (
                *sql.of_device(device.key, series=False),
                *sql.device(device.key, device.id),
            ):
                transaction.run(statement)
            transaction.run(insight_sql.mark_due(self.dialect, [(device.key, 0)]))
            self.record_in(transaction, audit)
        self.forget_device(device.key)
        return gone

    def forget_device(self, key: int) -> None:
        while self._forget_part(key):
            sleep(PAUSE_S)

    def _forget_part(self, key: int) -> bool:
        """Deletes up to PART rows of a deleted device, or all that is left of it. Returns whether
        there may be more."""
        with self.transaction() as transaction:
            transaction.lock_devices([key])
            transaction.lock_directory()
            if transaction.fetch(sql.device_of_key(key)):
                return False
            for table in TIME_SERIES:
                if rows := transaction.fetch(sql.instant_after(table, key, PART)):
                    transaction.run(sql.up_to(table, key, rows[0][0]))
                    return True
            self._delete_device(transaction, key)
        return False

    def _delete_device(self, transaction: Transaction, key: int) -> int:
        gone = int(transaction.fetch(sql.count_readings(key))[0][0])
        for statement in sql.of_device(key):
            transaction.run(statement)
        return gone

    def delete_organization(self, organization_id: str, audit: Sequence[AuditEntry] = ()) -> int:
        readings = 0
        for (device_key,) in self.fetch(sql.device_keys(organization_id)):
            with self.transaction() as transaction:
                transaction.lock_devices([device_key])
                readings += self._delete_device(transaction, device_key)
        with self.transaction() as transaction:
            transaction.lock_directory()
            for statement in sql.of_organization(organization_id):
                transaction.run(statement)
            self.record_in(transaction, audit)
        return readings
