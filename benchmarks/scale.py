"""The rates at which one machine takes readings and answers queries, engine by engine: the numbers
in docs/scaling.md.

`python -m benchmarks.scale` starts its own Postgres beside an SQLite file. `--citus
postgresql://user@host:port/name` adds a cluster's coordinator, in a schema of its own, and compares
its rate of ingest with the plain Postgres, batch by batch in turn.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter, time_ns
from typing import Any, Final

import psycopg

from api.catalog import DAY_MS, METRICS, MINUTE_MS, STORED
from api.domain.adaptive import adaptive
from api.store.base import (
    Device,
    DeviceQuery,
    Grant,
    LatestQuery,
    NewDevice,
    ReadingRow,
    Scope,
    Span,
    Store,
)
from api.store.open import open_store
from api.store.tables import READING
from tests import servers

FLEET: Final = 100_000  # devices
START_MS: Final = 1_772_971_200_000
COPIED: Final = 1_000_000  # raw rows, without rollups
HISTORY: Final = 7 * 1_440  # minutes of each of the devices below
HISTORIES: Final = 50
LIVE: Final = 100_000  # readings, each of another device
BATCHES: Final = (1_000, 10_000)
COMPARED: Final = (
    1_000,
    5_000,
    10_000,
    20_000,
)  # a busy writer joins waiting rows, up to the last number
TIMES: Final = 60
ORG: Final = "acme"


@dataclass(frozen=True, slots=True)
class Engine:
    name: str
    store: Store
    devices: Sequence[Device]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--citus", metavar="URL", help="a database on a cluster's coordinator")
    parser.add_argument("--only", choices=("sqlite", "postgres", "parts", "citus"))
    parser.add_argument(
        "--shards",
        type=int,
        help="unset: what `weir db distribute` makes, one for each core of the workers",
    )
    options = parser.parse_args(arguments)
    wanted = (options.only,) if options.only else ("sqlite", "postgres", "parts", "citus")
    plain: Engine | None = None
    print("| engine | question | |")
    print("|---|---|---:|")
    with TemporaryDirectory(prefix="weir-scale-") as scratch, ExitStack() as opened:
        if "sqlite" in wanted:
            _report("SQLite", open_store(f"sqlite:///{scratch}/weir.sqlite")).store.close()
        if {"postgres", "parts"} & set(wanted):
            server = opened.enter_context(servers.postgres(Path(scratch) / "postgres"))
            if "postgres" in wanted:
                plain = _report("Postgres", open_store(_database(server)))
            if "parts" in wanted:
                _report("Postgres, by month", _parted(_database(server))).store.close()
        if "citus" in wanted and options.citus:
            url = opened.enter_context(_schema(options.citus))
            spread = _report("Citus", _spread(url, options.shards))
            if plain is not None:
                _compare(plain, spread)
            spread.store.close()
        if plain is not None:
            plain.store.close()
    return 0


def _parted(url: str) -> Store:
    store = open_store(url)
    store.upgrade()
    store.partition()
    return store


def _spread(url: str, shards: int | None) -> Store:
    store = open_store(url)
    store.upgrade()
    store.distribute(shards)
    return store


def _report(name: str, store: Store) -> Engine:
    store.upgrade()
    engine = Engine(name, store, _fleet(store))
    for question, measure in QUESTIONS.items():
        print(f"| {name} | {question} | {measure(engine)} |", flush=True)
    return engine


def _compare(plain: Engine, spread: Engine) -> None:
    """Returns the second rate ÷ the first, of medians: in turn, each one first every other time."""
    for engine in (plain, spread):
        engine.store.settle()  # query plans depend on the existing history
    minute = 9 * 1_440
    for batch in COMPARED:
        took: dict[str, list[float]] = {plain.name: [], spread.name: []}
        for turn in range(max(6, LIVE // 2 // batch)):
            first = turn * batch % (LIVE - batch + 1)
            for engine in (plain, spread) if turn % 2 else (spread, plain):
                at_ms = START_MS + (minute + turn) * MINUTE_MS
                devices = engine.devices[first : first + batch]
                rows = [_row(d.key, at_ms + d.key % 60_000) for d in devices]
                took[engine.name].append(_timed(lambda e=engine, r=rows: e.store.write(r)))
        minute += 1_440
        ratio = median(took[plain.name]) / median(took[spread.name])
        question = f"one reading of each device, batches of {batch:,}, in turn"
        print(f"| {spread.name} / {plain.name} | {question} | {ratio:.2f} |", flush=True)


# --- Questions -----------------------------------------------------------------------------------


def _copied(engine: Engine) -> str:
    """Copies raw rows without rollups, like a bulk load, into the store's own table."""
    store: Any = engine.store
    rows = [_row(1, START_MS - COPIED * 1_000 + n * 1_000) for n in range(COPIED)]
    store.add_partitions(rows)
    took_s = _timed(lambda: _insert(store, rows))
    with store.transaction() as transaction:  # they have no rollups, so they are deleted
        transaction.run(_delete(1))
    return f"{COPIED / took_s:,.0f}/s"


