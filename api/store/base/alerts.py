"""The interface of every store for rules, receivers, alerts and the outbox."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol

from api.catalog import Function, Metric, Resolution
from api.store.base.audit import AuditEntry
from api.store.base.directory import Device, Scope

AlertState = Literal["pending", "firing", "resolved"]
ALERT_STATES: Final[tuple[AlertState, ...]] = ("firing", "resolved")  # states of the interface


class RuleRow(NamedTuple):
    """``definition`` is JSON (`api.insight.alerts.rules`). ``live``: the rule is evaluated with
    each reading of its devices, not only when a finding changes."""

    id: str
    organization_id: str
    name: str
    enabled: int
    live: int
    definition: str
    created_by: str
    created_ms: int
    updated_ms: int


class ReceiverRow(NamedTuple):
    """``config`` is JSON; ``secret`` is sealed text or "". ``trouble`` says why it was switched
    off."""

    id: str
    organization_id: str
    name: str
    kind: str
    config: str
    secret: str
    enabled: int
    trouble: str
    created_by: str
    created_ms: int
    updated_ms: int


class AlertRow(NamedTuple):
    """One episode of a rule on a device. ``due_ms``: when it may change without a reading. ``data``
    is JSON (`api.insight.alerts.model`)."""

    id: str
    organization_id: str
    rule_id: str
    device_key: int
    subject: str
    state: str
    rank: int
    cost_per_day: float | None
    start_ms: int
    fired_ms: int | None
    resolved_ms: int | None
    due_ms: int | None
    acknowledged_ms: int | None
    group_id: str | None
    data: str


class AlertEntry(NamedTuple):
    alert: AlertRow
    device_id: str
    serial_number: str
    label: str


class SilenceRow(NamedTuple):
    """No alerts of ``device_key``, ``group_name`` or ``rule_id`` are sent from ``from_ms`` until
    ``until_ms``. None matches every one."""

    id: str
    organization_id: str
    rule_id: str | None
    device_id: str | None
    group_name: str | None
    subject: str | None
    from_ms: int
    until_ms: int
    reason: str
    created_by: str
    created_ms: int


class MessageRow(NamedTuple):
    """One message to one receiver. ``id`` is the same for all attempts. ``thread`` is shared by an
    alert's first message and those that follow it, in the order of ``place``."""

    id: str
    organization_id: str
    receiver_id: str
    thread: str
    place: int
    event: str
    state: str
    created_ms: int
    due_ms: int
    attempts: int
    done_ms: int | None
    response: str
    body: str


@dataclass(frozen=True, slots=True)
class AlertQuery:
    """Empty collections select everything but pending alerts. ``from_ms``, ``to_ms`` (inclusive)
    select alerts that fired between them."""

    device: Device | None = None
    group: str | None = None
    rule_id: str | None = None
    states: Collection[str] = ()
    from_ms: int | None = None
    to_ms: int | None = None
    limit: int = 100
    offset: int = 0


class AlertMark(NamedTuple):
    """A device whose alerts are due. ``mark`` changes with every new reason."""

    key: int
    mark: int


class AlertChanges(NamedTuple):
    """Alerts to save, ids of alerts to delete, and messages to queue."""

    alerts: Sequence[AlertRow] = ()
    dropped: Sequence[str] = ()
    messages: Sequence[MessageRow] = ()


class AlertBook(NamedTuple):
    """The data of one decision, read in its transaction: the due devices that no other process has
    taken, their alerts, and all open alerts of their organization."""

    keys: frozenset[int]
    alerts: Sequence[AlertRow]
    open: Sequence[AlertRow]


Decide = Callable[[AlertBook], AlertChanges]
# (alert now → alert afterwards, entry for the audit log)
ChangeAlert = Callable[[AlertRow], tuple[AlertRow, Sequence[AuditEntry]]]


