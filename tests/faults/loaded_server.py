"""`weir serve` under load: meters that send, readers that request, and ways to break it."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import apsw
import httpx

from api.auth.sign_in_links import SignInLinks
from api.catalog import KEY_HEADER, MINUTE_MS, PATH_PREFIX
from api.errors import PROBLEM_TYPE
from api.store.base import Grant, NewDevice, ReadingRow, Scope
from api.store.open import open_store
from api.timez import stamp
from tests.commands.conftest import CommandLine
from tests.commands.shell import Shell, eventually
from tests.commands.test_serving import LoadedServer
from tests.store.fleet import NOON_MS
from tests.web.auth import wire

OLD = "OLD"  # a meter without a sender: its readings are known in advance
OLD_ROWS = 20_000
OLD_FROM_MS = NOON_MS - OLD_ROWS * MINUTE_MS
HUNG_S = 12.0  # no request takes longer, whatever is broken, even on a busy machine


def rate(number: int) -> float:
    """The flow rate of the old meter's reading of that number."""
    return number % 997 + 0.5


class WatchedServer(LoadedServer):
    """A server under load whose ``reader`` uses the interface, and whose dashboard opens by a
    sign-in link. With ``history`` there is the old meter too."""

    def __init__(self, shell: Shell, *, history: bool = False) -> None:
        self.history = history
        self.http = httpx.Client(
            base_url=f"http://127.0.0.1:{shell.port}", timeout=60, trust_env=False
        )
        super().__init__(shell)

    def serve(self) -> subprocess.Popen[str]:
        if "WEIR_API_KEY" not in self.shell.environ:
            ask = CommandLine(self.shell.environ).ask
            self.reader = str(ask("keys", "create", "--org", self.org)["key"])
            self.shell.environ["WEIR_API_KEY"] = self.reader
            if self.history:
                self._be_old()
        return super().serve()

    def _be_old(self) -> None:
        store = open_store(self.shell.url)
        store.import_devices(self.org, [NewDevice(OLD)])
        [device] = store.resolve(Scope(self.org, Grant(everything=True)), [OLD])
        assert device is not None
        key, empty = device.key, (None,) * 6
        rows: list[ReadingRow] = [
            (key, OLD_FROM_MS + n * MINUTE_MS, rate(n), *empty)  # pyright: ignore[reportAssignmentType]
            for n in range(OLD_ROWS)
        ]
        store.write(rows)
        store.close()

    @property
    def path(self) -> Path:
        return Path(self.shell.url.removeprefix("sqlite:///"))

    # --- Readers ---

    def ask(self, path: str, **params: Any) -> httpx.Response:
        """The interface's response, which arrives in time whatever is broken."""
        begun_s = time.monotonic()
        headers = {KEY_HEADER: self.reader}
        answer = self.http.get(f"{PATH_PREFIX}{path}", params=params, headers=headers)
        assert time.monotonic() - begun_s < HUNG_S
        return answer

    def old_rates(self, first: int, count: int) -> httpx.Response:
        start = OLD_FROM_MS + first * MINUTE_MS
        end = start + (count - 1) * MINUTE_MS
        span = {"from": stamp(start), "to": stamp(end)}
        return self.ask(f"/flow/datapoints/{OLD}", resolution="raw", limit=count, **span)

    def open(self, path: str, method: str = "GET", **more: Any) -> httpx.Response:
        """As a browser that has opened a sign-in link, for `tests.web.auth.wire`."""
        if not self.http.cookies:
            self.http.get(self.sign_in_link())
        return self.http.request(method, path, **more)

    def sign_in(self) -> None:
        """Sign in again, by the key."""
        assert self.http.post("/sign-in", data={"key": self.reader}).status_code == 303

    def sign_in_link(self) -> str:
        """A new sign-in link, made after the server has printed its own; it replaces all earlier
        ones."""
        folder = Path(self.shell.environ["WEIR_INSTANCE"]) / "sign_in_links"
        eventually(lambda: any(folder.iterdir()), "the start printed its link")
        return SignInLinks(folder).make(f"http://127.0.0.1:{self.shell.port}")

    def wall(self) -> dict[str, Any]:
        """The fleet page's data: tiles, or an error that leaves the last ones dimmed."""
        answer = wire.wall(self, {"window": "24h", "sort": "serial"})  # pyright: ignore
        assert answer.status_code == 200
        return answer.json()["response"]["fleet-board"]["data"]

    def outage(self) -> str:
        """The outage notice at the top of every page."""
        return unquote(self.open("/session").headers["Weir-Outage"])

    # --- Senders ---

    def tried(self) -> tuple[int, dict[str, Any]]:
        """A sender's response now, which arrives in time: status and body."""
        begun_s = time.monotonic()
        status, body = self.post([{"device": "M-0", "recordedAt": "2020-01-01", "flowAmount": 1}])
        assert time.monotonic() - begun_s < HUNG_S
        return status, json.loads(body)

    def await_refusals(self) -> None:
        """Wait until senders are refused with a time to retry, and with nothing else."""
        before = len(self.statuses)
        eventually(lambda: {503, 429} & set(self.statuses[before:]), "senders were told to wait")

    def settled(self) -> str:
        """End everything; returns the log. Asserts that no acknowledged reading is lost or counted
        twice, and that every refusal asked the sender to retry."""
        self.end()
        assert set(self.statuses) <= {200, 503, 429}
        self.server.terminate()
        _, err = self.server.communicate(timeout=40)
        self.assert_true()
        return err


def is_unavailable(answer: httpx.Response, words: str) -> bool:
    """A 503 as specified: problem+json, with Retry-After."""
    if answer.status_code != 503:
        return False
    assert answer.headers["Content-Type"] == PROBLEM_TYPE
    assert int(answer.headers["Retry-After"]) >= 1
    assert words in answer.text, answer.text
    return True


_HOLD = """
import sqlite3, sys
held = sqlite3.connect(sys.argv[1], isolation_level=None)
held.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
held.execute("ROLLBACK")
"""


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Holds the one write lock in another process."""
    command = [sys.executable, "-c", _HOLD, str(path)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        try:
            yield
        finally:
            process.stdin.close()


def checkpointed(path: Path) -> None:
    """Moves everything from the log into the file itself, as happens after a while."""
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(20_000)
    connection.execute("SELECT count(*) FROM device").fetchall()
    connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_TRUNCATE)
    connection.close()


def copied(path: Path, to: Path) -> None:
    """A complete copy of a store in use."""
    connection = apsw.Connection(str(path))
    connection.set_busy_timeout(20_000)
    connection.execute("VACUUM INTO ?", (str(to),))
    connection.close()


def put_in_place(copy: Path, path: Path) -> None:
    """Restores a copy: the log of the replaced file is deleted too."""
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    copy.replace(path)
