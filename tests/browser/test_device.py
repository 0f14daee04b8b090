"""A device's page in a real browser: keys, pans, ranges, the live tail, files, axe."""

from __future__ import annotations

import re
import time

import pytest

from tests.browser.axe import findings, findings_in_both_colours
from tests.browser.charts import Chart
from tests.browser.chromium import Tab
from tests.dashboards import LIVE, NEVER, Site

pytestmark = pytest.mark.browser


def opened(tab: Tab, site: Site, query: str = "", serial: str = LIVE) -> Chart:
    tab.open(f"/devices/{site.fleet.ids[serial]}{query}")
    chart = Chart(tab).drawn()
    waiting = ".skeleton, .card:not(.optional-card) > .nodes:empty"
    tab.until(lambda: tab.run(f"return document.querySelector('{waiting}') === null"))
    return chart


def press(tab: Tab, *keys: str) -> None:
    """Press keys on the chart."""
    tab.run("document.querySelector('.plot').focus()")
    for key in keys:
        for kind in ("keyDown", "keyUp"):
            tab.cdp("Input.dispatchKeyEvent", type=kind, key=key, code=key)


def question_number(tab: Tab) -> int:
    """The number of requests for rows."""
    requests = tab.requested("_dash-update-component")
    return sum('"chart-question.data"' in request.get("postData", "") for request in requests)


def numbers(tab: Tab) -> dict[str, str]:
    """The KPIs' values by their labels."""
    cells = tab.run(
        "return [...document.querySelectorAll('.kpi-body')].map((e) => e.innerText.split(/\\n+/))"
    )
    return {cell[0]: cell[1] for cell in cells}


def test_the_device_in_numbers(tab: Tab, site: Site) -> None:
    opened(tab, site, "?range=24h")
    result = numbers(tab)
    assert list(result) == ["Last reading", "Uptime, 24 h", "Quality, 24 h", "Volume, 24 h",
                          "Night flow, 02–05", "Leak", "Month end"]  # fmt: skip
    assert result["Last reading"].endswith(" gpm")
    silent_min = time.time() / 60 - site.fleet.started_ms / 60_000  # no reading since the start
    uptime = float(result["Uptime, 24 h"].removesuffix("%"))
    assert uptime == pytest.approx(100 - silent_min / 14.4, abs=0.2)
    assert re.fullmatch(r"\d\d – 99", result["Quality, 24 h"])
    state = "● Reporting" if silent_min < 14 else "■ Silent"
    assert " ".join(tab.text("#device-state").split()) == state or 14 <= silent_min < 16
    assert tab.text("#freshness") in ("Live · just now", "Live · 5 s ago")


def test_units_change_everywhere_and_are_in_the_address(tab: Tab, site: Site) -> None:
    opened(tab, site)
    tab.run(
        """const select = document.querySelector('select[data-set=units]');
           select.value = 'metric';
           select.dispatchEvent(new Event('change', {bubbles: true}));"""
    )
    tab.until(lambda: "L/min" in tab.text(".ytitle"))
    tab.until(lambda: numbers(tab)["Volume, 24 h"].endswith(" m³"))
    tab.until(lambda: "Flow rate, L/min" in tab.text("table.rows"))
    assert "units=metric" in tab.driver.current_url
    tab.driver.refresh()
    tab.until(lambda: "L/min" in tab.text(".ytitle"))


def test_tabs(tab: Tab, site: Site) -> None:
    chart = opened(tab, site, "?range=7d")
    tab.click('[data-value="volume"]')
    tab.until(lambda: "Volume, gal" in tab.text(".ytitle"))
    assert tab.run("return document.querySelectorAll('.bars .point').length") > 100
    assert chart.badge().startswith("1 hour · ")
    tab.click('[data-value="signal"]')
    tab.until(lambda: "Network RSSI" in tab.text(".infolayer"))
    tab.back()
    tab.until(lambda: "Volume, gal" in tab.text(".ytitle"))
    tab.back()
    tab.until(lambda: "Flow rate, gal/min" in tab.text(".ytitle"))


def test_the_chart_by_keyboard(tab: Tab, site: Site) -> None:
    chart = opened(tab, site, "?range=7d")
    before = chart.range()
    press(tab, "ArrowRight", "ArrowRight")
    first = tab.until(lambda: tab.text("#chart-cursor"))
    assert re.match(r"\w{3} \d+ \w{3} 20\d\d, \d\d:\d\d–\d\d:\d\d M.T, average [\d.]+", first)
    assert tab.run("return document.querySelectorAll('.hover-card:not([hidden])').length") == 1
    press(tab, "ArrowLeft")
    tab.until(lambda: tab.text("#chart-cursor") != first)
    press(tab, "+")
    tab.until(lambda: "from=" in tab.driver.current_url)
    zoomed = chart.range()
    assert before[0] < zoomed[0] < zoomed[1] < before[1]
    press(tab, "Escape")
    tab.until(lambda: tab.text("#chart-cursor") == "")
    press(tab, "[")
    tab.until(lambda: chart.range()[0] < zoomed[0])
    press(tab, "r")
    tab.until(lambda: "from=" not in tab.driver.current_url and chart.range()[0] >= before[0])
    assert chart.range()[0] < zoomed[0]