class Alerts(Protocol):
    """Changes by people are recorded in the audit log, in the same transaction."""

    # --- Managed by people ---

    def alert_rules(self, organization_id: str | None = None) -> list[RuleRow]:
        """Returns rules by name; of all organizations for None."""
        ...

    def keep_rule(self, rule: RuleRow, audit: Sequence[AuditEntry]) -> None:
        """Saves a new rule, or replaces the one with its id. The organization's devices become
        due."""
        ...

    def drop_rule(self, organization_id: str, rule_id: str, audit: Sequence[AuditEntry]) -> bool:
        """Returns False where there is no such rule. Devices with open alerts of it become due."""
        ...

    def alert_receivers(self, organization_id: str | None = None) -> list[ReceiverRow]: ...

    def keep_receiver(self, receiver: ReceiverRow, audit: Sequence[AuditEntry]) -> None: ...

    def drop_receiver(
        self, organization_id: str, receiver_id: str, audit: Sequence[AuditEntry]
    ) -> bool:
        """Deletes a receiver and its queued messages. Returns False where there is none."""
        ...

    def alert_silences(self, organization_id: str) -> list[SilenceRow]:
        """Returns silences, latest end first."""
        ...

    def keep_silence(self, silence: SilenceRow, audit: Sequence[AuditEntry]) -> None: ...

    def drop_silence(
        self, organization_id: str, silence_id: str, audit: Sequence[AuditEntry]
    ) -> bool:
        """Returns False where there is no such silence. Devices with open alerts become due."""
        ...

    # --- Read through a scope ---

    def alerts(self, scope: Scope, query: AlertQuery) -> list[AlertEntry]:
        """Returns firing alerts first: unacknowledged, worst, most expensive, oldest. Then resolved
        ones, latest first."""
        ...

    def count_alerts(self, scope: Scope, query: AlertQuery) -> int: ...

    def alert(self, scope: Scope, alert_id: str) -> AlertEntry | None: ...

    def change_alert(self, alert_id: str, change: ChangeAlert) -> AlertRow | None:
        """Reads, changes and saves an alert in one transaction; None where there is none."""
        ...

    def alert_messages(
        self, organization_id: str, *, thread: str | None = None, limit: int = 100
    ) -> list[MessageRow]:
        """Returns messages, newest first."""
        ...

    def alert_message(self, organization_id: str, message_id: str) -> MessageRow | None: ...

    # --- For the evaluator ---

    def mark_alerts(self, keys: Sequence[int]) -> None: ...

    def mark_alert_timers(self, now_ms: int) -> int:
        """Marks the devices of alerts that may have changed by the clock alone as due. Returns the
        number of alerts."""
        ...

    def due_alerts(self, limit: int) -> list[AlertMark]: ...

    def decide_alerts(
        self, organization_id: str, marks: Sequence[AlertMark], since_ms: int, decide: Decide
    ) -> AlertChanges:
        """Takes the marks that haven't changed, passes the alerts that are open or were resolved
        since ``since_ms`` to ``decide``, and saves the result. All in one exclusive transaction."""
        ...

    def metric_values(
        self,
        key: int,
        metric: Metric,
        resolution: Resolution,
        from_ms: int,
        to_ms: int,
        function: Function = "avg",
    ) -> list[tuple[int, float | None]]:
        """Returns (bucket start, mean, minimum or maximum), ascending, for from_ms ≤ start <
        to_ms."""
        ...

    def alert_clock(self) -> dict[str, int]: ...

    def set_alert_clock(self, times: dict[str, int]) -> None: ...

    # --- For the outbox ---

    def queue_message(self, message: MessageRow) -> None: ...

    def claim_messages(self, now_ms: int, until_ms: int, limit: int) -> list[MessageRow]:
        """Claims messages that are due until ``until_ms``: the first of each thread and
        receiver."""
        ...

    def settle_message(self, message: MessageRow) -> None:
        """Saves the result of an attempt."""
        ...

    def first_was_sent(self, message: MessageRow) -> bool:
        """Whether the first message of its thread has reached its receiver."""
        ...
