"""The broker as shipped: started with deploy/mosquitto.conf and deploy/mosquitto.acl."""

from __future__ import annotations

import logging
import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from typing import Any

import paho.mqtt.client as paho
import pytest
from paho.mqtt.enums import CallbackAPIVersion

from api.ingest.mqtt import Publisher
from api.settings import Settings
from api.store.base import Store
from tests.ingest.mqtt.conftest import Site, eventually
from tests.servers import KEEPING, Mosquitto, free_port, mosquitto_program

ROOT = Path(__file__).resolve().parents[3]
USERS = ("weir", "acme/N-1", "acme/N-2", "globex/N-1", "acme-portal", "globex-portal")
REFUSED = 128  # and above, in MQTT 5's reason codes


def password(user: str) -> str:
    return f"secret of {user}"


def shipped(folder: Path, port: int) -> list[str]:
    """The shipped configuration, with only ports and paths changed."""
    places = {
        "/etc/mosquitto/certs/": f"{folder}/",
        "/etc/mosquitto/": f"{folder}/",
        "/var/lib/mosquitto/": f"{folder}/",
        "listener 8883": f"listener {port} 127.0.0.1",
    }
    text = (ROOT / "deploy/mosquitto.conf").read_text()
    for theirs, ours in places.items():
        text = text.replace(theirs, ours)
    without = ("listener 1883", "persistence_location")  # the fixture has its own
    return [line for line in text.splitlines() if not line.startswith(without)]


def acl() -> str:
    """The shipped file, with its example of a reader applied twice."""
    readers = "".join(
        f"\nuser {org}-portal\ntopic read weir/v1/{org}/+/datapoint\n" for org in ("acme", "globex")
    )
    head, devices = (ROOT / "deploy/mosquitto.acl").read_text().split("# --- Devices")
    return f"{head}{readers}\n# --- Devices{devices}"


@pytest.fixture(scope="module")
def deployed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Mosquitto, int]]:
    """The broker, and its port with TLS."""
    folder = tmp_path_factory.mktemp("deployed")
    tls_port = free_port()
    certificate = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", str(folder / "server.key"), "-out", str(folder / "server.crt")]
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *certificate, *files],
        check=True,
        capture_output=True,
    )
    (folder / "mosquitto.acl").write_text(acl())
    (folder / "passwords").touch(mode=0o600)
    for user in USERS:
        passwd = [mosquitto_program("mosquitto_passwd"), "-b", str(folder / "passwords")]
        subprocess.run([*passwd, user, password(user)], check=True, capture_output=True)
    broker = Mosquitto(folder, *shipped(folder, tls_port), anonymous=False)
    broker.start()
    yield broker, tls_port
    broker.stop()


class User:
    """A client connected to the broker."""

    def __init__(self, port: int, user: str, secret: str | None = None) -> None:
        self.client = paho.Client(CallbackAPIVersion.VERSION2, protocol=paho.MQTTv5)
        if user:
            self.client.username_pw_set(user, password(user) if secret is None else secret)
        self.heard: list[str] = []
        self._codes: dict[int, int] = {}
        self.connected: list[int] = []
        self._answer = Event()
        self.client.on_connect = lambda c, u, f, reason, p: self.connected.append(reason.value)
        self.client.on_publish = lambda c, u, mid, reason, p: self._note(mid, reason)
        self.client.on_subscribe = lambda c, u, mid, reasons, p: self._note(mid, reasons[0])
        self.client.on_message = lambda c, u, message: self.heard.append(message.topic)
        self.client.connect("127.0.0.1", port)
        self.client.loop_start()
        eventually(lambda: self.connected)

    def _note(self, mid: int, reason: Any) -> None:
        self._codes[mid] = reason.value

    def publish(self, topic: str) -> bool:
        """Whether the broker accepted it."""
        mid = self.client.publish(topic, b'{"flowRate": 1}', qos=1).mid
        eventually(lambda: mid in self._codes)
        return self._codes[mid] < REFUSED

    def subscribe(self, topic: str) -> bool:
        mid = self.client.subscribe(topic, qos=1)[1]
        assert mid is not None
        eventually(lambda: mid in self._codes)
        return self._codes[mid] < REFUSED

    def __enter__(self) -> User:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.disconnect()
        self.client.loop_stop()


@pytest.mark.parametrize(
    ("user", "topic", "passes"),
    [
        ("acme/N-1", "weir/v1/acme/N-1/up", True),
        ("acme/N-1", "weir/v1/acme/N-2/up", False),
        ("acme/N-1", "weir/v1/globex/N-1/up", False),
        ("acme/N-1", "weir/v1/acme/N-1/datapoint", False),
        ("globex/N-1", "weir/v1/globex/N-1/up", True),
        ("globex/N-1", "weir/v1/acme/N-1/up", False),
        ("acme-portal", "weir/v1/acme/N-1/up", False),
        ("acme-portal", "weir/v1/acme/d1/datapoint", False),
        ("weir", "weir/v1/acme/d1/datapoint", True),
        ("weir", "weir/v1/acme/N-1/up", False),
    ],
)
def test_each_user_publishes_only_to_its_own_topics(
    deployed: tuple[Mosquitto, int], user: str, topic: str, passes: bool
) -> None:
    with User(deployed[0].port, user) as somebody:
        assert somebody.publish(topic) is passes


