"""A fleet behind its real service, in this process."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from flask import Flask

from api.client import Client
from api.server import create_service
from api.store.open import open_store
from components.concurrent_queries import ReplyCache, ServiceAccess
from tests.dashboards import Fleet
from tests.fleets import watched_fleet
from tests.world import SETTINGS


@pytest.fixture(scope="session")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    store = open_store(f"sqlite:///{tmp_path_factory.mktemp('watched') / 'weir.sqlite'}")
    store.upgrade()
    yield watched_fleet(store)
    store.close()


@pytest.fixture(scope="session")
def service(watched: Fleet) -> Flask:
    return create_service(watched.store, SETTINGS)


class Counted:
    """A service that counts its requests by path, and fails where `fails` is true."""

    def __init__(self, service: Flask) -> None:
        self._service = service
        self.requests: list[str] = []
        self.fails: Any = lambda url: None

    def __call__(self, environ: Any, start_response: Any) -> Any:
        url = f"{environ['PATH_INFO']}?{environ['QUERY_STRING']}"
        self.requests.append(url)
        status = self.fails(url)
        if status is None:
            return self._service(environ, start_response)
        start_response(f"{status} X", [("Content-Type", "application/problem+json")])
        return [b'{"detail": "It is on fire."}']

    def count(self, part: str) -> int:
        return sum(part in url for url in self.requests)


@pytest.fixture
def counted(service: Flask) -> Counted:
    return Counted(service)


@pytest.fixture
def access(counted: Counted, watched: Fleet) -> ServiceAccess:
    return ServiceAccess(Client.in_process(counted, watched.key), ReplyCache())
