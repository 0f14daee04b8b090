"""Every page: theme, phone, keyboard, addresses, bytes."""

from __future__ import annotations

import pytest
from selenium.webdriver.common.keys import Keys

from tests.browser.charts import Chart
from tests.browser.chromium import Tab
from tests.dashboards import LIVE, TRICKY, Site

pytestmark = pytest.mark.browser


def pages(site: Site) -> dict[str, str]:
    """Each page's path, and a text that it shows once it is loaded."""
    return {
        "/devices": "Tenant 12 main",
        f"/devices/{site.fleet.ids[LIVE]}?range=7d": "rows for",
        "/nope": "Page not found",
    }


def test_a_phone_has_no_horizontal_scroll(tab: Tab, site: Site) -> None:
    tab.tolerated = ("404",)
    tab.size(390, 844)
    for path, there in pages(site).items():
        tab.open(path)
        tab.until(lambda there=there: there in tab.text())
        assert tab.run("return document.documentElement.scrollWidth") == 390, path


def test_the_theme_follows_the_system_until_one_is_chosen(tab: Tab, site: Site) -> None:
    chart = Chart(tab)
    tab.open(f"/devices/{site.fleet.ids[LIVE]}?range=7d")
    chart.drawn()

    def line() -> str:
        return tab.run("return document.querySelector('.js-plotly-plot').data[2].line.color")

    def ground() -> str:
        return tab.run("return getComputedStyle(document.documentElement).backgroundColor")

    assert (line(), ground()) == ("#0b6bcb", "rgb(246, 247, 249)")
    tab.colours("dark")
    tab.until(lambda: line() == "#5aa9f7")
    assert ground() == "rgb(14, 20, 27)"
    tab.click("#theme-switch")
    tab.until(lambda: line() == "#0b6bcb")
    assert ground() == "rgb(246, 247, 249)"
    assert "theme=light" in tab.driver.current_url
    tab.open("/devices")
    tab.until(lambda: "Tenant 12 main" in tab.text())
    assert ground() == "rgb(246, 247, 249)"


def test_the_list_opens_a_device_and_back_returns(tab: Tab, site: Site) -> None:
    tab.open("/devices")
    tab.until(lambda: "Tenant 12 main" in tab.text())
    assert tab.driver.title == "Devices · Weir"
    tab.click(f'a[href="/devices/{site.fleet.ids[LIVE]}"]')
    Chart(tab).drawn()
    tab.until(lambda: tab.driver.title == "Tenant 12 main · Weir")
    tab.back()
    tab.until(lambda: "124 active devices" in tab.text())
    tab.forward()
    Chart(tab).drawn()


def test_a_label_is_never_markup(tab: Tab, site: Site) -> None:
    tab.open("/devices")
    tab.until(lambda: "<img src=x onerror=alert(1)> & Sons" in tab.text(".grid"))
    tab.open(f"/devices/{site.fleet.ids[TRICKY]}?range=1h")
    Chart(tab).drawn()
    assert "<img src=x onerror=alert(1)> & Sons" in tab.text("h1")
    assert tab.run("return document.querySelectorAll('main img').length") == 0


def test_an_unknown_address_has_status_404_and_a_way_back(tab: Tab, site: Site) -> None:
    tab.tolerated = ("404",)
    tab.open("/nope")
    tab.until(lambda: "Page not found" in tab.text())
    assert tab.run("return performance.getEntriesByType('navigation')[0].responseStatus") == 404
    tab.click("main a")
    tab.until(lambda: "Page not found" not in tab.text())
    assert tab.driver.current_url == f"{site.url}/"


def test_charts_load_the_small_bundle_and_lists_none(tab: Tab, site: Site) -> None:
    tab.open(f"/devices/{site.fleet.ids[LIVE]}")
    Chart(tab).drawn()
    assert tab.run("return Plotly.version") == "4.1.1"
    assert tab.requested("plotly-cartesian.min.js?m=")
    assert tab.requested("package_data/plotly.min.js") == []


def test_scripts_and_styles_are_cached(tab: Tab, site: Site) -> None:
    """A second visit loads them from the browser's cache."""
    for _ in range(2):
        tab.open("/devices")
        tab.until(lambda: "Tenant 12 main" in tab.text())
    sizes = tab.run(
        "return performance.getEntriesByType('resource')"
        ".filter((e) => /\\.(js|css|svg)/.test(e.name)).map((e) => [e.name, e.transferSize])"
    )
    assert len(sizes) > 8
    assert [name for name, size in sizes if size > 400] == []


def test_everything_can_be_reached_by_keyboard(tab: Tab, site: Site) -> None:
    tab.open(f"/devices/{site.fleet.ids[LIVE]}")
    Chart(tab).drawn()
    tab.until(lambda: tab.run("return document.querySelectorAll('#device-days .day').length > 30"))
    names = tab.run(  # the days are one stop: arrow keys go from day to day
        """const found = [...document.querySelectorAll('a, button, select, input')]
             .filter((e) => e.offsetParent !== null || e.className === 'skip')
             .filter((e) => !e.matches('.day[tabindex="-1"]'));
           return found.map((e) => [e.tabIndex,
             e.getAttribute('aria-label') || e.title || e.textContent.trim()]);"""
    )
    assert len(names) > 12
    assert [name for index, name in names if index < 0 or not name] == []
    tab.until(
        lambda: tab.run("return document.querySelectorAll('.day[tabindex=\"0\"]').length == 1")
    )


def test_compared_devices_are_chosen_divided_and_read_by_keyboard(tab: Tab, site: Site) -> None:
    one, other = site.fleet.ids[LIVE], site.fleet.ids[TRICKY]
    tab.size(390, 844)
    tab.open(f"/compare?range=7d&items=device:{one},device:{other}")
    tab.until(lambda: tab.run("return document.querySelectorAll('.compare-plot svg').length") == 1)
    assert tab.run("return document.documentElement.scrollWidth") == 390
    tab.run("document.querySelector('.compare-plot').focus()")
    tab.driver.switch_to.active_element.send_keys(Keys.ARROW_RIGHT)
    tab.until(lambda: "Tenant 12 main" in tab.run("return document.activeElement.textContent"))
    tab.click("button[data-set='by'][data-value='mean']")
    tab.until(lambda: "own mean" in tab.text("#compare-pictures h2"))
    tab.press(".compare-chips .chip:last-child")
    tab.until(lambda: "device%3A" + other not in tab.driver.current_url)
    tab.back()
    tab.until(lambda: tab.text(".compare-chips").count("✕") == 2)
