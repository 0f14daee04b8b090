"""The chart in a real browser: behaviour that only a browser has."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

import pytest

from api.catalog import HOUR_MS
from api.timez import stamp
from tests.browser.charts import Chart
from tests.browser.chromium import Tab
from tests.dashboards import AUTUMN, CLOCKS, HOLE_MS, LIVE, NEVER, SPRING, Site

pytestmark = pytest.mark.browser


def opened(tab: Tab, site: Site, serial: str, query: str = "") -> Chart:
    tab.open(f"/devices/{site.fleet.ids[serial]}{query}")
    return Chart(tab).drawn()


def answers(tab: Tab) -> int:
    """The number of requests for rows."""
    requests = tab.requested("_dash-update-component")
    return sum('"chart-question.data"' in request.get("postData", "") for request in requests)


def test_the_first_view_is_requested_once(tab: Tab, site: Site) -> None:
    """Margins and axis are final from the start: drawing the rows must not request again."""
    chart = opened(tab, site, LIVE, "?range=7d")
    width = round(chart.box().width)
    result = re.fullmatch(
        r"5 min · ([\d,]+) rows for ([\d,]+) px · min and max exact", chart.badge()
    )
    assert result is not None
    assert result[2] == f"{width:,}"
    tab.until(
        lambda: f"of {result[1]} rows" in tab.text("#device-rows")
    )  # the table counts the same
    tab.run("return new Promise((done) => setTimeout(done, 400))")
    assert answers(tab) == 1


def apart_s(one: list[str], other: list[str]) -> float:
    """The largest distance of the two ranges' ends, in seconds."""
    ends = [[datetime.fromisoformat(text) for text in texts] for texts in (one, other)]
    return max(abs((a - b).total_seconds()) for a, b in zip(*ends, strict=True))


def test_a_drag_fetches_finer_rows_and_a_double_click_goes_back(tab: Tab, site: Site) -> None:
    chart = opened(tab, site, LIVE, "?range=7d")
    before, coarse = chart.range(), chart.badge()
    chart.drag(0.30, 0.35)
    tab.until(lambda: chart.badge() != coarse)
    zoomed = chart.range()
    assert chart.badge().startswith("raw · ")
    assert before[0] < zoomed[0] < zoomed[1] < before[1]
    tab.until(lambda: "from=" in tab.driver.current_url)
    tab.until(lambda: not tab.run("return document.querySelector('#chart-reset').disabled"))
    chart.double_click()
    tab.until(lambda: chart.badge().startswith(coarse.partition(" · ")[0]))
    tab.until(lambda: "from=" not in tab.driver.current_url)
    # Meanwhile one or two minutes may have begun.
    tab.until(lambda: apart_s(chart.range(), before) <= 120)


def test_the_old_rows_stay_until_the_new_ones_are_there(tab: Tab, site: Site) -> None:
    chart = opened(tab, site, LIVE, "?range=7d")
    tab.run(
        """const graph = document.querySelector('.js-plotly-plot');
           window.__least = graph.data[2].x.length;
           window.__watch = setInterval(() => {
             const line = graph.data[2];
             window.__least = Math.min(window.__least, line ? line.x.length : 0);
           }, 2);"""
    )
    coarse = chart.badge()
    chart.drag(0.5, 0.9)
    tab.until(lambda: chart.badge() != coarse)
    tab.run("clearInterval(window.__watch)")
    assert tab.run("return window.__least") > 100


def test_the_back_button_undoes_a_zoom(tab: Tab, site: Site) -> None:
    chart = opened(tab, site, LIVE, "?range=7d")
    before, coarse = chart.range(), chart.badge()
    chart.drag(0.5, 0.9)
    tab.until(lambda: chart.badge() != coarse)
    zoomed, fine = chart.range(), chart.badge()
    tab.back()
    tab.until(lambda: chart.badge() == coarse)
    for now, then in zip(chart.range(), before, strict=True):  # a live week has moved on since
        moved = datetime.fromisoformat(now) - datetime.fromisoformat(then)
        assert timedelta(0) <= moved <= timedelta(minutes=3)
    tab.forward()
    tab.until(lambda: chart.badge() == fine)
    assert chart.range() == zoomed


