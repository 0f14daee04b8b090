"""One worker of `weir serve`, and clients that keep requests open: others are still served."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest

from tests.commands.conftest import CommandLine
from tests.commands.shell import PATIENCE_S, Shell, children, eventually, stopped
from tests.commands.test_serve import SLOW_SITE, put_in_place

HANGS_S = 5.0  # a request that waited for one of the held ones would wait for ever
HELD = 24
PAUSE_S = 0.02  # for a caller: so that enough requests fall into each moment of a restart


class Served:
    """A server with one worker and an embed."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        ask = CommandLine(shell.environ).ask
        ask("db", "upgrade")
        org = ask("orgs", "create", "Acme")["id"]
        devices = shell.folder / "d.json"
        devices.write_text('[{"serialNumber": "M-1"}]')
        ask("devices", "import", devices, "--org", org)
        made = ask("embeds", "create", "--org", org, "--view", "tile", "--device", "M-1")
        self.embed, self.token = made["id"], made["url"].rpartition("=")[2]
        self.server = shell.start("serve", "--workers", "1")
        eventually(lambda: shell.get("/healthz")[0] == 200, "the server was up")

    def hold(self, path: str, headers: str = "") -> socket.socket:
        """Send half of a POST's body and never the rest."""
        held = socket.create_connection(("127.0.0.1", self.shell.port), PATIENCE_S)
        head = f"POST {path} HTTP/1.1\r\nHost: weir\r\nContent-Length: 400\r\n{headers}\r\n"
        held.sendall(head.encode() + b"x" * 200)
        return held

    def slowest_s(self) -> float:
        """The slower of a health check and a page, in seconds."""
        slowest = 0.0
        for path in ("/healthz", "/sign-in"):
            begun_s = time.monotonic()
            connection = http.client.HTTPConnection("127.0.0.1", self.shell.port, timeout=HANGS_S)
            with closing(connection):
                connection.request("GET", path)
                assert connection.getresponse().status == 200
            slowest = max(slowest, time.monotonic() - begun_s)
        return slowest


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    shell = Shell(tmp_path_factory.mktemp("served"))
    try:
        yield Served(shell)
    finally:
        shell.end_all()


@pytest.mark.parametrize(
    "path",
    [
        "/sign-in",
        "/_dash-update-component",
        "/embed/{embed}/_dash-update-component",
        "/embeds/v1/embeds",
        "/ingest/v1/readings",
        "/export/links",
        "/download/fleet.csv",
        "/nowhere",
    ],
)
def test_half_sent_bodies_block_nobody(served: Served, path: str) -> None:
    with ExitStack() as held:
        for _ in range(HELD):
            bearer = f"Authorization: Bearer {served.token}\r\nContent-Type: application/json\r\n"
            held.enter_context(served.hold(path.format(embed=served.embed), bearer))
        assert served.slowest_s() < HANGS_S


def test_half_sent_heads_block_nobody_and_are_closed(served: Served) -> None:
    with ExitStack() as held:
        lines = []
        for _ in range(HELD):
            line = socket.create_connection(("127.0.0.1", served.shell.port), PATIENCE_S)
            line.sendall(b"GET / HTTP/1.1\r\nHost: we")
            lines.append(held.enter_context(line))
        assert served.slowest_s() < HANGS_S
        for line in lines:
            with pytest.raises(
                (ConnectionResetError, EOFError)
            ):  # closed by the server after a while
                _until_closed(line)


def _until_closed(line: socket.socket) -> None:
    if not line.recv(1):
        raise EOFError


def test_a_missing_body_gets_a_time_out(served: Served) -> None:
    with served.hold("/sign-in") as held:
        answer = held.recv(65_536).decode()
    assert answer.startswith("HTTP/1.1 408 ")
    assert "application/problem+json" in answer
    assert "connection: close" in answer.lower()


