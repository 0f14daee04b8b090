"""Failures behind the service: a plain problem for the caller, details in the log."""

from __future__ import annotations

import logging
from typing import Any

import pytest

from api.catalog import KEY_HEADER
from api.errors import StoreMissing, Unavailable
from api.server import create_service
from api.store.base import Store
from tests.world import ACME, SETTINGS, World, build


class Broken:
    """A store that raises instead of listing devices."""

    def __init__(self, store: Store, error: Exception) -> None:
        self._store, self._error = store, error

    def devices(self, *args: Any) -> Any:
        raise self._error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@pytest.fixture
def world(sqlite_store: Store) -> World:
    return build(sqlite_store)


def ask(world: World, error: Exception) -> Any:
    client = create_service(Broken(world.store, error), SETTINGS).test_client()  # pyright: ignore
    return client.get("/management/v1/device", headers=dict(world.credentials["all"].headers))


def test_an_unexpected_error_is_500_and_logged_under_its_id(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.ERROR):
        answer = ask(world, KeyError("SELECT secret FROM somewhere"))
    assert answer.status_code == 500
    assert answer.content_type == "application/problem+json"
    assert "SELECT" not in answer.text
    assert "Traceback" not in answer.text
    (record,) = caplog.records
    assert answer.headers["Request-Id"] in record.getMessage()
    assert record.exc_info is not None


@pytest.mark.parametrize(
    ("error", "code", "retry_after"),
    [
        (Unavailable("The store is locked."), "unavailable", "5"),
        (Unavailable("The store is locked.", retry_after_s=1.2), "unavailable", "2"),
        (StoreMissing("There is no store at this address."), "store-missing", "5"),
    ],
)
def test_an_unavailable_store_is_503_with_retry_after(
    world: World, error: Exception, code: str, retry_after: str
) -> None:
    answer = ask(world, error)
    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == retry_after
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.get_json(force=True)["type"] == f"urn:weir:problem:{code}"


def test_a_key_of_a_deleted_organization_is_invalid(world: World) -> None:
    class Vanished(Broken):
        def organization(self, organization_id: str) -> None:
            assert organization_id == ACME

    client = create_service(Vanished(world.store, KeyError()), SETTINGS).test_client()  # pyright: ignore
    secret = world.credentials["all"].headers[KEY_HEADER]
    assert client.get("/management/v1/device", headers={KEY_HEADER: secret}).status_code == 401
