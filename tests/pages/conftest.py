"""A dashboard whose pages are called as functions and by HTTP."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from components.session import READER, EntryMethod, Reader
from tests.dashboards import Fleet, Site, make_fleet, served


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    made = make_fleet(tmp_path_factory.mktemp("fleet"))
    yield made
    made.store.close()


@pytest.fixture(scope="module")
def site(fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with served(fleet, tmp_path_factory.mktemp("site")) as running:
        yield running


@pytest.fixture
def looking(site: Site) -> Iterator[Site]:
    """The context of a request, in which pages and callbacks can be called as functions."""
    who = Reader(site.client, EntryMethod.DEMO, [])
    with site.app.server.test_request_context(environ_base={READER: who}):
        yield site


@pytest.fixture
def web(site: Site) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=site.url) as http:
        yield http