def test_a_client_that_does_not_read_a_large_response_blocks_nobody(served: Served) -> None:
    with ExitStack() as held:
        for _ in range(HELD):
            line = held.enter_context(socket.socket())
            line.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            line.connect(("127.0.0.1", served.shell.port))
            for _ in range(20):  # pipelined: more than the socket buffers hold
                line.sendall(b"GET /management/v1/api-json HTTP/1.1\r\nHost: weir\r\n\r\n")
        assert served.slowest_s() < HANGS_S


# --- Restart -------------------------------------------------------------------------------------


class Callers:
    """Clients that connect, send a request and disconnect in a loop."""

    def __init__(self, port: int, number: int = 3) -> None:
        self.port, self.stop = port, threading.Event()
        self.answered, self.failed = 0, list[str]()
        self._threads = [threading.Thread(target=self._call) for _ in range(number)]

    def __enter__(self) -> Callers:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        for thread in self._threads:
            thread.join(PATIENCE_S)

    def _call(self) -> None:
        while not self.stop.is_set():
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
            try:
                connection.request("GET", "/healthz", headers={"Connection": "close"})
                answer = connection.getresponse()
                answer.read()
                if answer.status == 200:
                    self.answered += 1
                else:
                    self.failed.append(str(answer.status))
            except (OSError, http.client.HTTPException) as error:
                self.failed.append(repr(error))
            finally:
                connection.close()
            time.sleep(PAUSE_S)


def workers(server: int) -> set[int]:
    return {pid for pid, command in children(server).items() if "web-worker" in command}


def test_a_restart_refuses_no_connection(shell: Shell) -> None:
    server = shell.start("serve", "--workers", "2")
    eventually(lambda: shell.get("/healthz")[0] == 200, "the server was up")
    eventually(lambda: len(workers(server.pid)) == 2, "both workers were there")
    with Callers(shell.port) as callers:
        before, responses = workers(server.pid), callers.answered
        everything = set(children(server.pid))
        server.send_signal(signal.SIGHUP)
        eventually(
            lambda: len(now := workers(server.pid)) == 2 and not now & before,
            "there were new workers",
        )
        eventually(lambda: not set(children(server.pid)) & everything, "the writer was new")
        eventually(lambda: callers.answered > responses + 50, "they answered")
    assert callers.failed == []
    assert stopped(server, signal.SIGTERM) == (
        0,
        f"Weir is at http://127.0.0.1:{shell.port}\n",
        "",
    )


def test_after_a_killed_worker_no_connection_is_refused(served: Served) -> None:
    server = served.server
    [worker] = eventually(lambda: workers(server.pid), "a worker was there")
    os.kill(worker, signal.SIGKILL)
    eventually(lambda: worker not in workers(server.pid), "it was gone")
    # It waits for the next worker, at the first attempt.
    assert served.shell.get("/healthz")[0] == 200


def test_workers_stay_if_their_successors_do_not_start(shell: Shell) -> None:
    site = shell.folder / "app.py"
    put_in_place(shell, SLOW_SITE)
    shell.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    server = shell.start("serve", "--workers", "1", "--no-writer", cwd=shell.folder)
    eventually(lambda: shell.get("/")[0] == 200, "the server was up")
    before = workers(server.pid)
    site.write_text(SLOW_SITE.replace("def site", "1 / 0\n    def site"))
    server.send_signal(signal.SIGHUP)
    assert server.stderr is not None
    output = server.stderr.readline()
    assert output == (
        "Warning: the new web worker doesn't start, the old one keeps running:"
        " the site can't be built: ZeroDivisionError: division by zero\n"
    )
    assert workers(server.pid) == before
    assert shell.get("/")[0] == 200
    site.write_text(SLOW_SITE)
    server.send_signal(signal.SIGHUP)
    eventually(lambda: not workers(server.pid) & before, "there was a new worker")
    assert stopped(server, signal.SIGTERM)[0] == 0
