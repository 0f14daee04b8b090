"""Alerts, rules, receivers and silences as typed values, and the client's methods for them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from api.catalog import INSIGHT_PREFIX
from api.client.fields import (
    Json,
    a_list,
    an_object,
    instant,
    maybe_object,
    maybe_text,
    needed_instant,
    number,
    path_of,
    rows_of,
    span_params,
    text,
    whole,
)
from api.client.request_protocol import Requests
from api.timez import stamp

_ALERTS: Final = f"{INSIGHT_PREFIX}/alerts"
_RULES: Final = f"{INSIGHT_PREFIX}/rules"
_RECEIVERS: Final = f"{INSIGHT_PREFIX}/receivers"
_SILENCES: Final = f"{INSIGHT_PREFIX}/silences"
_MESSAGES: Final = f"{INSIGHT_PREFIX}/messages"


@dataclass(frozen=True, slots=True)
class Message:
    """A message to one receiver. ``state``: queued, sent, dead or dropped."""

    id: str
    receiver: str
    event: str
    state: str
    created_ms: int
    attempts: int
    next_ms: int | None
    response: str


@dataclass(frozen=True, slots=True)
class Alert:
    """``state`` is firing or resolved. ``outcome`` says what was sent. ``finding_id`` is None for
    an alert without a finding."""

    id: str
    rule_id: str
    rule_name: str
    device_id: str
    serial_number: str
    label: str
    subject: str
    kind: str
    finding_id: str | None
    state: str
    severity: str
    words: str
    value: float | None
    unit: str
    cost_per_day: float | None
    start_ms: int
    fired_ms: int
    ended_ms: int | None
    notified_ms: int | None
    not_sent: str | None
    outcome: str
    unstable: bool
    acknowledged_ms: int | None
    acknowledged_by: str
    acknowledged_text: str
    messages: tuple[Message, ...] = ()


@dataclass(frozen=True, slots=True)
class AlertPage:
    """``count`` is the number of matches, ignoring limit and offset."""

    count: int
    alerts: tuple[Alert, ...]


@dataclass(frozen=True, slots=True)
class AlertRule:
    """``definition`` as in a request; ``words`` describes the condition."""

    id: str
    name: str
    enabled: bool
    words: str
    definition: Mapping[str, Any]
    created_by: str
    updated_ms: int


@dataclass(frozen=True, slots=True)
class FiredDevice:
    """``spans``: (fired, ended, or None while open)."""

    device_id: str
    label: str
    count: int
    spans: tuple[tuple[int, int | None], ...]


@dataclass(frozen=True, slots=True)
class RulePreview:
    days: int
    count: int
    open: int
    covered: int
    note: str
    devices: tuple[FiredDevice, ...]


@dataclass(frozen=True, slots=True)
class AlertReceiver:
    """``config`` without secrets; ``trouble``: why it can't send. ``secrets``: shown once."""

    id: str
    name: str
    kind: str
    enabled: bool
    trouble: str
    config: Mapping[str, Any]
    secrets: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class AlertSilence:
    id: str
    rule_id: str | None
    device_id: str | None
    group: str | None
    kind: str | None
    from_ms: int
    until_ms: int
    active: bool
    reason: str
    created_by: str


