"""Stored readings are published once to subscribers, and storing never waits for that."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson
import paho.mqtt.client as paho
import pytest
from paho.mqtt.enums import CallbackAPIVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from werkzeug import test as wsgi

from api.auth import key_digest
from api.ingest.announcer import Stored
from api.ingest.mqtt import Publisher
from api.ingest.mqtt.publisher import IN_FLIGHT, message_of
from api.ingest.submission import Submission
from api.ingest.writer import Writer
from api.server import create_service
from api.store.base import Grant, Key
from api.timez import now_ms
from tests.ingest.mqtt.conftest import PATIENCE_S, Site, eventually
from tests.servers import Mosquitto, free_port
from tests.store.fleet import NOON_MS, reading
from tests.world import SETTINGS

ROOT = Path(__file__).resolve().parents[3]


@contextmanager
def hearing(broker: Mosquitto, topic: str = "weir/v1/+/+/datapoint") -> Iterator[list[Any]]:
    """(topic, payload) of the messages received meanwhile."""
    messages: list[Any] = []
    ready = threading.Event()
    ear = paho.Client(CallbackAPIVersion.VERSION2, protocol=paho.MQTTv5)
    ear.on_message = lambda c, u, m: messages.append((m.topic, m.payload))
    ear.on_subscribe = lambda *_: ready.set()
    ear.on_connect = lambda c, *_: c.subscribe(topic, qos=1)
    ear.connect("127.0.0.1", broker.port)
    ear.loop_start()
    assert ready.wait(PATIENCE_S)
    yield messages
    ear.disconnect()
    ear.loop_stop()


def submitted(site: Site, writer: Writer, *rows: Any) -> None:
    writer.submit(Submission("acme", "test", rows)).result(PATIENCE_S)


def stored_rows(count: int, *, start: int = 0) -> list[Stored]:
    row = (1, NOON_MS, 1.0, *[None] * 6)
    return [Stored("acme", f"d{n}", row) for n in range(start, start + count)]  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(("allowed", "most"), [(None, IN_FLIGHT), (20, 20), (65_535, IN_FLIGHT)])
def test_unacknowledged_messages_stay_within_the_brokers_limit(
    site: Site, allowed: int | None, most: int
) -> None:
    out = Publisher(site.settings())
    result = Properties(PacketTypes.CONNACK)
    if allowed is not None:
        result.ReceiveMaximum = allowed
    granted = ReasonCode(PacketTypes.CONNACK, "Success")
    out._connected(out._client, None, paho.ConnectFlags(False), granted, result)
    out(stored_rows(3 * IN_FLIGHT))
    while out._may_go_on():
        out._next()
    assert out._in_flight == most


def test_each_new_reading_is_published_as_the_interface_returns_it(site: Site) -> None:
    one = reading(site.devices[0], now_ms() - 60_000, flow_rate=1.5, quality=90)
    with hearing(site.broker) as messages, site.telling() as out:
        writer = Writer(site.store, [out])
        submitted(site, writer, one, one)
        submitted(site, writer, one)  # a repeat isn't new
        writer.close()
        eventually(lambda: out.published and messages)
    [(topic, payload)] = messages
    assert topic == f"weir/v1/acme/{site.devices[0].id}/datapoint"
    key = "5f6a1f0e-3c1f-4c0e-9a39-5a2f5e0f7d11"
    site.store.create_key(Key("key_x", "acme", "x", key_digest(key), Grant(everything=True), 0))
    service = wsgi.Client(create_service(site.store, SETTINGS))
    answer = service.get(
        f"/management/v1/flow/latest?ids={site.devices[0].id}&metrics=lastDatapoint",
        headers={"service-api-key": key},
    )
    assert orjson.loads(answer.data)["data"][0]["lastDatapoint"] == orjson.loads(payload)


def test_a_missing_broker_blocks_nothing_and_loses_the_oldest(
    site: Site, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    late = Mosquitto(tmp_path / "late")
    out = Publisher(site.settings(WEIR_MQTT_URL=late.url), most_waiting=100)
    out.start()
    for start in range(0, 300, 50):
        out(stored_rows(50, start=start))
    assert out.dropped == 200
    late.start()
    with hearing(late) as messages:
        eventually(lambda: len(messages) == 100)
    out.stop()
    late.stop()
    assert [topic.split("/")[3] for topic, _ in messages] == [f"d{n}" for n in range(200, 300)]
    texts = [record.message for record in caplog.records]
    assert "the broker is slow or unreachable: the oldest readings are not published" in texts
    assert "200 stored readings were never published" in texts


def test_a_full_queue_keeps_the_newest(site: Site) -> None:
    out = Publisher(site.settings(), most_waiting=10)
    out(stored_rows(25))
    assert (out.dropped, out._waiting[0].device_id) == (15, "d15")


def test_a_restarted_broker_gets_the_rest(site: Site) -> None:
    with site.telling() as out:
        site.broker.stop()
        eventually(lambda: out.problem)
        out(stored_rows(500))
        site.broker.start()
        eventually(lambda: out.published == 500)
    assert out.dropped == 0


def test_it_stops_while_the_broker_is_away(site: Site) -> None:
    out = Publisher(site.settings(WEIR_MQTT_URL=f"mqtt://127.0.0.1:{free_port()}"))
    out.start()
    out(stored_rows(5))
    out.stop()


def test_the_readers_example_of_the_documentation_runs(site: Site, tmp_path: Path) -> None:
    text = (ROOT / "docs" / "realtime.md").read_text("utf-8")
    [example] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    program = tmp_path / "reader.py"
    program.write_text(example)
    environ = os.environ | {
        "ORGANIZATION": "acme",
        "MQTT_USER": "acme-portal",
        "MQTT_PASSWORD": "x",
        "MQTT_PORT": str(site.broker.port),
    }
    process = subprocess.Popen(
        [sys.executable, str(program)], env=environ, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        with site.telling() as out:
            stop = threading.Event()

            def go_on() -> None:
                while not stop.wait(0.1):  # it takes a moment to subscribe
                    out(stored_rows(1))

            speaking = threading.Thread(target=go_on)
            speaking.start()
            line = process.stdout.readline()
            stop.set()
            speaking.join()
    finally:
        process.kill()
        process.wait(10)
        process.stdout.close()
    assert line == "d0 2026-03-08T12:00:00.000Z 1.0\n"


def test_the_documented_payload_is_right(site: Site) -> None:
    text = (ROOT / "docs" / "realtime.md").read_text("utf-8")
    shown = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", text, re.DOTALL)]
    row = reading(site.devices[0], NOON_MS, flow_rate=1.5, flow_amount=3.25, quality=90.0)
    _, payload = message_of(Stored("acme", "d", row))
    assert list(shown[1].items()) == list(orjson.loads(payload).items())
