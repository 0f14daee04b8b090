"""Several ingesters on one Postgres: divided by hash of device, and by the broker.

Uses a real Mosquitto, a real Postgres (without fsync: disks aren't compared) and several `weir
mqtt ingest` processes, all on the machine that also makes the load. Timed as in `benchmarks.mqtt`,
together with the processor time of all ingesters.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Final, NamedTuple

import psycopg

from api.store.base import NewDevice
from api.store.open import open_store
from benchmarks.publishing import publish_all
from tests.servers import mosquitto, postgres

DEVICES: Final = 1_000
ORGANIZATION: Final = "bench"
PATIENCE_S: Final = 120.0
_TICKS_S: Final = os.sysconf("SC_CLK_TCK")


class Several(NamedTuple):
    """The measurement of one way of dividing. CPU seconds are those of all ingesters together."""

    way: str
    ingesters: int
    messages: int
    seconds: float
    cpu_s: float

    @property
    def per_second(self) -> int:
        return round(self.messages / self.seconds)


def new_fleet(url: str) -> None:
    store = open_store(url)
    store.upgrade()
    store.create_organization("Bench", organization_id=ORGANIZATION)
    meters = [
        NewDevice(f"S{index}", {"networkUniqueIdentifier": f"N{index}"}) for index in range(DEVICES)
    ]
    store.import_devices(ORGANIZATION, meters)
    store.close()


def environment(way: str, number: int, of: int) -> dict[str, str]:
    """Returns the variables that give one ingester its part."""
    if way == "shards":
        return {"WEIR_MQTT_SHARD": f"{number}/{of}"}
    if way == "a share":
        return {"WEIR_MQTT_SHARE": "bench", "WEIR_MQTT_CLIENT_ID": f"weir-{number}"}
    return {}


@contextmanager
def ingester(environ: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """Yields `weir mqtt ingest`, started as by hand, once it has subscribed."""
    command = [sys.executable, "-m", "flask", "--app", "app", "mqtt", "ingest"]
    process = subprocess.Popen(command, env=os.environ | environ, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        while "readings from the broker" not in (line := process.stderr.readline()):
            if not line and process.poll() is not None:
                raise RuntimeError("weir mqtt ingest ended")
        Thread(target=process.stderr.read, daemon=True).start()
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def slow(url: str, commit_ms: int) -> None:
    """Makes each transaction that stores readings take this much longer, like a database far away
    or a synchronous standby."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS $$"
            f" BEGIN PERFORM pg_sleep({commit_ms / 1000}); RETURN NULL; END $$"  # pyright: ignore[reportArgumentType]
        )
        connection.execute(
            "CREATE TRIGGER linger AFTER INSERT ON reading EXECUTE FUNCTION linger()"
        )


def run(
    server: str,
    way: str,
    several: int,
    made: list[tuple[str, bytes]],
    settings: tuple[str, ...],
    commit_ms: int,
) -> Several:
    """Times from the first message until all of them are readings, in a database of its own."""
    name = f"bench_{way.replace(' ', '_')}_{several}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")  # pyright: ignore[reportArgumentType]
    url = f"{server}/{name}"
    new_fleet(url)
    if commit_ms:
        slow(url, commit_ms)
    with TemporaryDirectory(prefix="weir-several-") as scratch, ExitStack() as begun:
        broker = begun.enter_context(mosquitto(Path(scratch) / "broker", *settings))
        processes = [
            begun.enter_context(
                ingester(
                    {
                        "WEIR_DATABASE": url,
                        "WEIR_INSTANCE": f"{scratch}/{number}",
                        "WEIR_MQTT_URL": broker.url,
                        "WEIR_MQTT_PUBLISH": "false",
                        **environment(way, number, several),
                    }
                )
            )
            for number in range(1, several + 1)
        ]
        before_s = sum(map(_cpu_s, processes))
        seconds = _timed(url, broker.port, made)
        cpu_s = sum(map(_cpu_s, processes)) - before_s
    return Several(way, several, len(made), seconds, round(cpu_s, 1))


def _timed(url: str, port: int, made: list[tuple[str, bytes]]) -> float:
    with psycopg.connect(url, autocommit=True) as connection:
        begun_s = time.perf_counter()
        publish_all(port, made)
        deadline_s = time.monotonic() + PATIENCE_S
        while (there := _stored(connection)) < len(made):
            if time.monotonic() > deadline_s:
                raise RuntimeError(f"{there:,} of {len(made):,} came")
            time.sleep(0.1)
        return time.perf_counter() - begun_s


def _stored(connection: psycopg.Connection) -> int:
    row = connection.execute("SELECT count(*) FROM reading").fetchone()
    assert row is not None
    return int(row[0])


def _cpu_s(process: subprocess.Popen[str]) -> float:
    """Returns user and system time so far."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_S


def compare(
    made: list[tuple[str, bytes]], settings: tuple[str, ...], commit_ms: int
) -> Iterator[Several]:
    ways = [("alone", 1), ("shards", 2), ("a share", 2), ("shards", 3), ("a share", 3)]
    with TemporaryDirectory(prefix="weir-postgres-") as folder, postgres(Path(folder)) as server:
        for way, several in ways:
            yield run(server, way, several, made, settings, commit_ms)
