"""The site behind its event loop: bodies, threads, and slow clients."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from api.errors import Busy
from api.ingest.ipc.client import MOST_AT_ONCE
from api.server import asgi
from api.server.asgi import REFUSAL, ThreadedSite, environ_of
from api.server.request_bodies import BodyBudget
from api.server.thread_lanes import LANES, PAGES, Lane, lane_of
from tests.tables import cases

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

Message = dict[str, Any]
TEXT = [("Content-Type", "text/plain")]


def scope(path: str = "/", method: str = "POST", **headers: str) -> Message:
    named = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    return {
        "type": "http", "http_version": "1.1", "method": method, "scheme": "http",
        "raw_path": path.encode(), "query_string": b"a=1", "headers": named,
        "server": ("127.0.0.1", 8050), "client": ("192.0.2.7", 4711),
    }  # fmt: skip


class Client:
    """Sends ``pieces`` of a body and then nothing; records the response."""

    def __init__(self, *pieces: bytes, ends: bool = True, gone: bool = False) -> None:
        self._pieces, self._ends, self.gone = list(pieces), ends, gone
        self.sent: list[Message] = []
        self.takes = asyncio.Event()
        self.takes.set()

    async def receive(self) -> Message:
        if self._pieces:
            piece = self._pieces.pop(0)
            return {
                "type": "http.request",
                "body": piece,
                "more_body": bool(self._pieces) or not self._ends,
            }
        if not self.gone:
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Message) -> None:
        await self.takes.wait()
        self.sent.append(message)

    @property
    def status(self) -> int:
        return self.sent[0]["status"]

    @property
    def headers(self) -> dict[str, str]:
        return {k.decode(): v.decode() for k, v in self.sent[0]["headers"]}

    @property
    def body(self) -> bytes:
        return b"".join(message["body"] for message in self.sent[1:])

    @property
    def is_whole(self) -> bool:
        return not self.sent[-1].get("more_body", True)


def echo(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
    if REFUSAL in environ:
        start_response(f"{environ[REFUSAL].status} No", [*TEXT, ("Content-Length", "2")])
        return [b"no"]
    body = environ["wsgi.input"].read()
    reply = f"{environ.get('CONTENT_LENGTH')} {len(body)} {threading.current_thread().name}"
    start_response("200 OK", [*TEXT, ("Content-Length", str(len(reply)))])
    return [reply.encode()]


def ask(site: WSGIApplication, client: Client, *lanes: Lane, **headers: str) -> Client:
    asyncio.run(ThreadedSite(site, lanes or LANES)(scope(**headers), client.receive, client.send))
    return client


SMALL = Lane("small", (), threads=2, waiting=0, body_bytes=10, body_s=0.05)


@pytest.mark.parametrize(
    ("client", "headers", "result"),
    [
        (Client(), {}, b"None 0"),
        (Client(b"12345"), {"content_length": "5"}, b"5 5"),
        (Client(b"123", b"45"), {"content_length": "5"}, b"5 5"),
        (Client(b"123", b"45"), {"transfer_encoding": "chunked"}, b"5 5"),
        (Client(b"0123456789", b"x", ends=False), {"transfer_encoding": "chunked"}, b"11 11"),
        (Client(b"0123456789ab", gone=True), {"content_length": "12"}, b"12 0"),
    ],
    ids=["none", "whole", "in pieces", "without a length", "endless", "declared too large"],
)
def test_the_site_gets_a_complete_body_and_one_byte_beyond_its_limit(
    client: Client, headers: dict[str, str], result: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asgi, "LINGER_S", 0.01)
    answer = ask(echo, client, SMALL, **headers)
    assert answer.body.startswith(result)
    assert answer.is_whole
    over = result[:2] in (b"11", b"12")
    assert (answer.headers.get("connection") == "close") is over


def test_a_late_body_gets_408_and_takes_no_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(asgi, "LINGER_S", 0.01)
    answer = ask(echo, Client(b"1", ends=False), SMALL, content_length="9")
    assert (answer.status, answer.body) == (408, b"no")
    assert answer.headers["connection"] == "close"


def test_a_client_that_disconnects_within_its_body_gets_no_response() -> None:
    assert ask(echo, Client(b"1", ends=False, gone=True), SMALL, content_length="9").sent == []


def test_a_full_lane_refuses_at_once_and_others_continue() -> None:
    begun, go_on = threading.Semaphore(0), threading.Event()

    def slow(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        if environ["PATH_INFO"] == "/slow" and REFUSAL not in environ:
            begun.release()
            go_on.wait(60)
        return echo(environ, start_response)

    lanes = (Lane("slow", ("/slow",), threads=2, waiting=1), PAGES)

    async def crowd() -> None:
        site = ThreadedSite(slow, lanes)
        held, refused, other = [Client() for _ in range(3)], Client(), Client()
        waiting = [asyncio.create_task(site(scope("/slow"), c.receive, c.send)) for c in held]
        for _ in range(2):
            await asyncio.to_thread(begun.acquire, timeout=60)
        await site(scope("/slow"), refused.receive, refused.send)
        await site(scope("/"), other.receive, other.send)
        assert (refused.status, other.status) == (503, 200)
        assert [client.sent for client in held] == [[], [], []]
        go_on.set()
        await asyncio.gather(*waiting)
        assert [client.status for client in held] == [200, 200, 200]

    asyncio.run(crowd())


# --- Files of unknown length ---------------------------------------------------------------------


class Pieces:
    """A file that is made while it is sent."""

    def __init__(self, made: Callable[[], Iterator[bytes]]) -> None:
        self._made, self.closed = made, threading.Event()

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        start_response("200 OK", TEXT)
        return self

    def __iter__(self) -> Iterator[bytes]:
        return self._made()

    def close(self) -> None:
        self.closed.set()


def test_a_file_is_sent_piece_by_piece() -> None:
    site = Pieces(lambda: iter((b"a", b"", b"b")))
    answer = ask(site, Client(b""))  # a request without a body has an empty one
    assert [message["body"] for message in answer.sent[1:]] == [b"a", b"b", b""]
    assert answer.is_whole
    assert site.closed.is_set()


def test_a_client_that_does_not_read_is_disconnected_and_frees_the_thread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(asgi, "SEND_S", 0.05)
    site, client = Pieces(lambda: iter([b"x"] * 1_000_000)), Client()
    client.takes.clear()
    ask(site, client)
    assert client.sent == []
    assert site.closed.is_set()


def test_a_disconnected_client_ends_the_file() -> None:
    client = Client()

    def made() -> Iterator[bytes]:
        for number in range(1_000_000):
            if number == 3:
                client.gone = True
            yield b"x"

    class Going(Client):
        async def receive(self) -> Message:
            while not client.gone:
                await asyncio.sleep(0.001)
            return {"type": "http.disconnect"}

    site, going = Pieces(made), Going()
    ask(site, going)
    assert site.closed.is_set()
    assert not going.is_whole
    assert len(going.sent) < 100_000


def test_an_interrupted_file_has_no_final_chunk(caplog: pytest.LogCaptureFixture) -> None:
    def made() -> Iterator[bytes]:
        yield b"x"
        raise OSError("the store has gone")

    site = Pieces(made)
    answer = ask(site, Client())
    assert answer.body == b"x"
    assert not answer.is_whole
    assert "the store has gone" in caplog.text


# --- Rules ---------------------------------------------------------------------------------------


@cases(
    ("path", "lane"),
    [
        ("/", "pages"), ("/devices/x", "pages"), ("/_dash-update-component", "pages"),
        ("/embed/1/_dash-update-component", "pages"), ("/embeds/v1/own", "pages"),
        ("/healthz", "health"), ("/readyz", "health"), ("/metrics", "health"),
        ("/healthzz", "pages"), ("/ingest/v1/readings", "ingest"), ("/ingest", "pages"),
        ("/export/fleet.png", "images"), ("/export/report.pdf", "images"), ("/exports", "pages"),
        ("/download/fleet.csv", "files"),
    ],
)  # fmt: skip
def test_each_path_has_its_lane(path: str, lane: str) -> None:
    assert lane_of(path).name == lane


def test_ingest_has_one_thread_more_than_may_wait_for_the_writer() -> None:
    assert lane_of("/ingest/v1/readings").threads > MOST_AT_ONCE


def test_memory_of_large_bodies_is_bounded_per_peer_and_in_total() -> None:
    memory = BodyBudget(peer_bytes=10, process_bytes=15)
    memory.take("a", 10)
    with pytest.raises(Busy):
        memory.take("a", 1)
    memory.take("b", 5)
    with pytest.raises(Busy):
        memory.take("c", 1)
    memory.release("a", 10)
    memory.take("c", 10)


def test_the_environment_is_what_a_wsgi_server_makes() -> None:
    result = scope("/a%20b/%C3%BC", "GET", host="weir.example", content_type="text/csv")
    result["headers"] += [(b"cookie", b"a=1"), (b"cookie", b"b=2"), (b"x-a", b"1"), (b"x-a", b"2")]
    result["headers"] += [(b"service_api_key", b"smuggled"), (b"Accept", b"*/*")]
    environ = environ_of(result)
    assert {name: environ.get(name) for name in (
        "REQUEST_METHOD", "PATH_INFO", "QUERY_STRING", "REMOTE_ADDR", "HTTP_HOST", "CONTENT_TYPE",
        "HTTP_COOKIE", "HTTP_X_A", "HTTP_SERVICE_API_KEY", "HTTP_ACCEPT", "SERVER_PROTOCOL",
    )} == {
        "REQUEST_METHOD": "GET", "PATH_INFO": "/a b/\xc3\xbc", "QUERY_STRING": "a=1",
        "REMOTE_ADDR": "192.0.2.7", "HTTP_HOST": "weir.example", "CONTENT_TYPE": "text/csv",
        "HTTP_COOKIE": "a=1; b=2", "HTTP_X_A": "1,2", "HTTP_SERVICE_API_KEY": None,
        "HTTP_ACCEPT": "*/*", "SERVER_PROTOCOL": "HTTP/1.1",
    }  # fmt: skip