class AlertMethods(Requests, Protocol):
    """The part of `Client` for alerts."""

    def alerts(
        self,
        *,
        device: str | None = None,
        group: str | None = None,
        rule: str | None = None,
        states: Collection[str] = (),
        from_ms: int | None = None,
        to_ms: int | None = None,
        limit: int | None = None,
        offset: int = 0,
        count_only: bool = False,
    ) -> AlertPage:
        """Returns firing alerts first, worst first; then resolved ones, latest first."""
        params: dict[str, str | list[str]] = {"state": sorted(states)} if states else {}
        one = {"device": device, "group": group, "rule": rule, "limit": limit}
        params |= {name: str(value) for name, value in one.items() if value is not None}
        params |= span_params(from_ms, to_ms)
        if offset:
            params["offset"] = str(offset)
        if count_only:
            params["count"] = "true"
        body = an_object(self._fetch(_ALERTS, params), "answer")
        return AlertPage(whole(body, "count"), tuple(map(_alert, rows_of(body))))

    def alert(self, alert_id: str) -> Alert:
        return _alert(self._fetch(path_of(_ALERTS, alert_id), {}))

    def acknowledge_alert(self, alert_id: str, text: str = "") -> Alert:
        """Raises Conflict where the alert is already acknowledged or resolved."""
        path = f"{path_of(_ALERTS, alert_id)}/acknowledge"
        return _alert(self._send("POST", path, {"text": text}))

    def unacknowledge_alert(self, alert_id: str) -> Alert:
        return _alert(self._send("POST", f"{path_of(_ALERTS, alert_id)}/unacknowledge", {}))

    def alert_rules(self) -> tuple[AlertRule, ...]:
        return tuple(map(_rule, rows_of(self._fetch(_RULES, {}))))

    def create_rule(self, definition: Mapping[str, Any]) -> AlertRule:
        return _rule(self._send("POST", _RULES, definition))

    def change_rule(self, rule_id: str, definition: Mapping[str, Any]) -> AlertRule:
        """Changes a rule. Fields that aren't given stay."""
        return _rule(self._send("PATCH", path_of(_RULES, rule_id), definition))

    def delete_rule(self, rule_id: str) -> None:
        self._send("DELETE", path_of(_RULES, rule_id), {})

    def preview_rule(self, definition: Mapping[str, Any]) -> RulePreview:
        """Returns how often the rule would have fired."""
        return _preview(self._send("POST", f"{_RULES}/preview", definition))

    def alert_receivers(self) -> tuple[AlertReceiver, ...]:
        return tuple(map(_receiver, rows_of(self._fetch(_RECEIVERS, {}))))

    def create_receiver(self, definition: Mapping[str, Any]) -> AlertReceiver:
        return _receiver(self._send("POST", _RECEIVERS, definition))

    def change_receiver(self, receiver_id: str, definition: Mapping[str, Any]) -> AlertReceiver:
        """Changes a receiver. Fields that aren't given stay, secrets included."""
        return _receiver(self._send("PATCH", path_of(_RECEIVERS, receiver_id), definition))

    def delete_receiver(self, receiver_id: str) -> None:
        """Raises Conflict while a rule notifies it."""
        self._send("DELETE", path_of(_RECEIVERS, receiver_id), {})

    def test_receiver(self, receiver_id: str) -> Message:
        return _message(self._send("POST", f"{path_of(_RECEIVERS, receiver_id)}/test", {}))

    def alert_silences(self) -> tuple[AlertSilence, ...]:
        return tuple(map(_silence, rows_of(self._fetch(_SILENCES, {}))))

    def create_silence(
        self,
        until_ms: int,
        *,
        device: str | None = None,
        group: str | None = None,
        rule: str | None = None,
        kind: str | None = None,
        reason: str = "",
    ) -> AlertSilence:
        filters = {"device": device, "group": group, "rule": rule, "kind": kind}
        target = {name: value for name, value in filters.items() if value is not None}
        body = {**target, "until": stamp(until_ms, fraction=True), "reason": reason}
        return _silence(self._send("POST", _SILENCES, body))

    def delete_silence(self, silence_id: str) -> None:
        self._send("DELETE", path_of(_SILENCES, silence_id), {})

    def alert_messages(self, limit: int = 100) -> tuple[Message, ...]:
        """Returns messages, newest first."""
        return tuple(map(_message, rows_of(self._fetch(_MESSAGES, {"limit": str(limit)}))))


def _message(body: Any) -> Message:
    fields = an_object(body, "message")
    receiver = an_object(fields.get("receiver"), "receiver")
    return Message(
        id=text(fields, "id"),
        receiver=maybe_text(receiver, "name") or "a deleted receiver",
        event=text(fields, "event"),
        state=text(fields, "state"),
        created_ms=needed_instant(fields, "created"),
        attempts=whole(fields, "attempts"),
        next_ms=instant(fields, "next"),
        response=text(fields, "response"),
    )


