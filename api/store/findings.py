"""Findings, their settings and what is due, for every dialect."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields
from typing import Any

from api.catalog import Resolution
from api.store.alerts import mark_alerts
from api.store.audit import AuditPart
from api.store.base import Device, Due, Row, Scope
from api.store.base.audit import AuditEntry
from api.store.base.findings import (
    UNTOUCHED,
    Evaluated,
    EvaluationState,
    FindingEntry,
    FindingQuery,
    FindingRow,
    FindingSetting,
    HourOfReadings,
)
from api.store.dialect_interface import Transaction
from api.store.query import Dialect
from api.store.sql import findings as sql
from api.store.sql.arithmetic import Arithmetic
from api.store.tables import HOLIDAY
from api.timez import LAST_INSTANT_MS


class FindingsPart(AuditPart):
    """`api.store.base.Findings` for every dialect."""

    def findings(
        self, scope: Scope, query: FindingQuery, *, matches: int = 0
    ) -> list[FindingEntry]:
        rows = self.fetch(sql.page(self.dialect, scope, query, matches))
        return [_entry(row) for row in rows]

    def count_findings(self, scope: Scope, query: FindingQuery) -> int:
        return int(self.fetch(sql.count(self.dialect, scope, query))[0][0])

    def finding(self, scope: Scope, finding_id: str) -> FindingEntry | None:
        rows = self.fetch(sql.find(self.dialect, scope, finding_id))
        return _entry(rows[0]) if rows else None

    def worst_open(self, devices: Sequence[Device]) -> dict[int, FindingEntry]:
        keys = [device.key for device in devices]
        rows = self.fetch(sql.open_of(self.dialect, keys)) if keys else []
        entries = [_entry(row) for row in rows]
        return {entry.finding.key: entry for entry in reversed(entries)}

    def judge(
        self,
        scope: Scope,
        entry: FindingEntry,
        settings: Mapping[str, float | None],
        audit: Sequence[AuditEntry] = (),
    ) -> None:
        row = entry.finding
        judged = (row.dismissed_ms, row.dismissed_by, row.reason, row.judgement)
        with self.transaction() as transaction:
            transaction.lock_directory()
            transaction.run(sql.judge(row.key, row.kind, row.opened_ms, judged))
            for name, value in settings.items():
                setting = FindingSetting("device", entry.device_id, row.kind, name, value or 0.0)
                change = sql.drop_setting if value is None else sql.save_setting
                transaction.run(change(scope.organization_id, setting))
            transaction.run(sql.mark(self.dialect, [(row.key, UNTOUCHED)]))
            mark_alerts(self.dialect, transaction, [row.key])
            self.record_in(transaction, audit)

    # --- Settings and holidays ---

    def finding_settings(self, organization_id: str) -> list[FindingSetting]:
        return [FindingSetting(*row) for row in self.fetch(sql.settings(organization_id))]

    def save_finding_settings(
        self,
        organization_id: str,
        settings: Sequence[FindingSetting],
        audit: Sequence[AuditEntry] = (),
    ) -> None:
        with self.transaction() as transaction:
            transaction.lock_directory()
            for setting in settings:
                transaction.run(sql.save_setting(organization_id, setting))
            self._mark_those_of(transaction, organization_id, settings)
            self.record_in(transaction, audit)

    def drop_finding_settings(
        self,
        organization_id: str,
        settings: Sequence[FindingSetting],
        audit: Sequence[AuditEntry] = (),
    ) -> None:
        with self.transaction() as transaction:
            transaction.lock_directory()
            for setting in settings:
                transaction.run(sql.drop_setting(organization_id, setting))
            self._mark_those_of(transaction, organization_id, settings)
            self.record_in(transaction, audit)

    def holidays(self, organization_id: str) -> list[str]:
        return [day for (day,) in self.fetch(sql.holidays(organization_id))]

    def set_holidays(
        self, organization_id: str, days: Sequence[str], audit: Sequence[AuditEntry] = ()
    ) -> None:
        with self.transaction() as transaction:
            transaction.lock_directory()
            self.set_holidays_in(transaction, organization_id, days)
            self.record_in(transaction, audit)

    def set_holidays_in(
        self, transaction: Transaction, organization_id: str, days: Sequence[str]
    ) -> None:
        transaction.run(sql.forget_holidays(organization_id))
        rows = [(organization_id, day) for day in sorted(set(days))]
        transaction.insert(HOLIDAY, HOLIDAY.names, rows)
        everyone = FindingSetting("organization", "", "", "", 0.0)
        self._mark_those_of(transaction, organization_id, [everyone])

    def _mark_those_of(
        self, transaction: Transaction, organization_id: str, settings: Sequence[FindingSetting]
    ) -> None:
        keys = {
            key
            for level, target in {(each.level, each.target) for each in settings}
            for (key,) in transaction.fetch(sql.devices_of(organization_id, level, target))
        }
        if keys:
            transaction.run(sql.mark(self.dialect, [(key, UNTOUCHED) for key in sorted(keys)]))

    # --- For the evaluator ---

    def due_findings(
        self,
        limit: int,
        *,
        made_before_ms: int | None = None,
        behind_before_ms: int = 0,
        organization_id: str | None = None,
        key: int | None = None,
    ) -> list[Due]:
        query = sql.due(limit, made_before_ms, behind_before_ms, organization_id, key)
        return [Due(*row) for row in self.fetch(query)]

    def due_by_clock(self, now_ms: int, limit: int) -> list[int]:
        late = [key for (key,) in self.fetch(sql.due_by_clock(now_ms, limit))]
        from_future = [key for (key,) in self.fetch(sql.evaluated_in_future(now_ms, limit))]
        return list(dict.fromkeys((*late, *from_future)))[:limit]

    def changed_since_evaluated(self, limit: int) -> list[int]:
        return [key for (key,) in self.fetch(sql.changed(limit))]

    def states_of(self, keys: Sequence[int]) -> dict[int, EvaluationState]:
        rows = self.fetch(sql.states(self.dialect, keys)) if keys else []
        return {row[0]: EvaluationState(*row[:-1], data=bytes(row[-1])) for row in rows}

    def findings_of(self, key: int, since_ms: int) -> list[FindingRow]:
        return [_row(row) for row in self.fetch(sql.of_device(key, since_ms))]

    def groups_by_device(self, keys: Sequence[int]) -> dict[int, list[str]]:
        groups: defaultdict[int, list[str]] = defaultdict(list)
        for key, name in self.fetch(sql.groups(self.dialect, keys)) if keys else ():
            groups[key].append(name)
        return dict(groups)

    def hours_of_readings(
        self, key: int, from_ms: int, to_ms: int | None = None
    ) -> list[HourOfReadings]:
        end = LAST_INSTANT_MS if to_ms is None else to_ms
        rows = self.reckon(lambda arithmetic: self.fetch(sql.hours(key, from_ms, end, arithmetic)))
        return [HourOfReadings(*row) for row in rows]

    def hour_volumes(
        self, key: int, counted: Resolution, from_ms: int, to_ms: int
    ) -> list[tuple[int, float | None, int]]:
        def read(arithmetic: Arithmetic) -> list[Row]:
            return self.fetch(sql.hour_volumes(key, counted, from_ms, to_ms, arithmetic))

        return [(start, gallons, count) for start, gallons, count in self.reckon(read)]

    def minute_rates(self, key: int, from_ms: int, to_ms: int) -> list[tuple[int, float | None]]:
        rows = self.reckon(
            lambda arithmetic: self.fetch(sql.minute_rates(key, from_ms, to_ms, arithmetic))
        )
        return [(ts, rate) for ts, rate in rows]

    @contextmanager
    def claimed(self, keys: Sequence[int]) -> Generator[list[int]]:
        """Returns all of them: a file has one evaluator, and the results of a second one are
        discarded."""
        yield list(keys)

    def save_evaluations(self, each: Sequence[Evaluated]) -> list[int]:
        with self.transaction() as transaction:
            ordered = sorted(each, key=lambda one: one.state.key)
            return [one.state.key for one in ordered if _save(self.dialect, transaction, one)]


def _save(dialect: Dialect, transaction: Transaction, evaluation: Evaluated) -> bool:
    key = evaluation.state.key
    if not transaction.fetch(sql.save_state(evaluation.state)):
        return False
    for kind, opened_ms in evaluation.gone:
        transaction.run(sql.take_back(key, kind, opened_ms))
    for finding in evaluation.findings:
        transaction.run(sql.keep(_values(finding)))
    transaction.run(sql.show_open(key, evaluation.open))
    if evaluation.findings or evaluation.gone:
        mark_alerts(dialect, transaction, [key])
    if evaluation.done is not None:
        transaction.run(sql.done(key, evaluation.done.seq))
    return True


_FIELDS = tuple(field.name for field in fields(FindingRow))
_FLAG = _FIELDS.index("offers_new_normal")


def _row(row: Row) -> FindingRow:
    values: Any = (*row[:_FLAG], bool(row[_FLAG]), *row[_FLAG + 1 :])
    return FindingRow(*values)


def _entry(row: Row) -> FindingEntry:
    return FindingEntry(_row(row[:-2]), row[-2], row[-1])


def _values(finding: FindingRow) -> list[object]:
    values = [getattr(finding, name) for name in _FIELDS]
    values[_FLAG] = int(values[_FLAG])
    return values
