"""Messages per second from a broker into the store: ``python -m benchmarks.mqtt``.

Uses a real Mosquitto, `weir mqtt ingest` as a separate process on an embedded store, one reading
per message from 1,000 devices, and a load published as fast as the broker accepts it. Timed from
the first message until the last reading is committed. The run fails unless every one is stored.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import apsw

from api.ingest.mqtt import topics
from api.timez import stamp
from benchmarks.ingesters import DEVICES, ORGANIZATION, compare, ingester, new_fleet
from benchmarks.publishing import publish_all
from benchmarks.report import conditions
from tests.servers import EVERY_SECOND, KEEPING, Mosquitto, mosquitto

GOAL: Final = 5_000  # messages a second
START_MS: Final = 1_772_971_200_000
PATIENCE_S: Final = 120.0


@dataclass(frozen=True, slots=True)
class Result:
    name: str
    messages: int
    seconds: float
    per_second: float


def load(messages: int) -> Iterator[tuple[str, bytes]]:
    """Yields a message of each device in turn, minute after minute."""
    named = [topics.up(ORGANIZATION, f"N{index}") for index in range(DEVICES)]
    for number in range(messages):
        minute, index = divmod(number, DEVICES)
        reading = {
            "recordedAt": stamp(START_MS + minute * 60_000 + index * 53, fraction=True),
            "flowRate": round(1 + number % 97 / 10, 2),
            "flowDuration": 60,
            "flowAmount": round(1 + number % 89 / 10, 2),
            "quality": 80 + number % 20,
            "signalStrength": -90,
            "networkRssi": -80,
            "onboardTemperature": 21.5,
        }
        yield named[index], json.dumps(reading).encode()


@contextmanager
def ingesting(folder: Path, broker: Mosquitto, *, publish: bool) -> Iterator[Path]:
    """Runs `weir mqtt ingest`, started as by hand; yields the store's file."""
    path = folder / "bench.sqlite"
    new_fleet(f"sqlite:///{path}")
    environ = {
        "WEIR_DATABASE": f"sqlite:///{path}",
        "WEIR_INSTANCE": str(folder / "instance"),
        "WEIR_MQTT_URL": broker.url,
        "WEIR_MQTT_PUBLISH": "true" if publish else "false",
    }
    with ingester(environ):
        yield path


def stored(path: Path) -> int:
    with apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY) as connection:
        return connection.execute("SELECT count(*) FROM reading").fetchall()[0][0]


def run(name: str, settings: tuple[str, ...], messages: int, *, publish: bool = False) -> Result:
    with (
        begun(settings, messages) as (folder, broker, made),
        ingesting(folder, broker, publish=publish) as path,
    ):
        start = time.perf_counter()
        publish_all(broker.port, made)
        deadline = time.monotonic() + PATIENCE_S
        while stored(path) < messages:
            if time.monotonic() > deadline:
                raise RuntimeError(f"{stored(path):,} of {messages:,} came")
            time.sleep(0.02)
        seconds = time.perf_counter() - start
    return Result(name, messages, round(seconds, 2), round(messages / seconds))


def waiting(name: str, settings: tuple[str, ...], messages: int) -> Result:
    """Measures how fast the broker accepts messages that wait for Weir, over one connection."""
    with begun(settings, messages) as (folder, broker, made):
        with ingesting(folder, broker, publish=False):
            pass  # the broker has a session of Weir's now
        start = time.perf_counter()
        publish_all(broker.port, made)
        seconds = time.perf_counter() - start
    return Result(name, messages, round(seconds, 2), round(messages / seconds))


@contextmanager
def begun(
    settings: tuple[str, ...], messages: int
) -> Iterator[tuple[Path, Mosquitto, list[tuple[str, bytes]]]]:
    """Yields a folder, a running broker, and the messages to send."""
    with TemporaryDirectory(prefix="weir-mqtt-") as scratch:
        folder = Path(scratch)
        with mosquitto(folder / "broker", *settings) as broker:
            yield folder, broker, list(load(messages))


def several(messages: int, commit_ms: int) -> None:
    """Prints the rate of several ingesters, by each way of dividing."""
    print("| Ingesters | Messages/s | Their CPU, µs a message |")
    print("|---|---|---|")
    for one in compare(list(load(messages)), EVERY_SECOND, commit_ms):
        each_us = round(one.cpu_s / one.messages * 1e6)
        called = f"{one.ingesters}, by {one.way}" if one.ingesters > 1 else "1"
        print(f"| {called} | {one.per_second:,} | {each_us} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=50_000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument(
        "--several", action="store_true", help="instead: several ingesters on one Postgres"
    )
    parser.add_argument(
        "--commit-ms", type=int, default=0, help="with --several: each commit takes so much longer"
    )
    options = parser.parse_args()
    n = min(options.messages, 500_000)
    if options.several:
        several(n, options.commit_ms)
        return
    results = [
        run("broker saves every second", EVERY_SECOND, n),
        run("the same, while each is published", EVERY_SECOND, n // 2, publish=True),
        run("broker saves every change", KEEPING, n // 5),
        waiting("nobody listens, broker saves every second", EVERY_SECOND, n // 5),
        waiting("nobody listens, broker saves every change", KEEPING, n // 20),
    ]
    details = conditions("python -m benchmarks.mqtt", {"devices": f"{DEVICES:,}"})
    if options.json:
        print(
            json.dumps({"conditions": details, "results": [asdict(r) for r in results]}, indent=2)
        )
        return
    print("\n".join(f"- {name}: {value}" for name, value in details.items()))
    for r in results:
        print(f"{r.name}: {r.messages:,} messages in {r.seconds} s = {r.per_second:,}/s")
    sys.exit(0 if results[0].per_second >= GOAL else 1)


if __name__ == "__main__":
    main()