def _histories(engine: Engine) -> str:
    rows = [
        [_row(device.key, START_MS + n * MINUTE_MS + device.key) for n in range(HISTORY)]
        for device in engine.devices[:HISTORIES]
    ]
    took_s = _timed(lambda: [engine.store.write(history) for history in rows])
    return f"{HISTORIES * HISTORY / took_s:,.0f}/s"


def _live(batch: int) -> Callable[[Engine], str]:
    def measure(engine: Engine) -> str:
        at_ms = START_MS + 8 * DAY_MS + batch * MINUTE_MS
        rows = [_row(d.key, at_ms + d.key % 60_000) for d in engine.devices[:LIVE]]
        parts = [rows[n : n + batch] for n in range(0, len(rows), batch)]
        took_s = _timed(lambda: [engine.store.write(part) for part in parts])
        return f"{len(rows) / took_s:,.0f}/s"

    return measure


def _adaptive(days: int) -> Callable[[Engine], str]:
    def measure(engine: Engine) -> str:
        rng = random.Random(days)
        took: list[float] = []
        for _ in range(TIMES):
            device = engine.devices[rng.randrange(HISTORIES)]
            low = START_MS + rng.randrange((8 - days) * 24) * 3_600_000 if days < 7 else START_MS
            end = low + days * DAY_MS
            took.append(
                _timed(lambda d=device, a=low, b=end: adaptive(engine.store, d, a, b, 1_500))
            )
        return f"{median(took) * 1_000:.2f} ms"

    return measure


def _latest(engine: Engine) -> str:
    end = START_MS + 7 * DAY_MS
    question = LatestQuery(Span(end - DAY_MS, end), STORED[0], STORED[-1], last=True)
    devices = engine.devices[:HISTORIES]
    took = [_timed(lambda: engine.store.latest(devices, question)) for _ in range(TIMES)]
    return f"{median(took) * 1_000:.2f} ms"


QUESTIONS: Final[dict[str, Callable[[Engine], str]]] = {
    f"raw rows copied in, {COPIED:,}": _copied,
    f"histories of {HISTORY:,} readings a device, all rollups": _histories,
    **{f"one reading of each device, batches of {n:,}, all rollups": _live(n) for n in BATCHES},
    "adaptive over 1 day, at most 1,500 rows, median": _adaptive(1),
    "adaptive over 7 days, at most 1,500 rows, median": _adaptive(7),
    f"latest of {HISTORIES} over 24 h, median": _latest,
}


# --- Ground --------------------------------------------------------------------------------------


def _fleet(store: Store) -> list[Device]:
    store.create_organization("Acme", organization_id=ORG)
    store.import_devices(ORG, [NewDevice(f"M-{n:06}") for n in range(FLEET)])
    scope = Scope(ORG, Grant(everything=True))
    return store.devices(scope, DeviceQuery(order_by="serialNumber"))


def _row(key: int, at_ms: int) -> ReadingRow:
    values = ((at_ms // 1_000 * 7 + n * 13) % 97 / 7 for n in range(len(METRICS)))
    return (key, at_ms, *values)  # pyright: ignore[reportReturnType]


def _insert(store: Any, rows: Sequence[ReadingRow]) -> None:
    with store.transaction() as transaction:
        transaction.insert(READING, READING.names[:-1], rows)


def _delete(key: int) -> Any:
    from api.store.query import Query

    return Query(f"DELETE FROM {READING.name} WHERE device_id = ?", (key,))


def _timed(work: Callable[[], object]) -> float:
    start = perf_counter()
    work()
    return perf_counter() - start


def _database(server: str) -> str:
    name = f"weir_scale_{time_ns()}"
    with psycopg.connect(f"{server}/postgres", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}".encode())
    return f"{server}/{name}"


@contextmanager
def _schema(database: str) -> Iterator[str]:
    name = f"weir_scale_{time_ns()}"
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}".encode())
        yield f"{database}?options=-csearch_path%3D{name}"
        connection.execute(f"DROP SCHEMA {name} CASCADE".encode())


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
