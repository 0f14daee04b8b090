"""The list of ten thousand devices: scrolling, sorting, search, keyboard, back button, failures."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.select import Select

from components.devices.columns import ROW_PX, USUAL
from tests.browser.charts import Chart
from tests.browser.chromium import Tab
from tests.browser.test_freshness import network
from tests.dashboards import LIVE, Fleet, Site, make_fleet, served

pytestmark = pytest.mark.browser

CROWD = 10_000
TOTAL = CROWD + 4
# Labels by number: the first of all, the first of the crowd, and the last.
FIRST, LAST = "Clock tower", "Zone 9999 drip"
# The list refreshes every 15 s; here twenty times as often.
HURRIED = """const later = window.setTimeout;
  window.setTimeout = (run, ms, ...rest) =>
    later(run, ms > 9000 && ms < 19000 ? ms / 20 : ms, ...rest);"""
LONG_TASK_MS = 200  # the time that a machine without a graphics card may take for a 60 ms task


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    made = make_fleet(tmp_path_factory.mktemp("crowd"), many=CROWD)
    yield made
    made.store.close()


@pytest.fixture(scope="module")
def site(fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with served(fleet, tmp_path_factory.mktemp("site")) as running:
        yield running


class List:
    """The list, as a reader uses it."""

    def __init__(self, tab: Tab) -> None:
        self.tab = tab

    def open(self, query: str = "") -> List:
        self.tab.open(f"/devices{query}")
        self.tab.until(lambda: self.labels())
        return self

    def labels(self) -> list[str]:
        """Of the visible rows, from the top; empty while a row is still loading."""
        return self.tab.run(
            """const body = document.querySelector('.ag-body-viewport');
               if (!body) return [];
               const box = body.getBoundingClientRect();
               const rows = [...document.querySelectorAll('.grid .ag-row')].filter((row) => {
                 const { top, bottom } = row.getBoundingClientRect();
                 return top >= box.top - 1 && bottom <= box.bottom + 1;
               }).sort((a, b) => Number(a.getAttribute('row-index')) - b.getAttribute('row-index'));
               const labels = rows.map((row) => row.querySelector('.name')?.textContent);
               return labels.every(Boolean) ? labels : [];"""
        )

    def scroll(self, row: int) -> None:
        self.tab.run(
            "document.querySelector('.ag-body-viewport').scrollTop = arguments[0]", row * ROW_PX
        )

    def at(self, row: int) -> list[str]:
        """The visible labels once the list is scrolled to that row."""
        before = self.labels()
        self.scroll(row)
        self.tab.until(lambda: self.labels() not in ([], before))
        return self.labels()

    def shows(self, label: str) -> None:
        self.tab.until(lambda: label in self.labels())

    def starts(self, label: str) -> None:
        self.tab.until(lambda: self.labels()[:1] == [label])

    def wait_for_count(self, words: str) -> None:
        self.tab.until(lambda: self.tab.text("#devices-found") == words)

    def sort(self, column: str) -> None:
        # With a user gesture: without one the browser may replace the history entry.
        self.tab.press(f'.ag-header-cell[col-id="{column}"] .ag-header-cell-label')

    def choose(self, field: str, value: str) -> None:
        chosen = self.tab.driver.find_element("css selector", f'select[data-set="{field}"]')
        Select(chosen).select_by_value(value)

    def search(self, words: str) -> None:
        field = self.tab.driver.find_element("css selector", "#devices-search")
        field.clear()
        field.send_keys(words)

    def keys(self, *keys: str) -> None:
        self.tab.driver.switch_to.active_element.send_keys(*keys)

    @property
    def address(self) -> str:
        return self.tab.driver.current_url.removeprefix(self.tab.base_url)


@pytest.fixture
def listed(tab: Tab) -> List:
    return List(tab)


def scrolled(tab: Tab) -> list[int]:
    """Scroll from the first row to the last, by wheel steps and by leaps. Returns the long tasks,
    in ms."""
    tab.run(
        """window.longest = [];
           window.watching = new PerformanceObserver((list) => list.getEntries().forEach(
             (entry) => window.longest.push(Math.round(entry.duration)),
           ));
           window.watching.observe({ entryTypes: ['longtask'] });
           const body = document.querySelector('.ag-body-viewport');
           let step = 0;
           body.scrollTop = 0;
           window.scrolled = false;
           (function next() {
             body.scrollTop += step < 60 ? 120 : 6000;
             step += 1;
             const end = body.scrollTop + body.clientHeight >= body.scrollHeight - 1;
             if (end) window.scrolled = true; else requestAnimationFrame(next);
           })();"""
    )
    tab.until(lambda: tab.run("return window.scrolled"), patience_s=60)
    return sorted(tab.run("window.watching.disconnect(); return window.longest"))


def long_ms() -> float:
    """The limit in ms. Long tasks are measured by the clock, not by processor time, so with four
    programs per processor the same work takes four times as long. An idle machine keeps the strict
    bound."""
    waiting = os.getloadavg()[0] / (os.cpu_count() or 1)
    return LONG_TASK_MS * min(4.0, max(1.0, waiting))


def test_ten_thousand_rows_scroll_without_a_stutter(listed: List, tab: Tab) -> None:
    """Every position shows its rows, no frame is late, and blocks that were only scrolled past
    aren't all requested. The best of three runs counts, since other programs use the machine
    too."""
    listed.open()
    listed.wait_for_count(f"{TOTAL:,} active devices")
    longest = [scrolled(tab)]
    listed.shows(LAST)
    assert len(tab.requested("_dash-update-component")) < CROWD / 100
    while (stutters := sum(each > long_ms() for each in longest[-1])) > 2 and len(longest) < 3:
        longest.append(scrolled(tab))
    assert stutters <= 2, longest
    assert tab.run("return document.querySelectorAll('.grid .ag-row').length") < 60


def test_a_column_sorts_and_the_back_button_restores_the_order(listed: List, tab: Tab) -> None:
    listed.open()
    listed.sort("label")
    listed.starts(LAST)
    assert listed.address == "/devices?order=desc"
    listed.sort("flow")
    listed.starts("Tenant 12 main")
    assert listed.address == "/devices?sort=flow"
    header = '.ag-header-cell[col-id="flow"]'
    assert tab.run(f"return document.querySelector('{header}').ariaSort") == "ascending"
    tab.back()
    listed.starts(LAST)
    tab.back()
    listed.shows(FIRST)
    assert listed.address == "/devices"
    tab.forward()
    listed.starts(LAST)


def test_status_and_search_are_in_the_address(listed: List, tab: Tab) -> None:
    listed.open()
    listed.choose("status", "inactive")
    listed.starts("Old main")
    listed.wait_for_count("1 inactive device")
    listed.choose("status", "all")
    listed.wait_for_count(f"{TOTAL + 1:,} devices")
    listed.search("zone 123")
    listed.wait_for_count("11 devices match")  # 123 and 1230 to 1239
    assert listed.address == "/devices?status=all&q=zone+123"
    listed.open("?status=all&q=zone+123&order=desc")
    listed.starts("Zone 1239 drip")
    assert tab.run("return document.querySelector('#devices-search').value") == "zone 123"
    assert tab.run("return document.querySelector('select[data-set=status]').value") == "all"


def test_an_empty_list_gives_the_reason_and_a_way_on(listed: List, tab: Tab) -> None:
    listed.open()
    listed.search("no such thing")
    tab.until(lambda: "No active device matches “no such thing”." in tab.text("#devices-empty"))
    tab.click("#devices-empty button")
    listed.wait_for_count(f"{TOTAL + 1:,} devices")
    listed.shows(FIRST)
    assert tab.text("#devices-empty") == ""
    assert listed.address == "/devices?status=all"


def test_everything_by_keyboard(listed: List, tab: Tab, site: Site) -> None:
    """ "/" searches, ↓ enters the rows, arrows move, Enter opens, back returns to the row; Tab
    leaves the rows at once."""
    listed.open()
    listed.keys("/")
    listed.keys("t")
    listed.keys(Keys.BACKSPACE)
    listed.keys("tenant 12")
    listed.starts("Tenant 12 main")
    listed.keys(Keys.ARROW_DOWN)
    focused = "return document.activeElement.getAttribute('col-id')"
    tab.until(lambda: tab.run(focused) == "label")
    ring = tab.run("return getComputedStyle(document.activeElement).outlineStyle")
    assert ring == "solid"
    listed.keys(Keys.ENTER)
    Chart(tab).drawn()
    assert listed.address.startswith(f"/devices/{site.fleet.ids[LIVE]}")
    tab.back()
    listed.starts("Tenant 12 main")
    assert listed.address == "/devices?q=tenant+12"
    tab.until(lambda: tab.run(focused) == "label")
    listed.keys(Keys.TAB)
    assert not tab.run("return document.activeElement.closest('.ag-row') !== null")


def test_back_returns_to_the_row_that_was_left(listed: List, tab: Tab) -> None:
    listed.open()
    label = listed.at(7_000)[3]
    tab.run(
        "[...document.querySelectorAll('.grid a.name')]"
        ".find((each) => each.textContent === arguments[0]).click()",
        label,
    )
    tab.until(lambda: tab.text("h1") == label)
    tab.back()
    listed.shows(label)


def test_each_row_is_a_link_and_opens_by_a_click_anywhere(
    listed: List, tab: Tab, site: Site
) -> None:
    listed.open("?q=tenant")
    href = tab.run("return document.querySelector('.grid a.name').getAttribute('href')")
    assert href == f"/devices/{site.fleet.ids[LIVE]}"
    cell = '.ag-row [col-id="flow"]'
    tab.driver.find_element("css selector", cell).click()
    Chart(tab).drawn()
    assert listed.address.startswith(href)


def test_rows_show_their_status_and_refresh(listed: List, tab: Tab) -> None:
    tab.cdp("Page.addScriptToEvaluateOnNewDocument", source=HURRIED)
    listed.open("?q=tenant")
    state = '.ag-row [col-id="state"]'
    tab.until(lambda: tab.text(state).startswith(("● Reporting", "▲ Degraded")))
    assert tab.text(state).endswith((" ago", "just now"))
    before = len(tab.requested("_dash-update-component"))
    tab.until(lambda: len(tab.requested("_dash-update-component")) > before)
    listed.shows("Tenant 12 main")
    listed.open("?status=inactive")
    tab.until(lambda: tab.text(state) == "○ Inactive")


def test_the_readers_columns_are_stored_and_in_the_address(listed: List, tab: Tab) -> None:
    def headers() -> list[str]:
        return tab.run(
            """return [...document.querySelectorAll('.ag-header-cell')]
                 .map((cell) => cell.getAttribute('col-id'))"""
        )

    listed.open()
    tab.click("#devices-columns summary")
    for name in ("findings", "quality", "volumeToday", "groups", "model"):
        tab.click(f'button[data-column="{name}"]')
    tab.until(lambda: headers() == ["label", "state", "flow", "uptime", "model"])
    assert listed.address == "/devices?columns=flow%2Cuptime%2Cmodel"
    listed.open()
    tab.until(lambda: headers() == ["label", "state", "flow", "uptime", "model"])
    assert listed.address == "/devices?columns=flow%2Cuptime%2Cmodel"
    listed.open("?columns=parent")  # a link's columns win
    tab.until(lambda: headers() == ["label", "state", "parent"])
    tab.click("#devices-columns summary")
    tab.click(".column-reset")
    tab.until(lambda: headers() == ["label", "state", *USUAL])
    assert listed.address == "/devices"


def test_a_failure_keeps_the_rows_and_recovers(listed: List, tab: Tab, site: Site) -> None:
    listed.open()
    site.broken.set()
    try:
        listed.scroll(5_000)
        tab.until(lambda: "The store is on fire." in tab.text("#devices-notice"))
        listed.scroll(0)
        listed.shows(FIRST)
        assert "Showing data from" in tab.text("#devices-notice")
    finally:
        site.broken.clear()
    tab.click("#devices-notice button")
    tab.until(lambda: tab.text("#devices-notice") == "")
    assert FIRST not in listed.at(5_000)


def test_rows_whose_request_was_lost_are_requested_again(listed: List, tab: Tab) -> None:
    listed.open()
    with network(tab, offline=True):
        listed.scroll(5_000)
        tab.until(lambda: "Can’t reach the server." in tab.text("#devices-notice"))
    tab.until(lambda: tab.text("#devices-notice") == "")
    tab.until(lambda: listed.labels() and FIRST not in listed.labels())


def test_a_failure_at_the_start_is_shown_and_recovers(listed: List, tab: Tab, site: Site) -> None:
    site.broken.set()
    try:
        tab.open("/devices")
        tab.until(lambda: "The store is on fire." in tab.text("#devices-notice"))
    finally:
        site.broken.clear()
    tab.click("#devices-notice button")
    listed.shows(FIRST)


def test_the_theme_switches_without_a_reload(listed: List, tab: Tab) -> None:
    listed.open()
    ground = "return getComputedStyle(document.querySelector('.ag-row')).backgroundColor"
    text = "return getComputedStyle(document.querySelector('.ag-row .name')).color"
    tab.run("window.sameDocument = true")
    assert tab.run(text) == "rgb(22, 32, 43)"
    tab.click("#theme-switch")
    assert tab.run(text) == "rgb(232, 238, 244)"
    assert tab.run(ground) in ("rgb(22, 30, 39)", "rgba(0, 0, 0, 0)")
    assert tab.run("return window.sameDocument")


@pytest.mark.parametrize(("width", "columns"), [(1440, 8), (390, 2)])
def test_columns_fit_the_screen(listed: List, tab: Tab, width: int, columns: int) -> None:
    tab.size(width, 844)
    listed.open()
    tab.until(
        lambda: tab.run("return document.querySelectorAll('.ag-header-cell').length") == columns
    )
    tab.until(
        lambda: tab.run(
            """const box = document.querySelector('.ag-body-viewport').getBoundingClientRect();
               return [...document.querySelectorAll('.ag-header-cell')].every(
                 (cell) => cell.getBoundingClientRect().right <= box.right + 1);"""
        )
    )
    assert tab.run("return document.documentElement.scrollWidth") == width
    assert tab.run("return document.documentElement.scrollHeight") <= 844


def test_only_the_list_loads_the_grid(tab: Tab) -> None:
    tab.open("/nope?x")
    tab.tolerated = ("404",)
    tab.until(lambda: "Page not found" in tab.text())
    assert tab.requested("dash_ag_grid") == []
    tab.run("document.querySelector('a[href=\"/devices\"]').click()")
    List(tab).shows(FIRST)
    assert len(tab.requested("dash_ag_grid/")) == 2
