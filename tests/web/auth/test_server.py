"""Authentication in the production server, whose two workers share only a folder."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlencode
from uuid import uuid4

import pytest

from api.auth import key_digest
from api.store.base import Grant, Key
from api.store.open import open_store
from tests.servers import free_port

ROOT = Path(__file__).resolve().parents[3]
ORGANIZATION = "org-server"
PATIENCE_S = 30.0


@dataclass(frozen=True)
class Server:
    port: int
    key: str
    link: str

    def ask(
        self, path: str, method: str = "GET", *, raw_version: int = 11, **headers: str
    ) -> http.client.HTTPResponse:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        body = urlencode({"key": self.key, "next": "/devices"}) if method == "POST" else None
        if body:
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)) as connection:
            connection._http_vsn = raw_version  # pyright: ignore[reportAttributeAccessIssue]
            connection._http_vsn_str = f"HTTP/1.{raw_version % 10}"  # pyright: ignore[reportAttributeAccessIssue]
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            answer.read()
            return answer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """`weir serve` on loopback, with any WEIR_HOST, and a key of its own."""
    folder = tmp_path_factory.mktemp("server")
    url, key = f"sqlite:///{folder / 'weir.sqlite'}", str(uuid4())
    store = open_store(url)
    store.upgrade()
    store.create_organization("Server", organization_id=ORGANIZATION)
    store.create_key(
        Key("key_server", ORGANIZATION, "test", key_digest(key), Grant(everything=True), 0)
    )
    store.close()
    port = free_port()
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("WEIR_", "FLASK_"))}
    environ |= {
        "WEIR_DATABASE": url,
        "WEIR_INSTANCE": str(folder / "instance"),
        "WEIR_API_KEY": key,
        "WEIR_HOST": "192.0.2.1",
    }
    command = [sys.executable, "-m", "flask", "serve", "--host", "127.0.0.1", "--workers", "2"]
    process = subprocess.Popen(
        [*command, "--port", str(port)],
        cwd=ROOT,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        first, link = process.stdout.readline().decode(), process.stdout.readline().decode()
        assert first == f"Weir is at http://127.0.0.1:{port}\n"
        server = Server(port, key, link.partition(f"http://127.0.0.1:{port}")[2].strip())
        _await(server, process)
        yield server
    finally:
        result = _stop(process)
    assert key.encode() not in result


def _stop(process: subprocess.Popen[bytes]) -> bytes:
    """Stops it and returns its output. The main process ends its workers; if it can't, all are
    killed."""
    process.terminate()
    try:
        return process.communicate(timeout=PATIENCE_S)[1]
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return process.communicate()[1]


def _await(server: Server, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while True:
        try:
            assert server.ask("/healthz").status == 200
            return
        except OSError:
            assert process.poll() is None, "the server ended"
            assert time.monotonic() < deadline, "the server didn't start"
            time.sleep(0.1)


@pytest.mark.parametrize(
    ("headers", "version"),
    [
        ({}, 11),
        ({"Host": "localhost"}, 11),
        ({"Host": "evil.example"}, 11),
        ({"X_Forwarded_For": "127.0.0.1"}, 11),
        ({}, 10),
    ],
)
def test_nobody_is_signed_in_without_a_click(
    server: Server, headers: dict[str, str], version: int
) -> None:
    """A key is set, and the server listens on loopback alone."""
    assert server.ask("/devices", raw_version=version, **headers).status == 303


def test_the_printed_link_signs_in_once_in_all_workers(server: Server) -> None:
    answers = [server.ask(server.link) for _ in range(12)]
    begun = [answer for answer in answers if answer.headers["Set-Cookie"]]
    assert [answer.headers["Location"] for answer in begun] == ["/"]
    cookie = begun[0].headers["Set-Cookie"].split(";")[0]
    assert {server.ask("/devices", Cookie=cookie).status for _ in range(12)} == {200}


def test_a_sign_out_holds_in_every_worker(server: Server) -> None:
    afar = {"Host": "weir.example"}
    begun = server.ask("/sign-in", "POST", **afar)
    assert (begun.status, begun.headers["Location"]) == (303, "/devices")
    cookie = begun.headers["Set-Cookie"].split(";")[0]
    many = range(12)  # on new connections, so that both workers get some
    assert {server.ask("/devices", Cookie=cookie, **afar).status for _ in many} == {200}
    assert server.ask("/sign-out", "POST", Cookie=cookie, **afar).status == 303
    assert {server.ask("/devices", Cookie=cookie, **afar).status for _ in many} == {303}


@pytest.mark.parametrize("path", ["/_dash-layout", "/_dash-dependencies", "/session"])
def test_without_a_session_there_is_no_data(server: Server, path: str) -> None:
    assert server.ask(path, Host="weir.example").status == 401


# --- Requests that two servers could read differently
# -----------------------------------------------

FORM = b"key=x"
SECOND = b"GET /healthz HTTP/1.1\r\nHost: weir.example\r\nConnection: close\r\n\r\n"
CHUNKED = b"5\r\nkey=x\r\n0\r\n\r\n"

# The request's headers about its body, the body, and the statuses of the responses. A second
# response would be to a request smuggled in the first.
FRAMINGS: dict[str, tuple[list[bytes], bytes, list[int]]] = {
    "one length": ([b"Content-Length: 5"], FORM, [401, 200]),
    "one length, said twice": ([b"Content-Length: 5"] * 2, FORM, [400]),
    "chunks": ([b"Transfer-Encoding: chunked"], CHUNKED, [401, 200]),
    "two lengths": ([b"Content-Length: 5", b"Content-Length: 0"], FORM, [400]),
    "a length and chunks": (
        [b"Content-Length: 4", b"Transfer-Encoding: chunked"], CHUNKED, [400]),
    "an unknown coding": ([b"Transfer-Encoding: xchunked"], CHUNKED, [400]),
    "chunks, then something": ([b"Transfer-Encoding: chunked, identity"], CHUNKED, [400]),
    "a blank before the colon": ([b"Transfer-Encoding : chunked"], CHUNKED, [400]),
    "a length with a sign": ([b"Content-Length: +5"], FORM, [400]),
    "a length below nothing": ([b"Content-Length: -5"], FORM, [400]),
    "a length that is none": ([b"Content-Length: 5, 0"], FORM, [400]),
    "a folded header": ([b"Content-Length: 5", b"X-A: b\r\n c"], FORM, [400]),
    "a NUL in a header": ([b"Content-Length: 5", b"X-A: b\0c"], FORM, [400]),
    "a return in a header": ([b"Content-Length: 5", b"X-A: b\rc"], FORM, [400]),
    "a header beyond any": ([b"Content-Length: 5", b"X-A: " + b"a" * 1_000_000], FORM, [431]),
    "headers beyond any": ([b"Content-Length: 5", *[b"X-A: b"] * 20_000], FORM, [431]),
}  # fmt: skip


@pytest.mark.parametrize("what", FRAMINGS)
def test_the_end_of_a_request_is_unambiguous(server: Server, what: str) -> None:
    result, body, statuses = FRAMINGS[what]
    lines = [b"POST /sign-in HTTP/1.1", b"Host: weir.example"]
    lines += [b"Content-Type: application/x-www-form-urlencoded", *result, b"", body]
    responses = spoken(server, b"\r\n".join(lines) + SECOND)
    assert [int(each) for each in re.findall(rb"HTTP/1\.1 (\d{3})", responses)] == statuses


def spoken(server: Server, sent: bytes) -> bytes:
    """All bytes until the server closes the connection."""
    with socket.create_connection(("127.0.0.1", server.port), 20) as connection:
        with suppress(ConnectionError):  # it may close before it has read all
            connection.sendall(sent)
        responses = b""
        with suppress(ConnectionError):
            while piece := connection.recv(65_536):
                responses += piece
        return responses


def test_endless_requests_leave_room_for_others(server: Server) -> None:
    """Twice as many as both workers have threads."""
    head = b"POST /sign-in HTTP/1.1\r\nHost: weir.example\r\nContent-Length: 500\r\n"
    head += b"Content-Type: application/x-www-form-urlencoded\r\n\r\nkey="
    with ExitStack() as stack:
        for _ in range(36):
            connection = socket.create_connection(("127.0.0.1", server.port), 20)
            stack.enter_context(closing(connection)).sendall(head)
        assert {server.ask("/healthz").status for _ in range(12)} == {200}
