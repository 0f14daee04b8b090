"""Over the network responses are as small as the client can decode."""

from __future__ import annotations

import gzip

import brotli
import pytest
from flask.testing import FlaskClient

from api.catalog import COLUMNS_TYPE
from api.server import create_service
from api.store.base import Store
from tests.world import METER, SETTINGS, World, build

PATH = f"/management/v1/flow/datapoints/{METER}?resolution=1hour"


@pytest.fixture
def world(sqlite_store: Store) -> World:
    return build(sqlite_store)


@pytest.fixture
def client(world: World) -> FlaskClient:
    return create_service(world.store, SETTINGS, compression=True).test_client()


@pytest.mark.parametrize("accept", ["application/json", COLUMNS_TYPE])
@pytest.mark.parametrize(
    ("encodings", "chosen", "decompress"),
    [
        ("gzip, br", "br", brotli.decompress),
        ("gzip", "gzip", gzip.decompress),
        ("identity", None, bytes),
    ],
)
def test_the_client_s_best_encoding_is_used(
    world: World, client: FlaskClient, accept: str, encodings: str, chosen: str | None, decompress
) -> None:
    headers = {**world.credentials["all"].headers, "Accept": accept}
    plain = world.client.get(PATH, headers=headers)
    answer = client.get(PATH, headers={**headers, "Accept-Encoding": encodings})
    assert answer.headers.get("Content-Encoding") == chosen
    assert decompress(answer.data) == plain.data
    assert chosen is None or len(answer.data) < len(plain.data)
    for name in ("ETag", "Vary", "Cache-Control", "Content-Type"):
        assert answer.headers[name] == plain.headers[name]


def test_a_validator_is_valid_for_every_encoding(world: World, client: FlaskClient) -> None:
    headers = {**world.credentials["all"].headers, "Accept-Encoding": "br"}
    etag = client.get(PATH, headers=headers).headers["ETag"]
    for encodings in ("br", "gzip", ""):
        again = {**headers, "Accept-Encoding": encodings, "If-None-Match": etag}
        answer = client.get(PATH, headers=again)
        assert (answer.status_code, answer.data) == (304, b"")
        assert "Content-Encoding" not in answer.headers


def test_in_process_nothing_is_compressed(world: World) -> None:
    headers = {**world.credentials["all"].headers, "Accept-Encoding": "br"}
    assert "Content-Encoding" not in world.client.get(PATH, headers=headers).headers
