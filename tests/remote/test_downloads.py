"""Downloads through a real server: an interrupted file is never taken for a complete one."""

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
from web.downloads.routes import INCOMPLETE

START = ms("2026-11-01T00:00Z")
ROWS = 35_000  # four pages
PAGES = 10  # of a file that its reader abandons
QUIET_S = 3.0  # without a request: longer than a page takes
PATIENCE_S = 60.0
WHY = "Internal error. The store is on fire."


@dataclass
class FailingService:
    """A service that fails after ``pages`` pages of rows."""

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
        # Without a pattern, so that compressed bytes are sent in time.
        opened.write([(START + n * 1_000, n * 7919 % 9973 / 7, 0.5) for n in range(ROWS)])
        yield opened


@pytest.fixture(scope="module")
def failing_service(made: Bench) -> FailingService:
    return FailingService(create_service(made.store, SETTINGS))


@pytest.fixture(scope="module")
def http(
    made: Bench, failing_service: FailingService, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[httpx.Client]:
    """Signed in to `weir serve`, which uses the failing service over the network."""
    folder: Path = tmp_path_factory.mktemp("instance")
    port = free_port()
    with serving(failing_service) as service:
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
    """The body, and whether the server cut the connection or ended the response."""
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
def rested(failing_service: FailingService) -> Iterator[None]:
    yield
    failing_service.pages, failing_service.given = 100, 0


def test_whole_files(http: httpx.Client, made: Bench) -> None:
    body = got(http, path_of(made, "csv"))
    assert body.count(b"\r\n") == ROWS + 1
    zipped = got(http, path_of(made, "csv"), "gzip")
    assert gzip.decompress(zipped) == body
    book = got(http, path_of(made, "xlsx"))
    sheet = load_workbook(io.BytesIO(book), read_only=True).worksheets[0]
    assert sum(1 for _ in sheet.iter_rows()) == ROWS + 1


@pytest.mark.parametrize("encoding", ["identity", "gzip"])
def test_an_interrupted_csv_is_marked(
    http: httpx.Client, made: Bench, failing_service: FailingService, encoding: str
) -> None:
    failing_service.pages, failing_service.given = 2, 0
    body = got(http, path_of(made, "csv"), encoding)
    if encoding == "gzip":
        unpacker = zlib.decompressobj(31)
        body = unpacker.decompress(body)
        assert not unpacker.eof
    *rows, last, rest = body.decode().split("\r\n")
    assert last == f"{INCOMPLETE}{WHY}"
    assert rest == ""
    assert len(rows) == 1 + 20_000


def test_an_interrupted_workbook_is_unreadable(
    http: httpx.Client, made: Bench, failing_service: FailingService
) -> None:
    failing_service.pages, failing_service.given = 2, 0
    body = got(http, path_of(made, "xlsx"))
    assert len(body) > 10_000
    with pytest.raises(BadZipFile):
        ZipFile(io.BytesIO(body))


def test_a_failure_before_the_first_row_is_an_error(
    http: httpx.Client, made: Bench, failing_service: FailingService
) -> None:
    failing_service.pages, failing_service.given = 0, 0
    for kind in ("csv", "xlsx"):
        answer = http.get(path_of(made, kind))
        assert answer.status_code == 500
        assert answer.text == f"{WHY}\n"
        assert "Content-Disposition" not in answer.headers


@pytest.mark.parametrize("kind", ["csv", "xlsx"])
def test_an_abandoned_download_ends_the_requests(
    http: httpx.Client, made: Bench, failing_service: FailingService, kind: str
) -> None:
    """Of ten pages the service is asked for the few that fit into the buffers, and then for no
    more, though nothing else stops it."""
    long = [(START + (ROWS + n) * 1_000, n * 7919 % 9973 / 7, 0.5) for n in range(PAGES * 10_000)]
    made.write(long)
    path = path_of(made, kind, ROWS + len(long))
    with http.stream("GET", path, headers={"Accept-Encoding": "identity"}) as answer:
        next(answer.iter_raw(1_000))
    left = failing_service.given
    assert left < PAGES // 2
    settled, quiet_s = left, 0.0
    end_s = time.monotonic() + PATIENCE_S
    while quiet_s < QUIET_S and time.monotonic() < end_s:
        before = time.monotonic()
        assert http.get("/session").status_code == 204
        time.sleep(0.05)
        quiet_s = quiet_s + time.monotonic() - before if failing_service.given == settled else 0.0
        settled = failing_service.given
    assert quiet_s >= QUIET_S
    assert settled <= left + 1  # the one in progress
    whole_s = time.monotonic()
    got(http, path)
    assert failing_service.given - settled > PAGES  # a reader who stays gets all pages,
    assert (time.monotonic() - whole_s) / PAGES < QUIET_S  # each in less than that time
