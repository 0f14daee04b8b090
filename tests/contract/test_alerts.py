"""`/insight/v1/alerts`, rules, receivers and silences: access, effects and errors."""

from __future__ import annotations

from collections.abc import Iterator
from json import dumps
from typing import Any

import pytest

from api.catalog import DAY_MS, HOUR_MS, INSIGHT_PREFIX, KEY_HEADER
from api.client import Client, Credential
from api.errors import BadRequest, Conflict, Forbidden, NotFound
from api.insight.alerts import management
from api.insight.alerts.evaluator import AlertEvaluator
from api.roles import Role
from api.store.base import AuditQuery, Grant
from api.timez import now_ms
from tests import citus
from tests.insight.alerts.decided import a_finding
from tests.insight.alerts.stored import keep_findings
from tests.world import ACME, LONE, TWIN, World, opened

HOOK = {"name": "Orders", "kind": "webhook", "url": "https://hooks.example/hush?key=hush"}


@pytest.fixture(params=citus.FILE_OR_CLUSTER)
def world(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[World]:
    monkeypatch.setattr(management, "TEST_S", 0.0)
    with (
        citus.place(request.param, tmp_path_factory.mktemp("alerts")) as url,
        opened(url) as world,
    ):
        yield world


def client(world: World, role: Role = Role.ADMINISTRATOR, grant: Grant | None = None) -> Client:
    secret, _ = world.new_key(grant or Grant(everything=True), role=role)
    return Client.in_process(world.client.application, Credential.key(secret))


def with_leak(world: World, id: str = TWIN) -> None:
    leak = a_finding(world.devices[id].key, opened=now_ms() - HOUR_MS, cost=12.5)
    keep_findings(world.store, [leak])
    AlertEvaluator(world.store).run()


def test_an_alert_is_fired_acknowledged_unacknowledged_and_resolved(world: World) -> None:
    admin = client(world)
    receiver = admin.create_receiver(HOOK)
    rule = admin.create_rule({"name": "Leaks", "receivers": [receiver.id], "costPerDay": 10})
    with_leak(world)
    (alert,) = admin.alerts(states=["firing"]).alerts
    assert (alert.rule_name, alert.kind, alert.outcome) == ("Leaks", "Leak", "sent")
    operator = client(world, Role.OPERATOR)
    taken = operator.acknowledge_alert(alert.id, "plumber booked")
    assert taken.acknowledged_text == "plumber booked"
    with pytest.raises(Conflict):
        operator.acknowledge_alert(alert.id)
    assert operator.unacknowledge_alert(alert.id).acknowledged_ms is None
    (message,) = admin.alert(alert.id).messages
    assert (message.receiver, message.event, message.state) == ("Orders", "fire", "queued")
    admin.change_rule(rule.id, {"enabled": False})
    AlertEvaluator(world.store).run()
    (over,) = admin.alerts().alerts
    assert (over.state, over.outcome) == ("resolved", "sent and resolved")
    assert admin.alerts(states=["firing"], count_only=True).count == 0


def test_a_secret_is_shown_once_and_never_again(world: World) -> None:
    admin = client(world)
    made = admin.create_receiver(HOOK)
    assert made.secrets["secret"].startswith("whsec_")
    (listed,) = admin.alert_receivers()
    assert (dict(listed.config), dict(listed.secrets)) == ({"shown": "https://hooks.example/…"}, {})
    stored = world.store.alert_receivers()[0].secret
    after = admin.change_receiver(made.id, {"name": "Night"})
    assert (after.name, world.store.alert_receivers()[0].secret) == ("Night", stored)
    assert "hush" not in str(world.store.alert_receivers())
    tested = admin.test_receiver(made.id)
    assert (tested.event, tested.state) == ("test", "queued")


def test_a_receiver_in_use_cannot_be_deleted(world: World) -> None:
    admin = client(world)
    receiver = admin.create_receiver({"name": "Desk", "kind": "email", "to": ["a@b.example"]})
    rule = admin.create_rule({"name": "Leaks", "receivers": [receiver.id]})
    with pytest.raises(Conflict, match="Leaks"):
        admin.delete_receiver(receiver.id)
    admin.delete_rule(rule.id)
    admin.delete_receiver(receiver.id)
    result = world.store.audit(AuditQuery(organization_id=ACME))
    assert [(each.kind, each.action) for each in reversed(result)] == [
        ("receiver", "create"),
        ("rule", "create"),
        ("rule", "delete"),
        ("receiver", "delete"),
    ]
    assert (admin.alert_rules(), admin.alert_receivers()) == ((), ())


def test_every_change_by_a_person_is_in_the_audit_log(world: World) -> None:
    """With principal, time, action, values before and after; without secrets."""
    began, admin = now_ms(), client(world)
    receiver = admin.create_receiver(HOOK)
    admin.change_receiver(receiver.id, {"name": "Night"})
    rule = admin.create_rule({"name": "Leaks", "receivers": [receiver.id]})
    admin.change_rule(rule.id, {"hold": 60})
    admin.change_rule(rule.id, {"hold": 0})
    with_leak(world)
    (alert,) = admin.alerts(states=["firing"]).alerts
    operator = client(world, Role.OPERATOR)
    silence = operator.create_silence(now_ms() + DAY_MS, device=TWIN, reason="works")
    operator.delete_silence(silence.id)
    operator.acknowledge_alert(alert.id, "plumber booked")
    operator.unacknowledge_alert(alert.id)
    entries = list(reversed(admin.audit().entries))
    assert [(each.kind, each.action, each.subject) for each in entries] == [
        ("receiver", "create", receiver.id),
        ("receiver", "change", receiver.id),
        ("rule", "create", rule.id),
        ("rule", "change", rule.id),
        ("rule", "change", rule.id),
        ("silence", "create", silence.id),
        ("silence", "delete", silence.id),
        ("alert", "acknowledge", alert.id),
        ("alert", "unacknowledge", alert.id),
    ]
    assert all(each.author and began <= each.at_ms <= now_ms() for each in entries)
    assert len({each.author for each in entries}) == 2
    assert "hush" not in str(entries)
    assert "whsec" not in str(entries)
    was, now = entries[3].before or {}, entries[3].after or {}
    assert (was["hold"], now["hold"]) == (0, 60)
    taken = entries[7]
    assert (taken.before or {})["acknowledged"] is None
    assert (taken.after or {})["text"] == taken.reason == "plumber booked"
    assert (taken.after or {})["device"] == (entries[8].before or {})["device"] != ""


def test_a_preview_counts_alerts_by_device(world: World) -> None:
    admin = client(world)
    key = world.devices[TWIN].key
    ends = [(5, 4), (3, 2), (1, None)]
    keep_findings(
        world.store,
        [
            a_finding(
                key,
                opened=now_ms() - first * DAY_MS,
                end=None if last is None else now_ms() - last * DAY_MS,
            )
            for first, last in ends
        ],
    )
    result = admin.preview_rule({"kinds": ["continuous-flow"], "hold": 3600})
    assert (result.count, result.open, result.days) == (3, 1, 90)
    assert [(each.device_id, each.count) for each in result.devices] == [(TWIN, 3)]
    assert admin.preview_rule({"kinds": ["burst"]}).count == 0
    assert admin.preview_rule({"devices": [LONE]}).count == 0
    assert admin.preview_rule({"hold": 2 * 86_400}).count == 0
    limited = client(world, Role.VIEWER, Grant(devices=frozenset({LONE})))
    assert limited.preview_rule({}).count == 0


def test_a_preview_of_values_counts_runs_of_them(world: World) -> None:
    admin = client(world)
    fields = {"source": "value", "metric": "flow_rate", "limit": 1e9, "devices": [LONE]}
    assert admin.preview_rule(fields).count == 0
    assert "silence" in admin.preview_rule({"source": "state", "states": ["silent"]}).note


BAD_RULES: list[tuple[dict[str, Any], str]] = [
    ({}, "name"),
    ({"name": "R", "kinds": ["leaks"]}, "kinds"),
    ({"name": "R", "severity": "worst"}, "severity"),
    ({"name": "R", "source": "state"}, "states"),
    ({"name": "R", "source": "value", "limit": 1}, "metric"),
    ({"name": "R", "source": "value", "metric": "flow_rate"}, "limit"),
    ({"name": "R", "hold": -1}, "hold"),
    ({"name": "R", "reminder": 5}, "reminder"),
    ({"name": "R", "devices": ["no such device"]}, "devices"),
    ({"name": "R", "devices": ["a\0b"]}, "devices"),
    ({"name": "R", "receivers": ["none"]}, "receivers"),
    ({"name": "R", "enabled": "yes"}, "enabled"),
    ({"name": "R" * 121}, "name"),
    ({"name": "R", "colour": "red"}, "colour"),
]


def test_an_invalid_rule_is_refused_with_its_field(world: World) -> None:
    key = world.new_key(Grant(everything=True), role=Role.ADMINISTRATOR)[0]
    for text, field in BAD_RULES:
        answer = world.client.post(
            f"{INSIGHT_PREFIX}/rules", data=dumps(text), headers={KEY_HEADER: key}
        )
        assert answer.status_code == 400, text
        assert answer.json is not None
        assert [each["parameter"] for each in answer.json["errors"]] == [field], text
    assert world.store.alert_rules() == []


def test_silences_are_limited_to_the_scope(world: World) -> None:
    until = now_ms() + DAY_MS
    limited = client(world, Role.OPERATOR, Grant(devices=frozenset({LONE})))
    made = limited.create_silence(until, device=LONE, reason="works")
    with pytest.raises(NotFound):
        limited.create_silence(until, device=TWIN)
    with pytest.raises(Forbidden):
        limited.create_silence(until)
    with pytest.raises(BadRequest):
        limited.create_silence(now_ms() - 1, device=LONE)
    other = client(world, Role.OPERATOR, Grant(devices=frozenset({TWIN})))
    assert other.alert_silences() == ()
    with pytest.raises(NotFound):
        other.delete_silence(made.id)
    assert [each.reason for each in limited.alert_silences()] == ["works"]
    limited.delete_silence(made.id)
    assert limited.alert_silences() == ()


def test_rules_need_an_administrator_of_all_devices(world: World) -> None:
    admin = client(world)
    rule = admin.create_rule({"name": "Leaks"})
    some = Grant(devices=frozenset({TWIN}))
    for other, error in (
        (client(world, Role.OPERATOR), Forbidden),
        (client(world, Role.ADMINISTRATOR, some), Forbidden),
    ):
        with pytest.raises(error):
            other.create_rule({"name": "Mine"})
        with pytest.raises(error):
            other.delete_rule(rule.id)
    assert client(world, Role.ADMINISTRATOR, some).alert_rules() == ()
    assert [each.name for each in client(world, Role.VIEWER).alert_rules()] == ["Leaks"]


def test_alerts_are_listed_if_their_device_is_in_scope(world: World) -> None:
    client(world).create_rule({"name": "Leaks"})
    with_leak(world)
    sees = client(world, Role.VIEWER, Grant(devices=frozenset({TWIN})))
    (alert,) = sees.alerts().alerts
    assert alert.outcome == "not sent: no receiver"
    blind = client(world, Role.OPERATOR, Grant(devices=frozenset({LONE})))
    assert blind.alerts().count == 0
    for ask in (blind.alert, blind.acknowledge_alert):
        with pytest.raises(NotFound):
            ask(alert.id)
