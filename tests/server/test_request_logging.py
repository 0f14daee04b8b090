"""The layer around the site: trusted addresses, request ids, and the access log."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from werkzeug.test import Client, EnvironBuilder, TestResponse

from api.catalog import KEY_HEADER, PATH_PREFIX
from api.server import create_service
from api.server.request_logging import RequestLogging
from api.settings import Settings
from api.store.base import Store
from api.telemetry.access_log import AccessLog
from api.telemetry.client_address import (
    client_address,
    from_another_site,
    from_this_machine,
    is_secure,
    passed_on,
)
from tests.tables import cases
from tests.world import METER, World, build

PROXIES = (ip_network("10.0.0.0/8"), ip_network("::1/128"))

# peer, X-Forwarded-For, the client's address
CLIENTS = [
    ("198.51.100.7", None, "198.51.100.7"),
    ("198.51.100.7", "203.0.113.9", "198.51.100.7"),  # not a trusted proxy
    ("10.0.0.1", "203.0.113.9", "203.0.113.9"),
    ("::ffff:10.0.0.1", "203.0.113.9", "203.0.113.9"),
    ("::1", "2001:db8::5", "2001:db8::5"),
    ("10.0.0.1", "127.0.0.1, 203.0.113.9", "203.0.113.9"),  # the left one was sent by the client
    ("10.0.0.1", "203.0.113.9, 10.0.0.2", "203.0.113.9"),  # two trusted proxies
    ("10.0.0.1", "10.0.0.3, 10.0.0.2", "10.0.0.3"),
    ("10.0.0.1", "203.0.113.9, unknown", "10.0.0.1"),
    ("10.0.0.1", "", "10.0.0.1"),
    ("10.0.0.1", None, "10.0.0.1"),
]


@cases(("peer", "text", "expected"), CLIENTS)
def test_the_address_is_that_given_by_a_trusted_proxy(
    peer: str, text: str | None, expected: str
) -> None:
    environ = {"REMOTE_ADDR": peer} | ({} if text is None else {"HTTP_X_FORWARDED_FOR": text})
    assert client_address(environ, PROXIES) == expected
    assert client_address(environ, ()) == peer


@cases(
    ("scheme", "peer", "text", "expected"),
    [
        ("https", "198.51.100.7", "", True),
        ("http", "10.0.0.1", "https", True),
        ("http", "10.0.0.1", "http, HTTPS", True),  # the proxy adds the last value
        ("http", "10.0.0.1", "https, http", False),
        ("http", "198.51.100.7", "https", False),
        ("http", "10.0.0.1", "", False),
    ],
)
def test_tls_is_the_servers_or_a_trusted_proxys(
    scheme: str, peer: str, text: str, expected: bool
) -> None:
    environ = {"wsgi.url_scheme": scheme, "REMOTE_ADDR": peer, "HTTP_X_FORWARDED_PROTO": text}
    assert is_secure(environ, PROXIES) is expected


def test_an_old_protocol_or_a_proxys_header_means_a_proxy() -> None:
    assert not passed_on({"SERVER_PROTOCOL": "HTTP/1.1"})
    assert passed_on({"SERVER_PROTOCOL": "HTTP/1.0"})
    assert passed_on({"SERVER_PROTOCOL": "HTTP/1.1", "HTTP_VIA": ""})


PROXY_HEADERS = (
    "Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Port",
    "X-Forwarded-Proto", "X-Forwarded-Server", "X-Forwarded", "X-Real-IP", "Client-IP",
    "X-Client-IP", "True-Client-IP", "X-Cluster-Client-IP", "Fastly-Client-IP", "CF-Connecting-IP",
    "Tailscale-User-Login", "CDN-Loop",
)  # fmt: skip
HERE = {"REMOTE_ADDR": "127.0.0.1", "HTTP_HOST": "localhost:8050", "SERVER_PROTOCOL": "HTTP/1.1"}


@cases("header", PROXY_HEADERS)
def test_every_header_of_a_proxy_means_a_proxy(header: str) -> None:
    environ = HERE | {f"HTTP_{header.upper().replace('-', '_')}": ""}
    assert from_this_machine(HERE)
    assert passed_on(environ)
    assert not from_this_machine(environ)


# Host header, peer address, whether it is this machine
PLACES = (
    ("localhost:8050", "127.0.0.1", True),
    ("LOCALHOST", "127.0.0.1", True),
    ("127.0.0.1:8050", "127.0.0.1", True),
    ("127.8.8.8:8050", "127.8.8.8", True),
    ("[::1]:8050", "::1", True),
    ("localhost:8050", "::ffff:127.0.0.1", True),
    ("localhost:8050", "192.0.2.7", False),
    ("localhost:8050", "", False),
    ("localhost:8050", "unix:", False),
    ("evil.example:8050", "127.0.0.1", False),  # a public name that resolves to this machine
    ("localhost.evil.example", "127.0.0.1", False),
    ("127.0.0.1.evil.example", "127.0.0.1", False),
    ("evil.example@localhost", "127.0.0.1", False),
    ("localhost@evil.example", "127.0.0.1", False),
    ("localhost/.evil.example", "127.0.0.1", False),
    ("localhost\\.evil.example", "127.0.0.1", False),
    ("localhost.", "127.0.0.1", False),
    ("2130706433", "127.0.0.1", False),
    ("0.0.0.0:8050", "127.0.0.1", False),
    ("[::1", "127.0.0.1", False),
    ("", "127.0.0.1", False),
)


@cases(("host", "peer", "here"), PLACES)
def test_only_a_loopback_connection_by_a_loopback_name_is_local(
    host: str, peer: str, here: bool
) -> None:
    environ = {"REMOTE_ADDR": peer, "HTTP_HOST": host, "SERVER_PROTOCOL": "HTTP/1.1"}
    assert from_this_machine(environ) is here


@cases(
    ("header", "value", "foreign"),
    [
        ("SEC_FETCH_SITE", "none", False),
        ("SEC_FETCH_SITE", "same-origin", False),
        ("SEC_FETCH_SITE", "same-site", True),
        ("SEC_FETCH_SITE", "cross-site", True),
        ("ORIGIN", "http://localhost:8050", False),
        ("ORIGIN", "http://LOCALHOST:8050", False),
        ("ORIGIN", "http://localhost:8051", True),
        ("ORIGIN", "http://evil.example", True),
        ("ORIGIN", "null", True),
        ("REFERER", "http://localhost:8050/devices?page=2", False),
        ("REFERER", "http://evil.example/http://localhost:8050", True),
        ("REFERER", "http://localhost:8050@evil.example/", True),
        ("REFERER", "http://[::1", True),
    ],
)
def test_a_request_from_another_origin_is_recognized(
    header: str, value: str, foreign: bool
) -> None:
    assert from_another_site(HERE | {f"HTTP_{header}": value}) is foreign


# --- The layer -----------------------------------------------------------------------------------


def settings(**text: str) -> Settings:
    return Settings.from_env({"WEIR_SECRET_KEY": "x" * 40, **text})


def plain(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
    if environ["PATH_INFO"] == "/devices/break":
        raise RuntimeError("broken")
    start_response("200 OK", [("Content-Type", "text/plain"), ("Referrer-Policy", "same-origin")])
    return iter([b"one", b"three"])


class Site:
    """A site behind the layer, and the lines of its log."""

    def __init__(self, folder: Path, site: Any = plain, **text: str) -> None:
        self.log = folder / "requests.log"
        self.client = Client(RequestLogging(site, settings(WEIR_REQUEST_LOG=str(self.log), **text)))

    def get(self, path: str, **fields: Any) -> TestResponse:
        """A response that was read completely."""
        return self.client.open(path, buffered=True, **fields)

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.read_text().splitlines()]


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


@pytest.mark.parametrize(
    ("sent", "taken"),
    [
        ("0123456789abcdef", True),
        ("01HF-trace.42_x", True),
        ("short", False),
        ("x" * 65, False),
        ("with space 123", False),
        ('quoted"12345678', False),
        ("ünïcödé-12345678", False),
        ("a,b,c,d,e,f", False),
        (None, False),
    ],
)
def test_a_plain_id_is_used_and_any_other_replaced(
    site: Site, sent: str | None, taken: bool
) -> None:
    answer = site.get("/devices", headers={} if sent is None else {"X-Request-Id": sent})
    given = answer.headers["Request-Id"]
    assert (given == sent) is taken
    assert answer.headers.get("X-Request-Id") == (sent if taken else None)
    assert site.lines()[0]["id"] == given
    assert len(given) >= 8


def test_a_line_has_the_result_of_a_request(site: Site) -> None:
    answer = site.get("/devices/FM-1?token=hush", environ_base={"REMOTE_ADDR": "192.0.2.5"})
    assert answer.data == b"onethree"
    (line,) = site.lines()
    assert line.pop("ms") >= 0
    assert line.pop("time").endswith("Z")
    assert line == {
        "id": answer.headers["Request-Id"],
        "method": "GET",
        "route": "/devices/…",
        "status": 200,
        "storeMs": 0.0,
        "bytes": 8,
        "principal": None,
        "key": None,
        "address": "192.0.2.5",
    }


def test_an_interrupted_response_is_logged_as_500(site: Site) -> None:
    with pytest.raises(RuntimeError):
        site.get("/devices/break")
    assert [line["status"] for line in site.lines()] == [500]


def test_a_response_that_is_not_read_completely_is_logged_once(tmp_path: Path) -> None:
    site = Site(tmp_path)
    answer = site.client.application(  # pyright: ignore[reportOptionalCall]
        EnvironBuilder(path="/devices").get_environ(), lambda *_: None
    )
    next(iter(answer))
    answer.close()  # pyright: ignore[reportAttributeAccessIssue]
    answer.close()  # pyright: ignore[reportAttributeAccessIssue]
    assert [line["bytes"] for line in site.lines()] == [3]


def test_any_paths_give_few_routes(site: Site) -> None:
    for number in range(50):
        site.get(f"/devices/{number}")
        site.get(f"/{number}/passwd")
        site.get(f"{PATH_PREFIX}/x{number}", method="BREW")
    lines = site.lines()
    assert {line["route"] for line in lines} == {"/devices/…", "other"}
    assert {line["method"] for line in lines} == {"GET", "other"}


def test_a_responses_own_headers_stay_and_others_are_added(site: Site) -> None:
    headers = site.get("/devices").headers
    assert headers.getlist("Referrer-Policy") == ["same-origin"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"] == "frame-ancestors 'none'"
    assert "Strict-Transport-Security" not in headers
    assert "Server-Timing" not in headers


@pytest.mark.parametrize(
    ("hsts", "scheme", "expected"),
    [
        ("0", "https", None),
        ("600", "http", None),
        ("600", "https", "max-age=600"),
    ],
)
def test_strict_transport_needs_its_setting_and_tls(
    tmp_path: Path, hsts: str, scheme: str, expected: str | None
) -> None:
    site = Site(tmp_path, WEIR_HSTS_S=hsts)
    answer = site.get("/devices", base_url=f"{scheme}://weir.example")
    assert answer.headers.get("Strict-Transport-Security") == expected


# --- The service behind it -----------------------------------------------------------------------


@pytest.fixture
def world(sqlite_store: Store) -> World:
    return build(sqlite_store)


def test_the_service_reports_its_timing_and_principal(world: World, tmp_path: Path) -> None:
    site = Site(tmp_path, create_service(world.store, world.settings))
    path = f"{PATH_PREFIX}/flow/latest?ids={METER}"
    answer = site.get(path, headers=dict(world.credentials["all"].headers))
    parts = dict(part.split(";dur=") for part in answer.headers["Server-Timing"].split(", "))
    assert list(parts) == ["auth", "store", "json"]
    assert all(float(ms) >= 0 for ms in parts.values())
    assert float(parts["auth"]) > 0 < float(parts["store"])
    (line,) = site.lines()
    key = world.credentials["all"].headers[KEY_HEADER]
    assert line["route"] == f"{PATH_PREFIX}/flow/latest"
    assert (line["principal"], line["key"][:4]) == ("key", "key_")
    assert 0 < line["storeMs"] <= line["ms"]
    assert key not in site.log.read_text()
    assert METER not in site.log.read_text()


def test_a_refused_credential_has_no_principal(world: World, tmp_path: Path) -> None:
    site = Site(tmp_path, create_service(world.store, world.settings))
    secret = "6a1279f0-d474-4d4d-8896-5d852b0ae3cf"
    answer = site.get(f"{PATH_PREFIX}/device", headers={KEY_HEADER: secret})
    assert answer.status_code == 401
    assert answer.json is not None
    assert answer.json["instance"] == answer.headers["Request-Id"] == site.lines()[0]["id"]
    assert (site.lines()[0]["principal"], site.lines()[0]["key"]) == (None, None)
    assert secret not in site.log.read_text()


# --- The file of lines ---------------------------------------------------------------------------


def test_a_log_that_was_moved_is_started_again(tmp_path: Path) -> None:
    lines = AccessLog(str(tmp_path / "log"))
    lines.write({"n": 1})
    (tmp_path / "log").rename(tmp_path / "log.1")
    lines.write({"n": 2})
    lines.close()
    assert (tmp_path / "log.1").read_text() == '{"n":1}\n'
    assert (tmp_path / "log").read_text() == '{"n":2}\n'
    assert (tmp_path / "log").stat().st_mode & 0o777 == 0o600


def test_an_unwritable_log_fails_no_request(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    site = Client(RequestLogging(plain, settings(WEIR_REQUEST_LOG=str(tmp_path / "no" / "log"))))
    with caplog.at_level(logging.WARNING):
        assert site.open("/devices", buffered=True).status_code == 200
        assert site.open("/devices", buffered=True).status_code == 200
    assert len(caplog.records) == 1  # once, not with each request
