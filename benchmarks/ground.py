"""The ground of the races: a store filled with a fleet, its readers, and the floors."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import psycopg

from api.auth import key_digest
from api.store.base import Device, DeviceQuery, Grant, Key, Scope, Span, Store
from api.store.open import open_store
from api.store.tables import TABLES
from benchmarks.clock import Run
from benchmarks.fleet import Fleet
from benchmarks.floor import Floor, Statement
from benchmarks.wire import KEY

_CHUNK = 1 << 23  # bytes


class Wrong(Exception):
    """A response that isn't exact; its speed doesn't count."""


@dataclass(frozen=True)
class Ground:
    """``fresh`` returns the URL of another store, empty and not yet created. ``scratch`` is a
    folder for files. ``small`` is a fleet of a few devices over the same days, to measure the
    effect of size."""

    url: str
    fleet: Fleet
    store: Store
    scope: Scope
    devices: list[Device]
    fresh: Callable[[], str]
    scratch: Path
    opened: ExitStack
    small: Ground | None = None

    @property
    def dialect(self) -> str:
        return "sqlite" if self.url.startswith("sqlite") else "postgres"

    @property
    def span(self) -> Span:
        return self.fleet.span

    @cached_property
    def floors(self) -> tuple[Floor, Floor]:
        return self.floor(), self.floor()

    def fetching(self, statements_of: Callable[[Any], Sequence[Statement]]) -> tuple[Run, Run]:
        """Returns the two floors of a race: each fetches and dumps the results of these
        statements."""
        first, second = self.floors
        first.forget()
        second.forget()
        return lambda a: first.fetch(statements_of(a)), lambda a: second.fetch(statements_of(a))

    @cached_property
    def other(self) -> Floor:
        """Returns a floor for the other ways, so that they don't warm the caches of a contender."""
        return self.floor()

    @contextmanager
    def new_ground(self) -> Iterator[Ground]:
        """Yields the same ground with nothing opened on it yet; what is opened is closed at the
        end. Its files are read once: otherwise the first contender would pay for the disk reads of
        the others."""
        for one in filter(None, (self, self.small)):
            _warm(one.url)
        with ExitStack() as opened:
            yield replace(self, opened=opened)

    def reader(self) -> Store:
        """Returns another read-only store, with its own connections and caches."""
        store = open_store(self.url, read_only=True)
        self.opened.callback(store.close)
        return store

    def floor(self, url: str | None = None, *, writes: bool = False) -> Floor:
        floor = Floor(url or self.url, writes=writes)
        self.opened.callback(floor.close)
        return floor

    def chance(self, name: str) -> random.Random:
        return random.Random(f"{self.fleet.seed} {name}")

    def windows(self, name: str, length_ms: int, rounds: int) -> list[tuple[Device, Span]]:
        """Returns random devices and random ranges of that length, within the fleet's days."""
        chance, (start, end) = self.chance(name), self.bounds
        latest = max(start, end - length_ms)
        starts = (chance.randint(start, latest) for _ in range(rounds))
        return [(chance.choice(self.devices), Span(s, min(s + length_ms, end))) for s in starts]

    @property
    def bounds(self) -> tuple[int, int]:
        start, end = self.span
        assert start is not None
        assert end is not None
        return start, end


@contextmanager
def ground_at(
    url: str,
    fleet: Fleet,
    fresh: Callable[[], str],
    scratch: Path,
    *,
    small: Ground | None = None,
) -> Iterator[Ground]:
    """Yields the fleet's store at that URL, filled where it isn't yet."""
    organization = _filled(url, fleet)
    with ExitStack() as opened:
        store = open_store(url, read_only=True)
        opened.callback(store.close)
        scope = Scope(organization, Grant(everything=True))
        devices = in_order(store, organization)
        yield Ground(url, fleet, store, scope, devices, fresh, scratch, opened, small)


def _filled(url: str, fleet: Fleet) -> str:
    """Returns the organization whose fleet the store holds: as noted by an earlier run, or filled
    now."""
    layout = asdict(fleet) | {"columns": {table.name: list(table.names) for table in TABLES}}
    if not url.startswith("sqlite"):
        organization = _fill(url, fleet)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")  # as autovacuum would, some minutes later
        return organization
    note = Path(url.removeprefix("sqlite:///")).with_suffix(".json")
    if note.exists():
        stored = json.loads(note.read_text("utf-8"))
        if stored["fleet"] != layout:
            raise SystemExit(f"{note.parent} keeps another fleet or layout: name an empty folder")
        return str(stored["organization"])
    organization = _fill(url, fleet)
    note.write_text(json.dumps({"fleet": layout, "organization": organization}), "utf-8")
    return organization


def _fill(url: str, fleet: Fleet) -> str:
    """Fills a new store with the fleet's readings, device by device. Returns its organization's
    id."""
    store, organization = begun(url, fleet)
    try:
        for index, device in enumerate(in_order(store, organization)):
            for rows in fleet.batches(index, device.key):
                store.write(rows)
        return organization
    finally:
        store.close()


def _warm(url: str) -> None:
    """Reads a SQLite file once, so that it is in the operating system's cache."""
    if url.startswith("sqlite"):
        with Path(url.removeprefix("sqlite:///")).open("rb", buffering=0) as file:
            while file.read(_CHUNK):
                pass


def begun(url: str, fleet: Fleet) -> tuple[Store, str]:
    """Returns a new store with the fleet's devices and no readings, and its organization's id."""
    store = open_store(url)
    store.upgrade()
    organization = store.create_organization("Benchmark").id
    store.import_devices(organization, fleet.new_devices())
    digest, everything = key_digest(KEY), Grant(everything=True)
    store.create_key(Key("key_benchmark", organization, "Benchmark", digest, everything, 0))
    return store, organization


def in_order(store: Store, organization: str) -> list[Device]:
    """Returns the fleet's devices, by their number in the fleet."""
    scope = Scope(organization, Grant(everything=True))
    return store.devices(scope, DeviceQuery(order_by="serialNumber"))