def test_a_pan_shows_loaded_rows_at_once(tab: Tab, site: Site) -> None:
    chart = opened(tab, site, "?range=7d")
    coarse = chart.badge()
    chart.drag(0.4, 0.6)
    tab.until(lambda: chart.badge() != coarse)
    before, questions = chart.range(), question_number(tab)
    responses, drawn = tab.run(
        """const g = document.querySelector('.js-plotly-plot');
           let answered = 0;
           window.weir.chart.onAnswer.push(() => { answered += 1; });
           const key = new KeyboardEvent('keydown', {key: '[', bubbles: true});
           document.querySelector('.plot').dispatchEvent(key);
           const start = g.layout.xaxis.range[0].replace(' ', 'T').slice(0, 19);
           return [answered, g.data[2].x.filter((x) => x && x < start).length];"""
    )
    assert chart.range()[0] < before[0]
    assert (responses, drawn > 0) == (0, True)  # the rows reach beyond the visible window
    tab.until(lambda: question_number(tab) > questions)  # at rest the texts follow
    tab.back()
    tab.until(lambda: chart.range() == before)


def test_a_pan_cuts_no_peak(tab: Tab, site: Site) -> None:
    """Rows outside the window don't count in its scale until they are visible."""
    chart = opened(tab, site, "?range=7d")
    coarse = chart.badge()
    chart.drag(0.4, 0.45)
    tab.until(lambda: chart.badge() != coarse)
    peak = """const g = document.querySelector('.js-plotly-plot');
              const line = g.data[2];
              const start = g.layout.xaxis.range[0].replace(' ', 'T').slice(0, 19);
              const at = line.x.findLastIndex((x) => x && x < start);
              line.y[at] = 1e6;  // what comes into sight from the left
              window.tops = [];
              g.on('plotly_relayout', () => window.tops.push(g.layout.yaxis.range[1]));"""
    tab.run(peak)
    press(tab, "[")
    tab.until(lambda: max(tab.run("return window.tops"), default=0) > 1e6)
    top = "return document.querySelector('.js-plotly-plot').layout.yaxis.range[1]"
    tab.until(lambda: tab.run(top) < 1e6)  # once panning ends the reply fits the scale again


def test_a_wheel_zooms_only_with_its_modifier(tab: Tab, site: Site) -> None:
    chart = opened(tab, site, "?range=7d")
    box, before = chart.box(), chart.range()

    def wheel() -> None:
        tab.cdp("Input.dispatchMouseEvent", type="mouseWheel", x=box.x + box.width / 2,
                y=box.y + box.height / 2, deltaX=0, deltaY=-400)  # fmt: skip

    wheel()
    time.sleep(0.3)
    assert chart.range() == before
    tab.run("window.scrollTo(0, 0); document.querySelector('.plot').focus({preventScroll: true})")
    wheel()
    tab.until(lambda: chart.range() != before)
    zoomed = chart.range()
    assert before[0] < zoomed[0] < zoomed[1] < before[1]


def test_the_strip_below_moves_the_window(tab: Tab, site: Site) -> None:
    chart = opened(tab, site, "?range=7d")
    coarse = chart.badge()
    chart.drag(0.7, 0.8)
    tab.until(lambda: chart.badge() != coarse)
    zoomed = chart.range()
    tab.until(lambda: tab.run("return document.querySelector('.brush').offsetWidth < 400"))
    tab.run("document.querySelector('.overview').scrollIntoView({block: 'center'})")
    x, y, width, height = tab.run(
        "const r = document.querySelector('.overview').getBoundingClientRect();"
        "return [r.x, r.y, r.width, r.height]"
    )
    tab.drag(x + 0.75 * width, x + 0.35 * width, y + height / 2)
    tab.until(lambda: chart.range()[1] < zoomed[0])
    tab.until(lambda: chart.rows() > 10)


def test_a_custom_range_in_local_time(tab: Tab, site: Site) -> None:
    chart = opened(tab, site, "?zone=America/New_York")

    def apply(first: str, last: str) -> None:
        tab.run(
            """document.querySelector('[data-name=first]').value = arguments[0];
               document.querySelector('[data-name=last]').value = arguments[1];
               document.querySelector('#chart-custom').requestSubmit();""",
            first, last,
        )  # fmt: skip

    tab.click('[data-value="custom"]')
    assert "local time (America/New_York)" in tab.text("#chart-custom")
    apply("2026-03-08T02:30", "2026-03-09T00:00")
    tab.until(lambda: "02:30 on Sun 8 Mar 2026 doesn’t exist" in tab.text("#chart-custom-message"))
    apply("2026-11-01T01:30", "2026-11-02T00:00")
    tab.until(lambda: "occurs twice" in tab.text("#chart-custom-message"))
    tab.run("document.querySelector('[data-fold=first]').value = '1'")
    apply("2026-11-01T01:30", "2026-11-02T00:00")
    tab.until(lambda: chart.range() == ["2026-11-01T06:30:00", "2026-11-02T04:59:59"])
    assert tab.text("#chart-custom") == ""
    assert tab.run("return document.querySelector('[data-value=custom]').ariaPressed") == "true"
    address = tab.driver.current_url
    tab.back()
    tab.until(lambda: chart.range()[0] > "2026-11-02")
    tab.open(address.removeprefix(site.url))
    chart.drawn()
    assert chart.range() == ["2026-11-01T06:30:00", "2026-11-02T04:59:59"]


