"""Billing for every dialect: budgets, tariffs, scheduled reports and month ends."""

from __future__ import annotations

from collections.abc import Sequence

from api.store.alerts import mark_alerts
from api.store.audit import AuditPart
from api.store.base import UNTOUCHED, AuditEntry, Row, Scope, StatusQuery
from api.store.base.alerts import MessageRow
from api.store.base.billing import BillingKind, BillingRow, MonthEndRow, MonthEndSums, Sums
from api.store.billing_tables import AMOUNTS, BILLING, MONTH_END
from api.store.dialect_interface import Transaction
from api.store.sql import alerts as alert_sql
from api.store.sql import billing as sql
from api.store.sql import findings as finding_sql

_IN_ONE = 400  # devices per statement


class BillingPart(AuditPart):
    """`api.store.base.Billing` for every dialect."""

    def billing_rows(
        self, kind: BillingKind | None = None, organization_id: str | None = None
    ) -> list[BillingRow]:
        return [BillingRow(*row) for row in self.fetch(sql.billing_rows(kind, organization_id))]

    def keep_billing_row(self, row: BillingRow, audit: Sequence[AuditEntry]) -> None:
        with self.transaction() as transaction:
            transaction.lock_directory()
            transaction.run(alert_sql.keep(BILLING, row))
            self._make_anew(transaction, row)
            self.record_in(transaction, audit)

    def drop_billing_row(self, row: BillingRow, audit: Sequence[AuditEntry]) -> bool:
        with self.transaction() as transaction:
            transaction.lock_directory()
            if not transaction.fetch(alert_sql.drop(BILLING, row.organization_id, row.id)):
                return False
            self._make_anew(transaction, row)
            self.record_in(transaction, audit)
            return True

    def _make_anew(self, transaction: Transaction, row: BillingRow) -> None:
        if row.kind == "report":
            return
        keys = [key for (key,) in transaction.fetch(alert_sql.devices_of(row.organization_id))]
        if row.kind == "tariff":
            for statement in sql.make_anew(row.organization_id):
                transaction.run(statement)
            if keys:
                marks = [(key, UNTOUCHED) for key in keys]
                transaction.run(finding_sql.mark(self.dialect, marks))
        mark_alerts(self.dialect, transaction, keys)

    def queue_reports(
        self, row: BillingRow, due_ms: int | None, messages: Sequence[MessageRow]
    ) -> bool:
        with self.transaction() as transaction:
            transaction.lock_directory()
            change = sql.set_due(row.id, row.updated_ms, row.due_ms, due_ms)
            if not transaction.fetch(change):
                return False
            for message in messages:
                transaction.run(sql.queue_once(message))
            return True

    # --- Month ends ---

    def month_ends(self, keys: Sequence[int]) -> dict[int, MonthEndRow]:
        pieces = [keys[start : start + _IN_ONE] for start in range(0, len(keys), _IN_ONE)]
        rows = [MonthEndRow(*row) for some in pieces for row in self.fetch(sql.month_ends(some))]
        return {row.key: row for row in rows}

    def month_end_sums(self, scope: Scope, query: StatusQuery) -> list[MonthEndSums]:
        rows = self.fetch(sql.month_end_sums(self.dialect, scope, query))
        width = 4 + 2 * len(AMOUNTS[2:])
        return [
            MonthEndSums(
                row[0], row[1], row[2], row[3], _sums(row[4 : 4 + width]), _sums(row[4 + width :])
            )
            for row in rows
        ]

    def due_month_ends(self, now_ms: int, limit: int) -> list[int]:
        return [key for (key,) in self.fetch(sql.due_month_ends(now_ms, limit))]

    def save_month_ends(self, rows: Sequence[MonthEndRow]) -> None:
        if not rows:
            return
        with self.transaction() as transaction:
            for row in sorted(rows):
                transaction.run(alert_sql.keep(MONTH_END, row))
            keys = [row.key for row in rows]
            budgeted = transaction.fetch(sql.with_budgets(self.dialect, keys))
            mark_alerts(self.dialect, transaction, [key for (key,) in budgeted])


def _sums(row: Row) -> Sums:
    devices, with_interval, so_far, expected, *rest = row
    values = [each or 0.0 for each in rest]
    bounds = len(values) // 2
    offs, squares = tuple(values[:bounds]), tuple(values[bounds:])
    return Sums(devices, with_interval, so_far or 0.0, expected or 0.0, offs, squares)
