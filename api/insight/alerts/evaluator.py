"""Evaluates the rules of alerts, beside the evaluator of findings.

Each change of a device's findings or status marks the device in the same transaction. A run reads
the marked devices; then one transaction saves episodes and messages and removes the marks. If the
process is killed, either the marks are still there or all is done.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from time import monotonic
from typing import Final
from uuid import uuid4

from api.catalog import DAY_MS, HOUR_MS, MINUTE_MS, UNIT_SYSTEMS
from api.domain.organization import units_of
from api.insight.alerts.conditions import (
    Values,
    resolution_for,
)
from api.insight.alerts.decision import Decision, DeviceFacts, Facts, Groups
from api.insight.alerts.rules import METRIC_BY_NAME, Rule, StoredRule
from api.insight.alerts.state_machine import MAINTENANCE, Quiet
from api.insight.budgets import BudgetState, budgets_of, states_of
from api.insight.maintenance import maintenance_spans
from api.insight.month_ends import MonthEnds
from api.insight.report_schedules import ReportSchedules
from api.insight.worker_thread import WorkerThread
from api.store.base import Device, DeviceQuery, Grant, Scope, Store
from api.store.base.alerts import (
    AlertMark,
)
from api.timez import now_ms as clock_ms

BATCH: Final = 500  # devices per transaction
LOOK_BACK_MS: Final = 31 * DAY_MS  # how far back findings that ended are read
VALUES_MS: Final = 6 * HOUR_MS  # plus the rule's duration: how far back values are read
DIRECTORY_S: Final = 10.0  # how long the list of devices and groups is cached
POLL_S: Final = 1.0
CLOCK_S: Final = 20.0
DOWN_MS: Final = 3 * MINUTE_MS  # time without a run that counts as downtime of Weir itself


class AlertEvaluator:
    """One per process; not thread-safe. ``watch``: a time without runs counts as downtime of
    Weir."""

    def __init__(
        self,
        store: Store,
        *,
        watch: bool = False,
        new_id: Callable[[], str] = lambda: str(uuid4()),
    ) -> None:
        self._store, self._watch, self._new_id = store, watch, new_id
        self._ticked_s = 0.0
        self._directories: dict[str, tuple[float, Mapping[int, Device], Groups]] = {}

    def run(self, now_ms: int | None = None) -> int:
        """Handles everything that is due. Returns how many messages were queued."""
        now_ms = clock_ms() if now_ms is None else now_ms
        if self._watch:
            self._tick(now_ms)
        self._store.mark_alert_timers(now_ms)
        queued, seen = 0, set[AlertMark]()
        while True:
            marks = [each for each in self._store.due_alerts(BATCH) if each not in seen]
            if not marks:
                return queued
            seen.update(marks)
            queued += self._batch(marks, now_ms)

    def _tick(self, now_ms: int) -> None:
        """Records this run, and the downtime after a time without runs."""
        if monotonic() < self._ticked_s:
            return
        clock = self._store.alert_clock()
        times = {"run": now_ms}
        if "run" in clock and now_ms - clock["run"] > DOWN_MS:
            times |= {"away": clock["run"], "back": now_ms}
        self._store.set_alert_clock(times)
        self._ticked_s = monotonic() + CLOCK_S

    def _batch(self, marks: Sequence[AlertMark], now_ms: int) -> int:
        devices = {each.key: each for each in self._store.devices_by_key([m.key for m in marks])}
        by_organization: defaultdict[str, list[AlertMark]] = defaultdict(list)
        for mark in marks:
            device = devices.get(mark.key)
            by_organization["" if device is None else device.organization_id].append(mark)
        queued = 0
        for organization_id, own in by_organization.items():
            facts = self._facts(organization_id, now_ms)
            read = self._read(facts, [mark.key for mark in own], now_ms) if facts.rules else {}
            decision = Decision(facts, read, now_ms, self._new_id)
            since_ms = now_ms - LOOK_BACK_MS - DAY_MS  # longer than findings: none counts as new
            changes = self._store.decide_alerts(organization_id, own, since_ms, decision.decide)
            queued += len(changes.messages)
        return queued

    # --- What is read ---

    def _facts(self, organization_id: str, now_ms: int) -> Facts:
        store = self._store
        rules = [StoredRule.of(row) for row in store.alert_rules(organization_id)]
        devices: Mapping[int, Device] = {}
        groups: Groups = {}
        if rules:
            devices, groups = self._directory(organization_id)
        receivers = store.alert_receivers(organization_id) if rules else []
        silences = store.alert_silences(organization_id) if rules else []
        return Facts(
            organization_id,
            {each.id: each for each in rules},
            frozenset(each.id for each in receivers if each.enabled),
            [each for each in silences if each.from_ms <= now_ms < each.until_ms],
            groups,
            devices,
            self._downtime() if self._watch else None,
            units_of(store, organization_id) if rules else UNIT_SYSTEMS[0],
        )

    def _directory(self, organization_id: str) -> tuple[Mapping[int, Device], Groups]:
        cached = self._directories.get(organization_id)
        if self._watch and cached is not None and monotonic() < cached[0]:
            return cached[1], cached[2]
        scope = Scope(organization_id, Grant(everything=True))
        rows = self._store.devices(scope, DeviceQuery(active=None))
        devices = {each.key: each for each in rows}
        members: defaultdict[str, set[int]] = defaultdict(set)
        for key, names in self._store.groups_by_device(list(devices)).items():
            for name in names:
                members[name].add(key)
        groups = {name: frozenset(keys) for name, keys in members.items()}
        self._directories[organization_id] = (monotonic() + DIRECTORY_S, devices, groups)
        return devices, groups

    def _downtime(self) -> Quiet | None:
        clock = self._store.alert_clock()
        if "away" not in clock or "back" not in clock:
            return None
        return Quiet(clock["away"], clock["back"], "downtime")

    def _read(self, facts: Facts, keys: Sequence[int], now_ms: int) -> dict[int, DeviceFacts]:
        statuses = self._store.status_rows(keys)
        groups, planned = self._store.groups_by_device(keys), self._store.maintenance_of(keys)
        downtime = () if facts.downtime is None else (facts.downtime,)
        read: dict[int, DeviceFacts] = {}
        budgets = self._budgets(facts)
        for key in keys:
            device = facts.devices.get(key)
            if device is None or not device.active:
                continue
            spans = maintenance_spans(planned.get(key, ()), now_ms - LOOK_BACK_MS, now_ms)
            one = DeviceFacts(
                device,
                groups.get(key, ()),
                statuses.get(key),
                self._store.findings_of(key, now_ms - LOOK_BACK_MS),
                (*downtime, *(Quiet(*span, MAINTENANCE) for span in spans)),
                budgets=budgets.get(key, ()),
            )
            for stored in facts.rules.values():
                rule = stored.rule
                if rule.source == "value" and rule.enabled and rule.covers(device.id, one.groups):
                    one.values[stored.id] = self._values(device, rule, now_ms)
            read[key] = one
        return read

    def _budgets(self, facts: Facts) -> dict[int, list[BudgetState]]:
        """Returns budget states by the device that their alert is stored with: a group's is its
        first device."""
        by_key: defaultdict[int, list[BudgetState]] = defaultdict(list)
        if any(each.rule.source == "budget" for each in facts.rules.values()):
            id = facts.organization_id
            for state in states_of(self._store, id, budgets_of(self._store, id)):
                if state.key is not None:
                    by_key[state.key].append(state)
        return dict(by_key)

    def _values(self, device: Device, rule: Rule, now_ms: int) -> Values:
        return self._store.metric_values(
            device.key,
            METRIC_BY_NAME[rule.metric],
            resolution_for(rule.duration_ms),
            now_ms - VALUES_MS - 2 * rule.duration_ms,
            now_ms + DAY_MS,
        )


class _RepeatedWork(WorkerThread):
    """``work`` returns how much it did; after none it pauses."""

    def __init__(self, name: str, work: Callable[[], int]) -> None:
        self.name = self.result = name
        self._work = work
        super().__init__()

    def step(self) -> float:
        return 0.0 if self._work() else POLL_S


class AlertThreads:
    """Forecasts month ends, queues reports, evaluates the rules and sends the messages, beside a
    writer until it is stopped."""

    def __init__(self, store: Store, send: Callable[[], int]) -> None:
        evaluator = AlertEvaluator(store, watch=True)
        self._threads = [
            _RepeatedWork("month ends", MonthEnds(store).run),
            _RepeatedWork("scheduled reports", ReportSchedules(store).run),
            _RepeatedWork("alerts", evaluator.run),
            _RepeatedWork("alert messages", send),
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        for thread in self._threads:
            thread.stop()
