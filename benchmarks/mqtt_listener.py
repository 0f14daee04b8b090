"""Messages per second from meters to Weir's own listener: ``python -m benchmarks.mqtt_listener``.

Uses `weir writer` with WEIR_MQTT_LISTEN as a separate process on an embedded store, and publishers
that send as fast as they are acknowledged. Timed from the first message until the last
acknowledgement. The run fails unless every reading is stored by then.

``--kills 30`` instead kills the writer at random moments under such a load, and starts it again.
Publishers then repeat what wasn't acknowledged, as meters do. No acknowledged message may be lost,
and none may be stored twice.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import IO, Final

import apsw

from api.commands.keys import new_key
from api.store.base import Grant
from api.store.open import open_store
from benchmarks.ingesters import ORGANIZATION, new_fleet
from benchmarks.insistent_meters import Meter
from benchmarks.mqtt import GOAL, load, stored
from benchmarks.publishing import publish_all
from benchmarks.report import conditions
from tests.servers import free_port

PATIENCE_S: Final = 60.0
PUBLISHERS: Final = 10
_RATES: Final = (
    "SELECT flow_rate FROM reading JOIN device ON device.key = reading.device_id"
    " WHERE serial_number = ?"
)
_WINDOW: Final = 3_800  # unacknowledged messages of a publisher; the listener accepts 4,000


@dataclass(frozen=True, slots=True)
class Result:
    name: str
    publishers: int
    messages: int
    seconds: float
    per_second: float
    cpu_us: float  # processor time of the writer per message


class Site:
    """A store with a fleet and a key, and a writer that listens."""

    def __init__(self, folder: Path) -> None:
        self.path, self.port = folder / "bench.sqlite", free_port()
        url = f"sqlite:///{self.path}"
        new_fleet(url)
        store = open_store(url)
        self.key = new_key(store, ORGANIZATION, "load", Grant(everything=True), ingest=True)["key"]
        store.close()
        self._environ = {
            "WEIR_DATABASE": url,
            "WEIR_INSTANCE": str(folder / "instance"),
            "WEIR_MQTT_LISTEN": f"127.0.0.1:{self.port}",
        }

    def start(self) -> subprocess.Popen[str]:
        """Returns a writer once it listens."""
        command = [sys.executable, "-m", "weir", "writer"]
        environ = os.environ | self._environ
        process = subprocess.Popen(command, env=environ, stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        while "listening" not in (line := process.stderr.readline()):
            if not line and process.poll() is not None:
                raise RuntimeError("the writer ended")
        Thread(target=_read_all, args=(process.stderr,), daemon=True).start()
        return process


def _read_all(stream: IO[str]) -> None:
    with stream:
        stream.read()


@contextmanager
def listening(folder: Path) -> Iterator[tuple[Site, subprocess.Popen[str]]]:
    site = Site(folder)
    process = site.start()
    try:
        yield site, process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def run(name: str, publishers: int, messages: int) -> Result:
    with TemporaryDirectory(prefix="weir-listener-") as scratch:
        made = list(load(messages))
        parts = [made[number::publishers] for number in range(publishers)]
        with listening(Path(scratch)) as (site, process):
            cpu_s, start = _cpu_s(process.pid), time.perf_counter()
            senders = [
                Thread(target=publish_all, args=(site.port, part, f"p{n}", site.key, _WINDOW))
                for n, part in enumerate(parts)
            ]
            for sender in senders:
                sender.start()
            for sender in senders:
                sender.join()
            seconds = time.perf_counter() - start
            cpu_s = _cpu_s(process.pid) - cpu_s
            if stored(site.path) != messages:
                raise RuntimeError(f"{stored(site.path):,} of {messages:,} are stored")
    each_us = round(cpu_s / messages * 1e6)
    return Result(name, publishers, messages, round(seconds, 2), round(messages / seconds), each_us)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Numbers of messages: ``lost`` were acknowledged and not stored, ``doubled`` were stored more
    than once."""

    kills: int
    acknowledged: int
    lost: int
    doubled: int


def killed_under_load(
    folder: Path, kills: int, rng: random.Random, publishers: int = PUBLISHERS
) -> Outcome:
    """Kills the writer at random moments while meters send as fast as they are acknowledged."""
    site = Site(folder)
    meters = [Meter(site.port, number, site.key) for number in range(publishers)]
    process = site.start()
    for meter in meters:
        meter.start()
    for _ in range(kills):
        time.sleep(rng.uniform(0.02, 1.0))
        process.kill()
        process.wait()
        process = site.start()
    try:
        for meter in meters:
            meter.stop(PATIENCE_S)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
    lost = doubled = 0
    with closing(apsw.Connection(str(site.path), flags=apsw.SQLITE_OPEN_READONLY)) as file:
        for meter in meters:
            rows = file.execute(_RATES, (f"S{meter.number}",)).fetchall()
            times = Counter(rate for (rate,) in rows)
            lost += len(meter.acknowledged - times.keys())
            doubled += sum(several > 1 for several in times.values())
    return Outcome(kills, sum(len(meter.acknowledged) for meter in meters), lost, doubled)


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--messages", type=int, default=50_000)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--kills", type=int, default=0, help="instead: kill the writer so often")
    options = parser.parse_args()
    if options.kills:
        with TemporaryDirectory(prefix="weir-listener-") as scratch:
            outcome = killed_under_load(Path(scratch), options.kills, random.Random(options.kills))
        print(outcome)
        sys.exit(0 if not outcome.lost and not outcome.doubled else 1)
    n = min(options.messages, 500_000)
    results = [run("one publisher", 1, n), run("ten publishers", PUBLISHERS, n)]
    where = conditions("python -m benchmarks.mqtt_listener", {})
    if options.json:
        print(json.dumps({"conditions": where, "results": [asdict(r) for r in results]}, indent=2))
        return
    print("\n".join(f"- {name}: {value}" for name, value in where.items()))
    for r in results:
        rate = f"{r.per_second:,}/s, {r.cpu_us:.0f} µs of the writer's processor each"
        print(f"{r.name}: {r.messages:,} messages in {r.seconds} s = {rate}")
    sys.exit(0 if results[1].per_second >= GOAL else 1)


if __name__ == "__main__":
    main()
