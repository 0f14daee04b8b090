"""The operator's screen during a fault, in a real browser: the last data, dimmed, with a message
and its age. Once the fault is over, the screen recovers without an action."""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from selenium.webdriver import Chrome

from api.catalog import MINUTE_MS
from api.server import create_service
from api.store.open import open_store
from api.timez import now_ms, stamp
from tests.browser.chromium import Tab, started
from tests.faults.conftest import Start
from tests.faults.loaded_server import WatchedServer, locked
from tests.fleets import serial, watched_fleet
from tests.remote.conftest import dashboard
from tests.remote.station import FINE, Station, Weather
from tests.servers import free_port
from tests.world import SETTINGS

PATIENCE_S = 45.0
LOOKS_EVERY_S = 4.0
SUFFIXES = ("", "-wal", "-shm")
POINTS = (
    "const g = document.querySelector('.js-plotly-plot'); if (!g || !g.data) return 0;"
    "return g.data.reduce((n, t) => n + (t.y || []).filter((y) => y !== null).length, 0)"
)
TILES = "return document.querySelectorAll('#fleet-wall a').length"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Chrome]:
    with started() as driver:
        driver.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": 1440, "height": 900, "deviceScaleFactor": 1, "mobile": False},
        )
        yield driver


def signed_in(driver: Chrome, link: str) -> Tab:
    """A tab of a browser that has opened the sign-in link."""
    base_url, _, path = link.rpartition("/")
    tab = Tab(driver, base_url)
    tab.open(f"/{path}")
    tab.until(lambda: tab.text("#freshness"), patience_s=PATIENCE_S)
    return tab


class Screen:
    """The fleet page or a device's page."""

    def __init__(self, tab: Tab, path: str) -> None:
        self.tab, self.path, self.looked_s = tab, path, 0.0
        self.is_wall = path == "/"
        self.notice = "#fleet-notice" if self.is_wall else "#chart-notice"
        self.live = "#freshness"
        self.dimmed = "#fleet .wall" if self.is_wall else "main .plot"

    def until(self, what: Callable[[], object]) -> None:
        self.tab.until(what, patience_s=PATIENCE_S)

    def open(self) -> None:
        self.tab.open(self.path)
        self.until(lambda: self.tab.text(self.live).startswith("Live"))
        self.until(self.shown)

    def shown(self) -> int:
        """The number of tiles on the wall, or of points in the chart."""
        return int(self.tab.run(TILES if self.is_wall else POINTS))

    def opacity(self) -> float:
        style = "return Number(getComputedStyle(document.querySelector(arguments[0])).opacity)"
        return float(self.tab.run(style, self.dimmed))

    def look(self) -> None:
        """Show the tab again, so that it refreshes at once. Not called again before the reply can
        have arrived, since that would cancel the request."""
        if time.monotonic() < self.looked_s + LOOKS_EVERY_S:
            return
        self.looked_s = time.monotonic()
        self.tab.run("document.dispatchEvent(new Event('visibilitychange'))")

    def is_dimmed_with(self, words: str, before: int) -> None:
        def is_announced() -> bool:
            if words in self.tab.text(self.notice):
                return True
            if words != SILENCE:
                self.look()
            return False

        self.look()
        self.until(is_announced)
        self.until(lambda: self.opacity() < 0.9)
        assert self.shown() == before
        assert self.tab.text(self.live).startswith("Stale · ")
        assert "Showing data from" in self.tab.text(self.notice)
        assert "Retrying…" in self.tab.text(self.notice)

    def is_as_before(self) -> None:
        self.until(lambda: self.tab.text(self.live).startswith("Live"))
        self.until(lambda: not self.tab.text(self.notice).strip())
        self.until(lambda: self.opacity() > 0.99)
        assert self.shown()


SILENCE = "Can’t reach the server."


@contextmanager
def without_its_file(loaded: WatchedServer) -> Generator[None]:
    away = loaded.shell.folder / "away"
    away.mkdir(exist_ok=True)
    for suffix in SUFFIXES:
        shutil.move(f"{loaded.path}{suffix}", away)
    yield
    for suffix in reversed(SUFFIXES):
        shutil.move(away / f"{loaded.path.name}{suffix}", loaded.path.parent)