def test_a_link_opens_the_same_view(tab: Tab, site: Site) -> None:
    chart = opened(tab, site, LIVE, "?range=7d")
    coarse = chart.badge()
    chart.drag(0.2, 0.6)
    tab.until(lambda: chart.badge() != coarse)
    zoomed, fine, address = chart.range(), chart.badge(), tab.driver.current_url
    tab.open("/devices")
    tab.until(lambda: "Tenant 12 main" in tab.text())
    tab.open(address.removeprefix(site.url))
    chart.drawn()
    assert (chart.range(), chart.badge()) == (zoomed, fine)
    assert tab.run("return document.querySelector('[data-value=\"7d\"]').ariaPressed") == "false"


def test_a_narrower_window_fetches_coarser_rows(tab: Tab, site: Site) -> None:
    chart = opened(tab, site, LIVE, "?range=7d")
    fine, shown = chart.badge(), chart.range()
    tab.size(800, 900)
    tab.until(lambda: chart.badge() != fine)
    assert chart.badge().startswith("10 min · ")
    assert f"for {round(chart.box().width):,} px" in chart.badge()
    assert chart.range() == shown
    tab.size(1_440, 900)
    tab.until(lambda: chart.badge() == fine)


def test_presets_metrics_and_zones_by_their_controls(tab: Tab, site: Site) -> None:
    chart = opened(tab, site, LIVE)
    day = chart.badge()
    tab.click('[data-value="1h"]')
    tab.until(lambda: chart.badge() != day)
    assert tab.driver.current_url.endswith("?range=1h")
    tab.click('[data-value="quality"]')
    tab.until(lambda: "Signal quality" in tab.text(".ytitle"))
    tab.run(
        """const select = document.querySelector('select[data-set=zone]');
           select.value = 'Asia/Tokyo';
           select.dispatchEvent(new Event('change', {bubbles: true}));"""
    )
    tab.until(lambda: "Asia/Tokyo" in tab.text("#chart-zone-note"))
    assert tab.driver.current_url.endswith("?range=1h&metric=quality&zone=Asia%2FTokyo")
    tab.driver.refresh()
    tab.until(lambda: "Asia/Tokyo" in tab.text("#chart-zone-note"))
    assert tab.run("return document.querySelector('select[data-set=zone]').value") == "Asia/Tokyo"


# --- Clocks --------------------------------------------------------------------------------------

BROWSER_ZONES = ["Asia/Tokyo", "America/New_York"]
SPRING_MARKS = ["00:00", "04:00", "06:00", "08:00", "10:00", "12:00",
                "14:00", "16:00", "18:00", "20:00", "22:00"]  # fmt: skip
AUTUMN_MARKS = ["00:00", "02:00", *SPRING_MARKS[1:]]


def whole_day(start_ms: int, hours: int) -> str:
    """The query for the whole local day in New York that starts then."""
    first, last = (stamp(t, fraction=True) for t in (start_ms, start_ms + hours * HOUR_MS - 1))
    return f"?from={first}&to={last}"


@pytest.mark.parametrize("browser_zone", BROWSER_ZONES)
def test_the_day_of_23_hours(tab: Tab, site: Site, browser_zone: str) -> None:
    tab.time_zone(browser_zone)
    chart = opened(tab, site, CLOCKS, whole_day(SPRING, 23))
    marks = chart.marks()
    assert [text.split(" / ")[0] for text, _ in marks] == SPRING_MARKS
    assert marks[0][0] == "00:00 / Sun 8 Mar 2026"
    assert marks[1][0] == "04:00 / EDT"
    # Three hours after midnight it was 04:00; every label stands at its instant.
    hours = [0, *range(3, 23, 2)]
    for (_, place), hour in zip(marks, hours, strict=True):
        assert place == pytest.approx(hour / 23, abs=0.004)
    assert re.fullmatch(r"Sun 8 Mar 2026, 03:0\d–03:0\d EDT", chart.hover(2.05 / 23)[0])
    assert re.fullmatch(r"Sun 8 Mar 2026, 01:5\d–01:5\d EST", chart.hover(1.95 / 23)[0])
    assert tab.text("#chart-zone-note") == (
        "America/New_York · EST (UTC−05:00) and EDT (UTC−04:00)"
    )


