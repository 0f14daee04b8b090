"""Real processes that are killed while readings come: nothing that was acknowledged is lost."""

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
PAUSE_S = 0.1  # of a meter between two readings: without end, but little of what a core can do


class Plant:
    """`flask serve` over a store with meters, and senders that note what was acknowledged."""

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
        """Web server and writer."""
        eventually(lambda: self.post([])[0] == 200, "the plant was up")

    def begin(self) -> None:
        for thread in self._threads:
            thread.start()
        eventually(lambda: len(self.acknowledged) > 20, "readings were coming in")

    def end(self) -> None:
        self.stop.set()
        for thread in self._threads:
            if thread.ident:
                thread.join(PATIENCE_S)

    def await_more(self) -> None:
        before = len(self.acknowledged)
        eventually(lambda: len(self.acknowledged) > before + 20, "readings came in again")

    def _send(self, number: int) -> None:
        """Each reading until it is acknowledged, as a meter with a memory does."""
        device, minute = f"M-{number}", 0
        while not self.stop.is_set():
            at_ms = NOON_MS + minute * MINUTE_MS
            row = {"device": device, "recordedAt": stamp(at_ms), "flowAmount": 1}
            try:
                status, body = self.post([row])
            except (OSError, http.client.HTTPException):
                self.cut_off += 1
                time.sleep(0.05)
                continue
            self.statuses.append(status)
            if status != 200:
                time.sleep(0.05)
                continue
            told = json.loads(body)
            assert told["accepted"] + told["repeated"] == 1
            self.acknowledged.add((device, at_ms))
            minute += 1
            time.sleep(PAUSE_S)

    def parts(self) -> tuple[int, list[int]]:
        """The writer's process, and the web workers'."""
        there = children(self.server.pid)
        [writer] = [pid for pid, command in there.items() if " writer" in command]
        return writer, [pid for pid in there if pid != writer]

    def assert_true(self, besides: int = 0) -> None:
        """Every acknowledged reading is there, once, ``besides`` others are, and the rollups are
        what they make."""
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
        assert (
            len(there) - besides <= len(self.acknowledged) + METERS
        )  # those that nobody was told of
        verdict: Verdict = store.verify()
        assert verdict.wrong == 0
        store.close()


@pytest.fixture
def plant(tmp_path: Path) -> Iterator[Plant]:
    shell = Shell(tmp_path)
    plant = Plant(shell)
    try:
        plant.await_up()
        yield plant
    finally:
        plant.end()
        if plant.server.poll() is None:
            plant.server.terminate()
            with suppress(subprocess.TimeoutExpired):
                plant.server.wait(40)
        shell.end_all()


@pytest.mark.slow
def test_a_killed_writer_comes_back_and_loses_nothing(plant: Plant) -> None:
    plant.begin()
    for _ in range(2):
        writer, _ = plant.parts()
        os.kill(writer, signal.SIGKILL)
        plant.await_more()
    plant.end()
    assert set(plant.statuses) <= {200, 503}
    code, _, err = stopped(plant.server, signal.SIGTERM)
    killed = [line for line in err.splitlines() if "writer stopped (SIGKILL)" in line]
    others = [line for line in err.splitlines() if line not in killed]
    assert (code, len(killed)) == (0, 2)
    assert all(line.startswith("requests fail: ") for line in others)
    assert len(others) == len(set(others))  # each trouble once, however many met it
    plant.assert_true()


@pytest.mark.slow
def test_a_killed_web_worker_comes_back_even_twice_at_once(plant: Plant) -> None:
    plant.begin()
    for _ in range(2):
        before = plant.parts()[1]
        os.kill(before[0], signal.SIGKILL)
        eventually(lambda gone=before: _fresh(plant, gone), "there was a new worker")
        plant.await_more()
    plant.end()
    assert stopped(plant.server, signal.SIGTERM)[0] == 0
    plant.assert_true()


def _fresh(plant: Plant, gone: list[int]) -> bool:
    with suppress(ValueError):  # between two writers
        workers = plant.parts()[1]
        return bool(workers) and workers != gone
    return False


@pytest.mark.slow
def test_a_killed_supervisor_takes_all_with_it_and_the_next_one_goes_on(plant: Plant) -> None:
    plant.begin()
    writer, workers = plant.parts()
    code, out, err = plant.shell.run("writer")  # a second one is told who is the first
    assert (code, out) == (1, "")
    assert f"is already being written by process {writer}" in err
    assert len(err.splitlines()) == 1
    plant.server.kill()
    plant.server.wait(PATIENCE_S)
    eventually(lambda: not any(map(alive, (writer, *workers))), "no orphan was left")
    plant.server = plant.shell.start("serve", "--workers", "1")
    plant.await_more()
    plant.end()
    assert stopped(plant.server, signal.SIGTERM)[0] == 0
    plant.assert_true()


def test_a_writer_whose_parent_is_gone_before_it_looks_ends_too(shell: Shell) -> None:
    shell.ask("db", "upgrade")
    gone = subprocess.Popen(["true"])
    gone.wait()
    writer = shell.start("writer", "--while-parent", str(gone.pid))
    assert writer.wait(PATIENCE_S) == 0


@pytest.mark.slow
def test_who_is_told_to_stop_finishes_what_was_begun(plant: Plant) -> None:
    plant.begin()
    plant.stop.set()  # each sender ends with the request it has begun
    plant.server.send_signal(signal.SIGTERM)
    plant.end()
    assert (set(plant.statuses), plant.cut_off <= METERS) == ({200}, True)
    out, err = plant.server.communicate(timeout=40)
    assert (plant.server.returncode, err) == (0, "")
    assert out.count("Weir is at") == 1
    plant.assert_true()


@pytest.mark.slow
def test_an_import_and_live_readings_wait_for_each_other(plant: Plant) -> None:
    lines = ["device,recorded_at,flow_amount"]
    start = NOON_MS - 300_000 * 1000
    lines += [f"M-0,{stamp(start + n * 1000)},1" for n in range(150_000)]
    path = plant.shell.folder / "long.csv"
    path.write_text("\n".join(lines))
    plant.begin()
    told = plant.shell.ask("readings", "import", path, "--org", plant.org)
    assert told["stored"] == 150_000
    plant.await_more()
    plant.end()
    # While a batch of the file takes long, there are more senders than may wait for the writer.
    assert set(plant.statuses) <= {200, 429, 503}
    assert stopped(plant.server, signal.SIGTERM)[0] == 0
    plant.assert_true(besides=150_000)


# --- On a server's database ----------------------------------------------------------------------


@pytest.fixture(params=citus.SERVERS)
def server_url(request: pytest.FixtureRequest) -> str:
    url = str(request.getfixturevalue(f"{request.param}_url"))
    citus.made(url).close()
    return url


@pytest.mark.slow
def test_a_servers_database_takes_several_writers_and_one_has_the_door(
    tmp_path: Path, server_url: str
) -> None:
    shell = Shell(tmp_path)
    shell.environ["WEIR_DATABASE"] = server_url
    try:
        plant = Plant(shell)
        plant.await_up()
        writer = plant.parts()[0]
        second = shell.start("writer")
        assert second.stderr is not None
        said = second.stderr.readline()
        assert f"process {writer}; readings sent over HTTP go there" in said
        plant.begin()
        os.kill(writer, signal.SIGKILL)
        plant.await_more()
        plant.end()
        shell.url = server_url
        plant.assert_true()
        assert stopped(second, signal.SIGTERM)[0] == 0
        assert stopped(plant.server, signal.SIGTERM)[0] == 0
    finally:
        shell.end_all()
