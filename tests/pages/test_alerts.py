"""The alert pages: reading forms, and the contents of lists."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from api.client.alerts import Alert, AlertPage, FiredDevice, Message, RulePreview
from api.insight.alerts.rules import parse_rule
from api.timez import DAY_MS, HOUR_MS
from components.alerts import forms, lists
from components.alerts.rules import preview
from components.concurrent_queries import ServiceAccess
from tests.tables import cases
from web.downloads.lists import alerts_file

NOW = 1_780_000_000_000


def text_of(nodes: Any) -> str:
    """All texts of the elements, as a reader sees them."""
    if isinstance(nodes, str):
        return nodes
    if nodes and isinstance(nodes[0], str) and len(nodes) == 3 and isinstance(nodes[1], dict):
        return text_of(nodes[2])
    return " ".join(text_of(each) for each in nodes)


def an_alert(**fields: Any) -> Alert:
    whole = {
        "id": "a", "rule_id": "r", "rule_name": "Leaks", "device_id": "d", "serial_number": "M-1",
        "label": "Main", "subject": "burst", "kind": "Burst", "finding_id": "f-1",
        "state": "firing", "severity": "critical", "words": "Much.", "value": 1.0, "unit": "gal/h",
        "cost_per_day": 12.5, "start_ms": NOW - HOUR_MS, "fired_ms": NOW - HOUR_MS,
        "ended_ms": None, "notified_ms": NOW - HOUR_MS, "not_sent": None, "outcome": "sent",
        "unstable": False, "acknowledged_ms": None, "acknowledged_by": "",
        "acknowledged_text": "", **fields,
    }  # fmt: skip
    return Alert(**whole)


def shown(*alerts: Alert, may_operate: bool = True) -> str:
    page = AlertPage(len(alerts), alerts)
    currencies = {"d": "USD", "d-eur": "EUR"}
    listed = lists.firing(
        page, NOW, lambda _: "UTC", currencies.__getitem__, may_operate=may_operate
    )
    return text_of(listed)


@cases(
    ("alert", "words", "not_words"),
    [
        ({}, ["Burst · Main", "$12.50 a day", "rule “Leaks”", "Acknowledge"], ["Undo"]),
        ({"outcome": "not sent: no receiver"}, ["not sent: no receiver"], []),
        ({"outcome": "not delivered"}, ["not delivered"], ["sent 19"]),
        ({"device_id": "d-eur"}, ["€12.50 a day"], ["$"]),
        (
            {"acknowledged_ms": NOW, "acknowledged_text": "on it"},
            ["✓ acknowledged 20:26: “on it”", "Undo"],
            ["Silence…"],
        ),
    ],
)
def test_a_firing_alert_has_its_condition_and_messages(
    alert: dict[str, Any], words: list[str], not_words: list[str]
) -> None:
    text = shown(an_alert(**alert))
    assert all(each in text for each in words), text
    assert not any(each in text for each in not_words), text


def test_a_viewer_has_no_buttons_and_an_empty_list_a_message() -> None:
    assert "Acknowledge" not in shown(an_alert(), may_operate=False)
    assert "Nothing is firing." in shown()


@cases(
    ("units", "unit", "value", "words"),
    [
        ("us", "gal/h", 10.0, "10 gal/h above usual"),
        ("metric", "gal/h", 0.03785411784, "37.9 L/h above usual"),
        ("metric", "%", 10.0, "37.9 L/h above usual"),
    ],
)
def test_a_file_of_alerts_has_the_units_of_the_page(
    units: str, unit: str, value: float, words: str
) -> None:
    alert = an_alert(value=10.0, unit=unit, words="10 gal/h above usual")
    client: Any = SimpleNamespace(alerts=lambda **_: AlertPage(1, (alert,)))
    cache: Any = None
    table = alerts_file(ServiceAccess(client, cache), {"units": units})
    ((row,),) = [zip(*part, strict=True) for part in table.parts]
    cells = dict(zip([column.header for column in table.columns], row, strict=True))
    assert cells["value"] == pytest.approx(value)
    assert cells["unit"] == unit.replace("gal", "m3" if units == "metric" else "gal")
    assert cells["words"] == words


@pytest.mark.parametrize(
    ("state", "attempts", "words"),
    [
        ("sent", 1, "every message delivered"),
        ("queued", 2, "1 message being retried"),
        ("dead", 7, "1 message not delivered"),
    ],
)
def test_the_summary_lists_failed_messages(state: str, attempts: int, words: str) -> None:
    message = Message("m", "ServiceAccess", "fire", state, NOW, attempts, None, "")
    assert words in text_of(lists.summary(AlertPage(0, ()), [message]))


def test_a_form_gives_the_request_body() -> None:
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


def test_a_receivers_form_sends_only_fields_of_its_kind() -> None:
    typed = {
        "name": ["ServiceAccess"], "kind": ["email"], "email.to": ["a@b.example, c@d.example"],
        "webhook.url": ["https://a.example"],
    }  # fmt: skip
    assert forms.receiver_definition(typed, None) == {
        "name": "ServiceAccess",
        "kind": "email",
        "to": ["a@b.example", "c@d.example"],
    }
    body = forms.receiver_definition({"name": ["ServiceAccess"], "webhook.url": [""]}, "webhook")
    assert body == {"name": "ServiceAccess"}


def test_a_preview_names_the_devices_and_what_is_open() -> None:
    device = FiredDevice("d", "Main", 2, ((NOW - 5 * DAY_MS, NOW - 4 * DAY_MS), (NOW, None)))
    text = text_of(preview(RulePreview(90, 2, 1, 59, "", (device,)), NOW))
    assert "Would have fired 2 times in the last 90 days" in text
    assert "on 1 of 59 devices" in text
    assert "1 open now: sent once on saving." in text
    none = text_of(preview(RulePreview(90, 0, 0, 59, "", ()), NOW))
    assert "Would not have fired in the last 90 days" in none