def test_weir_may_use_shared_subscriptions(deployed: tuple[Mosquitto, int]) -> None:
    topic = "weir/v1/acme/N-1/up"
    with User(deployed[0].port, "weir") as us, User(deployed[0].port, "acme/N-1") as device:
        assert us.subscribe("$share/weirs/weir/v1/+/+/up")
        assert device.publish(topic)
        eventually(lambda: us.heard == [topic])


@pytest.mark.parametrize(
    ("user", "hears"),
    [
        ("acme-portal", ["weir/v1/acme/d1/datapoint"]),
        ("globex-portal", ["weir/v1/globex/d2/datapoint"]),
        ("acme/N-1", []),
        ("weir", ["weir/v1/acme/N-1/up"]),
    ],
)
def test_each_user_receives_only_its_own_organizations_messages(
    deployed: tuple[Mosquitto, int], user: str, hears: list[str]
) -> None:
    port = deployed[0].port
    sent = ["weir/v1/acme/d1/datapoint", "weir/v1/globex/d2/datapoint"]
    with User(port, user) as reader, User(port, "weir") as weir, User(port, "acme/N-1") as device:
        for topic in ("weir/v1/+/+/datapoint", "weir/v1/#", "#", *sent, "weir/v1/acme/N-1/up"):
            reader.subscribe(topic)
        assert all(map(weir.publish, sent))
        assert device.publish("weir/v1/acme/N-1/up")
        eventually(lambda: set(reader.heard) >= set(hears))
        # Messages it may not receive were published before this one, and would have arrived before
        # it.
        assert reader.subscribe("weir/v1/nobody/d1/datapoint") in (True, False)
    assert sorted(set(reader.heard)) == hears


@pytest.mark.parametrize(
    ("user", "secret"), [("", None), ("weir", "wrong"), ("weir", ""), ("nobody", "x")]
)
def test_nobody_connects_without_a_password(
    deployed: tuple[Mosquitto, int], user: str, secret: str | None
) -> None:
    with User(deployed[0].port, user, secret) as somebody:
        assert all(code >= REFUSED for code in somebody.connected)


def test_its_persistence_is_that_of_the_fault_tests() -> None:
    lines = (ROOT / "deploy/mosquitto.conf").read_text().splitlines()
    assert [line for line in KEEPING if line not in lines] == []


# --- Weir with it --------------------------------------------------------------------------------


@pytest.fixture
def signed_in(
    sqlite_store: Store, deployed: tuple[Mosquitto, int], tmp_path: Path
) -> tuple[Site, dict[str, str]]:
    secret = tmp_path / "password"
    secret.write_text(password("weir") + "\n")
    settings = {
        "WEIR_MQTT_URL": f"mqtts://weir@127.0.0.1:{deployed[1]}",
        "WEIR_MQTT_PASSWORD_FILE": str(secret),
        "WEIR_MQTT_CA_FILE": str(deployed[0].folder / "server.crt"),
        "WEIR_MQTT_CLIENT_ID": tmp_path.name[-60:],
    }
    return Site(sqlite_store, deployed[0], tmp_path), settings


def test_weir_connects_by_tls_and_never_logs_its_password(
    signed_in: tuple[Site, dict[str, str]], caplog: pytest.LogCaptureFixture
) -> None:
    site, result = signed_in
    out = Publisher(site.settings(**result))
    with caplog.at_level(logging.DEBUG):
        out.start()
        port = site.broker.port
        with User(port, "acme-portal") as portal, User(port, "acme/N-1") as device:
            assert portal.subscribe("weir/v1/acme/+/datapoint")
            with site.listening(out, **result):
                assert device.publish("weir/v1/acme/N-1/up")
                eventually(lambda: portal.heard)
            assert portal.heard == [f"weir/v1/acme/{site.devices[0].id}/datapoint"]
        out.stop()
    written = [p for p in site.folder.rglob("*") if p.is_file() and p.name != "password"]
    output = caplog.text + "".join(p.read_bytes().decode("latin-1") for p in written)
    assert password("weir") not in output
    assert password("weir") not in repr(site.settings(**result))


@pytest.mark.filterwarnings(  # paho leaves a failed handshake's socket to the collector
    "ignore::pytest.PytestUnraisableExceptionWarning"
)
def test_a_broker_with_an_unknown_certificate_gets_no_password(
    signed_in: tuple[Site, dict[str, str]],
) -> None:
    site, result = signed_in
    out = Publisher(site.settings(**(result | {"WEIR_MQTT_CA_FILE": ""})))
    out.start()
    eventually(lambda: out.problem == "can't be reached")
    out.stop()


def test_a_wrong_password_is_reported_as_the_brokers_refusal(
    signed_in: tuple[Site, dict[str, str]], caplog: pytest.LogCaptureFixture
) -> None:
    _, result = signed_in
    Path(result["WEIR_MQTT_PASSWORD_FILE"]).write_text("wrong")
    out = Publisher(Settings.from_env(result))
    out.start()
    eventually(lambda: out.problem == "refused (Not authorized)")
    out.stop()
    assert [r.message.partition(": ")[2] for r in caplog.records] == [
        "refused (Not authorized); retrying"
    ]
