"""The notice of how fresh a page is: shown at once on every page, and never wrongly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.browser.charts import Chart
from tests.browser.chromium import Tab
from tests.dashboards import LIVE, Site

pytestmark = pytest.mark.browser

FRESH = ("Live · ", "Updated ")


@contextmanager
def network(tab: Tab, **conditions: object) -> Iterator[None]:
    usual = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    tab.tolerated = ("ERR_INTERNET_DISCONNECTED", "Callback failed", "Failed to fetch", "TypeError")
    tab.cdp("Network.enable")
    tab.cdp("Network.emulateNetworkConditions", **(usual | conditions))
    try:
        yield
    finally:
        tab.cdp("Network.emulateNetworkConditions", **usual)


def path_of(site: Site, page: str) -> str:
    return page.replace("LIVE", site.fleet.ids[LIVE])


def freshness(tab: Tab) -> str:
    return str(tab.run("return document.querySelector('main').dataset.freshness"))


@pytest.mark.parametrize(
    "page", ["/", "/devices", "/devices/LIVE", "/usage?range=7d", "/report?devices=LIVE"]
)
def test_a_stopped_server_is_noticed_within_seconds_on_every_page(
    tab: Tab, site: Site, page: str
) -> None:
    tab.open(path_of(site, page))
    tab.until(lambda: tab.text("#freshness").startswith(FRESH))
    with network(tab, offline=True):
        tab.until(lambda: tab.text("#freshness").startswith("Stale · "), patience_s=20)
        notice = tab.text("main .notice")
        assert notice.startswith("Can’t reach the server. Showing data from ")
        assert "Retrying…" in notice
        assert freshness(tab) == "stale"
    tab.until(lambda: tab.text("#freshness").startswith(FRESH))
    tab.until(lambda: not tab.text("main .notice"))


def test_a_range_that_does_not_load_dims_the_old_one_with_a_notice(tab: Tab, site: Site) -> None:
    tab.open(path_of(site, "/devices/LIVE?range=24h"))
    chart = Chart(tab).drawn()
    day = chart.badge()
    with network(tab, latency=4_000):
        tab.click('[data-value="7d"]')
        tab.until(lambda: "Showing the previous view" in tab.text("#freshness-late"), patience_s=4)
        assert chart.badge() == day
        assert tab.text("#freshness") == "Waiting for the server"
        opacity = "return Number(getComputedStyle(document.querySelector('.plot')).opacity)"
        tab.until(lambda: float(tab.run(opacity)) < 0.7)
    tab.until(lambda: chart.badge() != day)
    tab.until(lambda: freshness(tab) == "live")
    assert not tab.text("#freshness-late")


def test_after_a_failed_range_the_notice_says_that_the_previous_view_is_shown(
    tab: Tab, site: Site
) -> None:
    tab.open(path_of(site, "/devices/LIVE?range=24h"))
    Chart(tab).drawn()
    with network(tab, offline=True):
        tab.click('[data-value="7d"]')
        tab.until(lambda: "Showing the previous view" in tab.text("#chart-notice"), patience_s=20)
