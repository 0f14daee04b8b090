"""Consumer and broker are killed at the worst moments: no reading is lost, none is counted
twice."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import paho.mqtt.client as paho
import pytest
from paho.mqtt.enums import CallbackAPIVersion

from api.ingest.mqtt.topics import up
from api.store.base import Span, Store
from api.timez import stamp
from benchmarks.publishing import publish_all
from tests.faults.mqtt_driver import NEVER, POINTS
from tests.ingest.mqtt.conftest import PATIENCE_S, Site, eventually
from tests.servers import EVERY_SECOND, KEEPING, Mosquitto, mosquitto
from tests.store.fleet import NOON_MS

ROOT = Path(__file__).resolve().parents[2]
MINUTES = 6 * 60

Reading = tuple[int, int, float]
"""(device 1 or 2, epoch ms, flow rate)"""


@pytest.fixture
def broker(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Mosquitto]:
    with mosquitto(tmp_path / "broker", *getattr(request, "param", EVERY_SECOND)) as started:
        yield started


@pytest.fixture
def site(sqlite_store: Store, broker: Mosquitto, tmp_path: Path) -> Site:
    return Site(sqlite_store, broker, tmp_path)


def six_hours(rng: random.Random) -> list[Reading]:
    """Two meters, a reading every five seconds and some at the same instant, all different."""
    return [
        (device, NOON_MS + second * 1000, round(rng.uniform(0, 9), 3))
        for device in (1, 2)
        for second in range(0, MINUTES * 60, 5)
        for _ in range(2 if rng.random() < 0.02 else 1)
    ]


def message(reading: Reading) -> tuple[str, bytes]:
    device, at_ms, rate = reading
    fields = {"recordedAt": stamp(at_ms, fraction=True), "flowRate": rate}
    return up("acme", f"N-{device}"), json.dumps(fields).encode()


@contextmanager
def driven(site: Site, point: str) -> Iterator[subprocess.Popen[bytes]]:
    database = f"sqlite:///{site.folder / 'weir.sqlite'}"
    arguments = [point, database, str(site.folder / "instance"), site.broker.url]
    command = [sys.executable, "-W", "ignore", "-m", "tests.faults.mqtt_driver", *arguments]
    process = subprocess.Popen(command, cwd=ROOT)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            assert process.wait(PATIENCE_S) == 0


def killed(site: Site, point: str) -> None:
    with driven(site, point) as process:
        assert process.wait(PATIENCE_S) == -signal.SIGKILL


def drained(site: Site, true: Callable[[], bool]) -> None:
    with driven(site, NEVER):
        eventually(true)


def stored(site: Site) -> list[Reading]:
    return [(device, row[0], row[1]) for device in (1, 2) for row in site.rows(device)]


def begin_session(site: Site) -> None:
    """From now on the broker queues messages for Weir."""
    with site.listening():
        pass


# --- The consumer --------------------------------------------------------------------------------


@pytest.mark.parametrize("point", POINTS)
def test_six_hours_of_backlog_survive_a_consumer_that_is_killed_again_and_again(
    site: Site, point: str
) -> None:
    rng = random.Random(point)
    readings = six_hours(rng)
    sent = readings + rng.sample(readings, len(readings) // 20)
    rng.shuffle(sent)
    begin_session(site)
    publish_all(site.broker.port, map(message, sent))
    for _ in range(2):
        killed(site, point)
    drained(site, lambda: len(stored(site)) >= len(readings))
    assert sorted(stored(site)) == sorted(readings)
    assert site.store.verify().wrong == 0
    assert site.store.refusals() == []


@pytest.mark.parametrize("point", POINTS)
def test_readings_without_a_timestamp_count_once_too(site: Site, point: str) -> None:
    begin_session(site)
    same = (up("acme", "N-1"), b'{"flowRate": 1}')  # no two of them can be distinguished
    count = 1_500
    publish_all(site.broker.port, [same] * count)
    killed(site, point)
    before = stored(site)
    publish_all(site.broker.port, [(same[0], b'{"flowRate": 2}')])
    drained(site, lambda: any(rate == 2 for _, _, rate in stored(site)))
    assert len(stored(site)) == count + 1
    assert set(before) <= set(stored(site))
    assert site.store.undated(site.devices[0], Span()) == [at_ms for _, at_ms, _ in stored(site)]


@pytest.mark.parametrize("point", POINTS)
def test_refused_readings_count_once_however_often_they_are_delivered(
    site: Site, point: str
) -> None:
    begin_session(site)
    bad = [(up("acme", f"N-{n % 2 + 1}"), b'{"flowRate": "%d much"}' % n) for n in range(2_400)]
    publish_all(site.broker.port, bad)
    killed(site, point)
    good = (1, NOON_MS, 1.0)
    publish_all(site.broker.port, [message(good)])
    drained(site, lambda: stored(site) == [good])
    assert sum(site.reasons().values()) == len(bad)


# --- The broker ----------------------------------------------------------------------------------


@pytest.mark.parametrize("broker", [KEEPING], indirect=True, ids=["saves every change"])
def test_a_broker_killed_under_load_loses_nothing_that_devices_repeat(site: Site) -> None:
    """Devices repeat messages that weren't acknowledged; Weir repeats its subscription."""
    readings = six_hours(random.Random(7))[:300]
    begin_session(site)
    with driven(site, NEVER):
        device = _device(site)
        feeding = Thread(target=_feed, args=(device, readings))
        feeding.start()
        for share in (0.2, 0.6):
            eventually(lambda share=share: len(stored(site)) > share * len(readings))
            site.broker.kill()
            site.broker.start()
        feeding.join(PATIENCE_S)
        eventually(lambda: len(stored(site)) >= len(readings) - 2)
        # The messages that one save may have lost.
        publish_all(site.broker.port, map(message, readings[-20:]))
        eventually(lambda: len(stored(site)) >= len(readings))
        device.disconnect()
        device.loop_stop()
    assert sorted(stored(site)) == sorted(readings)
    assert site.store.verify().wrong == 0


