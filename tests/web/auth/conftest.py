"""The dashboard behind authentication, over its own HTTP, on a small world of two organizations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from dash import Dash
from werkzeug.test import Client as Browser
from werkzeug.test import TestResponse

from api.catalog import KEY_HEADER
from api.client import Client
from api.server import create_service
from tests.world import SECRET, World, opened
from web.auth import Access, AuthMiddleware
from web.auth.sign_in import Throttle
from web.dashboard import create_dashboard, delivered, inside, sign_in_page

NOW_S = 1_770_000_000.0
COOKIE = "weir-session"
AT_LARGE = "weir.example"  # a host name that isn't this machine's own


class Clock:
    """Epoch seconds that a test moves by hand."""

    def __init__(self) -> None:
        self.now_s = NOW_S

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture(scope="session")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with opened(f"sqlite:///{tmp_path_factory.mktemp('session') / 'weir.sqlite'}") as world:
        yield world


@pytest.fixture(scope="session")
def client(world: World) -> Client:
    """A connection to the service without a credential."""
    return Client.in_process(create_service(world.store, world.settings))


@pytest.fixture(scope="session")
def dashboard(client: Client, tmp_path_factory: pytest.TempPathFactory) -> Dash:
    app = create_dashboard(client, Access(SECRET, tmp_path_factory.mktemp("ended")))
    Browser(app.server).get("/_dash-layout")  # Dash sets itself up at its first request
    return app


@pytest.fixture
def clock() -> Clock:
    return Clock()


Open = Callable[..., "Site"]


class Site:
    """A browser at the dashboard. By default ``host`` and ``peer`` are those of a remote client."""

    def __init__(self, application: Any) -> None:
        self.browser = Browser(application)

    def open(
        self,
        path: str,
        method: str = "GET",
        *,
        host: str = AT_LARGE,
        peer: str = "192.0.2.7",
        headers: Mapping[str, str] | None = None,
        scheme: str = "http",
        **more: Any,
    ) -> TestResponse:
        return self.browser.open(
            path,
            method=method,
            base_url=f"{scheme}://{host}",
            environ_base={"REMOTE_ADDR": peer},
            headers=dict(headers or {}),
            **more,
        )

    def carrying(self, value: str) -> Site:
        """A request with a session cookie of that value."""
        self.browser.set_cookie(COOKIE, value, domain=AT_LARGE)
        return self

    def here(self, path: str, method: str = "GET", **more: Any) -> TestResponse:
        """A request from this machine."""
        return self.open(path, method, **{"host": "localhost", "peer": "127.0.0.1", **more})

    def sign_in(self, key: str, next_path: str = "/devices", **more: Any) -> TestResponse:
        form = {"key": key, "next": next_path}
        return self.open("/sign-in", "POST", data=form, **more)


@pytest.fixture
def open_site(dashboard: Dash, client: Client, clock: Clock, tmp_path: Path) -> Open:
    """``open_site(**access)``: the dashboard behind its own authentication, without failed
    attempts."""

    def opened(application: Any = None, through: Client = client, **access: Any) -> Site:
        inner = application or inside(dashboard)
        rules = Access(**{"secret": SECRET, "folder": tmp_path / "ended", **access})
        page = sign_in_page()
        door = AuthMiddleware(inner, through, rules, page, clock_s=clock, attempts=Throttle(clock))
        return Site(delivered(dashboard, door))

    return opened


@pytest.fixture
def site(open_site: Open) -> Site:
    return open_site()


@pytest.fixture(scope="session")
def keys(world: World) -> dict[str, str]:
    """The world's service keys by the name of their scope."""
    sent = {name: c.headers.get(KEY_HEADER) for name, c in world.credentials.items()}
    return {name: key for name, key in sent.items() if key}
