"""Any bytes get one of the service's own responses and never a 500."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.catalog import KEY_HEADER
from tests.world import METER, World, opened

LATIN = st.binary(max_size=60).map(lambda raw: raw.decode("latin-1"))
NAMES = (
    "resolution", "from", "to", "limit", "offset", "count", "timezone", "filter", "ids", "metrics",
    "maxDatapoints", "order", "orderBy", "active", "serialNumber", "_x",
)  # fmt: skip
PATHS = ("/version", "/organizations/mine", "/device", f"/flow/datapoints/{METER}",
         f"/flow/adaptive/{METER}", "/flow/latest")  # fmt: skip


@pytest.fixture(scope="module")
def world(place_url: str) -> Iterator[World]:
    with opened(place_url) as world:
        yield world


def answer(world: World, path: str, query: str, **headers: str) -> tuple[int, bytes]:
    """Directly through WSGI: an HTTP client would correct the request."""
    statuses: list[str] = []
    environ: dict[str, Any] = {
        "REQUEST_METHOD": "GET", "PATH_INFO": path, "QUERY_STRING": query, "SERVER_NAME": "x",
        "SERVER_PORT": "80", "SERVER_PROTOCOL": "HTTP/1.1", "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(), "wsgi.errors": sys.stderr, **headers,
    }  # fmt: skip
    body = world.client.application.wsgi_app(
        environ, lambda status, headers, exc_info=None: statuses.append(status)
    )
    return int(statuses[0][:3]), b"".join(body)


def check(status: int, body: bytes) -> None:
    assert status in (200, 400, 401, 403, 404)
    if status != 200:
        assert orjson.loads(body)["status"] == status


@settings(deadline=None)
@given(
    path=st.sampled_from(PATHS),
    pairs=st.lists(st.tuples(st.sampled_from(NAMES) | LATIN, LATIN), max_size=6),
)
def test_any_query(world: World, path: str, pairs: list[tuple[str, str]]) -> None:
    query = "&".join(f"{name}={value}" for name, value in pairs)
    key = world.credentials["all"].headers[KEY_HEADER]
    check(*answer(world, f"/management/v1{path}", query, HTTP_SERVICE_API_KEY=key))


@settings(deadline=None)
@given(
    path=LATIN, prefix=st.sampled_from(["/", "/management/v1/", "/management/v1/flow/adaptive/"])
)
def test_any_path(world: World, path: str, prefix: str) -> None:
    key = world.credentials["all"].headers[KEY_HEADER]
    query = "from=2026-03-08&to=2026-03-09"
    check(*answer(world, prefix + path, query, HTTP_SERVICE_API_KEY=key))


@settings(deadline=None)
@given(
    headers=st.dictionaries(
        st.sampled_from(["HTTP_SERVICE_API_KEY", "HTTP_AUTHORIZATION", "HTTP_IF_NONE_MATCH",
                         "HTTP_ACCEPT", "HTTP_ORIGIN", "HTTP_HOST"]),
        LATIN | LATIN.map(lambda text: f"Bearer {text}"),
    )
)  # fmt: skip
def test_any_header(world: World, headers: dict[str, str]) -> None:
    check(*answer(world, "/management/v1/device", "", **headers))
