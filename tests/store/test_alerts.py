"""Rules, alerts and the outbox, on every database."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from api.store.base import AuditEntry, AuditQuery, Store
from api.store.base.alerts import (
    AlertBook,
    AlertChanges,
    AlertQuery,
    AlertRow,
    MessageRow,
    ReceiverRow,
    RuleRow,
    SilenceRow,
)
from tests.store.fleet import everything, new_meters

_ids = count(1)
RULE = RuleRow("r", "acme", "Leaks", 1, 0, "{}", "key", 1, 1)
RECEIVER = ReceiverRow("m", "acme", "Desk", "email", "{}", "sealed", 1, "", "key", 1, 1)


def alert(device_key: int, **fields: Any) -> AlertRow:
    whole = {
        "id": f"a-{next(_ids)}", "organization_id": "acme", "rule_id": "r",
        "device_key": device_key, "subject": "burst", "state": "firing", "rank": 1,
        "cost_per_day": None, "start_ms": 5, "fired_ms": 10, "resolved_ms": None, "due_ms": None,
        "acknowledged_ms": None, "group_id": None, "data": "{}", **fields,
    }  # fmt: skip
    return AlertRow(**whole)


def message(**fields: Any) -> MessageRow:
    whole = {
        "id": f"m-{next(_ids)}", "organization_id": "acme", "receiver_id": "m", "thread": "t",
        "place": 0, "event": "fire", "state": "queued", "created_ms": 1, "due_ms": 1,
        "attempts": 0, "done_ms": None, "response": "", "body": "{}", **fields,
    }  # fmt: skip
    return MessageRow(**whole)


def noted(at_ms: int) -> list[AuditEntry]:
    return [AuditEntry(at_ms, "acme", "key", "rule", "change", "r")]


def decided(store: Store, *changes: AlertRow | MessageRow) -> None:
    """Stores it as the alert evaluation does."""
    alerts = [each for each in changes if isinstance(each, AlertRow)]
    messages = [each for each in changes if isinstance(each, MessageRow)]
    store.mark_alerts([each.device_key for each in alerts] or [new_meters(store, 1)[0].key])
    store.decide_alerts(
        "acme", store.due_alerts(100), 0, lambda book: AlertChanges(alerts, (), messages)
    )


def test_rules_and_receivers_are_stored_changed_and_deleted(empty_store: Store) -> None:
    store = empty_store
    new_meters(store, 1)
    silence = SilenceRow("s", "acme", None, "d", None, None, 1, 2, "works", "key", 1)
    for keep, row, listed, drop in (
        (store.keep_rule, RULE, store.alert_rules, store.drop_rule),
        (store.keep_receiver, RECEIVER, store.alert_receivers, store.drop_receiver),
    ):
        keep(row, noted(1))  # pyright: ignore[reportArgumentType]
        keep(row._replace(name="Other"), noted(2))  # pyright: ignore[reportArgumentType]
        assert [each.name for each in listed("acme")] == ["Other"]
        assert not drop("others", row.id, noted(3))
        assert drop("acme", row.id, noted(4))
        assert not drop("acme", row.id, noted(5))
        assert listed("acme") == []
    store.keep_silence(silence, noted(6))
    assert store.alert_silences("acme") == [silence]
    assert store.alert_silences("others") == []
    assert not store.drop_silence("others", "s", noted(7))
    assert store.drop_silence("acme", "s", noted(8))
    recorded = [each.at_ms for each in store.audit(AuditQuery("acme"))]
    assert recorded == [8, 6, 4, 4, 2, 2, 1, 1]  # of each change that took place


def test_audit_entries_of_one_millisecond_are_listed_newest_first(empty_store: Store) -> None:
    subjects = [f"{number}" for number in range(20)]
    for subject in subjects:
        empty_store.record([AuditEntry(1, "acme", "k", "rule", "create", subject)])
    listed = [each.subject for each in empty_store.audit(AuditQuery("acme"))]
    assert listed == subjects[::-1]


def test_a_change_that_cannot_be_audited_does_not_happen(empty_store: Store) -> None:
    store = empty_store
    (one,) = new_meters(store, 1)
    row = alert(one.key)
    decided(store, row)
    silence = SilenceRow("s", "acme", None, "d", None, None, 1, 2, "works", "key", 1)
    twice = noted(1) * 2  # the same id
    for change in (
        lambda: store.keep_rule(RULE, twice),
        lambda: store.keep_receiver(RECEIVER, twice),
        lambda: store.keep_silence(silence, twice),
        lambda: store.change_alert(row.id, lambda row: (row._replace(acknowledged_ms=9), twice)),
    ):
        with pytest.raises(Exception, match=r"(?i)unique|duplicate"):
            change()
    assert (store.alert_rules(), store.alert_receivers()) == ([], [])
    assert store.alert_silences("acme") == []
    (stored,) = store.alerts(everything("acme"), AlertQuery())
    assert stored.alert == row


def test_a_mark_set_again_stays_due(empty_store: Store) -> None:
    store = empty_store
    one, other = new_meters(store, 2)
    store.mark_alerts([one.key, other.key])
    marks = store.due_alerts(10)
    store.mark_alerts([other.key])
    seen: list[AlertBook] = []
    changes = AlertChanges([alert(one.key)])
    assert (
        store.decide_alerts("acme", marks, 0, lambda book: seen.append(book) or changes) == changes
    )
    assert seen[0].keys == {one.key}
    assert [each.key for each in store.due_alerts(10)] == [other.key]
    store.decide_alerts("acme", store.due_alerts(10), 0, lambda book: seen.append(book) or changes)
    assert [each.device_key for each in seen[1].open] == [one.key]
    assert seen[1].alerts == []


def test_a_failed_decision_changes_nothing(empty_store: Store) -> None:
    store = empty_store
    (one,) = new_meters(store, 1)
    store.mark_alerts([one.key])
    marks = store.due_alerts(10)

    class Killed(Exception):
        pass

    def decide(book: AlertBook) -> AlertChanges:
        raise Killed

    with pytest.raises(Killed):
        store.decide_alerts("acme", marks, 0, decide)
    assert store.due_alerts(10) == marks
    assert store.count_alerts(everything("acme"), AlertQuery()) == 0


def test_alerts_are_listed_firing_first_and_worst_first(empty_store: Store) -> None:
    store = empty_store
    (one,) = new_meters(store, 1)
    rows = [
        alert(one.key, rank=0),
        alert(one.key, rank=1, cost_per_day=9.0),
        alert(one.key, rank=1, cost_per_day=1.0),
        alert(one.key, rank=0, acknowledged_ms=3),
        alert(one.key, state="resolved", fired_ms=30, resolved_ms=40),
        alert(one.key, state="resolved", fired_ms=20, resolved_ms=50),
    ]
    decided(store, *reversed(rows), alert(one.key, state="pending", fired_ms=None, due_ms=77))
    scope = everything("acme")
    result = store.alerts(scope, AlertQuery())
    assert [each.alert for each in result] == rows
    assert {each.serial_number for each in result} == {one.serial_number}
    assert store.count_alerts(scope, AlertQuery(states=["resolved"], from_ms=25)) == 1
    assert store.alert(scope, rows[0].id) == result[0]
    assert store.alert(everything("others"), rows[0].id) is None
    store.change_alert(
        rows[0].id, lambda row: (row._replace(acknowledged_ms=99, data='{"a": 1}'), ())
    )
    assert store.change_alert("none", lambda row: (row, ())) is None
    again = store.alert(scope, rows[0].id)
    assert again is not None
    assert (again.alert.acknowledged_ms, again.alert.data) == (99, '{"a": 1}')
    assert store.mark_alert_timers(76) == 0
    assert store.mark_alert_timers(77) == 1
    assert [each.key for each in store.due_alerts(10)] == [one.key]


def test_messages_of_a_thread_are_sent_in_order_and_once(empty_store: Store) -> None:
    store = empty_store
    fire, resolve = message(), message(event="resolve", place=9)
    other = message(thread="u", due_ms=50)
    decided(store, fire, resolve, other)
    (claimed,) = store.claim_messages(10, 100, 10)
    assert claimed.id == fire.id
    assert store.claim_messages(10, 100, 10) == []  # until the claim expires
    assert [each.id for each in store.claim_messages(101, 200, 10)] == [other.id, fire.id]
    assert not store.first_was_sent(resolve)
    store.settle_message(claimed._replace(state="sent", attempts=1, done_ms=11, response="200 OK"))
    assert store.first_was_sent(resolve)
    assert [each.id for each in store.claim_messages(102, 200, 10)] == [resolve.id]
    listed = store.alert_messages("acme", thread="t")
    assert [(each.id, each.state) for each in listed] == [
        (resolve.id, "queued"),
        (fire.id, "sent"),
    ]
    store.keep_receiver(RECEIVER, ())
    store.drop_receiver("acme", "m", ())
    result = store.alert_message("acme", resolve.id)
    assert result is not None
    assert result.state == "dropped"
