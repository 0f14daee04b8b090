"""Rules, receivers, alerts and the outbox, as every store promises them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, Protocol

from api.catalog import Function, Metric, Resolution
from api.store.base.audit import AuditEntry
from api.store.base.directory import Device, Scope

AlertState = Literal["pending", "firing", "resolved"]
ALERT_STATES: Final[tuple[AlertState, ...]] = ("firing", "resolved")  # that the interface shows


class RuleRow(NamedTuple):
    """``definition`` is JSON (`api.insight.alerts.rules`). ``live``: it needs a look at each
    reading of its devices, not only where a finding changes."""

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
    """``config`` is JSON, ``secret`` sealed text or "". ``trouble``: why it was switched off."""

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
    """One episode of a rule on a device. ``due_ms``: when time alone may change it. ``data`` is
    JSON (`api.insight.alerts.model`)."""

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
    """Whose alerts aren't sent from ``from_ms`` until ``until_ms``; None for any."""

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
    """One message to one receiver. ``id`` stays through all attempts; ``thread`` is shared by a
    fire and what follows it, in the order of ``place``."""

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
    """Empty collections ask for all but pending ones. ``from_ms``, ``to_ms`` (inclusive): alerts
    that fired between them."""

    device: Device | None = None
    group: str | None = None
    rule_id: str | None = None
    states: Collection[str] = ()
    from_ms: int | None = None
    to_ms: int | None = None
    limit: int = 100
    offset: int = 0


class AlertMark(NamedTuple):
    """A device whose alerts are due; ``mark`` changes with every reason for it."""

    key: int
    mark: int


class AlertChanges(NamedTuple):
    """Alerts to keep, ids of alerts to delete, messages to queue."""

    alerts: Sequence[AlertRow] = ()
    dropped: Sequence[str] = ()
    messages: Sequence[MessageRow] = ()


class AlertBook(NamedTuple):
    """What a decision stands on, read in its own transaction: the devices that are due and nobody
    else took, their alerts, and all open ones of their organization."""

    keys: frozenset[int]
    alerts: Sequence[AlertRow]
    open: Sequence[AlertRow]


Decide = Callable[[AlertBook], AlertChanges]
# The alert as it is → as it will be, and what the audit log says of it.
ChangeAlert = Callable[[AlertRow], tuple[AlertRow, Sequence[AuditEntry]]]


class Alerts(Protocol):
    """What people do is recorded in the audit log, in the same transaction."""

    # --- What people set ---

    def alert_rules(self, organization_id: str | None = None) -> list[RuleRow]:
        """By name; of all organizations for None."""
        ...

    def keep_rule(self, rule: RuleRow, audit: Sequence[AuditEntry]) -> None:
        """New, or in place of the one of that id. The organization's devices are due."""
        ...

    def drop_rule(self, organization_id: str, rule_id: str, audit: Sequence[AuditEntry]) -> bool:
        """False where there is none. Devices with open alerts of it are due."""
        ...

    def alert_receivers(self, organization_id: str | None = None) -> list[ReceiverRow]: ...

    def keep_receiver(self, receiver: ReceiverRow, audit: Sequence[AuditEntry]) -> None: ...

    def drop_receiver(
        self, organization_id: str, receiver_id: str, audit: Sequence[AuditEntry]
    ) -> bool:
        """With the messages that wait for it."""
        ...

    def alert_silences(self, organization_id: str) -> list[SilenceRow]:
        """Latest end first."""
        ...

    def keep_silence(self, silence: SilenceRow, audit: Sequence[AuditEntry]) -> None: ...

    def drop_silence(
        self, organization_id: str, silence_id: str, audit: Sequence[AuditEntry]
    ) -> bool:
        """Devices with open alerts are due."""
        ...

    # --- Read through a scope ---

    def alerts(self, scope: Scope, query: AlertQuery) -> list[AlertEntry]:
        """Firing ones first: unacknowledged, worst, most expensive, oldest. Then those resolved,
        latest first."""
        ...

    def count_alerts(self, scope: Scope, query: AlertQuery) -> int: ...

    def alert(self, scope: Scope, alert_id: str) -> AlertEntry | None: ...

    def change_alert(self, alert_id: str, change: ChangeAlert) -> AlertRow | None:
        """Read, changed and kept in one transaction; None where there is none."""
        ...

    def alert_messages(
        self, organization_id: str, *, thread: str | None = None, limit: int = 100
    ) -> list[MessageRow]:
        """Newest first."""
        ...

    def alert_message(self, organization_id: str, message_id: str) -> MessageRow | None: ...

    # --- For the engine ---

    def mark_alerts(self, keys: Sequence[int]) -> None: ...

    def mark_alert_timers(self, now_ms: int) -> int:
        """The devices of alerts that time may have changed become due; how many alerts."""
        ...

    def due_alerts(self, limit: int) -> list[AlertMark]: ...

    def decide_alerts(
        self, organization_id: str, marks: Sequence[AlertMark], since_ms: int, decide: Decide
    ) -> AlertChanges:
        """In one transaction, alone: take the marks that are still the same, decide on alerts that
        are open or were resolved since then, keep."""
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
        """(start of a bucket, mean, least or greatest), ascending, from_ms ≤ start < to_ms."""
        ...

    def alert_clock(self) -> dict[str, int]: ...

    def set_alert_clock(self, times: dict[str, int]) -> None: ...

    # --- For the outbox ---

    def queue_message(self, message: MessageRow) -> None: ...

    def claim_messages(self, now_ms: int, until_ms: int, limit: int) -> list[MessageRow]:
        """Messages whose turn it is, to oneself until then: of a thread and receiver the first."""
        ...

    def settle_message(self, message: MessageRow) -> None:
        """Keep what became of an attempt."""
        ...

    def first_was_sent(self, message: MessageRow) -> bool:
        """Whether the first message of its thread reached its receiver."""
        ...
