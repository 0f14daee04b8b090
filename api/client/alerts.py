"""Alerts, rules, receivers and silences as typed values, and the client's methods for them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol
from urllib.parse import quote

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
    text,
    whole,
)
from api.client.requests import Requests
from api.timez import stamp

_ALERTS: Final = f"{INSIGHT_PREFIX}/alerts"
_RULES: Final = f"{INSIGHT_PREFIX}/rules"
_RECEIVERS: Final = f"{INSIGHT_PREFIX}/receivers"
_SILENCES: Final = f"{INSIGHT_PREFIX}/silences"
_MESSAGES: Final = f"{INSIGHT_PREFIX}/messages"


@dataclass(frozen=True, slots=True)
class Message:
    """What was sent to one receiver, or is to be: ``state`` queued, sent, dead or dropped."""

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
    """``state`` is firing or resolved. ``outcome`` says what was sent; ``finding_id`` None where it
    isn't of a finding."""

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
    """``count`` is how many match, before limit and offset."""

    count: int
    alerts: tuple[Alert, ...]


@dataclass(frozen=True, slots=True)
class AlertRule:
    """``definition`` as a request says it; ``words``: what it asks for."""

    id: str
    name: str
    enabled: bool
    words: str
    definition: Mapping[str, Any]
    created_by: str
    updated_ms: int


@dataclass(frozen=True, slots=True)
class FiredDevice:
    """``spans``: (fired, ended or None)."""

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
        """Firing ones first, worst first; then resolved ones, latest first."""
        said: dict[str, str | list[str]] = {"state": sorted(states)} if states else {}
        one = {"device": device, "group": group, "rule": rule, "limit": limit}
        said |= {name: str(value) for name, value in one.items() if value is not None}
        bounds = {"from": from_ms, "to": to_ms}
        said |= {k: stamp(v, fraction=True) for k, v in bounds.items() if v is not None}
        if offset:
            said["offset"] = str(offset)
        if count_only:
            said["count"] = "true"
        body = an_object(self._fetch(_ALERTS, said), "answer")
        return AlertPage(whole(body, "count"), tuple(map(_alert, _data(body))))

    def alert(self, alert_id: str) -> Alert:
        return _alert(self._fetch(_one(_ALERTS, alert_id), {}))

    def acknowledge_alert(self, alert_id: str, text: str = "") -> Alert:
        """Conflict where it is acknowledged already, or resolved."""
        path = f"{_one(_ALERTS, alert_id)}/acknowledge"
        return _alert(self._send("POST", path, {"text": text}))

    def unacknowledge_alert(self, alert_id: str) -> Alert:
        return _alert(self._send("POST", f"{_one(_ALERTS, alert_id)}/unacknowledge", {}))

    def alert_rules(self) -> tuple[AlertRule, ...]:
        return tuple(map(_rule, _data(self._fetch(_RULES, {}))))

    def create_rule(self, definition: Mapping[str, Any]) -> AlertRule:
        return _rule(self._send("POST", _RULES, definition))

    def change_rule(self, rule_id: str, definition: Mapping[str, Any]) -> AlertRule:
        """What isn't given stays."""
        return _rule(self._send("PATCH", _one(_RULES, rule_id), definition))

    def delete_rule(self, rule_id: str) -> None:
        self._send("DELETE", _one(_RULES, rule_id), {})

    def preview_rule(self, definition: Mapping[str, Any]) -> RulePreview:
        """How often it would have fired."""
        return _preview(self._send("POST", f"{_RULES}/preview", definition))

    def alert_receivers(self) -> tuple[AlertReceiver, ...]:
        return tuple(map(_receiver, _data(self._fetch(_RECEIVERS, {}))))

    def create_receiver(self, definition: Mapping[str, Any]) -> AlertReceiver:
        return _receiver(self._send("POST", _RECEIVERS, definition))

    def change_receiver(self, receiver_id: str, definition: Mapping[str, Any]) -> AlertReceiver:
        """What isn't given stays, secrets too."""
        return _receiver(self._send("PATCH", _one(_RECEIVERS, receiver_id), definition))

    def delete_receiver(self, receiver_id: str) -> None:
        """Conflict while a rule notifies it."""
        self._send("DELETE", _one(_RECEIVERS, receiver_id), {})

    def test_receiver(self, receiver_id: str) -> Message:
        return _message(self._send("POST", f"{_one(_RECEIVERS, receiver_id)}/test", {}))

    def alert_silences(self) -> tuple[AlertSilence, ...]:
        return tuple(map(_silence, _data(self._fetch(_SILENCES, {}))))

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
        whom = {"device": device, "group": group, "rule": rule, "kind": kind}
        said = {name: value for name, value in whom.items() if value is not None}
        body = {**said, "until": stamp(until_ms, fraction=True), "reason": reason}
        return _silence(self._send("POST", _SILENCES, body))

    def delete_silence(self, silence_id: str) -> None:
        self._send("DELETE", _one(_SILENCES, silence_id), {})

    def alert_messages(self, limit: int = 100) -> tuple[Message, ...]:
        """Newest first."""
        return tuple(map(_message, _data(self._fetch(_MESSAGES, {"limit": str(limit)}))))


