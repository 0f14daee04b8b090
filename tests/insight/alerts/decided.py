"""Alert decisions without a store: an organization's messages, pass by pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import orjson

from api.insight.alerts.decision import Decision, DeviceFacts, Facts
from api.insight.alerts.model import Episode
from api.insight.alerts.rules import StoredRule, parse_rule
from api.insight.alerts.state_machine import Quiet
from api.insight.findings import SEVERITIES
from api.store.base import Device, FindingRow
from api.store.base.alerts import AlertBook, AlertRow, SilenceRow
from api.timez import HOUR_MS, MINUTE_MS

NOW = 1_780_000_000_000
MAIL = "mail"


def a_device(key: int) -> Device:
    return Device(
        key=key, id=f"d-{key}", organization_id="acme", serial_number=f"M-{key}",
        network_unique_identifier=f"n-{key}", category="EndDevice", label=f"Meter {key}",
        created_ms=0, updated_ms=0, installed_on_ms=0, installed=True, active=True,
        cost_per_gallon={}, alerts_active=True, k_factor={}, time_zone="UTC", model="",
    )  # fmt: skip


def a_rule(id: str = "r", **fields: Any) -> StoredRule:
    body = {"name": "Rule", "receivers": [MAIL], **fields}
    return StoredRule(id, "acme", parse_rule(body), "key", 0, 0)


def a_finding(
    key: int = 1,
    *,
    kind: str = "continuous-flow",
    opened: int = NOW,
    lasted: int = HOUR_MS,
    end: int | None = None,
    severity: str = "warning",
    cost: float | None = None,
) -> FindingRow:
    """Detected ``lasted`` ms after it began."""
    return FindingRow(
        key, kind, opened, f"{kind}-{key}-{opened}", severity, SEVERITIES.index(severity),
        opened - lasted, end, 54.4, "gal/h", None, None, cost, f"{kind} of {key}.", False, 0.0,
    )  # fmt: skip


@dataclass
class AlertBench:
    """The alerts of one organization. ``messages`` has (event, serial numbers) of each message, in
    order."""

    rules: list[StoredRule]
    devices: int = 1
    groups: dict[str, frozenset[int]] = field(default_factory=dict[str, frozenset[int]])
    receivers: frozenset[str] = frozenset((MAIL,))
    silences: list[SilenceRow] = field(default_factory=list[SilenceRow])
    quiet: Sequence[Quiet] = ()
    units: str = "us"
    messages: list[tuple[str, tuple[str, ...]]] = field(default_factory=list[Any])
    bodies: list[dict[str, Any]] = field(default_factory=list[Any])
    rows: dict[str, AlertRow] = field(default_factory=dict[str, AlertRow])
    _ids: Any = field(default_factory=lambda: count(1))

    def look(self, at: int, *findings: FindingRow, keys: Sequence[int] = ()) -> list[str]:
        """Run a pass; returns the events of its messages."""
        devices = {key: a_device(key) for key in range(1, self.devices + 1)}
        facts = Facts(
            "acme", {rule.id: rule for rule in self.rules}, self.receivers,
            [each for each in self.silences if each.from_ms <= at < each.until_ms],
            self.groups, devices, None, self.units,
        )  # fmt: skip
        chosen = keys or tuple(devices)
        read = {
            key: DeviceFacts(
                devices[key],
                [name for name, members in self.groups.items() if key in members],
                None,
                [each for each in findings if each.key == key],
                self.quiet,
            )
            for key in chosen
        }
        own = [row for row in self.rows.values() if row.device_key in chosen]
        opened = [row for row in self.rows.values() if row.state != "resolved"]
        book = AlertBook(frozenset(chosen), own, opened)
        decision = Decision(facts, read, at, lambda: f"id-{next(self._ids):04}")
        changes = decision.decide(book)
        for id in changes.dropped:
            del self.rows[id]
        self.rows |= {row.id: row for row in changes.alerts}
        for message in changes.messages:
            body = orjson.loads(message.body)
            self.bodies.append(body)
            self.messages.append((message.event, tuple(a["serialNumber"] for a in body["alerts"])))
        return [message.event for message in changes.messages]

    @property
    def alerts(self) -> list[Episode]:
        return [Episode.of(row) for row in self.rows.values()]

    def acknowledge(self, id: str, at: int) -> None:
        self.rows[id] = Episode.of(self.rows[id]).acknowledged(at, "key", "on it").row()


def ended(finding: FindingRow, at: int) -> FindingRow:
    return replace(finding, end_ms=at)


def minutes(number: float) -> int:
    return int(number * MINUTE_MS)
