"""Readings by a real broker: each is stored once, and each refused message has its reason."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest
from paho.mqtt import publish

from api.catalog import METRICS
from api.ingest.mqtt import Consumer
from api.ingest.mqtt.messages import MAX_BYTES, MAX_READINGS
from api.ingest.writer import Writer
from api.store.base import ROWS_A_COMMIT, NewDevice, Span
from api.timez import now_ms, stamp
from tests.ingest.mqtt.conftest import Site, eventually
from tests.servers import Mosquitto, free_port
from tests.store.fleet import NOON_MS, everything
from tests.store.test_writing import rows_of

UP = "weir/v1/acme/N-1/up"
NOON = "2026-03-08T12:00:00Z"


def body(**fields: Any) -> bytes:
    return json.dumps({"recordedAt": NOON, "flowRate": 1.5, **fields}).encode()


def test_readings_may_be_objects_or_arrays_with_either_field_name(site: Site) -> None:
    array = [
        {"recorded_at": "2026-03-08T12:01:00Z", "flow_rate": 2},
        {"recordedAt": "2026-03-08T12:02:00+00:00", "quality": 90, "flowRate": None},
    ]
    with site.listening():
        site.send((UP, body(flowAmount=3)), ("weir/v1/acme/N-2/up", json.dumps(array).encode()))
        eventually(lambda: len(site.rows(1)) + len(site.rows(2)) == 3)
    [row] = site.rows(1)
    names = [metric.field for metric in METRICS]
    assert row[0] == NOON_MS
    assert dict(zip(names, row[1:], strict=True)) == dict.fromkeys(names) | {
        "flowRate": 1.5, "flowAmount": 3.0,
    }  # fmt: skip
    assert [row[0] - NOON_MS for row in site.rows(2)] == [60_000, 120_000]
    assert site.reasons() == {}


def test_a_repeat_changes_nothing_and_another_row_of_the_instant_is_stored(site: Site) -> None:
    with site.listening() as consumer:
        site.send((UP, body()), (UP, body()), (UP, body(flowRate=2)))
        eventually(lambda: consumer.intake.counts["messages"] == 3)
    assert [row[1] for row in site.rows(1)] == [1.5, 2.0]


@pytest.mark.parametrize(
    ("topic", "payload", "reason"),
    [
        (UP, b"{", "not a JSON object"),
        (UP, b"", "not a JSON object"),
        (UP, b"\xff\xfe", "not a JSON object"),
        (UP, b"7", "not a JSON object"),
        (UP, b'[{"recordedAt": null}]', "no measured field"),
        (UP, body(flowRate="fast"), "flow_rate has the wrong type"),
        (UP, body(flowRate=True), "flow_rate has the wrong type"),
        (UP, b'{"recordedAt": "2026-03-08T12:00:00Z", "flowRate": NaN}',
         "flow_rate is not a finite number"),
        (UP, body(recordedAt="yesterday"), "no valid timestamp"),
        (UP, body(recordedAt="1999-12-31T23:59:59Z"), "before 2000-01-01"),
        (UP, body(recordedAt="2199-01-01T00:00:00Z"), "more than 24 h in the future"),
        (UP, body(device="N-2"), "device doesn't match the topic"),
        ("weir/v1/acme/N-9/up", body(), "unknown device"),
        ("weir/v1/globex/N-1/up", body(), "unknown device"),  # another organization's
        ("weir/v1/nobody/N-1/up", body(), "unknown organization"),
        (UP, b'{"a": "' + b"x" * MAX_BYTES + b'"}', "message too big"),
        (UP, b"[" + b"{}," * MAX_READINGS + b"{}]", "more than 10,000 readings in a message"),
        (UP, b"[" * 100_000, "not a JSON object"),
    ],
    ids=lambda value: str(value)[:40],
)  # fmt: skip
def test_a_refused_message_is_recorded_with_its_reason_and_acknowledged(
    site: Site, topic: str, payload: bytes, reason: str
) -> None:
    site.store.create_organization("Globex", organization_id="globex")  # without a device yet
    with site.listening():
        site.send((topic, payload), (UP, body()))
        eventually(lambda: site.rows(1))
        eventually(site.reasons)
    assert site.reasons() == {reason: 1}
    owner = "" if reason == "unknown organization" else topic.split("/")[2]
    assert {refusal.organization_id for refusal in site.store.refusals()} == {owner}
    with site.listening() as again:  # the broker's queue is empty
        site.send((UP, body(flowRate=9)))
        eventually(lambda: len(site.rows(1)) == 2)
        assert again.intake.counts["messages"] == 1


def test_made_up_organizations_share_one_place_in_the_table_of_refusals(site: Site) -> None:
    with site.listening():
        site.send(*((f"weir/v1/org{n}/N-1/up", body()) for n in range(5)))
        eventually(lambda: site.reasons() == {"unknown organization": 5})
    assert {refusal.organization_id for refusal in site.store.refusals()} == {""}


def test_a_device_added_meanwhile_is_recognized_at_once(site: Site) -> None:
    with site.listening():
        site.send((UP, body()))  # from now on the devices are cached
        eventually(lambda: site.rows(1))
        site.store.import_devices("acme", [NewDevice("S-3")])
        [added] = site.store.resolve(everything("acme"), ["S-3"])
        assert added is not None
        site.send(("weir/v1/acme/S-3/up", body()), ("weir/v1/acme/S-4/up", body()))
        eventually(lambda: site.reasons() == {"unknown device": 1})
        eventually(lambda: len(rows_of(site.store, added)) == 1)


def test_a_reading_without_a_timestamp_has_its_receipt_time_and_its_device_is_listed(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    before = now_ms()
    with caplog.at_level(logging.WARNING), site.listening() as consumer:
        site.send((UP, b'{"flowRate": 1}'), (UP, b'{"flowRate": 2, "recordedAt": null}'))
        eventually(lambda: len(site.rows(1)) == 2)
        assert consumer.intake.counts["dateless"] == 2
    instants = [row[0] for row in site.rows(1)]
    assert all(before <= instant <= now_ms() for instant in instants)
    assert site.store.undated(site.devices[0], Span()) == instants
    texts = [r.message for r in caplog.records if "recordedAt" in r.message]
    assert texts == ["acme/N-1 sends no recordedAt: its readings get the time they are received"]


def test_equal_readings_without_a_timestamp_are_each_an_event(site: Site) -> None:
    with site.listening():
        pass
    count = 300  # pulses of a meter without a clock, while Weir was away
    site.send(*((UP, b'{"flowAmount": 1}') for _ in range(count)))
    site.send(("weir/v1/acme/N-2/up", b'[{"flowAmount": 2}, {"flowAmount": 2}, {"flowAmount": 2}]'))
    with site.listening() as consumer:
        eventually(lambda: consumer.intake.counts["readings"] == count + 3)
        eventually(lambda: len(site.rows(2)) == 3)
        eventually(lambda: len(site.rows(1)) == count)
    assert {row[3] for row in site.rows(1)} == {1.0}


@pytest.mark.parametrize(("lost", "times"), [(False, 0), (True, 1)])
def test_a_lost_journal_is_reported(
    site: Site, caplog: pytest.LogCaptureFixture, lost: bool, times: int
) -> None:
    with site.listening():
        pass
    if lost:
        for notes in (site.folder / "instance").glob("mqtt_*.received"):
            notes.unlink()
    for _ in range(2):  # reported once: from now on there is a journal
        with site.listening():
            pass
    assert (
        sum(
            "record of when messages of this session were received is lost" in m
            for m in caplog.messages
        )
        == times
    )


def test_a_retained_message_is_not_a_new_reading_at_each_start(site: Site) -> None:
    with site.listening():
        publish.single(UP, b'{"flowRate": 1}', 1, True, "127.0.0.1", site.broker.port)
        eventually(lambda: len(site.rows(1)) == 1)
    with site.listening():
        site.send(("weir/v1/acme/N-2/up", body()))
        eventually(lambda: site.rows(2))
    assert len(site.rows(1)) == 1


def test_messages_wait_at_the_broker_while_weir_is_away(site: Site) -> None:
    with site.listening():
        pass
    count = 3_000  # three times a broker's default queue
    minutes = ({"recordedAt": NOON_MS + n * 60_000, "flowRate": n} for n in range(count))
    site.send(*((UP, _stamped(reading)) for reading in minutes))
    with site.listening():
        eventually(lambda: len(site.rows(1)) == count)
    assert site.store.verify().wrong == 0


def test_a_missing_broker_is_reported_once_and_retried(
    site: Site, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    late = Mosquitto(tmp_path / "late")
    writer = Writer(site.store)
    settings = site.settings(WEIR_MQTT_URL=late.url)
    consumer = Consumer(settings, writer)
    with caplog.at_level(logging.WARNING):
        consumer.start()
        eventually(lambda: consumer.problem == "can't be reached")
        late.start()
        eventually(lambda: not consumer.problem)
    consumer.stop()
    writer.close()
    late.stop()
    texts = [r.message for r in caplog.records if "readings from the broker" in r.message]
    assert texts == [
        f"readings from the broker at 127.0.0.1:{late.port}: can't be reached; retrying",
        f"readings from the broker at 127.0.0.1:{late.port}: connected",
    ]


def test_it_stops_while_the_broker_is_away(site: Site) -> None:
    writer = Writer(site.store)
    consumer = Consumer(site.settings(WEIR_MQTT_URL=f"mqtt://127.0.0.1:{free_port()}"), writer)
    consumer.start()
    consumer.stop()
    writer.close()


def test_a_submission_that_cannot_be_stored_loses_its_own_message_only(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    add = site.store.add

    def moody(rows: Any, **more: Any) -> Any:
        if any(row[2] == 666 for row in rows):
            raise ValueError("no")
        return add(rows, **more)

    monkeypatch.setattr(site.store, "add", moody)
    with site.listening():
        site.send((UP, body()), (UP, body(flowRate=666)), (UP, body(flowRate=3)))
        eventually(lambda: site.reasons() == {"can't be stored: ValueError": 1})
        eventually(lambda: [row[1] for row in site.rows(1)] == [1.5, 3.0])


def test_large_messages_are_stored_in_several_commits(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    with site.listening():
        pass
    rows = 2_000
    for n in range(12):
        readings = [{"recordedAt": NOON_MS + (n * rows + r) * 1_000} for r in range(rows)]
        payload = [{"recordedAt": stamp(r["recordedAt"]), "flowRate": 1} for r in readings]
        site.send((UP, json.dumps(payload).encode()))
    add, sizes = site.store.add, list[int]()

    def counted(rows: Any, **more: Any) -> Any:
        sizes.append(len(rows))
        return add(rows, **more)

    monkeypatch.setattr(site.store, "add", counted)
    with site.listening():
        eventually(lambda: sum(sizes) == 12 * rows and len(site.rows(1)) == 12 * rows)
    assert max(sizes) < ROWS_A_COMMIT + rows


def test_an_internal_error_neither_ends_the_feed_nor_loses_a_message(
    site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    keys, troubles = site.store.ingest_keys, 2

    def moody(organization_id: str) -> Any:
        nonlocal troubles
        troubles -= 1
        if troubles >= 0:
            raise RuntimeError("of nobody's making")
        return keys(organization_id)

    monkeypatch.setattr(site.store, "ingest_keys", moody)
    with site.listening():
        site.send((UP, body()))
        eventually(lambda: site.rows(1))
    texts = [r.message for r in caplog.records if r.levelno >= logging.ERROR]
    assert texts == ["messages can't be received, retrying"]


def test_rows_stored_beside_an_unstorable_one_count_once(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    site.store.create_organization("Globex", organization_id="globex")
    site.store.import_devices("globex", [NewDevice("G-1")])
    with site.listening():
        pass
    site.send((UP, b'{"flowRate": 1}'), ("weir/v1/globex/G-1/up", body(flowRate=666)))
    add = site.store.add

    def moody(rows: Any, **more: Any) -> Any:
        if any(row[2] == 666 for row in rows):
            raise ValueError("no")
        return add(rows, **more)

    monkeypatch.setattr(site.store, "add", moody)
    with site.listening():
        eventually(lambda: site.reasons() == {"can't be stored: ValueError": 1})
    assert [row[1] for row in site.rows(1)] == [1.0]


def _stamped(reading: dict[str, Any]) -> bytes:
    return json.dumps(reading | {"recordedAt": stamp(reading["recordedAt"])}).encode()
