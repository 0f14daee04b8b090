"""The audit log, for every dialect, both of the store and of the web's own store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import orjson

from api.store.base.audit import AuditEntry, AuditQuery, State
from api.store.base.series import Row
from api.store.dialect_interface import Seam, Transaction
from api.store.sql import audit as sql
from api.store.tables import AUDIT, Table


class AuditPart(Seam):
    """`api.store.base.AuditLog` for every dialect."""

    audit_table: ClassVar[Table] = AUDIT

    def record(self, entries: Sequence[AuditEntry]) -> None:
        with self.transaction() as transaction:
            self.record_in(transaction, entries)

    def record_in(self, transaction: Transaction, entries: Sequence[AuditEntry]) -> None:
        """Records entries in the transaction of the change that they describe."""
        table = self.audit_table
        transaction.insert(table, table.names, [_row(entry) for entry in entries])

    def audit(self, query: AuditQuery) -> list[AuditEntry]:
        return [_entry(row) for row in self.fetch(sql.page(self.audit_table, query))]

    def count_audit(self, query: AuditQuery) -> int:
        return int(self.fetch(sql.count(self.audit_table, query))[0][0])


def _row(entry: AuditEntry) -> Row:
    return (
        entry.id, entry.at_ms, entry.organization_id, entry.author, entry.kind, entry.action,
        entry.subject, _text(entry.before), _text(entry.after), entry.reason,
    )  # fmt: skip


def _entry(row: Row) -> AuditEntry:
    id, at_ms, organization_id, author, kind, action, subject, before, after, reason = row
    return AuditEntry(
        at_ms, organization_id, author, kind, action, subject, _state(before), _state(after),
        reason, id,
    )  # fmt: skip


def _text(state: State) -> str | None:
    return None if state is None else orjson.dumps(state, option=orjson.OPT_SORT_KEYS).decode()


def _state(text: str | None) -> State:
    return None if text is None else orjson.loads(text)
