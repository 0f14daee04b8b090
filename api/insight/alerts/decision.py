"""Decides what happens to the alerts of some devices, from all of the facts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from api.catalog import UNIT_SYSTEMS
from api.insight.alerts import state_machine
from api.insight.alerts.conditions import (
    ConditionResult,
    Values,
    of_budgets,
    of_findings,
    of_status,
    of_values,
    resolution_for,
)
from api.insight.alerts.grouping import wait_ms
from api.insight.alerts.messages import MessageContext, announce
from api.insight.alerts.model import Episode
from api.insight.alerts.rules import StoredRule
from api.insight.alerts.state_machine import Outcome, Quiet, advance
from api.insight.budgets import BudgetState
from api.store.base import Device, FindingRow, Status
from api.store.base.alerts import AlertBook, AlertChanges, SilenceRow

Groups = Mapping[str, frozenset[int]]


@dataclass(frozen=True, slots=True)
class Facts:
    """The facts on which an organization's alerts are decided."""

    organization_id: str
    rules: Mapping[str, StoredRule]
    receivers: frozenset[str]
    silences: Sequence[SilenceRow]
    groups: Mapping[str, frozenset[int]]
    devices: Mapping[int, Device]
    downtime: Quiet | None
    units: str = UNIT_SYSTEMS[0]


@dataclass(slots=True)
class DeviceFacts:
    device: Device
    groups: Sequence[str]
    status: Status | None
    findings: Sequence[FindingRow]
    quiet: Sequence[Quiet]
    values: dict[str, Values] = field(default_factory=dict[str, Values])  # by rule id
    budgets: Sequence[BudgetState] = ()


class Decision:
    """Runs inside the store's transaction, and reads nothing more."""

    def __init__(
        self,
        facts: Facts,
        read: Mapping[int, DeviceFacts],
        now_ms: int,
        new_id: Callable[[], str],
    ) -> None:
        self._facts, self._read = facts, read
        self._now_ms, self._new_id = now_ms, new_id

    def decide(self, book: AlertBook) -> AlertChanges:
        before = [Episode.of(row) for row in book.alerts]
        by_series: defaultdict[tuple[int, str], list[Episode]] = defaultdict(list)
        for episode in before:
            by_series[episode.device_key, episode.rule_id].append(episode)
        outcome = Outcome()
        for key in sorted(book.keys):
            rules = {*self._facts.rules, *(rule for k, rule in by_series if k == key)}
            for rule_id in sorted(rules):
                self._of_rule(key, rule_id, by_series[key, rule_id], outcome)
        return self._announced(outcome, book)

    def _announced(self, outcome: Outcome, book: AlertBook) -> AlertChanges:
        facts = self._facts
        setting = MessageContext(
            facts.organization_id,
            self._now_ms,
            facts.rules,
            facts.receivers,
            facts.groups,
            sum(device.active for device in facts.devices.values()),
            facts.devices.get,
            self._new_id,
            facts.units,
        )
        changed = {each.id: each for each in outcome.episodes}
        gone = set(outcome.dropped)
        opened = [
            Episode.of(row) for row in book.open if row.id not in changed and row.id not in gone
        ]
        episodes, messages = announce(setting, outcome.events, changed, opened)
        rows = [episodes[id].row() for id in episodes]
        return AlertChanges(rows, outcome.dropped, messages)

    def _of_rule(
        self, key: int, rule_id: str, episodes: Sequence[Episode], outcome: Outcome
    ) -> None:
        stored, one = self._facts.rules.get(rule_id), self._read.get(key)
        covered = (
            stored is not None
            and one is not None
            and stored.rule.enabled
            and stored.rule.covers(one.device.id, one.groups)
        )
        result = (
            self._conditions(stored, one) if covered and stored and one else ConditionResult(())
        )
        subjects = {each.subject for each in result.conditions} | {e.subject for e in episodes}
        for subject in sorted(subjects):
            own = [each for each in result.conditions if each.subject == subject]
            made = advance(
                self._setting(stored, one, key, subject, covered=covered),
                subject,
                ConditionResult(own, result.unclear or subject in result.unknown),
                [each for each in episodes if each.subject == subject],
                self._new_id,
            )
            outcome.episodes += made.episodes
            outcome.dropped += made.dropped
            outcome.events += made.events

    def _conditions(self, stored: StoredRule, one: DeviceFacts) -> ConditionResult:
        rule = stored.rule
        if rule.source == "state":
            return of_status(rule, one.status)
        if rule.source == "budget":
            return of_budgets(one.budgets)
        if rule.source == "value":
            bucket_ms = resolution_for(rule.duration_ms).fixed_ms
            return of_values(rule, one.values.get(stored.id, ()), bucket_ms)
        return of_findings(rule, one.findings)

    def _setting(
        self,
        stored: StoredRule | None,
        one: DeviceFacts | None,
        key: int,
        subject: str,
        *,
        covered: bool,
    ) -> state_machine.Setting:
        base = state_machine.Setting(
            organization_id=self._facts.organization_id,
            rule_id="" if stored is None else stored.id,
            device_key=key,
            now_ms=self._now_ms,
            since_ms=0 if stored is None else stored.updated_ms,
            data_ms=None,
            enabled=False,
        )
        if not covered or stored is None or one is None:
            return base
        rule, status = stored.rule, one.status
        cadence_ms = 0 if status is None else status.cadence_ms
        return replace(
            base,
            enabled=True,
            data_ms=None if status is None else status.seen_ms,
            hold_ms=rule.hold_ms,
            reminder_ms=rule.reminder_ms,
            wait_ms=wait_ms(subject, cadence_ms, len(self._facts.devices)),
            has_receiver=any(id in self._facts.receivers for id in rule.receivers),
            quiet=one.quiet,
            silenced_until=partial(self._silenced_until, stored.id, one),
        )

    def _silenced_until(self, rule_id: str, one: DeviceFacts, subject: str) -> int | None:
        held = [
            each.until_ms
            for each in self._facts.silences
            if each.rule_id in (None, rule_id)
            and each.device_id in (None, one.device.id)
            and (each.group_name is None or each.group_name in one.groups)
            and each.subject in (None, subject)
        ]
        return max(held, default=None)
