"""Browsers of other origins: only those configured, never everyone."""

from __future__ import annotations

import pytest
from flask.testing import FlaskClient

from api.server import create_service
from api.settings import Settings
from api.store.base import Store
from tests.world import SECRET, World, build

PORTAL = "https://portal.example"


@pytest.fixture
def world(sqlite_store: Store) -> World:
    return build(sqlite_store)


@pytest.fixture
def client(world: World) -> FlaskClient:
    environ = {"WEIR_SECRET_KEY": SECRET, "WEIR_CORS_ORIGINS": f"{PORTAL},http://b.example:8080"}
    return create_service(world.store, Settings.from_env(environ)).test_client()


def test_a_configured_origin_may_read(world: World, client: FlaskClient) -> None:
    headers = {**world.credentials["all"].headers, "Origin": PORTAL}
    answer = client.get("/management/v1/device", headers=headers)
    assert answer.headers["Access-Control-Allow-Origin"] == PORTAL
    assert answer.headers["Access-Control-Expose-Headers"] == "ETag, Retry-After, Request-Id"
    assert "Access-Control-Allow-Credentials" not in answer.headers
    vary = answer.headers["Vary"].split(", ")
    assert vary == ["service-api-key", "Authorization", "Accept-Encoding", "Origin"]


@pytest.mark.parametrize(
    "origin", ["https://evil.example", f"{PORTAL}.evil.example", "null", PORTAL.upper(), "", "*"]
)
def test_no_other_origin_may_read(world: World, client: FlaskClient, origin: str) -> None:
    headers = {**world.credentials["all"].headers, "Origin": origin}
    for answer in (
        client.get("/management/v1/device", headers=headers),
        client.options("/management/v1/device", headers=headers),
    ):
        assert not any(name.startswith("Access-Control") for name, _ in answer.headers)
        assert "Origin" in answer.headers["Vary"]  # caches must keep origins apart


def test_a_preflight_needs_no_credential(client: FlaskClient) -> None:
    fields = {
        "Origin": PORTAL,
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "service-api-key",
    }
    answer = client.options("/management/v1/flow/latest", headers=fields)
    assert answer.status_code == 200
    assert answer.headers["Access-Control-Allow-Origin"] == PORTAL
    assert answer.headers["Access-Control-Allow-Methods"] == "GET, HEAD, OPTIONS"
    allowed = answer.headers["Access-Control-Allow-Headers"].lower()
    for name in ("service-api-key", "authorization", "if-none-match"):
        assert name in allowed


def test_a_page_may_read_problems_too(client: FlaskClient) -> None:
    for path in ("/management/v1/device", "/management/v1/nothing"):
        answer = client.get(path, headers={"Origin": PORTAL})
        assert answer.status_code in (401, 404)
        assert answer.headers["Access-Control-Allow-Origin"] == PORTAL
