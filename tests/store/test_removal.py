"""Deleting readings and devices: their derived rows follow in the same transaction."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from api.catalog import COARSEST_STORED, HOUR_MS, MINUTE_MS, RAW, STORED
from api.errors import UserError
from api.insight.finding_evaluator import Evaluator
from api.insight.status_projection import Projection
from api.metering.status import State
from api.store import removal
from api.store.base import AuditEntry, AuditQuery, Grant, Key, NewDevice, Span, Store
from tests.store.fleet import NOON_MS, device, everything, new_meters, reading, steady
from tests.store.recomputed import assert_same_rows, distinct, rolled

ROOT = Path(__file__).parents[2]


def audit_details(subject: str) -> list[AuditEntry]:
    return [AuditEntry(1, "acme", "key_1", "readings", "delete", subject, reason="why")]


def test_deleted_readings_leave_every_rollup(store: Store) -> None:
    one, other = new_meters(store, 2)
    rows = steady(one, 400)
    store.write(rows + steady(other, 400))
    from_ms, to_ms = NOON_MS + 61 * MINUTE_MS + 1, NOON_MS + 200 * MINUTE_MS
    assert store.delete_readings(one, from_ms, to_ms, audit_details(one.id)) == 138
    left = distinct([row for row in rows if not from_ms <= row[1] < to_ms])
    for resolution in (RAW, *STORED):
        result = store.rows(one, resolution, Span(), limit=1000)
        assert_same_rows(result, rolled(left, resolution))
    assert store.count(one, RAW, Span()) == len(left)
    assert store.count(other, RAW, Span()) == 400
    assert store.verify().wrong == 0
    assert store.due_of([one.key])[0].from_ms <= from_ms
    assert store.write(rows).stored == 138  # they may be sent again
    assert [entry.subject for entry in store.audit(AuditQuery(text=one.id))] == [one.id]


def test_status_and_findings_follow_a_complete_deletion(store: Store) -> None:
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


def test_pruned_hours_are_deleted_only_as_a_whole(empty_store: Store) -> None:
    store, (meter,) = empty_store, new_meters(empty_store, 1)
    store.write(steady(meter, 300) + steady(meter, 3, start_ms=NOON_MS + 48 * HOUR_MS))
    store.prune(NOON_MS + 24 * HOUR_MS)
    for low, high in ((1, HOUR_MS), (0, HOUR_MS - 1), (HOUR_MS + 1, 48 * HOUR_MS)):
        with pytest.raises(UserError, match="whole hours"):
            store.delete_readings(meter, NOON_MS + low, NOON_MS + high, audit_details("x"))
    store.delete_readings(meter, NOON_MS + HOUR_MS, NOON_MS + 3 * HOUR_MS, [])
    hours = [row[0] for row in store.rows(meter, COARSEST_STORED, Span(), limit=10)]
    assert hours == [NOON_MS + n * HOUR_MS for n in (0, 3, 4, 48)]
    store.delete_readings(meter, NOON_MS, NOON_MS + 48 * HOUR_MS + MINUTE_MS, [])
    assert store.count(meter, RAW, Span()) == 2
    assert len(store.rows(meter, STORED[0], Span(), limit=10)) == 2
    assert store.verify().wrong == 0
    assert store.count_audit(AuditQuery()) == 0


def test_deleting_a_device_deletes_all_its_rows(store: Any) -> None:
    one, other = new_meters(store, 2)
    store.write(steady(one, 90) + steady(other, 90))
    key = Key("key_x", "acme", "x", b"x" * 32, Grant(devices=frozenset({one.id, other.id})), 1)
    store.create_key(key)
    assert store.delete_device(other, audit_details(other.id)) == 90
    assert store.devices_by_key([other.key]) == []
    result = store.named_key("key_x")
    assert result is not None
    assert result.grant.devices == {one.id}
    assert store.count(one, RAW, Span()) == 90
    # Rows on their way when it was deleted never become another device's.
    store.write(steady(other, 3))
    (fresh,) = new_meters(store, 1)
    assert fresh.key > other.key
    assert store.count(fresh, RAW, Span()) == 0


def test_an_inactive_device_is_reactivated_unless_it_was_replaced(store: Store) -> None:
    (meter,) = new_meters(store, 1)
    serial = meter.serial_number
    store.set_device_active(meter, False, audit_details(meter.id))
    assert not device(store, "acme", meter.id).active
    store.set_device_active(meter, True, [])
    assert device(store, "acme", serial).active
    store.set_device_active(meter, False, [])
    store.import_devices("acme", [NewDevice(serial, {"id": meter.id[:-4] + "beef"})])
    with pytest.raises(UserError, match="active device"):
        store.set_device_active(meter, True, audit_details("not done"))
    assert store.count_audit(AuditQuery(text="not done")) == 0


WRITES_ON = """
import sys
from api.store.open import open_store
from tests.store.fleet import steady

url, keys = sys.argv[1], [int(key) for key in sys.argv[2:]]
store, batches = open_store(url), [steady(key, 1000) for key in keys]
for start in range(0, 1000, 20):
    if start == 600:
        sys.stdin.readline()
    stored = sum(store.write(rows[start : start + 20]).stored for rows in batches)
    print(start, flush=True)
"""


@pytest.mark.slow
def test_a_device_is_deleted_while_another_process_writes(
    empty_store: Store, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removal, "PART", 300)
    monkeypatch.setattr(removal, "PAUSE_S", 0.0)
    store, (gone, other) = empty_store, new_meters(empty_store, 2)
    command = [sys.executable, "-c", WRITES_ON, store_url, str(gone.key), str(other.key)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        for _ in range(12):
            child.stdout.readline()
        removed = store.delete_device(gone, audit_details(gone.id))
        assert 240 <= removed <= 600
        assert store.resolve(everything("acme"), [gone.id]) == [None]
        assert store.count(other, RAW, Span()) >= 240
        child.stdin.write("go on\n")  # so that there are rows after the deletion for certain
        child.stdin.flush()
        assert child.wait(60) == 0
    late = store.count(gone, RAW, Span())
    Projection(store).all_due()
    assert late > 0
    for resolution in (RAW, *STORED):
        assert store.count(gone, resolution, Span()) == 0
        derived = store.rows(other, resolution, Span(), limit=3000)
        assert_same_rows(derived, rolled(distinct(steady(other, 1000)), resolution))
    assert store.verify().wrong == 0


def test_an_interrupted_deletion_is_finished(
    empty_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removal, "PART", 100)
    store, (meter,) = empty_store, new_meters(empty_store, 1)
    store.write(steady(meter, 500))
    with monkeypatch.context() as stopped:
        stopped.setattr(removal.RemovalPart, "forget_device", lambda *_: None)
        assert store.delete_device(meter, audit_details(meter.id)) == 500
    assert store.resolve(everything("acme"), [meter.id]) == [None]
    Projection(store).all_due()
    assert [store.count(meter, each, Span()) for each in (RAW, *STORED)] == [0] * (1 + len(STORED))
    assert store.due_of([meter.key]) == []
