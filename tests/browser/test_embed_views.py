"""Embeds in a real browser: what they show, how they refresh, how many bytes they load."""

from __future__ import annotations

import json
import time

import pytest
from selenium.webdriver import Chrome

from api.catalog import EMBED_CONTROLS
from components.theme import DARK, LIGHT
from tests.browser import axe
from tests.browser.framed import PATIENCE_S, SHOWN, VIEWS, Framed, make

MOST_BYTES = 900_000


def test_a_chart_refreshes(framed: Framed) -> None:
    framed.open(make(framed.embeds, "chart", framed.host))
    framed.shown()

    def rows_asked() -> int:
        return sum("_dash-update-component" in lines for lines in framed.embeds.requests)

    framed.tab.until(lambda: rows_asked() >= 2)  # for the frame's parts, then for its chart
    framed.until_state("shown")
    before, started = rows_asked(), time.monotonic()
    framed.tab.until(lambda: rows_asked() > before, patience_s=2 * PATIENCE_S)
    assert time.monotonic() - started >= 10
    assert "Live" in framed.tab.text("#freshness")


def test_while_the_service_is_down_the_last_data_stays_with_its_age(framed: Framed) -> None:
    framed.open(make(framed.embeds, "wall", framed.host))
    framed.shown()
    framed.embeds.broken.set()
    try:
        framed.wait_for_notice("on fire", "Showing data from")
        assert framed.state() == "trouble"
        framed.tab.until(lambda: framed.opacity("#wall-tiles") < 1)
        assert framed.tab.run(SHOWN) >= 1
    finally:
        framed.embeds.broken.clear()
    framed.until_state("shown")


@pytest.mark.parametrize(
    ("view", "attributes"),
    [("chart", ""), ("wall", "sandbox='allow-scripts'")],
    ids=["plain chart", "sandboxed wall"],
)
def test_a_busy_server_is_shown_and_retried(framed: Framed, view: str, attributes: str) -> None:
    framed.embeds.crowded.set()
    try:
        framed.open(make(framed.embeds, view, framed.host), attributes=attributes)
        framed.wait_for_notice("Too many requests for this view at the moment.")
        assert framed.state() == "trouble"
    finally:
        framed.embeds.crowded.clear()
    framed.shown()
    framed.until_state("shown")
    assert framed.tab.text("#embed-notice") == ""


def test_a_drag_loads_finer_rows_if_the_embed_allows_it(framed: Framed) -> None:
    embed = make(framed.embeds, "chart", framed.host, controls=("range",))
    framed.open(embed, size=(700, 400))
    framed.shown()
    framed.tab.click("button[data-value='7d']")

    def badge() -> str:
        return framed.tab.text("#chart-badge")

    framed.tab.until(lambda: badge().startswith(("5 min", "10 min")))
    x, y, width, height = framed.tab.run(
        "const r = document.querySelector('.nsewdrag').getBoundingClientRect();"
        "return [r.x, r.y, r.width, r.height]"
    )
    framed.tab.drag(8 + x + 0.5 * width, 8 + x + 0.55 * width, 8 + y + height / 2)
    framed.tab.until(lambda: badge().startswith(("raw", "1 min")))
    assert framed.tab.text("#chart-reset")


_CHOOSE = """
const select = document.querySelector(arguments[0]);
select.value = arguments[1];
select.dispatchEvent(new Event('change', {bubbles: true}));
"""


def test_viewers_change_what_the_embed_allows(framed: Framed) -> None:
    embed = make(framed.embeds, "chart", framed.host, controls=("zone", "units", "theme"))
    framed.open(embed)
    framed.shown()

    def line() -> str:
        return framed.tab.text("#embed-line")

    assert "America/Denver" in line()
    framed.tab.run(_CHOOSE, "select[data-set='zone']", "Asia/Tokyo")
    framed.tab.until(lambda: "Asia/Tokyo · JST" in line())
    framed.tab.run(_CHOOSE, "select[data-set='units']", "metric")
    framed.tab.until(lambda: "L/min" in line())
    framed.tab.run(_CHOOSE, "#embed-theme", "dark")
    grid = "return document.querySelector('.js-plotly-plot').layout.xaxis.gridcolor"
    framed.tab.until(lambda: framed.tab.run(grid) == DARK.line)
    assert "Asia/Tokyo" in line()
    assert framed.tab.run("return location.search") == ""
    framed.tab.run(_CHOOSE, "select[data-set='zone']", "")
    framed.tab.until(lambda: "America/Denver" in line())


