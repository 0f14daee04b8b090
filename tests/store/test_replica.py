"""Reading from a standby: a real primary with a real streaming standby."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import psycopg
import pytest

from api.catalog import RAW
from api.errors import StoreMissing, UserError
from api.store.base import Device, Replica, Span, Store
from api.store.open import open_store
from tests import servers
from tests.store.fleet import new_meters, steady

NAME = "weir"
PATIENCE_S = 20.0


@dataclass
class Pair:
    """A primary and its standby. ``stop_…`` ends one of them as a power cut does for its
    clients."""

    primary: str
    standby: str
    stop_primary: ExitStack
    stop_standby: ExitStack
    stores: list[Store] = field(default_factory=list)

    def opened(self, url: str, *, read_only: bool = False) -> Store:
        self.stores.append(open_store(url, read_only=read_only))
        return self.stores[-1]

    def either(self, *servers: str, wanted: str) -> str:
        """A URL of several servers in order, and which of them to use."""
        places = ",".join(server.rpartition("@")[2] for server in servers)
        return f"postgresql://weir@{places}/{NAME}?target_session_attrs={wanted}"

    def tell(self, server: str, statement: str) -> None:
        with psycopg.connect(f"{server}/{NAME}", autocommit=True) as connection:
            connection.execute(statement.encode())


@pytest.fixture
def pair() -> Iterator[Pair]:
    with TemporaryDirectory(prefix="weir-pair-") as folder, ExitStack() as all_of_it:
        primary_ends = all_of_it.enter_context(ExitStack())
        primary = primary_ends.enter_context(servers.postgres(Path(folder) / "primary"))
        with psycopg.connect(f"{primary}/postgres", autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {NAME}".encode())
        standby_ends = all_of_it.enter_context(ExitStack())
        standby = standby_ends.enter_context(servers.standby(primary, Path(folder) / "standby"))
        pair = Pair(primary, standby, primary_ends, standby_ends)
        yield pair
        for store in pair.stores:
            store.close()


def awaited(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "it didn't come about"
        time.sleep(0.05)


def made(pair: Pair) -> tuple[Store, Device]:
    """The primary's store with one meter of five readings."""
    writer = pair.opened(f"{pair.primary}/{NAME}")
    writer.upgrade()
    (meter,) = new_meters(writer, 1)
    writer.write(steady(meter, 5))
    return writer, meter


def holds(store: Store, meter: Device, rows: int) -> Callable[[], bool]:
    def caught_up() -> bool:
        try:
            return store.count(meter, RAW, Span()) == rows
        except StoreMissing:  # a standby that doesn't have the schema yet
            return False

    return caught_up


def test_rows_written_to_the_primary_are_read_from_its_standby(pair: Pair) -> None:
    writer, meter = made(pair)
    reader = pair.opened(f"{pair.standby}/{NAME}", read_only=True)
    awaited(lambda: reader.replica() == Replica(receiving=True, lag_s=0.0))
    awaited(holds(reader, meter, 5))
    assert writer.replica() is None
    with pytest.raises(UserError):
        reader.create_organization("Acme")


def test_a_standby_reports_its_lag(pair: Pair) -> None:
    writer, meter = made(pair)
    reader = pair.opened(f"{pair.standby}/{NAME}", read_only=True)
    awaited(holds(reader, meter, 5))
    pair.tell(pair.standby, "SELECT pg_wal_replay_pause()")
    writer.write(steady(meter, 9))
    awaited(lambda: (behind := reader.replica()) is not None and (behind.lag_s or 0) > 0.2)
    assert reader.count(meter, RAW, Span()) == 5
    pair.tell(pair.standby, "SELECT pg_wal_replay_resume()")
    awaited(holds(reader, meter, 9))
    awaited(lambda: reader.replica() == Replica(receiving=True, lag_s=0.0))


def test_without_its_primary_a_standby_serves_reads_and_reports_it(pair: Pair) -> None:
    _, meter = made(pair)
    reader = pair.opened(f"{pair.standby}/{NAME}", read_only=True)
    awaited(holds(reader, meter, 5))
    pair.stop_primary.close()
    awaited(lambda: (cut := reader.replica()) is not None and not cut.receiving)
    assert reader.count(meter, RAW, Span()) == 5
    cut = reader.replica()
    assert cut is not None
    assert (cut.lag_s or 0) > 0


def test_without_its_standby_reads_go_to_the_primary(pair: Pair) -> None:
    _, meter = made(pair)
    either = pair.either(pair.standby, pair.primary, wanted="prefer-standby")
    reader = pair.opened(either, read_only=True)
    awaited(holds(reader, meter, 5))
    assert reader.replica() is not None
    pair.stop_standby.close()
    assert reader.count(meter, RAW, Span()) == 5
    assert reader.replica() is None


def test_a_promoted_standby_takes_the_writes(pair: Pair) -> None:
    _, meter = made(pair)
    awaited(holds(pair.opened(f"{pair.standby}/{NAME}", read_only=True), meter, 5))
    writer = pair.opened(pair.either(pair.primary, pair.standby, wanted="read-write"))
    writer.write(steady(meter, 6))
    awaited(holds(pair.opened(f"{pair.standby}/{NAME}", read_only=True), meter, 6))
    pair.stop_primary.close()
    pair.tell(pair.standby, "SELECT pg_promote()")
    writer.write(steady(meter, 8))
    assert writer.count(meter, RAW, Span()) == 8
    assert writer.verify().wrong == 0
