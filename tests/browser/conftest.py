"""A real Chromium, one for all tests, and the dashboard on a real port."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver

from api.client import Client
from api.server import create_service
from tests.browser.chromium import Tab, looked_at, started
from tests.browser.framed import Framed
from tests.dashboards import Fleet, Site, make_fleet, served
from tests.web.auth.remote import serving
from tests.web.embed.frames import Embeds, Host, hosting, serving_embeds
from tests.world import SECRET, World, opened
from web.auth import Access
from web.dashboard import create_dashboard


class Window:
    """A browser's window, and what to do with it."""

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
        """What the console has said since it was last asked."""
        return [str(entry["message"]) for entry in self.driver.get_log("browser")]

    def asked(self) -> list[str]:
        """The addresses asked for since this was last called."""
        entries = (json.loads(e["message"])["message"] for e in self.driver.get_log("performance"))
        sent = (e for e in entries if e["method"] == "Network.requestWillBeSent")
        return [entry["params"]["request"]["url"] for entry in sent]


@pytest.fixture(scope="session")
def chromium() -> Iterator[webdriver.Chrome]:
    with started() as driver:
        yield driver


@pytest.fixture
def window(chromium: webdriver.Chrome) -> Window:
    """As new: no cookies, nothing kept, 1440 × 900."""
    window = Window(chromium)
    chromium.get("about:blank")
    window.command("Network.enable")
    window.command("Network.clearBrowserCookies")
    window.command("Emulation.setEmulatedMedia", features=[])
    window.size(1440, 900)
    window.messages()
    window.asked()
    return window


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with opened(f"sqlite:///{tmp_path_factory.mktemp('browser') / 'weir.sqlite'}") as world:
        yield world


Serve = Callable[..., str]


@pytest.fixture(scope="module")
def serve(world: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serve]:
    """``serve(**access)``: the address of a dashboard that is entered so."""
    with ExitStack() as stack:

        def served(**access: Any) -> str:
            folder: Path = tmp_path_factory.mktemp("ended")
            client = Client.in_process(create_service(world.store, world.settings))
            app = create_dashboard(client, Access(SECRET, folder, **access))
            return stack.enter_context(serving(app.server))

        yield served


# --- A fleet to look at --------------------------------------------------------------------------


@pytest.fixture(scope="session")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    made = make_fleet(tmp_path_factory.mktemp("fleet"))
    yield made
    made.store.close()


@pytest.fixture(scope="module")
def site(fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Open to everybody at this machine."""
    with served(fleet, tmp_path_factory.mktemp("site")) as running:
        yield running


@pytest.fixture
def tab(window: Window, site: Site) -> Iterator[Tab]:
    """On a wide screen."""
    with looked_at(window.driver, site.url) as opened:
        yield opened


Down = Callable[[str], Path]


@pytest.fixture
def down(tab: Tab, tmp_path: Path) -> Iterator[Down]:
    """``down(ending)`` waits for the one file of that ending that the browser has downloaded."""
    tab.cdp("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))

    def arrived(ending: str) -> Path:
        found = tab.until(
            # Its name is taken by an empty file until the one that is being written has come whole.
            lambda: next(
                (f for f in tmp_path.iterdir() if f.name.endswith(ending) and f.stat().st_size),
                None,
            ),
            patience_s=40.0,
        )
        assert found is not None
        return found

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
    """Another site, which no embed names."""
    with hosting() as running:
        yield running


@pytest.fixture
def framed(chromium: webdriver.Chrome, embeds: Embeds, host: Host) -> Iterator[Framed]:
    """Nothing is kept, and third-party cookies are blocked."""
    made = Framed(chromium, embeds, host)
    made.tab.cdp("Network.enable")
    made.tab.cdp("Network.clearBrowserCookies")
    made.tab.cdp(
        "Network.setCookieControls",
        enableThirdPartyCookieRestriction=True,
        disableThirdPartyCookieMetadata=True,
        disableThirdPartyCookieHeuristics=True,
    )
    embeds.asked.clear()
    host.asked.clear()
    host.pages.clear()
    yield made
    chromium.switch_to.default_content()
    chromium.get("about:blank")