def _alert(body: Any) -> Alert:
    fields = an_object(body, "alert")
    rule, taken = an_object(fields.get("rule"), "rule"), maybe_object(fields, "acknowledged")
    messages: Any = fields.get("messages") or []
    return Alert(
        id=text(fields, "id"),
        rule_id=text(rule, "id"),
        rule_name=maybe_text(rule, "name") or "a deleted rule",
        device_id=text(fields, "deviceId"),
        serial_number=text(fields, "serialNumber"),
        label=text(fields, "label"),
        subject=text(fields, "subject"),
        kind=text(fields, "kind"),
        finding_id=maybe_text(fields, "findingId"),
        state=text(fields, "state"),
        severity=text(fields, "severity"),
        words=text(fields, "words"),
        value=number(fields, "value"),
        unit=text(fields, "unit"),
        cost_per_day=number(fields, "costPerDay"),
        start_ms=needed_instant(fields, "start"),
        fired_ms=needed_instant(fields, "fired"),
        ended_ms=instant(fields, "ended"),
        notified_ms=instant(fields, "notified"),
        not_sent=maybe_text(fields, "notSent"),
        outcome=text(fields, "outcome"),
        unstable=fields.get("unstable") is True,
        acknowledged_ms=instant(taken, "at"),
        acknowledged_by=maybe_text(taken, "by") or "",
        acknowledged_text=maybe_text(taken, "text") or "",
        messages=tuple(map(_message, a_list(messages, "messages"))),
    )


def _rule(body: Any) -> AlertRule:
    fields = an_object(body, "rule")
    own = ("id", "words", "createdBy", "created", "updated")
    return AlertRule(
        id=text(fields, "id"),
        name=text(fields, "name"),
        enabled=fields.get("enabled") is True,
        words=text(fields, "words"),
        definition={name: value for name, value in fields.items() if name not in own},
        created_by=text(fields, "createdBy"),
        updated_ms=needed_instant(fields, "updated"),
    )


def _preview(body: Any) -> RulePreview:
    fields = an_object(body, "preview")
    return RulePreview(
        days=whole(fields, "days"),
        count=whole(fields, "count"),
        open=whole(fields, "open"),
        covered=whole(fields, "covered"),
        note=text(fields, "note"),
        devices=tuple(map(_fired, a_list(fields.get("devices"), "devices"))),
    )


def _fired(body: Any) -> FiredDevice:
    fields = an_object(body, "device")
    spans: list[Json] = [an_object(row, "span") for row in a_list(fields.get("spans"), "spans")]
    return FiredDevice(
        device_id=text(fields, "deviceId"),
        label=text(fields, "label"),
        count=whole(fields, "count"),
        spans=tuple((needed_instant(row, "fired"), instant(row, "ended")) for row in spans),
    )


def _receiver(body: Any) -> AlertReceiver:
    fields = an_object(body, "receiver")
    secrets = maybe_object(fields, "secrets")
    return AlertReceiver(
        id=text(fields, "id"),
        name=text(fields, "name"),
        kind=text(fields, "kind"),
        enabled=fields.get("enabled") is True,
        trouble=text(fields, "trouble"),
        config=an_object(fields.get("config"), "config"),
        secrets={name: str(value) for name, value in secrets.items()},
    )


def _silence(body: Any) -> AlertSilence:
    fields = an_object(body, "silence")
    return AlertSilence(
        id=text(fields, "id"),
        rule_id=maybe_text(fields, "rule"),
        device_id=maybe_text(fields, "deviceId"),
        group=maybe_text(fields, "group"),
        kind=maybe_text(fields, "kind"),
        from_ms=needed_instant(fields, "from"),
        until_ms=needed_instant(fields, "until"),
        active=fields.get("active") is True,
        reason=text(fields, "reason"),
        created_by=text(fields, "createdBy"),
    )
