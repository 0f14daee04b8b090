"""Real processes killed while readings are sent: no acknowledged reading is lost."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from api.catalog import MINUTE_MS, RAW
from api.store.base import Grant, Scope, Span, Store, Verdict
from api.store.open import open_store
from api.timez import stamp
from tests import citus
from tests.commands.conftest import CommandLine
from tests.commands.shell import (
    PATIENCE_S,
    Shell,
    alive,
    children,
    eventually,
    stopped,
)
from tests.store.fleet import NOON_MS

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/stat").exists(), reason="looks at processes in /proc"
)
METERS = 4
PAUSE_S = 0.2  # seconds between two readings of a meter: continuous, but with little processor time


class LoadedServer:
    """`weir serve` over a store with meters, and senders that record what was acknowledged."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        ask = CommandLine(shell.environ).ask
        ask("db", "upgrade")
        self.org = str(ask("orgs", "create", "Acme")["id"])
        devices = shell.folder / "d.json"
        devices.write_text(json.dumps([{"serialNumber": f"M-{n}"} for n in range(METERS)]))
        ask("devices", "import", devices, "--org", self.org)
        self.key = str(ask("keys", "create", "--org", self.org, "--ingest")["key"])
        self.server: subprocess.Popen[str] = self.serve()
        self.stop = threading.Event()
        self.acknowledged: set[tuple[str, int]] = set()
        self.statuses: list[int] = []
        self.cut_off = 0
        self._threads = [threading.Thread(target=self._send, args=(n,)) for n in range(METERS)]

    def serve(self) -> subprocess.Popen[str]:
        return self.shell.start("serve", "--workers", "1")

    def post(self, rows: list[dict[str, Any]], timeout: float = PATIENCE_S) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.shell.port, timeout=timeout)
        headers = {"service-api-key": self.key, "Content-Type": "application/json"}
        try:
            connection.request("POST", "/ingest/v1/readings", json.dumps(rows), headers)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def await_up(self) -> None:
        """Wait for the web server and the writer."""
        eventually(lambda: self.post([])[0] == 200, "the server was up")

    def begin(self) -> None:
        for thread in self._threads:
            thread.start()
        eventually(lambda: len(self.acknowledged) > 10, "readings were coming in")

    def end(self) -> None:
        self.stop.set()
        for thread in self._threads:
            if thread.ident:
                thread.join(PATIENCE_S)

    def await_more(self) -> None:
        before = len(self.acknowledged)
        eventually(lambda: len(self.acknowledged) > before + 10, "readings came in again")

    def _send(self, number: int) -> None:
        """Send each reading until it is acknowledged, as a meter with a memory does."""
        device, minute = f"M-{number}", 0
        while not self.stop.is_set():
            at_ms = NOON_MS + minute * MINUTE_MS
            row = {"device": device, "recordedAt": stamp(at_ms), "flowAmount": 1}
            try:
                status, body = self.post([row])
            except (OSError, http.client.HTTPException):
                self.cut_off += 1
                time.sleep(PAUSE_S / 2)
                continue
            self.statuses.append(status)
            if status != 200:
                time.sleep(PAUSE_S / 2)
                continue
            reply = json.loads(body)
            assert reply["accepted"] + reply["repeated"] == 1
            self.acknowledged.add((device, at_ms))
            minute += 1
            time.sleep(PAUSE_S)

    def parts(self) -> tuple[int, list[int]]:
        """The process ids of the writer and of the web workers."""
        there = children(self.server.pid)
        [writer] = [pid for pid, command in there.items() if " writer" in command]
        return writer, [pid for pid in there if pid != writer]

    def assert_true(self, besides: int = 0) -> None:
        """Assert that every acknowledged reading is stored once, that ``besides`` others are, and
        that the rollups equal a recount."""
        store: Store = open_store(self.shell.url)
        scope = Scope(self.org, Grant(everything=True))
        serials = [f"M-{n}" for n in range(METERS)]
        there: list[tuple[str, int]] = []
        for device in store.resolve(scope, serials):
            assert device is not None
            rows = store.rows(device, RAW, Span(), limit=1_000_000)
            there += [(device.serial_number, row[0]) for row in rows]
        assert len(there) == len(set(there))
        assert self.acknowledged <= set(there)
        # Stored but not acknowledged.
        assert len(there) - besides <= len(self.acknowledged) + METERS
        verdict: Verdict = store.verify()
        assert verdict.wrong == 0
        store.close()


@pytest.fixture
def loaded(tmp_path: Path) -> Iterator[LoadedServer]:
    shell = Shell(tmp_path)
    loaded = LoadedServer(shell)
    try:
        loaded.await_up()
        yield loaded
    finally:
        loaded.end()
        if loaded.server.poll() is None:
            loaded.server.terminate()
            with suppress(subprocess.TimeoutExpired):
                loaded.server.wait(40)
        shell.end_all()