def test_a_wall_changes_its_window_if_the_embed_allows_it(framed: Framed) -> None:
    framed.open(make(framed.embeds, "wall", framed.host, controls=("range",)))
    framed.shown()
    framed.tab.click("button[data-value='7d']")
    framed.tab.until(lambda: "Last 7 d" in framed.tab.text("#wall-line"))
    pressed = "return document.querySelector('[aria-pressed=true]').dataset.value"
    assert framed.tab.run(pressed) == "7d"
    assert framed.tab.run("return document.querySelectorAll('a.tile[href]').length") == 0


def test_a_hover_is_in_the_embeds_zone(framed: Framed) -> None:
    embed = make(framed.embeds, "chart", framed.host, zone="Asia/Tokyo")
    framed.driver.get(framed.embeds.address(embed))
    framed.shown()
    x, y, width, height = framed.tab.run(
        "const r = document.querySelector('.nsewdrag').getBoundingClientRect();"
        "return [r.x, r.y, r.width, r.height]"
    )

    def label() -> str:
        framed.tab.move(x + 0.4 * width, y + 0.5 * height)
        framed.tab.move(x + 0.5 * width, y + 0.5 * height)
        return framed.tab.run(
            "const e = document.querySelector('.hover-card:not([hidden])');"
            "return e ? e.textContent : ''"
        )

    result = framed.tab.until(label)
    assert "JST" in result
    assert "gal/min" in result


def test_a_fixed_range_does_not_move(framed: Framed) -> None:
    framed.open(make(framed.embeds, "chart", framed.host), size=(700, 400))
    framed.shown()
    axis = "return document.querySelector('.js-plotly-plot').layout.xaxis"
    assert framed.tab.run(axis)["fixedrange"] is True
    assert framed.tab.text(".embed-controls") == ""


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("view", VIEWS)
def test_it_loads_few_bytes_is_accessible_and_fits_a_phone(
    framed: Framed, view: str, theme: str
) -> None:
    controls, title = tuple(EMBED_CONTROLS), "Supply of the house"
    embed = make(framed.embeds, view, framed.host, theme=theme, controls=controls, title=title)
    framed.tab.cdp("Network.clearBrowserCache")
    framed.driver.get_log("performance")
    framed.driver.get(framed.embeds.address(embed))
    framed.shown()
    assert 100_000 < _received(framed.driver) < MOST_BYTES
    framed.until_state("shown")
    assert axe.findings(framed.tab) == []
    assert framed.tab.run("return window.weirViolations") == []
    assert framed.tab.errors() == []
    dark = framed.tab.run("return getComputedStyle(document.documentElement).colorScheme")
    assert dark == theme
    framed.tab.size(320, 700)  # the narrowest; wider ones only have more room
    framed.tab.until(lambda: not framed.tab.run(_CUT_OFF))


_CUT_OFF = """
const root = document.documentElement;
const wide = [...document.querySelectorAll('.plot, .tile, h1, .live')]
  .filter((e) => e.getBoundingClientRect().right > innerWidth + 0.5).length;
return wide + Math.abs(root.scrollWidth - root.clientWidth);
"""


def _received(driver: Chrome) -> int:
    """Bytes over the network, headers included, since the log was last read."""
    events = [json.loads(e["message"])["message"] for e in driver.get_log("performance")]
    ended = [e for e in events if e["method"] == "Network.loadingFinished"]
    return round(sum(e["params"]["encodedDataLength"] for e in ended))


_PAPER = """
const style = selector => getComputedStyle(document.querySelector(selector));
return [
  style('.xtick text').fill, style('.ytick text').fill, style('.gridlayer path').stroke,
  style('.xy .js-fill').fill,
];
"""


def _rgb(colour: str) -> str:
    return f"rgb({', '.join(str(int(colour[n : n + 2], 16)) for n in (1, 3, 5))})"


def test_a_dark_chart_prints_light(framed: Framed) -> None:
    embed = make(framed.embeds, "chart", framed.host, theme="dark", controls=("range",))
    framed.driver.get(framed.embeds.address(embed))
    framed.shown()
    framed.tab.click("button[data-value='7d']")
    framed.tab.until(lambda: framed.tab.run("return !!document.querySelector('.xy .js-fill')"))
    screen = framed.tab.run(_PAPER)
    assert screen == [_rgb(each) for each in (DARK.ink_3, DARK.ink_3, DARK.line, DARK.band)]
    framed.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        paper = framed.tab.run(_PAPER)
    finally:
        framed.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    assert paper == [_rgb(each) for each in (LIGHT.ink_2, LIGHT.ink_2, LIGHT.line, LIGHT.band)]
