"""The database server stopped, restarted, blocked, or cut off from the network while Weir is in
use."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any

import psycopg
import pytest

from api.catalog import KEY_HEADER, PATH_PREFIX, RAW
from api.errors import Unavailable
from api.server import readiness
from api.store import connections, postgres
from api.store.base import Device, Span
from api.store.open import open_store
from api.store.postgres import PostgresStore
from api.store.query import Query
from tests import servers
from tests.commands.shell import alive, children, eventually
from tests.faults.conftest import Start
from tests.faults.loaded_server import OLD, WatchedServer, is_unavailable, rate
from tests.store.fleet import new_meters, steady

NAME = "weir"
AWAY = "The store can't be reached."


class Cluster:
    """A server that is stopped and started again at the same port."""

    def __init__(self, folder: Path, *, durable: bool = False) -> None:
        self.folder, self._durable = folder, durable
        self._ends = ExitStack()
        self.url = self._ends.enter_context(servers.postgres(folder, durable=durable))
        with psycopg.connect(f"{self.url}/postgres", autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {NAME}".encode())

    @property
    def database(self) -> str:
        return f"{self.url}/{NAME}"

    def stop(self) -> None:
        self._ends.close()

    def start(self) -> None:
        port = int(self.url.rpartition(":")[2])
        again = servers.started_postgres(self.folder, port, durable=self._durable)
        self._ends.enter_context(again)

    def kill(self) -> None:
        """As by kill -9: it saves nothing more."""
        first = int((self.folder / "data" / "postmaster.pid").read_text().split()[0])
        all_of_it = [first, *children(first)]
        for pid in all_of_it:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.stop()
        eventually(lambda: not any(map(alive, all_of_it)), "it was gone")


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with TemporaryDirectory(prefix="weir-away-") as folder:
        cluster = Cluster(Path(folder) / "primary")
        yield cluster
        cluster.stop()


def reads_right(loaded: WatchedServer) -> bool:
    answer = loaded.old_rates(0, 100)
    if answer.status_code == 503:
        return False
    assert [row["flow_rate"] for row in answer.json()["data"]] == [rate(n) for n in range(100)]
    return "error" not in loaded.wall()


def refused(loaded: WatchedServer) -> bool:
    return loaded.tried()[0] == 503


@pytest.mark.slow
def test_a_stopped_server_is_reported_and_a_restarted_one_used_at_once(
    cluster: Cluster, start: Start
) -> None:
    loaded = start(url=cluster.database, history=True)
    loaded.begin()
    assert reads_right(loaded)
    cluster.stop()
    eventually(lambda: is_unavailable(loaded.old_rates(0, 10), AWAY), "readers were told")
    eventually(lambda: AWAY in loaded.wall().get("error", ""), "the fleet page said it")
    eventually(lambda: refused(loaded), "senders were told")
    assert loaded.open("/healthz").status_code == 200
    cluster.start()
    eventually(lambda: reads_right(loaded), "readers were answered again")
    loaded.await_more()
    log = loaded.settled()
    # Most are refused before they reach the writer, which then has nothing to report.
    assert log.count("no reading can be stored") <= 1
    assert log.count("readings are stored again") == log.count("no reading can be stored")


@pytest.mark.slow
def test_a_server_killed_under_load_has_every_acknowledged_reading(start: Start) -> None:
    with TemporaryDirectory(prefix="weir-killed-") as folder:
        cluster = Cluster(Path(folder), durable=True)
        loaded = start(url=cluster.database)
        loaded.begin()
        for _ in range(2):
            cluster.kill()
            eventually(lambda: refused(loaded), "senders were told")
            cluster.start()
            loaded.await_more()
        loaded.settled()
        cluster.stop()


@pytest.mark.slow
def test_without_the_primary_readers_of_a_standby_continue(cluster: Cluster, start: Start) -> None:
    with servers.standby(cluster.url, cluster.folder.parent / "standby") as standby:
        places = ",".join(url.rpartition("@")[2] for url in (standby, cluster.url))
        either = f"postgresql://weir@{places}/{NAME}?target_session_attrs=prefer-standby"
        loaded = start(url=cluster.database, history=True, WEIR_DATABASE_READ=either)
        loaded.begin()
        eventually(lambda: reads_right(loaded), "the standby had it all")
        cluster.stop()
        eventually(lambda: refused(loaded), "senders were told")
        assert reads_right(loaded)
        cluster.start()
        loaded.await_more()
        loaded.settled()


@pytest.mark.slow
def test_an_unconfirmed_commit_is_reported_while_reads_continue(
    start: Start,
) -> None:
    """`synchronous_standby_names` names a server that doesn't exist, so each commit waits for
    ever."""
    with TemporaryDirectory(prefix="weir-unconfirmed-") as folder, ExitStack() as ends:
        cluster = Cluster(Path(folder) / "primary", durable=True)
        ends.callback(cluster.stop)
        copy = ends.enter_context(servers.standby(cluster.url, Path(folder) / "standby"))
        loaded = start(url=cluster.database, history=True, WEIR_DATABASE_READ=f"{copy}/{NAME}")
        loaded.begin()
        eventually(lambda: reads_right(loaded), "the standby had it all")
        _set_synchronous(cluster, "nobody")
        eventually(lambda: refused(loaded), "senders were told")

        def writer() -> dict[str, Any]:
            return json.loads(loaded.shell.get("/readyz")[1])["checks"]["writer"]

        eventually(lambda: "inside one commit" in writer().get("detail", ""), "readiness said it")
        assert writer()["status"] == "degraded"
        assert writer()["committingS"] >= readiness.COMMIT_S
        assert reads_right(loaded)
        _set_synchronous(cluster, "")
        loaded.await_more()
        eventually(lambda: writer()["status"] == "ok", "readiness was well again")
        loaded.settled()


def _set_synchronous(cluster: Cluster, names: str) -> None:
    with psycopg.connect(cluster.database, autocommit=True) as connection:
        connection.execute("SET synchronous_commit = local")
        connection.execute(f"ALTER SYSTEM SET synchronous_standby_names = '{names}'".encode())
        connection.execute("SELECT pg_reload_conf()")


@pytest.mark.slow
def test_a_locked_table_times_out(cluster: Cluster, start: Start) -> None:
    loaded = start(url=cluster.database, history=True)
    loaded.begin()
    assert reads_right(loaded)
    with psycopg.connect(cluster.database) as holding:
        holding.execute("LOCK TABLE reading IN ACCESS EXCLUSIVE MODE")
        eventually(lambda: refused(loaded), "senders were told")
        begun_s = time.monotonic()
        answer = loaded.http.get(
            f"{PATH_PREFIX}/flow/datapoints/{OLD}",
            params={"resolution": "raw", "limit": 10},
            headers={KEY_HEADER: loaded.reader},
        )
        assert is_unavailable(answer, "too slow to respond")
        assert time.monotonic() - begun_s < postgres.READ_PATIENCE_S + 10
        assert loaded.open("/healthz").status_code == 200
        holding.rollback()
    eventually(lambda: reads_right(loaded), "readers were answered again")
    loaded.await_more()
    loaded.settled()


# --- A network without replies -------------------------------------------------------------------


class SilentProxy:
    """A proxy to a server that may fall silent: it takes what is sent and forwards nothing."""

    def __init__(self, url: str) -> None:
        place, _, name = url.rpartition("/")
        before, _, port = place.rpartition(":")
        self.direct, self._to = url, int(port)
        self._door = socket.create_server(("127.0.0.1", 0))
        self.url = f"{before}:{self._door.getsockname()[1]}/{name}"
        self.silent = False
        self.last_words = b""  # connections opened before this fall silent
        self._open: list[socket.socket] = []
        self._forgotten: list[socket.socket] = []
        Thread(target=self._accept, daemon=True).start()

    def forget(self) -> None:
        """Open connections fall silent; new ones work."""
        self._forgotten += self._open

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._door.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self._to))
            self._open += [near, far]
            for source, sink in ((near, far), (far, near)):
                Thread(target=self._carry, args=(source, sink), daemon=True).start()

    def _carry(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while text := source.recv(65_536):
                messages = not self.silent and source not in self._forgotten
                if self.last_words and self.last_words in text:
                    self.forget()
                if messages:
                    sink.sendall(text)
            if source not in self._forgotten:
                sink.shutdown(socket.SHUT_WR)
        except OSError:
            return

    def close(self) -> None:
        for end in (self._door, *self._open):
            end.close()


@pytest.fixture
def wire(postgres_url: str) -> Iterator[SilentProxy]:
    wire = SilentProxy(postgres_url)
    yield wire
    wire.close()


@pytest.fixture
def meter(postgres_url: str) -> Device:
    store = open_store(postgres_url)
    store.upgrade()
    (meter,) = new_meters(store, 1)
    store.write(steady(meter, 5))
    store.close()
    return meter


def test_a_silent_server_times_out_and_is_used_again_once_it_responds(
    wire: SilentProxy, meter: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "READ_PATIENCE_S", 0.5)
    monkeypatch.setattr(postgres, "GRACE_S", 0.5)
    store = open_store(wire.url, read_only=True)
    assert store.count(meter, RAW, Span()) == 5
    wire.silent = True
    begun_s = time.monotonic()
    with pytest.raises(Unavailable, match="too slow"):
        store.count(meter, RAW, Span())
    assert time.monotonic() - begun_s < 20
    wire.silent = False
    assert store.count(meter, RAW, Span()) == 5
    store.close()


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "PROBE_AFTER_S", 0.3)
    monkeypatch.setattr(connections, "CONNECT_TIMEOUT_S", 2)


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("all_ways", [True, False], ids=["for all", "for what is open"])
def test_a_writer_abandons_a_silent_server_and_writes_again(
    wire: SilentProxy, meter: Device, all_ways: bool
) -> None:
    """If only open connections are lost, the old session still locks the meter, since nobody tells
    the server that the writer has gone."""
    store = open_store(wire.url)
    assert store.write(steady(meter, 6)).stored == 1
    if all_ways:
        wire.silent = True
    else:
        wire.forget()
    begun_s = time.monotonic()
    with pytest.raises(Unavailable, match="no longer responds"):
        store.write(steady(meter, 7))
    assert time.monotonic() - begun_s < 40
    wire.silent = False
    assert store.write(steady(meter, 7)).stored == 1
    assert store.verify().wrong == 0
    store.close()


@pytest.mark.usefixtures("soon")
def test_a_commit_whose_reply_is_lost_counts_once(wire: SilentProxy, meter: Device) -> None:
    store = open_store(wire.url)
    wire.last_words = b"COMMIT"
    with pytest.raises(Unavailable, match="no longer responds"):
        store.write(steady(meter, 6))
    wire.last_words = b""
    again = store.write(steady(meter, 6))
    assert (again.stored, again.repeated) == (0, 6)
    assert store.count(meter, RAW, Span()) == 6
    assert store.verify().wrong == 0
    store.close()


@pytest.mark.usefixtures("soon")
def test_a_busy_or_locked_query_is_waited_for(wire: SilentProxy, meter: Device) -> None:
    store = PostgresStore(wire.url)
    assert store.fetch(Query("SELECT 1 FROM pg_sleep(3)")) == [(1,)]
    with psycopg.connect(wire.direct) as holding:
        holding.execute("LOCK TABLE reading IN ACCESS EXCLUSIVE MODE")
        with ThreadPoolExecutor(1) as pool:
            written = pool.submit(store.write, steady(meter, 6))
            time.sleep(3)
            assert not written.done()
            holding.rollback()
            assert written.result(60).stored == 1
    store.close()