def _device(site: Site) -> paho.Client:
    device = paho.Client(CallbackAPIVersion.VERSION2, "device", protocol=paho.MQTTv5)
    device.max_inflight_messages_set(10)
    device.reconnect_delay_set(1, 1)
    device.connect("127.0.0.1", site.broker.port, clean_start=False, properties=_session())
    device.loop_start()
    return device


def _session() -> Any:
    wanted = paho.Properties(paho.PacketTypes.CONNECT)
    wanted.SessionExpiryInterval = 3_600
    return wanted


def _feed(device: paho.Client, readings: list[Reading]) -> None:
    texts = [device.publish(*message(reading), qos=1) for reading in readings]
    for one in texts:
        one.wait_for_publish(PATIENCE_S)


@pytest.mark.parametrize("broker", [KEEPING], indirect=True, ids=["saves every change"])
def test_messages_saved_by_the_broker_survive_its_kill(site: Site) -> None:
    begin_session(site)
    readings = six_hours(random.Random(9))[:200]
    publish_all(site.broker.port, map(message, readings))
    _saved(site.broker, readings[-1])
    site.broker.kill()
    site.broker.start()
    drained(site, lambda: len(stored(site)) >= len(readings))
    assert sorted(stored(site)) == sorted(readings)


def _saved(broker: Mosquitto, last: Reading) -> None:
    """Waits until the last message is in the broker's file, a few ms after its acknowledgement."""
    _, payload = message(last)
    eventually(lambda: payload in (broker.folder / "mosquitto.db").read_bytes())


@pytest.mark.parametrize("broker", [KEEPING], indirect=True, ids=["saves every change"])
def test_a_kill_right_after_an_acknowledgement_loses_at_most_one_save(site: Site) -> None:
    begin_session(site)
    readings = six_hours(random.Random(11))[:100]
    publish_all(site.broker.port, map(message, readings))
    site.broker.kill()  # the last one was acknowledged a moment ago
    site.broker.start()
    drained(site, lambda: len(stored(site)) >= len(readings) - 1)
    assert set(readings) - set(stored(site)) <= {readings[-1]}


PUBLISHERS = 10


@pytest.mark.parametrize("broker", [KEEPING], indirect=True, ids=["saves every change"])
def test_a_kill_costs_each_publisher_at_most_its_last_acknowledged_message(site: Site) -> None:
    """Mosquitto acknowledges before it saves; docs/realtime.md says so."""
    begin_session(site)
    acknowledged: list[list[Reading]] = [[] for _ in range(PUBLISHERS)]
    senders = [
        Thread(target=_send_until_it_ends, args=(site.broker.port, number, acknowledged[number]))
        for number in range(PUBLISHERS)
    ]
    for sender in senders:
        sender.start()
    eventually(lambda: all(len(one) > 5 for one in acknowledged))
    site.broker.kill()
    for sender in senders:
        sender.join(PATIENCE_S)
    site.broker.start()
    last = (1, NOON_MS - 1, 0.0)
    publish_all(site.broker.port, [message(last)])
    drained(site, lambda: last in stored(site))
    there = set(stored(site))
    lost = [[reading for reading in one if reading not in there] for one in acknowledged]
    assert all(gone in ([], one[-1:]) for gone, one in zip(lost, acknowledged, strict=True))


def _acknowledged(sent: paho.MQTTMessageInfo, gone: Event) -> bool:
    try:
        while not sent.is_published() and not gone.is_set():
            sent.wait_for_publish(0.1)
        return sent.is_published()
    except RuntimeError:  # the connection had ended before the message was sent
        return False


def _send_until_it_ends(port: int, number: int, acknowledged: list[Reading]) -> None:
    """Sends one message after the other, each after the previous acknowledgement."""
    device = paho.Client(CallbackAPIVersion.VERSION2, f"device-{number}", protocol=paho.MQTTv5)
    gone = Event()
    device.on_disconnect = lambda *_: gone.set()
    device.connect("127.0.0.1", port)
    device.loop_start()
    for second in range(100_000):
        reading = (1 + number % 2, NOON_MS + second * 1_000 + number, float(number))
        sent = device.publish(*message(reading), qos=1)
        if not _acknowledged(sent, gone):
            break
        acknowledged.append(reading)
    device.disconnect()
    device.loop_stop()
