"""Meters speak to Weir itself: who may, what is acknowledged when, and who can't disturb whom."""

from __future__ import annotations

import re
import socket
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import paho.mqtt.client as paho
import pytest
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from api.auth.key_management import change_key
from api.ingest.live_suspicion import TOO_LARGE
from api.ingest.mqtt.listener import listener as listener_module
from api.ingest.mqtt.listener.sessions import Sessions, read_sessions
from api.ingest.writer import Writer
from api.store.base import Grant, NewDevice
from api.timez import now_ms
from benchmarks.publishing import publish_packet
from tests.ingest.mqtt.conftest import eventually
from tests.ingest.mqtt.listener.conftest import (
    ACCEPTED,
    RESUMED,
    Ground,
    body,
    connected,
    line,
    up,
)
from tests.ingest.mqtt.listener.test_packets import connect, field

ROOT = Path(__file__).resolve().parents[4]
REPEATED = 0x08


class Meter:
    """paho, as a meter of another make would use it. ``outcomes``: of Connects and Publishes."""

    def __init__(
        self,
        port: int,
        key: str,
        version: MQTTProtocolVersion,
        *,
        tls: dict[str, str] | None = None,
    ) -> None:
        self.outcomes: list[str] = []
        self.client = paho.Client(CallbackAPIVersion.VERSION2, "paho", protocol=version)
        if key:
            self.client.username_pw_set("meter", key)
        if tls:
            self.client.tls_set(tls["ca_certs"], tls.get("certfile"), tls.get("keyfile"))
        self.client.on_connect = self._connected
        self.client.on_publish = lambda *them: self.outcomes.append(str(them[3]))
        self.client.connect("127.0.0.1", port)
        self.client.loop_start()

    def _connected(self, _: Any, __: Any, flags: Any, reason: Any, ___: Any) -> None:
        self.outcomes.append(f"{reason}, {'resumed' if flags.session_present else 'new'}")

    def publish(self, topic: str, payload: bytes, qos: int = 1) -> None:
        self.client.publish(topic, payload, qos).wait_for_publish(20)

    def leave(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()


@pytest.mark.parametrize("version", [paho.MQTTv311, paho.MQTTv5])
def test_a_meter_of_another_make_is_acknowledged_once_its_reading_is_stored(
    ground: Ground, version: MQTTProtocolVersion
) -> None:
    with ground.listening() as listener:
        meter = Meter(listener.port, ground.key, version)
        meter.publish(up(), body(1))
        assert [row[1] for row in ground.rows()] == [1.0]
        meter.publish(up(2), body(2), qos=0)
        eventually(lambda: ground.rows(2))
        meter.publish("weir/v1/globex/N-1/up", body(3))
        meter.client.subscribe("weir/#")
        meter.leave()
        eventually(lambda: listener.clients == 0)
    refused = "Not authorized" if version == paho.MQTTv5 else "Success"
    assert meter.outcomes == ["Success, new", "Success", "Success", refused]
    assert ground.reasons() == {"topic that the key may not publish to": 1}


def test_a_flow_beyond_the_meters_size_is_stored_and_reported(ground: Ground) -> None:
    sized = {"networkUniqueIdentifier": "N-1", "config": {"meterSize": "DN 15"}}
    ground.store.import_devices("acme", [NewDevice("S-1", sized)])
    with ground.listening() as listener:
        meter = Meter(listener.port, ground.key, paho.MQTTv311)
        meter.publish(up(), body(20.5))
        assert [row[1] for row in ground.rows()] == [20.5]
        eventually(lambda: ground.store.suspicions("acme"))
        meter.leave()
    [report] = ground.store.suspicions("acme")
    assert (report.device, report.reason) == ("S-1", TOO_LARGE)
    assert report.sample == "20.5 gal/min; at most 20.0 gal/min for its size"


def test_the_example_of_the_documentation_sends_a_reading(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "docs/mqtt-listener.md").read_text()
    [script] = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    with ground.listening() as listener:
        for name, value in {
            "ORGANIZATION": "acme",
            "METER": "N-1",
            "KEY": ground.key,
            "MQTT_PORT": str(listener.port),
        }.items():
            monkeypatch.setenv(name, value)
        exec(compile(script, "example", "exec"), {})
        assert len(ground.rows()) == 1


def test_nothing_is_acknowledged_before_it_is_committed(ground: Ground) -> None:
    add, may, begun = ground.store.add, Event(), Event()

    def slowly(*them: Any, **more: Any) -> Any:
        begun.set()
        assert may.wait(20)
        return add(*them, **more)

    ground.store.add = slowly  # pyright: ignore[reportAttributeAccessIssue]
    with ground.listening() as listener, connected(listener, ground.key) as meter:
        meter.send(publish_packet(up(), body(), 7) + b"\xc0\0")
        assert meter.receive(2) == b"\xd0\0"  # the ping behind it is answered meanwhile
        assert begun.wait(20)
        meter.socket.settimeout(0.1)
        with pytest.raises(TimeoutError):
            meter.receive(1)
        may.set()
        meter.socket.settimeout(20)
        assert meter.receive(4) == b"\x40\x02\0\x07"


WHO = {
    "no password": ("", b"\x20\x02\0\x04"),
    "another key": ("4b1c2f6e-0000-4000-8000-000000000000", b"\x20\x02\0\x04"),
    "no key at all": ("\xe4" * 20, b"\x20\x02\0\x04"),
    "the key's id": ("key_0123456789abcdef0123", b"\x20\x02\0\x05"),
}


@pytest.mark.parametrize(("password", "answer"), WHO.values(), ids=WHO)
def test_who_has_no_ingest_key_is_sent_away(ground: Ground, password: str, answer: bytes) -> None:
    with ground.listening() as listener:
        with connected(listener, password) as stranger:
            assert stranger.answer == answer
            assert stranger.is_closed()
        with connected(listener, ground.new_key(ingest=False)["key"]) as reader:
            assert reader.answer == b"\x20\x02\0\x05"
        with connected(listener, ground.key) as meter:
            assert meter.answer == ACCEPTED


@pytest.mark.parametrize(
    ("data", "answer"),
    [
        (b"GET / HTTP/1.1\r\n\r\n", b""),
        (publish_packet(up(), body(), 1), b""),
        (connect(3, protocol="MQIsdp"), b"\x20\x02\0\x01"),
        (connect(flags=0, client_id=""), b"\x20\x02\0\x02"),
        (connect(5, properties=b"\x03\x15\0\0"), b"\x20\x03\0\x8c\0"),
        (connect(5, client_id="x" * 300), b"\x20\x03\0\x85\0"),
    ],
)
def test_what_is_no_connect_ends_with_the_answer_of_its_version(
    ground: Ground, data: bytes, answer: bytes
) -> None:
    with ground.listening() as listener, line(listener) as stranger:
        stranger.send(data)
        assert stranger.receive(100) == answer


def test_a_client_of_5_learns_what_it_may_do(ground: Ground) -> None:
    with ground.listening() as listener, line(listener) as meter:
        session = b"\x05\x11\xff\xff\xff\xff"
        credentials = field("u") + field(ground.key)
        meter.send(connect(5, 0xC2, client_id="", properties=session, rest=credentials))
        head = meter.receive(5)
        assert (head[0], head[2:4]) == (0x20, b"\0\0")
        properties = meter.receive(head[1] - 3)
        for wanted in (b"\x21\x0f\xa0", b"\x24\x01", b"\x27\0\x10", b"\x28\0", b"\x11\0\x27\x8d\0"):
            assert wanted in properties
        assert b"\x12\0\x15weir-" in properties
        assert b"\x13" not in properties  # 60 seconds of keep-alive are fine
        meter.send(publish_packet(up(), b"\0" + body(), 3))
        assert meter.receive(4) == b"\x40\x02\0\x03"
        meter.send(bytes((0x34, 5)) + field("t") + b"\0\1")  # QoS 2
        assert meter.receive(3) == b"\xe0\x01\x9b"


def test_a_key_for_some_devices_knows_no_others(ground: Ground) -> None:
    key = ground.new_key(devices=frozenset({ground.devices[0].id}))["key"]
    with ground.listening() as listener, connected(listener, key) as meter:
        assert meter.publish(1, body(1)) == b"\x40\x02\0\x01"
        assert meter.publish(2, body(2), meter=2) == b"\x40\x02\0\x02"
        assert len(ground.rows()) == 1
        assert ground.rows(2) == []
    assert ground.reasons() == {"unknown device": 1}


def test_a_revoked_keys_clients_are_disconnected(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener_module, "RECHECK_S", 0.0)
    monkeypatch.setattr(listener_module, "TICK_S", 0.05)
    monkeypatch.setattr("api.auth.authenticator.CREDENTIAL_CACHE_S", 0.0)
    other = ground.new_key()
    with ground.listening() as listener, ExitStack() as stack:
        leaving = stack.enter_context(connected(listener, other["key"]))
        staying = stack.enter_context(connected(listener, ground.key, "m2"))
        ground.store.revoke_key(other["keyId"], now_ms())
        assert leaving.is_closed()
        assert staying.publish(1, body()) == b"\x40\x02\0\x01"
    assert other["keyId"] in ground.store.key_uses()


def test_a_key_that_loses_a_device_can_no_longer_send_for_it(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener_module, "RECHECK_S", 0.0)
    monkeypatch.setattr(listener_module, "TICK_S", 0.05)
    monkeypatch.setattr("api.auth.authenticator.CREDENTIAL_CACHE_S", 0.0)
    made = ground.new_key()
    with ground.listening() as listener, connected(listener, made["key"]) as meter:
        assert meter.publish(1, body(1), meter=2) == b"\x40\x02\0\x01"
        before = ground.store.named_key(made["keyId"])
        assert before is not None
        narrow = Grant(devices=frozenset({ground.devices[0].id}))
        change_key(ground.store, before, replace(before, grant=narrow), by="test")

        def refused() -> bool:
            meter.publish(2, body(2), meter=2)
            return "unknown device" in ground.reasons()

        eventually(refused)
        assert meter.publish(3, body(3)) == b"\x40\x02\0\x03"
        assert len(ground.rows()) == 1


# --- Sessions ------------------------------------------------------------------------------------


def test_a_session_outlives_the_connection_and_weir_and_names_what_was_repeated(
    ground: Ground,
) -> None:
    """Without a time of its own a reading is recognized by its packet identifier alone."""
    with ground.listening() as listener, connected(listener, ground.key, clean=False) as meter:
        assert meter.answer == ACCEPTED
        assert meter.publish(9, b'{"flowRate": 1}') == b"\x40\x02\0\x09"
    with ground.listening() as listener:
        with connected(listener, ground.key, clean=False) as meter:
            assert meter.answer == RESUMED
            meter.publish(9, b'{"flowRate": 1}', flags=REPEATED)  # the acknowledgement was lost
            meter.publish(10, b'{"flowRate": 1}')
        with connected(listener, ground.new_key()["key"], clean=False) as other:
            assert other.answer == ACCEPTED  # the same client id, but another's key
        with connected(listener, ground.key, clean=True) as meter:
            assert meter.answer == ACCEPTED
        with connected(listener, ground.key, clean=False) as meter:
            assert meter.answer == ACCEPTED  # the earlier one was deleted
            meter.publish(9, b'{"flowRate": 1}', flags=REPEATED)  # of a session that is no more
    assert [row[1] for row in ground.rows()] == [1.0, 1.0, 1.0]


def test_a_client_that_comes_again_takes_its_place(ground: Ground) -> None:
    with ground.listening() as listener, ExitStack() as stack:
        first = stack.enter_context(connected(listener, ground.key, clean=False))
        second = stack.enter_context(connected(listener, ground.key, clean=False))
        assert (first.answer, second.answer) == (ACCEPTED, RESUMED)
        assert first.is_closed()
        assert second.publish(1, body()) == b"\x40\x02\0\x01"
        assert listener.clients == 1
        [session] = read_sessions(ground.folder / "instance")
        assert (session.client_id, session.connected) == ("m1", True)


def test_sessions_end_in_time_and_make_room_for_newer_ones(tmp_path: Path) -> None:
    clock = [1_000_000]
    sessions = Sessions(tmp_path, lambda: clock[0], most=2)

    def began(name: str, lasts_s: int = 60) -> tuple[int, bool]:
        return sessions.begin("key_1", name, lasts_s, "10.0.0.1", clean=False)

    number, resumed = began("a")
    assert not resumed
    sessions.end(number, 60)
    clock[0] += 59_000
    assert began("a") == (number, True)
    clock[0] += 100_000  # connected all the time
    assert began("a") == (number, True)
    sessions.end(number, 60)
    clock[0] += 61_000
    assert began("a")[1] is False
    for name in ("b", "c"):
        sessions.end(began(name)[0], 60)
        clock[0] += 1
    assert [s.client_id for s in read_sessions(tmp_path)] == ["a", "c"]  # a is connected
    sessions.end(began("a")[0], 0)
    assert [s.client_id for s in read_sessions(tmp_path)] == ["c"]
    sessions.close()
    assert read_sessions(tmp_path / "elsewhere") == []


# --- The listener itself ----------------------------------------------------------------


def test_a_listener_that_fails_is_restarted(
    ground: Ground, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(listener_module, "TICK_S", 0.05)
    with ground.listening() as listener, connected(listener, ground.key) as before:
        drop = listener._drop_partial  # pyright: ignore[reportPrivateUsage]
        failures = iter([1])

        def failing() -> None:
            for _ in failures:
                raise RuntimeError("of this test")
            drop()

        monkeypatch.setattr(listener, "_drop_partial", failing)
        assert before.is_closed()
        eventually(lambda: not listener.problem)
        with connected(listener, ground.key) as meter:
            assert meter.publish(1, body()) == b"\x40\x02\0\x01"
    assert "is restarted" in caplog.text


def test_a_taken_address_is_a_problem_until_it_is_free(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener_module, "TICK_S", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        where = f"127.0.0.1:{taken.getsockname()[1]}"
        writer = Writer(ground.store)
        from api.ingest.mqtt.listener import Listener
        from api.settings import Settings

        environ = {"WEIR_MQTT_LISTEN": where, "WEIR_INSTANCE": str(ground.folder / "instance")}
        listener = Listener(Settings.from_env(environ), ground.store, writer)
        listener.start()
        eventually(lambda: "Address already in use" in listener.problem)
    eventually(lambda: not listener.problem)
    with connected(listener, ground.key) as meter:
        assert meter.publish(1, body()) == b"\x40\x02\0\x01"
        listener.stop()
        assert meter.is_closed()
    writer.close()