def test_the_live_tail_keeps_the_zoom_and_pauses_while_hidden(tab: Tab, site: Site) -> None:
    chart = opened(tab, site, "?range=24h")
    coarse = chart.badge()
    chart.drag(0.5, 0.9)
    tab.until(lambda: chart.badge() != coarse)
    zoomed, questions = chart.range(), question_number(tab)
    hide = (
        "const hidden = arguments[0];"
        "Object.defineProperty(document, 'hidden', {configurable: true, get: () => hidden});"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
    tab.run(hide, True)
    time.sleep(0.3)
    assert question_number(tab) == questions
    tab.run(hide, False)
    tab.until(lambda: question_number(tab) > questions)
    tab.until(lambda: tab.text("#freshness") == "Updated just now")
    assert chart.range() == zoomed


def test_gaps_lead_to_their_span(tab: Tab, site: Site) -> None:
    chart = opened(tab, site, "?range=7d")
    tab.until(lambda: tab.text("#chart-gaps summary").startswith("1 gap, 5 h"))
    tab.click("#chart-gaps summary")
    assert "no data" in tab.text(".gap-table")
    before = chart.range()
    tab.click(".gap-table button")
    tab.until(lambda: chart.range() != before)
    assert before[0] < chart.range()[0] < chart.range()[1] < before[1]


def test_days_by_keyboard_lead_the_chart_to_them(tab: Tab, site: Site) -> None:
    chart = opened(tab, site, "?range=24h")
    marked = "return [...document.querySelectorAll('.day.in')].map((day) => day.dataset.from)"
    tab.until(lambda: len(tab.run(marked)) == 2)  # a day ago, and today
    before = chart.range()
    reached = "return [...document.querySelectorAll('.day')].filter((d) => d.tabIndex === 0).length"
    assert tab.run(reached) == 1
    tab.run("document.querySelector('.day[tabindex=\"0\"]').focus()")
    for key in ("ArrowLeft", "ArrowUp", "ArrowRight"):
        for kind in ("keyDown", "keyUp"):
            tab.cdp("Input.dispatchKeyEvent", type=kind, key=key, code=key)
    start, end = tab.run("const d = document.activeElement.dataset; return [d.from, d.to]")
    tab.cdp("Input.dispatchKeyEvent", type="keyDown", key="Enter", code="Enter", text="\r")
    tab.until(lambda: chart.range() != before)
    assert chart.range() == [start[:19], end[:19]]
    tab.until(lambda: tab.run(marked) == [start])
    assert tab.run("return document.activeElement.dataset.from") == start


def test_while_the_service_is_down_the_last_data_is_dimmed_and_requests_repeat(
    tab: Tab, site: Site
) -> None:
    opened(tab, site, "?range=7d")
    site.broken.set()
    try:
        tab.click('[data-value="24h"]')
        tab.until(lambda: "Retrying…" in tab.text(".notice"))
        assert tab.run("return document.querySelector('main').dataset.freshness") == "stale"
        assert tab.text("#freshness").startswith("Stale · ")
    finally:
        site.broken.clear()
    tab.until(lambda: tab.text(".notice").strip() == "")
    tab.until(lambda: tab.text("#freshness").startswith("Live"))


def test_a_device_that_never_reported_offers_no_last_data(tab: Tab, site: Site) -> None:
    opened(tab, site, serial=NEVER)
    assert tab.text(".empty-plot") == "This device has never reported."
    assert tab.text("#device-state").split() == ["○", "No", "data"]
    assert "never reported" in tab.text("#kpi-last")
    assert findings(tab) == []  # its state has the palest colour


def test_axe_finds_nothing(tab: Tab, site: Site) -> None:
    tab.tolerated = ("404",)
    for query in ("?range=7d", "?range=24h&metric=volume"):
        opened(tab, site, query)
        assert findings_in_both_colours(tab) == []
    tab.click('[data-value="custom"]')
    assert findings_in_both_colours(tab) == []
    for path, there in (
        ("/devices", "Tenant 12 main"),
        ("/sign-in", "key"),
        ("/nope", "Page not found"),
        ("/", "Reporting"),
    ):
        tab.open(path)
        tab.until(lambda there=there: there in tab.text())
        assert findings_in_both_colours(tab) == [], path
