"""Rules, receivers, alerts and the outbox, for every dialect."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence

from api.catalog import Aggregate, Function, Metric, Resolution
from api.store.alert_tables import (
    ALERT,
    ALERT_CLOCK,
    ALERT_MESSAGE,
    ALERT_RECEIVER,
    ALERT_RULE,
    ALERT_SILENCE,
)
from api.store.audit import AuditPart
from api.store.base import AuditEntry, Row, Scope
from api.store.base.alerts import (
    AlertBook,
    AlertChanges,
    AlertEntry,
    AlertMark,
    AlertQuery,
    AlertRow,
    ChangeAlert,
    Decide,
    MessageRow,
    ReceiverRow,
    RuleRow,
    SilenceRow,
)
from api.store.dialect_interface import Transaction
from api.store.query import Dialect, Query
from api.store.sql import alerts as sql
from api.timez import now_ms

_IN_ONE = 400  # devices per statement


class AlertsPart(AuditPart):
    """`api.store.base.Alerts` for every dialect."""

    # --- What people set ---

    def alert_rules(self, organization_id: str | None = None) -> list[RuleRow]:
        rows = self.fetch(sql.rows_of(ALERT_RULE, organization_id, "name, id"))
        return [RuleRow(*row) for row in rows]

    def keep_rule(self, rule: RuleRow, audit: Sequence[AuditEntry]) -> None:
        with self.transaction() as transaction:
            transaction.lock_directory()
            transaction.run(sql.keep(ALERT_RULE, rule))
            keys = transaction.fetch(sql.devices_of(rule.organization_id))
            mark_alerts(self.dialect, transaction, [key for (key,) in keys])
            self.record_in(transaction, audit)

    def drop_rule(self, organization_id: str, rule_id: str, audit: Sequence[AuditEntry]) -> bool:
        with self.transaction() as transaction:
            transaction.lock_directory()
            if not transaction.fetch(sql.drop(ALERT_RULE, organization_id, rule_id)):
                return False
            keys = transaction.fetch(sql.devices_with_open(organization_id, rule_id))
            mark_alerts(self.dialect, transaction, [key for (key,) in keys])
            self.record_in(transaction, audit)
            return True

    def alert_receivers(self, organization_id: str | None = None) -> list[ReceiverRow]:
        rows = self.fetch(sql.rows_of(ALERT_RECEIVER, organization_id, "name, id"))
        return [ReceiverRow(*row) for row in rows]

    def keep_receiver(self, receiver: ReceiverRow, audit: Sequence[AuditEntry]) -> None:
        self._change(sql.keep(ALERT_RECEIVER, receiver), audit)

    def drop_receiver(
        self, organization_id: str, receiver_id: str, audit: Sequence[AuditEntry]
    ) -> bool:
        with self.transaction() as transaction:
            transaction.lock_directory()
            if not transaction.fetch(sql.drop(ALERT_RECEIVER, organization_id, receiver_id)):
                return False
            transaction.run(sql.drop_messages_to(receiver_id))
            self.record_in(transaction, audit)
            return True

    def alert_silences(self, organization_id: str) -> list[SilenceRow]:
        rows = self.fetch(sql.rows_of(ALERT_SILENCE, organization_id, "until_ms DESC, id"))
        return [SilenceRow(*row) for row in rows]

    def keep_silence(self, silence: SilenceRow, audit: Sequence[AuditEntry]) -> None:
        self._change(sql.keep(ALERT_SILENCE, silence), audit)

    def drop_silence(
        self, organization_id: str, silence_id: str, audit: Sequence[AuditEntry]
    ) -> bool:
        with self.transaction() as transaction:
            transaction.lock_directory()
            if not transaction.fetch(sql.drop(ALERT_SILENCE, organization_id, silence_id)):
                return False
            keys = transaction.fetch(sql.devices_with_open(organization_id, None))
            mark_alerts(self.dialect, transaction, [key for (key,) in keys])
            self.record_in(transaction, audit)
            return True

    def _change(self, query: Query, audit: Sequence[AuditEntry] = ()) -> None:
        with self.transaction() as transaction:
            transaction.lock_directory()
            transaction.run(query)
            self.record_in(transaction, audit)

    # --- Read through a scope ---

    def alerts(self, scope: Scope, query: AlertQuery) -> list[AlertEntry]:
        return [_entry(row) for row in self.fetch(sql.page(self.dialect, scope, query))]

    def count_alerts(self, scope: Scope, query: AlertQuery) -> int:
        return int(self.fetch(sql.count(self.dialect, scope, query))[0][0])

    def alert(self, scope: Scope, alert_id: str) -> AlertEntry | None:
        rows = self.fetch(sql.one(self.dialect, scope, alert_id))
        return _entry(rows[0]) if rows else None

    def change_alert(self, alert_id: str, change: ChangeAlert) -> AlertRow | None:
        with self.transaction() as transaction:
            transaction.lock_directory()
            rows = transaction.fetch(sql.by_id(alert_id))
            if not rows:
                return None
            after, audit = change(AlertRow(*rows[0]))
            transaction.run(sql.keep(ALERT, after))
            self.record_in(transaction, audit)
            return after

    def alert_messages(
        self, organization_id: str, *, thread: str | None = None, limit: int = 100
    ) -> list[MessageRow]:
        rows = self.fetch(sql.messages(organization_id, thread, limit))
        return [MessageRow(*row) for row in rows]

    def alert_message(self, organization_id: str, message_id: str) -> MessageRow | None:
        rows = self.fetch(sql.message(organization_id, message_id))
        return MessageRow(*rows[0]) if rows else None

    # --- For the engine ---

    def mark_alerts(self, keys: Sequence[int]) -> None:
        if keys:
            with self.transaction() as transaction:
                mark_alerts(self.dialect, transaction, keys)

    def mark_alert_timers(self, now_ms: int) -> int:
        keys = [key for (key,) in self.fetch(sql.due_by_time(now_ms))]
        self.mark_alerts(keys)
        return len(keys)

    def due_alerts(self, limit: int) -> list[AlertMark]:
        return [AlertMark(*row) for row in self.fetch(sql.due(limit))]

    def decide_alerts(
        self, organization_id: str, marks: Sequence[AlertMark], since_ms: int, decide: Decide
    ) -> AlertChanges:
        with self.transaction() as transaction:
            transaction.lock_directory()
            mine = [
                mark.key
                for mark in sorted(marks)
                if transaction.fetch(sql.take(mark.key, mark.mark))
            ]
            if not mine:
                return AlertChanges()
            alerts = [
                AlertRow(*row)
                for some in _pieces(mine)
                for row in transaction.fetch(sql.alerts_of(some, since_ms))
            ]
            opened = [AlertRow(*row) for row in transaction.fetch(sql.all_open(organization_id))]
            changes = decide(AlertBook(frozenset(mine), alerts, opened))
            for id in changes.dropped:
                transaction.run(sql.delete([id]))
            for alert in changes.alerts:
                transaction.run(sql.keep(ALERT, alert))
            for message in changes.messages:
                transaction.run(sql.keep(ALERT_MESSAGE, message))
            return changes

    def metric_values(
        self,
        key: int,
        metric: Metric,
        resolution: Resolution,
        from_ms: int,
        to_ms: int,
        function: Function = "avg",
    ) -> list[tuple[int, float | None]]:
        rows = self.reckon(
            lambda arithmetic: self.fetch(
                sql.metric_values(
                    key, Aggregate(function, metric), resolution, from_ms, to_ms, arithmetic
                )
            )
        )
        return [(ts, mean) for ts, mean in rows]

    def alert_clock(self) -> dict[str, int]:
        return {name: at_ms for name, at_ms in self.fetch(sql.clock())}

    def set_alert_clock(self, times: dict[str, int]) -> None:
        with self.transaction() as transaction:
            for row in times.items():
                transaction.run(sql.keep(ALERT_CLOCK, row))

    # --- For the outbox ---

    def queue_message(self, message: MessageRow) -> None:
        self._change(sql.keep(ALERT_MESSAGE, message))

    def claim_messages(self, now_ms: int, until_ms: int, limit: int) -> list[MessageRow]:
        messages = [MessageRow(*row) for row in self.fetch(sql.sendable(now_ms, limit))]
        if not messages:
            return []
        with self.transaction() as transaction:
            return [
                row._replace(due_ms=until_ms)
                for row in messages
                if transaction.fetch(sql.claim(row.id, row.due_ms, until_ms))
            ]

    def settle_message(self, message: MessageRow) -> None:
        with self.transaction() as transaction:
            transaction.run(sql.settle(message))

    def first_was_sent(self, message: MessageRow) -> bool:
        rows = self.fetch(sql.first_state(message.thread, message.receiver_id))
        return bool(rows) and rows[0][0] == "sent"


def mark_alerts(dialect: Dialect, transaction: Transaction, keys: Iterable[int]) -> None:
    """Marks the devices' alerts as due, in the transaction that changed them. A mark is the time in
    nanoseconds, with random last digits so that two simultaneous marks differ."""
    mark = now_ms() * 1_000_000 + secrets.randbelow(1_000_000)
    some = sorted(set(keys))
    if some:
        transaction.run(sql.mark(dialect, [(key, mark) for key in some]))


def _pieces(keys: Sequence[int]) -> list[Sequence[int]]:
    return [keys[start : start + _IN_ONE] for start in range(0, len(keys), _IN_ONE)]


def _entry(row: Row) -> AlertEntry:
    return AlertEntry(AlertRow(*row[: len(ALERT.names)]), *row[len(ALERT.names) :])