@pytest.mark.parametrize("browser_zone", BROWSER_ZONES)
def test_the_day_of_25_hours(tab: Tab, site: Site, browser_zone: str) -> None:
    tab.time_zone(browser_zone)
    chart = opened(tab, site, CLOCKS, whole_day(AUTUMN, 25))
    marks = chart.marks()
    assert [text.split(" / ")[0] for text, _ in marks] == AUTUMN_MARKS
    assert marks[1][0] == "02:00 / EST"
    hours = [0, *range(3, 25, 2)]
    for (_, place), hour in zip(marks, hours, strict=True):
        assert place == pytest.approx(hour / 25, abs=0.004)
    assert re.fullmatch(r"Sun 1 Nov 2026, 01:3\d–01:3\d EDT", chart.hover(1.57 / 25)[0])
    assert re.fullmatch(r"Sun 1 Nov 2026, 01:3\d–01:3\d EST", chart.hover(2.57 / 25)[0])


def test_a_hover_has_all_values_in_the_chosen_zone(tab: Tab, site: Site) -> None:
    tab.time_zone("Asia/Tokyo")
    chart = opened(tab, site, CLOCKS, whole_day(SPRING, 23))
    title, average, reach, volume, quality = chart.hover(12.1 / 23)
    assert re.fullmatch(r"Sun 8 Mar 2026, 13:0\d–13:0\d EDT", title)
    assert average.startswith("average ")
    assert average.endswith(" gal/min")
    assert reach.startswith("range ")
    assert volume.startswith("volume ")
    assert quality.startswith("quality ")
    # Only the page's own hover card.
    assert tab.run("return document.querySelectorAll('.hoverlayer *').length") == 0


# --- Nothing there, something wrong --------------------------------------------------------------


def test_a_gap_is_labelled(tab: Tab, site: Site) -> None:
    opened(tab, site, LIVE, "?range=7d")
    label = tab.text(".annotation")
    assert label in ("no data 5 h 50 min", "no data 5 h 45 min")
    assert HOLE_MS == 350 * 60_000


def test_a_device_that_never_reported(tab: Tab, site: Site) -> None:
    opened(tab, site, NEVER)
    assert "This device has never reported." in tab.text(".empty-plot")


def test_an_empty_range_leads_to_the_last_data(tab: Tab, site: Site) -> None:
    chart = opened(tab, site, CLOCKS, "?from=2020-01-01T00:00:00Z&to=2020-01-08T00:00:00Z")
    assert chart.range() == ["2020-01-01T00:00:00", "2020-01-08T00:00:00"]
    assert "No data in this range." in tab.text(".empty-plot")
    tab.click(".empty-plot button")
    tab.until(chart.rows)
    assert chart.range()[1] == "2026-11-03T03:59:59"
    assert tab.text(".empty-plot") == ""


def test_a_failure_keeps_the_chart_and_offers_a_retry(tab: Tab, site: Site) -> None:
    chart = opened(tab, site, LIVE, "?range=7d")
    rows = chart.rows()
    site.broken.set()
    try:
        tab.click('[data-value="24h"]')
        tab.until(lambda: "The store is on fire." in tab.text(".notice"))
        assert chart.rows() == rows
    finally:
        site.broken.clear()
    tab.click("#chart-notice button")
    tab.until(lambda: chart.badge().startswith("raw"))
    assert tab.text(".notice").strip() == ""
