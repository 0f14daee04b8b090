"""The ground that suites race on: a store full of a fleet, readers of it, and the floors."""

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
    """An answer that isn't exact: no speed counts beside it."""


@dataclass(frozen=True)
class Ground:
    """``fresh`` makes the URL of one more store, empty and not yet begun; ``scratch`` is a
    folder for files. ``small`` is a fleet of a few devices over the same days, to see what growth
    costs."""

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

    def fetching(self, ask: Callable[[Any], Sequence[Statement]]) -> tuple[Run, Run]:
        """The two floors of a race: each fetches and dumps what these statements give."""
        first, second = self.floors
        first.forget()
        second.forget()
        return lambda a: first.fetch(ask(a)), lambda a: second.fetch(ask(a))

    @cached_property
    def other(self) -> Floor:
        """Where the other ways run, so that they warm nobody's cache."""
        return self.floor()

    @contextmanager
    def anew(self) -> Iterator[Ground]:
        """The same ground with nothing opened on it yet; what will be is closed at the end.

        Its files are read once: whoever asks first would pay the disk for those who follow.
        """
        for one in filter(None, (self, self.small)):
            _warm(one.url)
        with ExitStack() as opened:
            yield replace(self, opened=opened)

    def reader(self) -> Store:
        """One more read-only store, with connections and caches of its own."""
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
        """Random devices and random ranges of that length, as much as the fleet's days allow."""
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
    """The fleet's store at that URL, filled where it isn't yet."""
    organization = _filled(url, fleet)
    with ExitStack() as opened:
        store = open_store(url, read_only=True)
        opened.callback(store.close)
        scope = Scope(organization, Grant(everything=True))
        devices = in_order(store, organization)
        yield Ground(url, fleet, store, scope, devices, fresh, scratch, opened, small)


def _filled(url: str, fleet: Fleet) -> str:
    """The organization whose fleet the store holds: as noted by an earlier run, or filled now."""
    said = asdict(fleet) | {"columns": {table.name: list(table.names) for table in TABLES}}
    if not url.startswith("sqlite"):
        organization = _fill(url, fleet)
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("VACUUM ANALYZE")  # as autovacuum would, some minutes later
        return organization
    note = Path(url.removeprefix("sqlite:///")).with_suffix(".json")
    if note.exists():
        kept = json.loads(note.read_text("utf-8"))
        if kept["fleet"] != said:
            raise SystemExit(f"{note.parent} keeps another fleet or layout: name an empty folder")
        return str(kept["organization"])
    organization = _fill(url, fleet)
    note.write_text(json.dumps({"fleet": said, "organization": organization}), "utf-8")
    return organization


def _fill(url: str, fleet: Fleet) -> str:
    """A new store with the fleet's readings, written device by device; its organization's id."""
    store, organization = begun(url, fleet)
    try:
        for index, device in enumerate(in_order(store, organization)):
            for rows in fleet.batches(index, device.key):
                store.write(rows)
        return organization
    finally:
        store.close()


def _warm(url: str) -> None:
    """Let the operating system have read a SQLite file whole."""
    if url.startswith("sqlite"):
        with Path(url.removeprefix("sqlite:///")).open("rb", buffering=0) as file:
            while file.read(_CHUNK):
                pass


def begun(url: str, fleet: Fleet) -> tuple[Store, str]:
    """A new store with the fleet's devices and no reading, and its organization's id."""
    store = open_store(url)
    store.upgrade()
    organization = store.create_organization("Benchmark").id
    store.import_devices(organization, fleet.new_devices())
    digest, everything = key_digest(KEY), Grant(everything=True)
    store.create_key(Key("key_benchmark", organization, "Benchmark", digest, everything, 0))
    return store, organization


def in_order(store: Store, organization: str) -> list[Device]:
    """The fleet's devices, by their number in the fleet."""
    scope = Scope(organization, Grant(everything=True))
    return store.devices(scope, DeviceQuery(order_by="serialNumber"))
