"""Deleting readings and devices: what is made of them follows in the same transaction."""

from __future__ import annotations

from typing import Any

import pytest

from api.catalog import COARSEST_STORED, HOUR_MS, MINUTE_MS, RAW, STORED
from api.errors import UserError
from api.insight.finding_evaluator import Evaluator
from api.insight.status_projection import Projection
from api.metering.status import State
from api.store.base import AuditEntry, AuditQuery, Grant, Key, NewDevice, Span, Store
from tests.store.fleet import NOON_MS, device, new_meters, reading, steady
from tests.store.recomputed import assert_same_rows, distinct, rolled


def told(subject: str) -> list[AuditEntry]:
    return [AuditEntry(1, "acme", "key_1", "readings", "delete", subject, reason="why")]


def test_readings_go_with_their_share_of_every_rollup(store: Store) -> None:
    one, other = new_meters(store, 2)
    rows = steady(one, 400)
    store.write(rows + steady(other, 400))
    from_ms, to_ms = NOON_MS + 61 * MINUTE_MS + 1, NOON_MS + 200 * MINUTE_MS
    assert store.delete_readings(one, from_ms, to_ms, told(one.id)) == 138
    left = distinct([row for row in rows if not from_ms <= row[1] < to_ms])
    for resolution in (RAW, *STORED):
        found = store.rows(one, resolution, Span(), limit=1000)
        assert_same_rows(found, rolled(left, resolution))
    assert store.count(one, RAW, Span()) == len(left)
    assert store.count(other, RAW, Span()) == 400
    assert store.verify().wrong == 0
    assert store.due_of([one.key])[0].from_ms <= from_ms
    assert store.write(rows).stored == 138  # they may come again
    assert [entry.subject for entry in store.audit(AuditQuery(text=one.id))] == [one.id]


def test_status_and_findings_follow_when_everything_goes(store: Store) -> None:
    (meter,) = new_meters(store, 1)
    hours = [reading(meter, NOON_MS + n * HOUR_MS, flow_amount=5.0) for n in range(100)]
    store.write(hours)
    at_ms = NOON_MS + 100 * HOUR_MS
    projection, evaluator = Projection(store), Evaluator(store)
    projection.rebuild([meter.key], at_ms)
    evaluator.up_to_date("acme", meter.key)
    assert store.findings_of(meter.key, 0)
    store.delete_readings(meter, NOON_MS, at_ms, [])
    projection.after_readings(at_ms)
    evaluator.up_to_date("acme", meter.key)
    assert store.findings_of(meter.key, 0) == []
    assert store.status_rows([meter.key])[meter.key].state == State.NO_DATA
    assert store.bounds(meter, COARSEST_STORED, Span()) is None


def test_of_pruned_hours_whole_ones_go_and_no_part(empty_store: Store) -> None:
    store, (meter,) = empty_store, new_meters(empty_store, 1)
    store.write(steady(meter, 300) + steady(meter, 3, start_ms=NOON_MS + 48 * HOUR_MS))
    store.prune(NOON_MS + 24 * HOUR_MS)
    for low, high in ((1, HOUR_MS), (0, HOUR_MS - 1), (HOUR_MS + 1, 48 * HOUR_MS)):
        with pytest.raises(UserError, match="whole hours"):
            store.delete_readings(meter, NOON_MS + low, NOON_MS + high, told("x"))
    store.delete_readings(meter, NOON_MS + HOUR_MS, NOON_MS + 3 * HOUR_MS, [])
    hours = [row[0] for row in store.rows(meter, COARSEST_STORED, Span(), limit=10)]
    assert hours == [NOON_MS + n * HOUR_MS for n in (0, 3, 4, 48)]
    store.delete_readings(meter, NOON_MS, NOON_MS + 48 * HOUR_MS + MINUTE_MS, [])
    assert store.count(meter, RAW, Span()) == 2
    assert len(store.rows(meter, STORED[0], Span(), limit=10)) == 2
    assert store.verify().wrong == 0
    assert store.count_audit(AuditQuery()) == 0


def test_a_device_goes_with_all_that_is_known_of_it(store: Any) -> None:
    one, other = new_meters(store, 2)
    store.write(steady(one, 90) + steady(other, 90))
    key = Key("key_x", "acme", "x", b"x" * 32, Grant(devices=frozenset({one.id, other.id})), 1)
    store.create_key(key)
    assert store.delete_device(other, told(other.id)) == 90
    assert store.devices_by_key([other.key]) == []
    found = store.named_key("key_x")
    assert found is not None
    assert found.grant.devices == {one.id}
    assert store.count(one, RAW, Span()) == 90
    # What was on its way when it was deleted never becomes another device's.
    store.write(steady(other, 3))
    (fresh,) = new_meters(store, 1)
    assert fresh.key > other.key
    assert store.count(fresh, RAW, Span()) == 0


def test_an_inactive_device_comes_back_unless_another_took_its_place(store: Store) -> None:
    (meter,) = new_meters(store, 1)
    serial = meter.serial_number
    store.set_device_active(meter, False, told(meter.id))
    assert not device(store, "acme", meter.id).active
    store.set_device_active(meter, True, [])
    assert device(store, "acme", serial).active
    store.set_device_active(meter, False, [])
    store.import_devices("acme", [NewDevice(serial, {"id": meter.id[:-4] + "beef"})])
    with pytest.raises(UserError, match="active device"):
        store.set_device_active(meter, True, told("not done"))
    assert store.count_audit(AuditQuery(text="not done")) == 0
