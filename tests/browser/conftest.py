"""One real Chromium for all tests, and the dashboard on a real port."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver

from api.client import Client
from api.roles import Role
from api.server import create_service
from tests.browser.chromium import Tab, checked_tab, started
from tests.browser.framed import Framed
from tests.dashboards import Fleet, Site, make_fleet, served
from tests.web.auth.remote import serving
from tests.web.embed.frames import Embeds, Host, hosting, serving_embeds
from tests.world import SECRET, World, opened
from web.auth import Access
from web.dashboard import create_dashboard


class Window:
    """The browser's window."""

    def __init__(self, driver: webdriver.Chrome) -> None:
        self.driver = driver

    def command(self, name: str, **parameters: Any) -> Any:
        """A command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(name, parameters)

    def size(self, width_px: int, height_px: int) -> None:
        self.command(
            "Emulation.setDeviceMetricsOverride",
            width=width_px,
            height=height_px,
            deviceScaleFactor=1,
            mobile=width_px < 500,
        )

    def prefer(self, theme: str) -> None:
        feature = {"name": "prefers-color-scheme", "value": theme}
        self.command("Emulation.setEmulatedMedia", features=[feature])

    def run(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def violations(self) -> list[str]:
        return self.run("return window.weirViolations")

    def messages(self) -> list[str]:
        """The console's messages since the last call."""
        return [str(entry["message"]) for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """The requested addresses since the last call."""
        entries = (json.loads(e["message"])["message"] for e in self.driver.get_log("performance"))
        sent = (e for e in entries if e["method"] == "Network.requestWillBeSent")
        return [entry["params"]["request"]["url"] for entry in sent]


@pytest.fixture(scope="session")
def chromium() -> Iterator[webdriver.Chrome]:
    with started() as driver:
        yield driver


@pytest.fixture
def window(chromium: webdriver.Chrome) -> Window:
    """A fresh window: no cookies, empty storage, 1440 × 900 px."""
    window = Window(chromium)
    chromium.get("about:blank")
    window.command("Network.enable")
    window.command("Network.clearBrowserCookies")
    window.command("Emulation.setEmulatedMedia", features=[])
    window.size(1440, 900)
    window.messages()
    window.requests()
    return window


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with opened(f"sqlite:///{tmp_path_factory.mktemp('browser') / 'weir.sqlite'}") as world:
        yield world


Serve = Callable[..., str]


@pytest.fixture(scope="module")
def serve(world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """``serve(**access)`` starts a dashboard with these settings of access and returns its
    address."""
    with ExitStack() as stack:

        def served(**access: Any) -> str:
            folder: Path = tmp_path_factory.mktemp("ended")
            client = Client.in_process(create_service(world.store, world.settings))
            app = create_dashboard(client, Access(SECRET, folder, **access))
            return stack.enter_context(serving(app.server))

        yield served


# --- A demo fleet --------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    made = make_fleet(tmp_path_factory.mktemp("fleet"))
    yield made
    made.store.close()


@pytest.fixture(scope="module")
def site(fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site that this machine may open without signing in."""
    with served(fleet, tmp_path_factory.mktemp("site")) as running:
        yield running


@pytest.fixture(scope="module")
def staffed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A fleet whose reader is an administrator."""
    folder: Path = tmp_path_factory.mktemp("staffed")
    made = make_fleet(folder, many=0)
    made.store.set_key_role("key_test", Role.ADMINISTRATOR)
    with served(made, folder) as running:
        yield running
    made.store.close()


@pytest.fixture
def tab(window: Window, site: Site) -> Iterator[Tab]:
    """On a wide screen."""
    with checked_tab(window.driver, site.url) as opened:
        yield opened


Down = Callable[[str], Path]


@pytest.fixture
def down(tab: Tab, tmp_path: Path) -> Iterator[Down]:
    """``down(ending)`` waits for a downloaded file of that ending; there must be one only."""
    tab.cdp("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))

    def arrived(ending: str) -> Path:
        result = tab.until(
            # An empty file holds its name until the download is complete.
            lambda: next(
                (f for f in tmp_path.iterdir() if f.name.endswith(ending) and f.stat().st_size),
                None,
            ),
            patience_s=40.0,
        )
        assert result is not None
        return result

    yield arrived
    tab.cdp("Browser.setDownloadBehavior", behavior="default")


# --- Embeds, and sites that frame them -----------------------------------------------------------


@pytest.fixture(scope="module")
def embeds(fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Embeds]:
    with serving_embeds(fleet, tmp_path_factory.mktemp("embeds")) as running:
        yield running


@pytest.fixture(scope="module")
def host() -> Iterator[Host]:
    with hosting() as running:
        yield running


@pytest.fixture(scope="module")
def stranger() -> Iterator[Host]:
    """Another site, allowed by no embed."""
    with hosting() as running:
        yield running


@pytest.fixture
def framed(chromium: webdriver.Chrome, embeds: Embeds, host: Host) -> Iterator[Framed]:
    """A host's page with empty storage, in a browser that blocks third-party cookies."""
    made = Framed(chromium, embeds, host)
    made.tab.cdp("Network.enable")
    made.tab.cdp("Network.clearBrowserCookies")
    made.tab.cdp(
        "Network.setCookieControls",
        enableThirdPartyCookieRestriction=True,
        disableThirdPartyCookieMetadata=True,
        disableThirdPartyCookieHeuristics=True,
    )
    embeds.requests.clear()
    host.requests.clear()
    host.pages.clear()
    yield made
    chromium.switch_to.default_content()
    chromium.get("about:blank")
