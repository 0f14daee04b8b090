"""Meters over TLS, with a key or with a certificate of their own."""

from __future__ import annotations

import socket
import ssl
from contextlib import ExitStack
from datetime import timedelta
from pathlib import Path

import paho.mqtt.client as paho
import pytest

from api.ingest.mqtt.listener import Limits, Listener
from api.ingest.mqtt.listener import listener as listener_module
from tests.ingest.mqtt.conftest import eventually
from tests.ingest.mqtt.listener.certificates import authority, issued
from tests.ingest.mqtt.listener.conftest import ACCEPTED, Ground, body, line, up
from tests.ingest.mqtt.listener.test_listener import Meter
from tests.ingest.mqtt.listener.test_packets import connect


def tls_settings(server: dict[str, str]) -> dict[str, str]:
    return {
        "WEIR_MQTT_LISTEN_CERTIFICATE": server["certfile"],
        "WEIR_MQTT_LISTEN_CERTIFICATE_KEY": server["keyfile"],
        "WEIR_MQTT_LISTEN_CLIENT_CA": server["ca_certs"],
    }


def test_over_tls_a_client_certificate_stands_for_a_key(ground: Ground, tmp_path: Path) -> None:
    good, other = ground.new_key()["keyId"], "key_00000000000000000000"
    ca = authority(tmp_path)
    server, mine, unknown = (issued(ca, tmp_path, name) for name in ("127.0.0.1", good, other))
    with (
        ground.listening(Limits(connect_s=0.5), **tls_settings(server)) as listener,
        ExitStack() as stack,
    ):
        silent = stack.enter_context(line(listener))  # never begins TLS
        meter = Meter(listener.port, "", paho.MQTTv5, tls=mine)
        meter.publish(up(), body())
        meter.leave()
        stranger = Meter(listener.port, "", paho.MQTTv5, tls=unknown)
        eventually(lambda: stranger.outcomes)
        stranger.leave()
        by_key = Meter(listener.port, ground.key, paho.MQTTv5, tls={"ca_certs": mine["ca_certs"]})
        eventually(lambda: by_key.outcomes)
        by_key.leave()
        assert silent.is_closed()
    assert meter.outcomes == ["Success, new", "Success"]
    assert stranger.outcomes[0] == "Bad user name or password, new"
    assert by_key.outcomes == ["Success, new"]
    assert len(ground.rows()) == 1


def test_a_certificate_that_expires_ends_its_connection(
    ground: Ground, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(listener_module, "RECHECK_S", 0.0)
    monkeypatch.setattr(listener_module, "TICK_S", 0.05)
    ca, key_id = authority(tmp_path), ground.new_key()["keyId"]
    server = issued(ca, tmp_path, "127.0.0.1")
    with ground.listening(**tls_settings(server)) as listener:
        over = issued(ca, tmp_path, key_id, timedelta(seconds=-1))
        with _tls(listener, over) as refused:
            assert refused.recv(1) == b""
        soon = issued(ca, tmp_path, key_id, timedelta(seconds=3))
        with _tls(listener, soon) as meter:
            meter.sendall(connect())
            assert meter.recv(4) == ACCEPTED
            assert meter.recv(1) == b""


def _tls(listener: Listener, files: dict[str, str]) -> ssl.SSLSocket:
    context = ssl.create_default_context(cafile=files["ca_certs"])
    context.load_cert_chain(files["certfile"], files["keyfile"])
    plain = socket.create_connection(("127.0.0.1", listener.port), 20)
    return context.wrap_socket(plain, server_hostname="127.0.0.1")
