"""`weir mqtt ingest` as started by hand, with a real broker."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from api.ingest.mqtt.listener.sessions import Sessions
from api.store.base import Store
from tests.commands.conftest import CommandLine
from tests.ingest.mqtt.conftest import PATIENCE_S, Site, eventually
from tests.ingest.mqtt.test_publisher import hearing
from tests.servers import KEEPING, mosquitto

ROOT = Path(__file__).resolve().parents[2]


def test_a_missing_broker_is_one_line(weir: CommandLine) -> None:
    assert weir.error("mqtt", "ingest") == "there is no broker: set WEIR_MQTT_URL"


@pytest.mark.parametrize(
    ("environ", "arguments"),
    [
        ({"WEIR_MQTT_SHARD": "1/2"}, []),
        ({"WEIR_MQTT_SHARE": "g"}, []),
        ({"WEIR_MQTT_URL": "mqtt://127.0.0.1:1"}, ["--shard", "1/2"]),
    ],
)
def test_several_processes_need_a_server_database(
    environ: dict[str, str], arguments: list[str], weir: CommandLine
) -> None:
    weir.environ |= environ
    output = weir.error("mqtt", "ingest", *arguments)
    assert "needs a WEIR_DATABASE on Postgres: an embedded store has one writer" in output


def test_an_invalid_part_is_a_wrong_option(weir: CommandLine) -> None:
    output = weir.error("mqtt", "ingest", "--shard", "4/3")
    assert "must be a shard such as 1/3" in output


def test_a_session_is_deleted_with_its_queued_messages(
    sqlite_store: Store, weir: CommandLine, tmp_path: Path
) -> None:
    with mosquitto(tmp_path / "broker", *KEEPING) as broker:
        site = Site(sqlite_store, broker, tmp_path)
        with site.listening():
            pass
        site.send(("weir/v1/acme/N-1/up", b'{"flowRate": 1}'))
        weir.environ["WEIR_MQTT_URL"] = broker.url
        shown = weir.run("mqtt", "forget")
        assert (shown.exit_code, shown.stdout) == (0, "The broker session weir is deleted.\n")
        with site.listening():
            site.send(("weir/v1/acme/N-1/up", b'{"flowRate": 2}'))
            eventually(lambda: site.rows(1))
        broker.stop()
        assert [row[1] for row in site.rows(1)] == [2]
        unanswered = "the session weir can't be deleted: the broker did not respond"
        assert weir.error("mqtt", "forget") == unanswered


def test_connected_meters_are_listed(weir: CommandLine, tmp_path: Path) -> None:
    weir.environ["WEIR_INSTANCE"] = str(tmp_path)
    assert weir.ask("mqtt", "clients") == []
    sessions = Sessions(tmp_path, lambda: 1_772_971_200_000)
    sessions.begin("key_1", "meter-1", 0, "10.0.0.7", clean=True)
    assert weir.ask("mqtt", "clients") == [
        {
            "keyId": "key_1",
            "clientId": "meter-1",
            "connected": True,
            "since": "2026-03-08T12:00:00Z",
            "address": "10.0.0.7",
        }
    ]
    sessions.close()


def test_messages_are_stored_and_sent_on_until_it_is_stopped(
    sqlite_store: Store, tmp_path: Path
) -> None:
    with mosquitto(tmp_path / "broker", *KEEPING) as broker:
        site = Site(sqlite_store, broker, tmp_path)
        with site.listening():
            pass  # the broker queues messages until the process is up
        environ = os.environ | {
            "WEIR_DATABASE": f"sqlite:///{tmp_path / 'weir.sqlite'}",
            "WEIR_INSTANCE": str(tmp_path / "instance"),
            "WEIR_MQTT_URL": broker.url,
        }
        with hearing(broker) as message:
            site.send(("weir/v1/acme/N-1/up", b'{"flowRate": 1.5}'))
            command = [sys.executable, "-m", "flask", "--app", "app", "mqtt", "ingest"]
            process = subprocess.Popen(command, cwd=ROOT, env=environ)
            try:
                eventually(lambda: message)
            finally:
                process.send_signal(signal.SIGTERM)
                assert process.wait(PATIENCE_S) == 0
        broker.stop()
        assert [row[1] for row in site.rows(1)] == [1.5]
        assert message[0][0] == f"weir/v1/acme/{site.devices[0].id}/datapoint"
