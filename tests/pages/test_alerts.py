"""The pages of alerts: what forms say, and what lists show."""

from __future__ import annotations

from typing import Any

import pytest

from api.client.alerts import Alert, AlertPage, FiredDevice, Message, RulePreview
from api.insight.alerts.rules import parse_rule
from api.timez import DAY_MS, HOUR_MS
from components.alerts import forms, lists
from components.alerts.rules import preview
from tests.tables import cases

NOW = 1_780_000_000_000


def text_of(nodes: Any) -> str:
    """All words of elements, as a reader sees them."""
    if isinstance(nodes, str):
        return nodes
    if nodes and isinstance(nodes[0], str) and len(nodes) == 3 and isinstance(nodes[1], dict):
        return text_of(nodes[2])
    return " ".join(text_of(each) for each in nodes)


def an_alert(**said: Any) -> Alert:
    whole = {
        "id": "a", "rule_id": "r", "rule_name": "Leaks", "device_id": "d", "serial_number": "M-1",
        "label": "Main", "subject": "burst", "kind": "Burst", "finding_id": "f-1",
        "state": "firing", "severity": "critical", "words": "Much.", "value": 1.0, "unit": "gal/h",
        "cost_per_day": 12.5, "start_ms": NOW - HOUR_MS, "fired_ms": NOW - HOUR_MS,
        "ended_ms": None, "notified_ms": NOW - HOUR_MS, "not_sent": None, "outcome": "sent",
        "unstable": False, "acknowledged_ms": None, "acknowledged_by": "",
        "acknowledged_text": "", **said,
    }  # fmt: skip
    return Alert(**whole)


def shown(*alerts: Alert, may_operate: bool = True) -> str:
    page = AlertPage(len(alerts), alerts)
    return text_of(lists.firing(page, NOW, lambda _: "UTC", may_operate=may_operate))


@cases(
    ("alert", "words", "not_words"),
    [
        ({}, ["Burst · Main", "$12.50 a day", "rule “Leaks”", "Acknowledge"], ["Undo"]),
        ({"outcome": "not sent: no receiver"}, ["not sent: no receiver"], []),
        ({"outcome": "not delivered"}, ["not delivered"], ["sent 19"]),
        (
            {"acknowledged_ms": NOW, "acknowledged_text": "on it"},
            ["✓ acknowledged 20:26: “on it”", "Undo"],
            ["Silence…"],
        ),
    ],
)
def test_what_fires_says_what_and_what_was_sent(
    alert: dict[str, Any], words: list[str], not_words: list[str]
) -> None:
    text = shown(an_alert(**alert))
    assert all(each in text for each in words), text
    assert not any(each in text for each in not_words), text


def test_a_viewer_has_no_buttons_and_nothing_is_said_to_be_nothing() -> None:
    assert "Acknowledge" not in shown(an_alert(), may_operate=False)
    assert "Nothing is firing." in shown()


@pytest.mark.parametrize(
    ("state", "attempts", "words"),
    [
        ("sent", 1, "every message delivered"),
        ("queued", 2, "1 message being retried"),
        ("dead", 7, "1 message not delivered"),
    ],
)
def test_the_summary_tells_of_failed_messages(state: str, attempts: int, words: str) -> None:
    message = Message("m", "ServiceAccess", "fire", state, NOW, attempts, None, "")
    assert words in text_of(lists.summary(AlertPage(0, ()), [message]))


def test_a_form_is_read_as_the_service_takes_it() -> None:
    typed = {
        "name": ["Leaks"], "source": ["finding"], "kinds": ["burst", "continuous-flow"],
        "severity": ["warning"], "costPerDay": ["10"], "metric": ["flow_rate"], "limit": [""],
        "hold": ["3600"], "reminder": ["0"], "devices": ["M-1, M-2,"], "receivers": ["r-1"],
    }  # fmt: skip
    rule = parse_rule(forms.definition(typed))
    assert (rule.kinds, rule.severity, rule.cost_per_day) == (
        ("burst", "continuous-flow"),
        "warning",
        10.0,
    )
    assert (rule.devices, rule.receivers, rule.hold_ms) == (("M-1", "M-2"), ("r-1",), HOUR_MS)


def test_a_receivers_form_says_only_its_own_kinds_fields() -> None:
    typed = {
        "name": ["ServiceAccess"], "kind": ["email"], "email.to": ["a@b.example, c@d.example"],
        "webhook.url": ["https://a.example"],
    }  # fmt: skip
    assert forms.receiver_definition(typed, None) == {
        "name": "ServiceAccess",
        "kind": "email",
        "to": ["a@b.example", "c@d.example"],
    }
    kept = forms.receiver_definition({"name": ["ServiceAccess"], "webhook.url": [""]}, "webhook")
    assert kept == {"name": "ServiceAccess"}


def test_a_preview_names_the_devices_and_what_is_open() -> None:
    device = FiredDevice("d", "Main", 2, ((NOW - 5 * DAY_MS, NOW - 4 * DAY_MS), (NOW, None)))
    text = text_of(preview(RulePreview(90, 2, 1, 59, "", (device,)), NOW))
    assert "Would have fired 2 times in the last 90 days" in text
    assert "on 1 of 59 devices" in text
    assert "1 open now: sent once on saving." in text
    none = text_of(preview(RulePreview(90, 0, 0, 59, "", ()), NOW))
    assert "Would not have fired in the last 90 days" in none
