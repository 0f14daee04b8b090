"""Several ingesters on one Postgres: each message is stored and published once, whichever of them
dies."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

import psycopg
import pytest
from prometheus_client.multiprocess import MultiProcessCollector

from api.catalog import MINUTE_MS
from api.ingest.mqtt import Consumer, Publisher
from api.ingest.mqtt.sharding import is_ours
from api.ingest.mqtt.topics import up
from api.ingest.writer import Writer
from api.server.readiness import Readiness
from api.setting_types import Shard
from api.settings import Settings
from api.store.base import NewDevice
from api.store.open import open_store
from api.timez import stamp
from benchmarks.publishing import publish_all
from tests.faults.mqtt_driver import NEVER, POINTS
from tests.ingest.mqtt.conftest import PATIENCE_S, eventually
from tests.ingest.mqtt.test_publisher import hearing
from tests.servers import EVERY_SECOND, Mosquitto, mosquitto
from tests.store.fleet import NOON_MS, everything
from tests.store.test_writing import rows_of

ROOT = Path(__file__).resolve().parents[2]
METERS: Final = 12
MINUTES: Final = 6 * 60
PARTS: Final = (1, 2, 3)

Reading = tuple[int, int, float]
"""(device, epoch ms, flow rate)"""
Way = Callable[[int], dict[str, str]]
"""The setting that gives an ingester, by its number, its part."""


def by_shard(number: int) -> dict[str, str]:
    return {"WEIR_MQTT_SHARD": f"{number}/{len(PARTS)}"}


def by_share(number: int) -> dict[str, str]:
    return {"WEIR_MQTT_SHARE": "weirs", "WEIR_MQTT_CLIENT_ID": f"weir-{number}"}


WAYS: Final = [by_shard, by_share]


class Works:
    """A database with an organization and its meters, a broker, and ingesters on request, each with
    a folder of its own, as on separate hosts."""

    def __init__(self, url: str, broker: Mosquitto, folder: Path) -> None:
        self.url, self.broker, self.folder = url, broker, folder
        self.store = open_store(url)
        self.store.upgrade()
        self.store.create_organization("Acme", organization_id="acme")
        names = [f"N-{number}" for number in range(METERS)]
        self.store.import_devices(
            "acme", [NewDevice(name, {"networkUniqueIdentifier": name}) for name in names]
        )
        self.meters = [d for d in self.store.resolve(everything("acme"), names) if d]

    def environ(self, fields: dict[str, str], host: str) -> dict[str, str]:
        here = {
            "WEIR_DATABASE": self.url,
            "WEIR_INSTANCE": str(self.folder / host),
            "WEIR_MQTT_URL": self.broker.url,
        }
        return here | fields

    @contextmanager
    def consumer(self, fields: dict[str, str], host: str, *, tells: bool = False) -> Iterator[None]:
        """An ingester in this process."""
        settings = Settings.from_env(self.environ(fields, host))
        with ExitStack() as begun:
            store = open_store(self.url)
            begun.callback(store.close)
            hooks: list[Publisher] = []
            if tells:
                hooks.append(out := Publisher(settings))
                begun.callback(out.stop, PATIENCE_S)
                out.start()
                eventually(lambda: not out.problem)
            writer = Writer(store, hooks)
            begun.callback(writer.close)
            consumer = Consumer(settings, writer)
            begun.callback(consumer.stop)
            consumer.start()
            eventually(lambda: not consumer.problem)
            yield

    def begin_sessions(self, way: Way) -> None:
        """From now on the broker queues messages for each ingester."""
        for number in PARTS:
            with self.consumer(way(number), f"host-{number}"):
                pass

    def drive(self, point: str, fields: dict[str, str], host: str) -> subprocess.Popen[bytes]:
        """An ingester that kills itself at that point."""
        arguments = [point, self.url, str(self.folder / host), self.broker.url]
        arguments += [f"{name}={value}" for name, value in fields.items()]
        command = [sys.executable, "-W", "ignore", "-m", "tests.faults.mqtt_driver", *arguments]
        return subprocess.Popen(command, cwd=ROOT)

    def count(self) -> int:
        with psycopg.connect(self.url) as connection:
            return len(connection.execute("SELECT 1 FROM reading").fetchall())

    def stored(self) -> list[Reading]:
        return [
            (number, row[0], row[1])
            for number, meter in enumerate(self.meters)
            for row in rows_of(self.store, meter)
        ]

    def close(self) -> None:
        self.store.close()


@pytest.fixture
def works(postgres_url: str, tmp_path: Path) -> Iterator[Works]:
    with mosquitto(tmp_path / "broker", *EVERY_SECOND) as broker:
        works = Works(postgres_url, broker, tmp_path)
        yield works
        works.close()


def readings_of(minutes: int, seed: object) -> list[Reading]:
    rng = random.Random(str(seed))
    return [
        (meter, NOON_MS + minute * MINUTE_MS, round(rng.uniform(0, 9), 3))
        for meter in range(METERS)
        for minute in range(minutes)
    ]


def shuffled(readings: Sequence[Reading], seed: object) -> list[tuple[str, bytes]]:
    """As messages, in random order, with 5 % repeats."""
    rng = random.Random(str(seed))
    sent = [*readings, *rng.sample(readings, len(readings) // 20)]
    rng.shuffle(sent)
    return [
        (up("acme", f"N-{meter}"), json.dumps({"recordedAt": stamp(at), "flowRate": rate}).encode())
        for meter, at, rate in sent
    ]


@contextmanager
def until_told(processes: Sequence[subprocess.Popen[bytes]]) -> Iterator[None]:
    try:
        yield
    finally:
        for process in processes:
            process.send_signal(signal.SIGTERM)
        assert [process.wait(PATIENCE_S) for process in processes] == [0] * len(processes)


@pytest.mark.parametrize(
    ("way", "point"),
    [(by_shard, POINTS[2]), (by_share, POINTS[0])],
    ids=["shards, half-way through acknowledging", "a share, before the commit"],
)
def test_messages_of_a_killed_ingester_go_to_its_successor(
    works: Works, way: Way, point: str
) -> None:
    readings = readings_of(MINUTES, point)
    works.begin_sessions(way)
    publish_all(works.broker.port, shuffled(readings, way))
    others = [works.drive(NEVER, way(number), f"host-{number}") for number in (1, 3)]
    doomed = works.drive(point, way(2), "host-2")
    assert doomed.wait(PATIENCE_S) == -signal.SIGKILL
    another = works.drive(NEVER, way(2), "host-4")
    with until_told([*others, another]):
        eventually(lambda: works.count() >= len(readings))
    assert sorted(works.stored()) == readings
    assert works.store.verify().wrong == 0
    assert works.store.refusals() == []


@pytest.mark.parametrize("way", WAYS)
def test_messages_of_a_dead_ingester_wait_for_it_and_others_continue(
    works: Works, way: Way
) -> None:
    """Mosquitto gives messages of a session to nobody else, also in a shared subscription."""
    readings = readings_of(20, "dead")
    works.begin_sessions(way)
    publish_all(works.broker.port, shuffled(readings, "dead"))
    with works.consumer(way(1), "host-1"), works.consumer(way(3), "host-3"):
        if way is by_shard:
            theirs = [r for r in readings if not is_ours(Shard(2, 3), up("acme", f"N-{r[0]}"))]
            eventually(lambda: sorted(works.stored()) == theirs)
        else:
            eventually(lambda: works.count() > len(readings) / 2)
        assert works.count() < len(readings)
        with works.consumer(way(2), "host-4"):
            eventually(lambda: sorted(works.stored()) == readings)


@pytest.mark.parametrize("way", WAYS)
def test_each_stored_reading_is_published_once_by_any_ingester(works: Works, way: Way) -> None:
    readings = readings_of(25, "told")
    with ExitStack() as begun:
        messages = begun.enter_context(hearing(works.broker))
        for number in PARTS:
            begun.enter_context(works.consumer(way(number), f"host-{number}", tells=True))
        publish_all(works.broker.port, shuffled(readings, "told"))
        eventually(lambda: works.count() >= len(readings) and len(messages) >= len(readings))
    assert Counter(_message_key(topic, payload) for topic, payload in messages) == Counter(
        (works.meters[meter].id, stamp(at, fraction=True), rate) for meter, at, rate in readings
    )


def _message_key(topic: str, payload: bytes) -> tuple[str, str, float]:
    body = json.loads(payload)
    return topic.split("/")[3], body["recordedAt"], body["flowRate"]


def test_three_processes_started_by_hand(works: Works) -> None:
    readings = readings_of(60, "by hand")
    sent = len(shuffled(readings, "by hand"))
    processes = [_ingest(works, number) for number in PARTS]
    with until_told(processes):
        for number in PARTS:
            _await_connection(works, number)
        publish_all(works.broker.port, shuffled(readings, "by hand"))
        eventually(lambda: works.count() >= len(readings))
        eventually(lambda: _acknowledged(works) == {"ours": sent, "others": 2 * sent})
        _assert_told(works)
    assert sorted(works.stored()) == readings
    assert works.store.verify().wrong == 0


def _assert_told(works: Works) -> None:
    """Asserts that their host's web server reports their state."""
    settings = Settings.from_env(works.environ({"WEIR_DISK_MIN_MB": "0"}, "one-host"))
    readiness = Readiness(works.store, settings)

    def is_well() -> bool:
        feed = readiness.checks()["feed"]
        return feed.status == "ok" and feed.facts["ageS"] is not None

    eventually(is_well)
    assert readiness.checks()["feed"].facts["ingesters"] == len(PARTS)


def _acknowledged(works: Works) -> dict[str, float]:
    """The total of the three, as /metrics reports it."""
    files = [str(path) for path in (works.folder / "one-host" / "metrics").glob("*/*.db")]
    merged = MultiProcessCollector.merge(files)
    return {
        sample.labels["whose"]: sample.value
        for metric in merged
        for sample in metric.samples
        if sample.name == "weir_mqtt_messages_total"
    }


def _ingest(works: Works, number: int) -> subprocess.Popen[bytes]:
    shard = f"{number}/{len(PARTS)}"
    command = [sys.executable, "-m", "flask", "--app", "app", "mqtt", "ingest", "--shard", shard]
    environ = os.environ | works.environ({"WEIR_MQTT_PUBLISH": "false"}, "one-host")
    with _log_file(works, number).open("wb") as log:
        return subprocess.Popen(command, cwd=ROOT, env=environ, stderr=log)


def _log_file(works: Works, number: int) -> Path:
    return works.folder / f"ingester-{number}.log"


def _await_connection(works: Works, number: int) -> None:
    eventually(lambda: "connected" in _log_file(works, number).read_text())
