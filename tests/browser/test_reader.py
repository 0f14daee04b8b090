"""A reader's choices stay on every page, and mistakes in an address are shown."""

from __future__ import annotations

import pytest

from tests.browser.charts import Chart
from tests.browser.chromium import Tab
from tests.dashboards import LIVE, Site

pytestmark = pytest.mark.browser


def test_units_and_zone_stay_on_every_page(tab: Tab, site: Site) -> None:
    tab.open(f"/devices/{site.fleet.ids[LIVE]}?range=24h")
    Chart(tab).drawn()
    for name, value in (("units", "metric"), ("zone", "Asia/Tokyo")):
        tab.run(
            """const select = document.querySelector(`select[data-set=${arguments[0]}]`);
               if (![...select.options].some((o) => o.value === arguments[1]))
                 select.add(new Option(arguments[1]));
               select.value = arguments[1];
               select.dispatchEvent(new Event('change', {bubbles: true}));""",
            name,
            value,
        )
    tab.until(lambda: "Asia/Tokyo" in tab.text("#chart-zone-note"))
    tab.press("a.brand")
    tab.until(lambda: "L/min" in tab.text("#fleet-totals"))
    assert "units=metric" in tab.driver.current_url
    assert "zone=Asia%2FTokyo" in tab.driver.current_url
    tab.open("/usage?range=7d")  # also those typed by hand
    tab.until(lambda: "days in Asia/Tokyo" in tab.text("#usage-range"))


def test_a_zoom_deselects_its_preset(tab: Tab, site: Site) -> None:
    tab.open(f"/devices/{site.fleet.ids[LIVE]}?range=7d")
    chart = Chart(tab).drawn()
    lit = "return document.querySelector('[data-value=\"7d\"]').ariaPressed"
    assert tab.run(lit) == "true"
    chart.drag(0.4, 0.6)
    tab.until(lambda: tab.run(lit) == "false")
    tab.until(lambda: not tab.run("return document.querySelector('#chart-reset').disabled"))
    tab.click("#chart-reset")
    tab.until(lambda: tab.run(lit) == "true")


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("/?zone=Mars/Phobos", "no valid time zone: “Mars/Phobos”"),
        ("/usage?range=12w", "no valid range: “12w”"),
        ("/devices/LIVE?metric=colour", "no valid metric: “colour”"),
        ("/report?devices=LIVE&units=cubits", "no valid units: “cubits”"),
    ],
)
def test_mistakes_in_an_address_are_shown(tab: Tab, site: Site, path: str, words: str) -> None:
    tab.open(path.replace("LIVE", site.fleet.ids[LIVE]))
    tab.until(lambda: words in tab.text(".remarks"))


def test_a_devices_page_prints_completely_and_without_controls(tab: Tab, site: Site) -> None:
    tab.open(f"/devices/{site.fleet.ids[LIVE]}?range=7d")
    Chart(tab).drawn()
    tab.cdp("Emulation.setEmulatedMedia", media="print")
    controls = "return [...document.querySelectorAll('button:not(.day), select, .menu')]"
    shown = f"{controls}.filter((e) => e.checkVisibility()).map((e) => e.outerHTML)"
    rows = "return document.querySelectorAll('.rows tbody tr').length"
    try:
        for width, height in ((8.5, 11), (8.27, 11.69)):  # Letter, A4
            tab.size(round(width * 96), round(height * 96))
            tab.until(lambda: tab.run(shown) == [])
            # The plot takes the paper's width once its resize event has arrived.
            tab.until(lambda: tab.run("return document.documentElement.scrollWidth <= innerWidth"))
            tab.until(lambda: tab.run(rows) == 20)
    finally:
        tab.cdp("Emulation.setEmulatedMedia", media="")
        tab.size(1440, 900)


def test_forced_colours_show_what_is_chosen(tab: Tab, site: Site) -> None:
    tab.open(f"/devices/{site.fleet.ids[LIVE]}?range=7d")
    Chart(tab).drawn()
    tab.cdp("Emulation.setEmulatedMedia", features=[{"name": "forced-colors", "value": "active"}])
    ground = "return getComputedStyle(document.querySelector(arguments[0])).backgroundColor"
    pressed = tab.run(ground, '[data-value="7d"]')
    assert pressed != tab.run(ground, '[data-value="24h"]')
    tab.until(lambda: tab.text(".heat"))
    cells = (
        "return new Set([...document.querySelectorAll('.heat td')]"
        ".map((e) => getComputedStyle(e).backgroundColor)).size"
    )
    assert tab.run(cells) > 3
    bar = tab.run(ground, ".day:not(.none) .bar-fill")
    assert bar not in ("rgba(0, 0, 0, 0)", tab.run(ground, "body"))
    tab.cdp("Emulation.setEmulatedMedia", features=[])