@contextmanager
def without_its_server(loaded: WatchedServer) -> Generator[None]:
    os.kill(loaded.server.pid, signal.SIGKILL)
    loaded.server.wait(30)
    yield
    loaded.server = loaded.serve()


def lively(loaded: WatchedServer) -> str:
    """The path of a device that has reported up to now."""
    now = now_ms()
    rows = [
        {"device": "M-1", "recordedAt": stamp(now - n * MINUTE_MS), "flowRate": n % 7}
        for n in range(240)
    ]
    assert loaded.post(rows)[0] == 200
    devices = loaded.ask("/device").json()
    listed = devices if isinstance(devices, list) else devices["data"]
    [id] = [each["id"] for each in listed if each["serialNumber"] == "M-1"]
    return f"/devices/{id}"


@pytest.mark.browser
@pytest.mark.slow
def test_the_last_data_stays_dimmed_with_a_message_until_it_is_fresh(
    start: Start, chromium: Chrome
) -> None:
    loaded = start()
    device = lively(loaded)
    tab = signed_in(chromium, loaded.sign_in_link())
    for fault, path, words in (
        (without_its_file, "/", "The store's file is missing"),
        (without_its_file, device, "The store's file is missing"),
        (without_its_server, "/", SILENCE),
    ):
        screen = Screen(tab, path)
        screen.open()
        before = screen.shown()
        with fault(loaded):
            screen.is_dimmed_with(words, before)
        screen.is_as_before()


@contextmanager
def nothing_written(loaded: WatchedServer) -> Generator[None]:
    with locked(loaded.path):
        yield


@contextmanager
def its_writer_hung(loaded: WatchedServer) -> Generator[None]:
    writer = loaded.parts()[0]
    os.kill(writer, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(writer, signal.SIGCONT)


@pytest.mark.browser
@pytest.mark.slow
def test_every_page_has_a_notice_why_no_reading_is_stored(start: Start, chromium: Chrome) -> None:
    """Reads still work, so a page without the notice would only grow older."""
    loaded = start()
    path = lively(loaded)
    loaded.begin()
    tab = signed_in(chromium, loaded.sign_in_link())
    for fault, place, words in (
        (nothing_written, path, "Readings aren't being stored. The store is locked or too slow."),
        (its_writer_hung, "/", "Readings aren't being stored: the writer has stopped."),
    ):
        screen = Screen(tab, place)
        screen.open()
        assert not tab.text("#outage")
        with fault(loaded):
            screen.until(lambda expected=words: tab.text("#outage") == expected)
            assert screen.shown()
            assert tab.text(screen.live).startswith("Live")
        screen.until(lambda: not tab.text("#outage"))
        loaded.await_more()


HTML = Weather(
    answers=None, body=b"<html>Sign in to the guest network</html>",
    headers=(("Content-Type", "text/html"),),
)  # fmt: skip
HALF = Weather(
    answers=None, body=b'{"data": [{"flow_rate"', headers=(("Content-Type", "application/json"),)
)
BUSY = Weather(
    answers=None, status="429 TOO MANY REQUESTS", body=b'{"detail": "Too many requests."}',
    headers=(("Content-Type", "application/problem+json"), ("Retry-After", "60")),
)  # fmt: skip


@pytest.mark.browser
@pytest.mark.slow
def test_any_failure_of_a_remote_server_leaves_the_last_chart_with_a_message(
    chromium: Chrome, tmp_path: Path
) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'weir.sqlite'}")
    store.upgrade()
    fleet = watched_fleet(store)
    station = Station(create_service(store, SETTINGS), free_port())
    station.start()
    with dashboard(tmp_path, station.url, fleet.key) as near:
        tab = signed_in(chromium, near.links.make(near.url))
        screen = Screen(tab, f"/devices/{fleet.ids[serial(30)]}")
        screen.open()
        before = screen.shown()
        for weather, words in (
            (HTML, "not JSON"),
            (HALF, "not valid JSON"),
            (BUSY, "Try again in 60 s."),
        ):
            station.turn(weather)
            screen.is_dimmed_with(words, before)
        station.turn(FINE)
        screen.is_as_before()
        station.stop()
        screen.is_dimmed_with("can't be reached", screen.shown())
        station.start()
        screen.is_as_before()
    station.stop()
    store.close()
