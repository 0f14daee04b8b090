"""Two Weir servers: one shows the data of the other, over HTTP alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

import app
from api.auth.sign_in_links import SignInLinks
from api.server import create_service
from api.settings import Settings
from api.store.open import open_store
from tests.dashboards import Fleet
from tests.fleets import watched_fleet
from tests.remote.station import FINE, Station
from tests.servers import free_port
from tests.web.auth.remote import serving
from tests.world import SETTINGS


class Near(NamedTuple):
    """The local dashboard, and the links that sign in to it with its own key."""

    url: str
    links: SignInLinks


class Site:
    """A browser at the dashboard, over a socket; `tests.web.auth.wire` uses it."""

    def __init__(self, near: Near, *, signed_in: bool = True) -> None:
        self.http = httpx.Client(base_url=near.url, timeout=30, trust_env=False)
        if signed_in:
            assert self.http.get(near.links.make(near.url)).headers["Location"] == "/"

    def open(self, path: str, method: str = "GET", **more: Any) -> httpx.Response:
        return self.http.request(method, path, **more)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    store = open_store(f"sqlite:///{tmp_path_factory.mktemp('far') / 'weir.sqlite'}")
    store.upgrade()
    yield watched_fleet(store)
    store.close()


@pytest.fixture(scope="module")
def running(fleet: Fleet) -> Iterator[Station]:
    station = Station(create_service(fleet.store, SETTINGS), free_port())
    station.start()
    yield station
    station.stop()


@pytest.fixture
def station(running: Station) -> Iterator[Station]:
    """The remote server, working normally."""
    running.turn(FINE)
    yield running
    running.turn(FINE)


@contextmanager
def dashboard(folder: Path, url: str, key: str) -> Iterator[Near]:
    """A complete site without a store, which shows that server."""
    environ = {
        "WEIR_DATABASE": f"sqlite:///{folder / 'never.sqlite'}",
        "WEIR_INSTANCE": str(folder / "instance"),
        "WEIR_API_URL": url,
        "WEIR_API_KEY": key,
    }
    settings = Settings.from_env(environ)
    with serving(app.site(settings)) as address:
        yield Near(address, SignInLinks(settings.sign_in_links_path))


@pytest.fixture(scope="module")
def near(
    running: Station, fleet: Fleet, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Near]:
    with dashboard(tmp_path_factory.mktemp("near"), running.url, fleet.key) as near:
        yield near


@pytest.fixture
def site(near: Near) -> Iterator[Site]:
    opened = Site(near)
    yield opened
    opened.http.close()