def _one(path: str, id: str) -> str:
    return f"{path}/{quote(id, safe='')}"


def _data(body: Any) -> list[Any]:
    return a_list(an_object(body, "answer").get("data"), "data")


def _message(body: Any) -> Message:
    said = an_object(body, "message")
    receiver = an_object(said.get("receiver"), "receiver")
    return Message(
        id=text(said, "id"),
        receiver=maybe_text(receiver, "name") or "a deleted receiver",
        event=text(said, "event"),
        state=text(said, "state"),
        created_ms=needed_instant(said, "created"),
        attempts=whole(said, "attempts"),
        next_ms=instant(said, "next"),
        response=text(said, "response"),
    )


def _alert(body: Any) -> Alert:
    said = an_object(body, "alert")
    rule, taken = an_object(said.get("rule"), "rule"), maybe_object(said, "acknowledged")
    messages: Any = said.get("messages") or []
    return Alert(
        id=text(said, "id"),
        rule_id=text(rule, "id"),
        rule_name=maybe_text(rule, "name") or "a deleted rule",
        device_id=text(said, "deviceId"),
        serial_number=text(said, "serialNumber"),
        label=text(said, "label"),
        subject=text(said, "subject"),
        kind=text(said, "kind"),
        finding_id=maybe_text(said, "findingId"),
        state=text(said, "state"),
        severity=text(said, "severity"),
        words=text(said, "words"),
        value=number(said, "value"),
        unit=text(said, "unit"),
        cost_per_day=number(said, "costPerDay"),
        start_ms=needed_instant(said, "start"),
        fired_ms=needed_instant(said, "fired"),
        ended_ms=instant(said, "ended"),
        notified_ms=instant(said, "notified"),
        not_sent=maybe_text(said, "notSent"),
        outcome=text(said, "outcome"),
        unstable=said.get("unstable") is True,
        acknowledged_ms=instant(taken, "at"),
        acknowledged_by=maybe_text(taken, "by") or "",
        acknowledged_text=maybe_text(taken, "text") or "",
        messages=tuple(map(_message, a_list(messages, "messages"))),
    )


def _rule(body: Any) -> AlertRule:
    said = an_object(body, "rule")
    own = ("id", "words", "createdBy", "created", "updated")
    return AlertRule(
        id=text(said, "id"),
        name=text(said, "name"),
        enabled=said.get("enabled") is True,
        words=text(said, "words"),
        definition={name: value for name, value in said.items() if name not in own},
        created_by=text(said, "createdBy"),
        updated_ms=needed_instant(said, "updated"),
    )


def _preview(body: Any) -> RulePreview:
    said = an_object(body, "preview")
    return RulePreview(
        days=whole(said, "days"),
        count=whole(said, "count"),
        open=whole(said, "open"),
        covered=whole(said, "covered"),
        note=text(said, "note"),
        devices=tuple(map(_fired, a_list(said.get("devices"), "devices"))),
    )


def _fired(body: Any) -> FiredDevice:
    said = an_object(body, "device")
    spans: list[Json] = [an_object(row, "span") for row in a_list(said.get("spans"), "spans")]
    return FiredDevice(
        device_id=text(said, "deviceId"),
        label=text(said, "label"),
        count=whole(said, "count"),
        spans=tuple((needed_instant(row, "fired"), instant(row, "ended")) for row in spans),
    )


def _receiver(body: Any) -> AlertReceiver:
    said = an_object(body, "receiver")
    secrets = maybe_object(said, "secrets")
    return AlertReceiver(
        id=text(said, "id"),
        name=text(said, "name"),
        kind=text(said, "kind"),
        enabled=said.get("enabled") is True,
        trouble=text(said, "trouble"),
        config=an_object(said.get("config"), "config"),
        secrets={name: str(value) for name, value in secrets.items()},
    )


def _silence(body: Any) -> AlertSilence:
    said = an_object(body, "silence")
    return AlertSilence(
        id=text(said, "id"),
        rule_id=maybe_text(said, "rule"),
        device_id=maybe_text(said, "deviceId"),
        group=maybe_text(said, "group"),
        kind=maybe_text(said, "kind"),
        from_ms=needed_instant(said, "from"),
        until_ms=needed_instant(said, "until"),
        active=said.get("active") is True,
        reason=text(said, "reason"),
        created_by=text(said, "createdBy"),
    )
