"""Many slow requests at once: other requests are still served. There is one worker, so that no
other could serve them. The waiting times are in the report of ``--junitxml``."""

from __future__ import annotations

import http.client
import json
import socket
import statistics
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from urllib.parse import urlsplit

import pytest

from api.catalog import KEY_HEADER
from tests.commands.conftest import CommandLine
from tests.commands.shell import PATIENCE_S, Shell, eventually

TYPICAL_S = 2.0  # on a busy machine; about 10 ms on a quiet one
DRIPPING = 24
DRIPS = 20  # of a body sent byte by byte
DRIP_S = 0.1
PAUSE_S = 0.02  # concurrent readers


class Fleet:
    """A server with one worker, a reader with a session, and the address of a signed image."""

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        ask = CommandLine(shell.environ).ask
        ask("db", "upgrade")
        org = ask("orgs", "create", "Acme")["id"]
        devices = shell.folder / "d.json"
        devices.write_text(json.dumps([{"serialNumber": f"M-{n}"} for n in range(20)]))
        ask("devices", "import", devices, "--org", org)
        mine, others = (ask("keys", "create", "--org", org) for _ in range(2))
        self.other = {KEY_HEADER: str(others["key"])}
        made = ask("images", "link", "--key", mine["keyId"])
        parts = urlsplit(made["address"])
        self.signed = f"{parts.path}?{parts.query}"
        embed = ask("embeds", "create", "--org", org, "--view", "tile", "--device", "M-1")
        self.embed, self.token = embed["id"], embed["url"].rpartition("=")[2]
        shell.start("serve", "--workers", "1")
        eventually(lambda: shell.get("/healthz")[0] == 200, "the server was up")
        self.session = self._sign_in(str(mine["key"]))

    def _sign_in(self, key: str) -> dict[str, str]:
        status, headers = self.ask("POST", "/sign-in", f"key={key}&next=%2F", {
            "Content-Type": "application/x-www-form-urlencoded"})[:2]  # fmt: skip
        assert status == 303
        return {"Cookie": headers["set-cookie"].partition(";")[0]}

    def ask(
        self, method: str, path: str, body: str | None = None, headers: dict[str, str] | None = None
    ) -> tuple[int, http.client.HTTPMessage, float]:
        begun_s = time.monotonic()
        line = http.client.HTTPConnection("127.0.0.1", self.shell.port, timeout=PATIENCE_S)
        with closing(line):
            line.request(method, path, body, headers or {})
            answer = line.getresponse()
            answer.read()
            return answer.status, answer.headers, time.monotonic() - begun_s

    # --- Crowds ---

    def image(self, number: int) -> int:
        """A different image for each number, so that none is cached."""
        path = f"/export/fleet.png?width={600 + number}"
        return self._status_of(*self.ask("GET", path, headers=self.session))

    def signed_image(self, number: int) -> int:
        return self._status_of(*self.ask("GET", self.signed))

    def _status_of(self, status: int, headers: http.client.HTTPMessage, _: float) -> int:
        if status in (429, 503):
            assert int(headers["retry-after"]) >= 1
        return status

    def drip(self, number: int) -> int:
        address = ("127.0.0.1", self.shell.port)
        with closing(socket.create_connection(address, PATIENCE_S)) as line:
            line.sendall(
                f"POST /embed/{self.embed}/_dash-update-component HTTP/1.1\r\nHost: weir\r\n"
                f"Authorization: Bearer {self.token}\r\nContent-Type: application/json\r\n"
                f"Content-Length: {DRIPS}\r\n\r\n".encode()
            )
            for _ in range(DRIPS):
                line.sendall(b"x")
                time.sleep(DRIP_S)
            return int(line.recv(65_536).split()[1])


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    shell = Shell(tmp_path_factory.mktemp("fleet"))
    try:
        yield Fleet(shell)
    finally:
        shell.end_all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("crowd", "number", "answers"),
    [
        (Fleet.image, 40, {200, 429, 503}),
        (Fleet.signed_image, 24, {200, 429, 503}),
        (Fleet.drip, DRIPPING, {400}),
    ],
    ids=["images of one reader", "one signed link", "dripping bodies"],
)
def test_others_are_served_during_many_slow_requests(
    fleet: Fleet,
    crowd: Callable[[Fleet, int], int],
    number: int,
    answers: set[int],
    record_property: Callable[[str, object], None],
) -> None:
    over = threading.Event()
    waited_s: list[float] = []

    def look_on() -> None:
        while not over.is_set():
            for path in ("/management/v1/version", "/sign-in", "/healthz"):
                status, _, took_s = fleet.ask("GET", path, headers=fleet.other)
                assert status == 200
                waited_s.append(took_s)
            over.wait(PAUSE_S)

    with ThreadPoolExecutor(number + 1) as people:
        other = people.submit(look_on)
        try:
            result = Counter(people.map(lambda n: crowd(fleet, n), range(number)))
        finally:
            over.set()
        other.result()
    assert set(result) <= answers
    typical_s = statistics.median(waited_s)
    worst_ms = round(max(waited_s) * 1e3)
    record_property("others", f"{typical_s * 1e3:.0f} ms, worst {worst_ms} of {len(waited_s)}")
    record_property("crowd", dict(result))
    assert typical_s < TYPICAL_S