@pytest.mark.slow
def test_a_killed_writer_is_restarted_and_loses_nothing(loaded: LoadedServer) -> None:
    loaded.begin()
    for _ in range(2):
        writer, _ = loaded.parts()
        os.kill(writer, signal.SIGKILL)
        loaded.await_more()
    loaded.end()
    assert set(loaded.statuses) <= {200, 503}
    code, _, err = stopped(loaded.server, signal.SIGTERM)
    killed = [line for line in err.splitlines() if "writer stopped (SIGKILL)" in line]
    others = [line for line in err.splitlines() if line not in killed]
    assert (code, len(killed)) == (0, 2)
    assert all(line.startswith("requests fail: ") for line in others)
    # Each failure is logged once, however many requests met it.
    assert len(others) == len(set(others))
    loaded.assert_true()


@pytest.mark.slow
def test_killed_web_workers_are_restarted_even_two_at_once(loaded: LoadedServer) -> None:
    loaded.begin()
    for _ in range(2):
        before = loaded.parts()[1]
        os.kill(before[0], signal.SIGKILL)
        eventually(lambda gone=before: _fresh(loaded, gone), "there was a new worker")
        loaded.await_more()
    loaded.end()
    assert stopped(loaded.server, signal.SIGTERM)[0] == 0
    loaded.assert_true()


def _fresh(loaded: LoadedServer, gone: list[int]) -> bool:
    with suppress(ValueError):  # no process: between two writers
        workers = loaded.parts()[1]
        return bool(workers) and workers != gone
    return False


@pytest.mark.slow
def test_a_killed_supervisor_ends_its_children_and_the_next_one_continues(
    loaded: LoadedServer,
) -> None:
    loaded.begin()
    writer, workers = loaded.parts()
    # The message for a second supervisor names the first.
    code, out, err = loaded.shell.run("writer")
    assert (code, out) == (1, "")
    assert f"is already being written by process {writer}" in err
    assert len(err.splitlines()) == 1
    loaded.server.kill()
    loaded.server.wait(PATIENCE_S)
    eventually(lambda: not any(map(alive, (writer, *workers))), "no orphan was left")
    loaded.server = loaded.shell.start("serve", "--workers", "1")
    loaded.await_more()
    loaded.end()
    assert stopped(loaded.server, signal.SIGTERM)[0] == 0
    loaded.assert_true()


def test_a_writer_whose_parent_ended_early_ends_too(shell: Shell) -> None:
    CommandLine(shell.environ).ask("db", "upgrade")
    gone = subprocess.Popen(["true"])
    gone.wait()
    writer = shell.start("writer", "--while-parent", str(gone.pid))
    assert writer.wait(PATIENCE_S) == 0


@pytest.mark.slow
def test_a_stopped_server_finishes_running_requests(loaded: LoadedServer) -> None:
    loaded.begin()
    loaded.stop.set()  # each sender ends after its current request
    loaded.server.send_signal(signal.SIGTERM)
    loaded.end()
    assert (set(loaded.statuses), loaded.cut_off <= METERS) == ({200}, True)
    out, err = loaded.server.communicate(timeout=40)
    assert (loaded.server.returncode, err) == (0, "")
    assert out.count("Weir is at") == 1
    loaded.assert_true()


@pytest.mark.slow
def test_an_import_and_live_readings_wait_for_each_other(loaded: LoadedServer) -> None:
    lines = ["device,recorded_at,flow_amount"]
    start = NOON_MS - 100_000 * 1000
    lines += [f"M-0,{stamp(start + n * 1000)},1" for n in range(50_000)]
    path = loaded.shell.folder / "long.csv"
    path.write_text("\n".join(lines))
    loaded.begin()
    body = loaded.shell.ask("readings", "import", path, "--org", loaded.org)
    assert body["stored"] == 50_000
    loaded.await_more()
    loaded.end()
    # While a batch of the file takes long, more senders send than may wait for the writer.
    assert set(loaded.statuses) <= {200, 429, 503}
    assert stopped(loaded.server, signal.SIGTERM)[0] == 0
    loaded.assert_true(besides=50_000)


# --- On a server's database ----------------------------------------------------------------------


@pytest.fixture(params=citus.SERVERS)
def server_url(request: pytest.FixtureRequest) -> str:
    url = str(request.getfixturevalue(f"{request.param}_url"))
    citus.made(url).close()
    return url


@pytest.mark.slow
def test_a_server_database_takes_several_writers_and_one_owns_the_socket(
    tmp_path: Path, server_url: str
) -> None:
    shell = Shell(tmp_path)
    shell.environ["WEIR_DATABASE"] = server_url
    try:
        loaded = LoadedServer(shell)
        loaded.await_up()
        writer = loaded.parts()[0]
        second = shell.start("writer")
        assert second.stderr is not None
        output = second.stderr.readline()
        assert f"process {writer}; readings sent over HTTP go there" in output
        loaded.begin()
        os.kill(writer, signal.SIGKILL)
        loaded.await_more()
        loaded.end()
        shell.url = server_url
        loaded.assert_true()
        assert stopped(second, signal.SIGTERM)[0] == 0
        assert stopped(loaded.server, signal.SIGTERM)[0] == 0
    finally:
        shell.end_all()
