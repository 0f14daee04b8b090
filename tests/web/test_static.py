"""Delivery to browsers: encodings, validators, lifetimes, safety headers, statuses."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING

import brotli
import pytest
from werkzeug.test import Client
from werkzeug.wrappers import Request, Response

from web.static import StaticDelivery, content_security_policy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from _typeshed.wsgi import StartResponse, WSGIEnvironment

SCRIPT = b"function weir() { return 'flow'; }\n" * 100
PNG = b"\x89PNG" + bytes(2_000)


class Origin:
    """The application behind the middleware; counts its requests."""

    def __init__(self) -> None:
        self.requests: list[str] = []

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        path = Request(environ).path
        self.requests.append(path)
        return self._answer(path)(environ, start_response)

    def _answer(self, path: str) -> Response:
        if path.endswith(".js"):
            return Response(SCRIPT, content_type="text/javascript; charset=utf-8")
        if path.endswith(".png"):
            return Response(PNG, content_type="image/png")
        if path.startswith("/assets/"):
            return Response("no", status=404)
        if path.startswith("/_dash-"):
            return Response("{}", content_type="application/json")
        return Response("<html>", content_type="text/html; charset=utf-8")


@pytest.fixture
def origin() -> Origin:
    return Origin()


@pytest.fixture
def client(origin: Origin) -> Client:
    delivery = StaticDelivery(
        origin,
        is_page=lambda path: path == "/devices",
        policy=lambda: content_security_policy(["'sha256-abc='"]),
    )
    return Client(delivery)


@pytest.mark.parametrize(
    ("accepted", "encoding", "decode"),
    [
        ("gzip, deflate, br, zstd", "br", brotli.decompress),
        ("gzip", "gzip", gzip.decompress),
        ("br;q=0, gzip;q=0.5", "gzip", gzip.decompress),
        ("", None, bytes),
        ("identity", None, bytes),
    ],
)
def test_static_text_has_the_smallest_accepted_encoding(
    client: Client, accepted: str, encoding: str | None, decode: object
) -> None:
    answer = client.get("/assets/chart.js", headers={"Accept-Encoding": accepted})
    assert answer.headers.get("Content-Encoding") == encoding
    assert answer.headers["Vary"] == "Accept-Encoding"
    assert decode(answer.data) == SCRIPT  # pyright: ignore[reportCallIssue]
    if encoding:
        assert len(answer.data) < len(SCRIPT) / 5


def test_incompressible_files_are_sent_unchanged(client: Client) -> None:
    answer = client.get("/assets/mark.png", headers={"Accept-Encoding": "br"})
    assert "Content-Encoding" not in answer.headers
    assert answer.data == PNG


def test_a_file_is_read_and_compressed_once(client: Client, origin: Origin) -> None:
    for accepted in ("br", "gzip", "br", ""):
        client.get("/assets/chart.js?m=1", headers={"Accept-Encoding": accepted})
    assert origin.requests == ["/assets/chart.js"]


SAME = (  # spellings of one file's path, if they were accepted
    "/assets/chart.js%3Fz={}",
    "/assets/chart.js%23{}",
    "/assets/./x{}/../chart.js",
    "/assets/x{}/%2e%2e/chart.js",
    "/assets//{}/chart.js",
    "/assets/.{}.js",
    "/assets/%5c{}.js",
    "/assets/%c3%a4{}.js",
)


@pytest.mark.parametrize("pattern", SAME)
def test_a_file_has_one_path(client: Client, origin: Origin, pattern: str) -> None:
    """Otherwise a client could have it compressed and cached once for each spelling."""
    for n in range(3):
        assert client.get(pattern.format(n)).status_code == 404
    assert origin.requests == []


def test_a_script_is_compressed_once_for_any_version(client: Client, origin: Origin) -> None:
    script = "/_dash-component-suites/dash/dcc/async-graph"
    for version in (".v4_4_1m1795214250", ".v1m1", ".v1mAB", ".v1m1.v2m2", ""):
        assert client.get(f"{script}{version}.js").data == SCRIPT
    assert origin.requests == [f"{script}.js"]


@pytest.mark.parametrize("path", ["/_favicon.icoX", "/assets-of-nobody.html", "/_favicon.ico/x"])
def test_a_page_is_not_a_file(client: Client, path: str) -> None:
    """A path that only begins like a file's gets a page's response, without a page's policy."""
    assert client.get(path).status_code == 404


@pytest.mark.parametrize(
    ("path", "lifetime"),
    [
        ("/assets/chart.js?m=1795215871605", "public, max-age=31536000, immutable"),
        ("/assets/chart.js?v=4.1.1", "public, max-age=31536000, immutable"),
        (
            "/_dash-component-suites/dash/dcc/async-graph.v4_4_1m1795214250.js",
            "public, max-age=31536000, immutable",
        ),
        ("/assets/chart.js", "public, no-cache"),
        ("/assets/chart.js?other=1", "public, no-cache"),
        ("/_dash-component-suites/dash/dcc/async-graph.js", "public, no-cache"),
    ],
)
def test_a_versioned_file_is_cached_for_good(client: Client, path: str, lifetime: str) -> None:
    assert client.get(path).headers["Cache-Control"] == lifetime


def test_an_unversioned_file_is_not_sent_twice(client: Client) -> None:
    first = client.get("/assets/chart.js", headers={"Accept-Encoding": "br"})
    again = {"Accept-Encoding": "br", "If-None-Match": first.headers["ETag"]}
    assert client.get("/assets/chart.js", headers=again).status_code == 304
    other = {**again, "Accept-Encoding": "gzip"}
    assert client.get("/assets/chart.js", headers=other).status_code == 200


def test_head_sends_the_headers_alone(client: Client) -> None:
    answer = client.head("/assets/chart.js", headers={"Accept-Encoding": "br"})
    assert answer.data == b""
    assert answer.headers["Content-Encoding"] == "br"


def test_a_missing_file_is_not_cached(client: Client, origin: Origin) -> None:
    for _ in range(2):
        assert client.get("/assets/nope").status_code == 404
    assert len(origin.requests) == 2


@pytest.mark.parametrize(("path", "status"), [("/devices", 200), ("/nope", 404)])
def test_a_page_has_its_policy_and_its_status(client: Client, path: str, status: int) -> None:
    answer = client.get(path)
    assert answer.status_code == status
    policy = answer.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self' 'sha256-abc='" in policy
    assert "unsafe-eval" not in policy
    assert "unsafe-inline" not in policy.split("style-src")[0]
    assert answer.headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize("path", ["/devices", "/_dash-layout", "/assets/chart.js", "/assets/nope"])
def test_every_response_has_safety_headers(client: Client, path: str) -> None:
    headers = client.get(path).headers
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Referrer-Policy"] == "same-origin"
    assert "X-Frame-Options" not in headers


def test_data_is_never_cached(client: Client) -> None:
    answer = client.post("/_dash-update-component", json={})
    assert answer.headers["Cache-Control"] == "private, no-store"
