"""Downloads from the production server: what breaks off is never taken for whole."""

from __future__ import annotations

import gzip
import io
import os
import sys
import time
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

import httpx
import pytest
from openpyxl import load_workbook

from api.server import create_service
from api.timez import stamp
from benchmarks.site.served import await_answer, process
from tests.components.device.service import Bench, bench
from tests.servers import free_port
from tests.web.auth.remote import serving
from tests.world import SETTINGS, ms
from web.downloads.streaming import INCOMPLETE

START = ms("2026-11-01T00:00Z")
ROWS = 35_000  # four pages
PAGES = 20  # of a file that somebody turns away from
QUIET_S = 3.0  # without a question: longer than a page takes
PATIENCE_S = 60.0
WHY = "Internal error. The store is on fire."


@dataclass
class Tiring:
    """The service; once ``pages`` of rows were given it fails."""

    service: Any
    pages: int = 100
    given: int = field(default=0)

    def __call__(self, environ: Any, start_response: Any) -> Any:
        if "/flow/datapoints/" in environ["PATH_INFO"]:
            self.given += 1
            if self.given > self.pages:
                kind = ("Content-Type", "application/problem+json")
                start_response("500 OOPS", [kind])
                return [b'{"detail": "The store is on fire."}']
        return self.service(environ, start_response)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with bench(tmp_path_factory.mktemp("downloads")) as opened:
        # Of no pattern: what is compressed comes out in time.
        opened.write([(START + n * 1_000, n * 7919 % 9973 / 7, 0.5) for n in range(ROWS)])
        yield opened


@pytest.fixture(scope="module")
def tiring(made: Bench) -> Tiring:
    return Tiring(create_service(made.store, SETTINGS))


@pytest.fixture(scope="module")
def http(
    made: Bench, tiring: Tiring, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    """Signed in to `flask serve`, which asks the tiring service over the network."""
    folder: Path = tmp_path_factory.mktemp("instance")
    port = free_port()
    with serving(tiring) as service:
        environ = {k: v for k, v in os.environ.items() if not k.startswith(("WEIR_", "FLASK_"))}
        environ |= {"WEIR_API_URL": service, "WEIR_INSTANCE": str(folder)}
        command = [sys.executable, "-m", "flask", "serve", "--port", str(port), "--workers", "1"]
        site = f"http://127.0.0.1:{port}"
        with process(command, environ=environ) as running:
            await_answer(f"{site}/sign-in", running)
            with httpx.Client(base_url=site, timeout=30) as opened:
                key = {"key": made.client._headers["service-api-key"]}  # pyright: ignore[reportPrivateUsage]
                assert opened.post("/sign-in", data=key).status_code == 303
                yield opened


def path_of(made: Bench, kind: str, rows: int = ROWS) -> str:
    last = stamp(START + rows * 1_000)
    return f"/download/devices/{made.device_id}/rows.{kind}?from={stamp(START)}&to={last}"


def got(http: httpx.Client, path: str, encoding: str = "identity") -> bytes:
    """What came, whether the server then cut the connection or ended its answer."""
    body = b""
    with (
        suppress(httpx.RemoteProtocolError),
        http.stream("GET", path, headers={"Accept-Encoding": encoding}) as answer,
    ):
        assert answer.status_code == 200
        for part in answer.iter_raw():
            body += part
    return body


@pytest.fixture(autouse=True)
def rested(tiring: Tiring) -> Iterator[None]:
    yield
    tiring.pages, tiring.given = 100, 0


def test_whole_files(http: httpx.Client, made: Bench) -> None:
    body = got(http, path_of(made, "csv"))
    assert body.count(b"\r\n") == ROWS + 1
    zipped = got(http, path_of(made, "csv"), "gzip")
    assert gzip.decompress(zipped) == body
    book = got(http, path_of(made, "xlsx"))
    sheet = load_workbook(io.BytesIO(book), read_only=True).worksheets[0]
    assert sum(1 for _ in sheet.iter_rows()) == ROWS + 1


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_a_csv_that_breaks_off_says_so(
    http: httpx.Client, made: Bench, tiring: Tiring, encoding: str
) -> None:
    tiring.pages, tiring.given = 2, 0
    body = got(http, path_of(made, "csv"), encoding)
    if encoding == "gzip":
        unpacker = zlib.decompressobj(31)
        body = unpacker.decompress(body)
        assert not unpacker.eof
    *rows, last, rest = body.decode().split("\r\n")
    assert last == f"{INCOMPLETE}{WHY}"
    assert rest == ""
    assert len(rows) == 1 + 20_000


def test_a_workbook_that_breaks_off_is_none(
    http: httpx.Client, made: Bench, tiring: Tiring
) -> None:
    tiring.pages, tiring.given = 2, 0
    body = got(http, path_of(made, "xlsx"))
    assert len(body) > 10_000
    with pytest.raises(BadZipFile):
        ZipFile(io.BytesIO(body))


def test_what_fails_before_the_first_row_is_no_file(
    http: httpx.Client, made: Bench, tiring: Tiring
) -> None:
    tiring.pages, tiring.given = 0, 0
    for kind in ("csv", "xlsx"):
        answer = http.get(path_of(made, kind))
        assert answer.status_code == 500
        assert answer.text == f"{WHY}\n"
        assert "Content-Disposition" not in answer.headers


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_a_reader_who_turns_away_ends_the_asking(
    http: httpx.Client, made: Bench, tiring: Tiring, kind: str
) -> None:
    """Of twenty pages the service is asked for the few that had a place to wait in, and then for
    no more, though nothing else keeps it from going on."""
    long = [(START + (ROWS + n) * 1_000, n * 7919 % 9973 / 7, 0.5) for n in range(PAGES * 10_000)]
    made.write(long)
    path = path_of(made, kind, ROWS + len(long))
    with http.stream("GET", path, headers={"Accept-Encoding": "identity"}) as answer:
        next(answer.iter_raw(1_000))
    left = tiring.given
    assert left < PAGES // 2
    settled, quiet_s = left, 0.0
    end_s = time.monotonic() + PATIENCE_S
    while quiet_s < QUIET_S and time.monotonic() < end_s:
        before = time.monotonic()
        assert http.get("/session").status_code == 204
        time.sleep(0.05)
        quiet_s = quiet_s + time.monotonic() - before if tiring.given == settled else 0.0
        settled = tiring.given
    assert quiet_s >= QUIET_S
    assert settled <= left + 1  # the one that was under way
    whole_s = time.monotonic()
    got(http, path)
    assert tiring.given - settled > PAGES  # who stays is given them all,
    assert (time.monotonic() - whole_s) / PAGES < QUIET_S  # in less than that time each
