"""Exports in a real browser: menus, files, images, links."""

from __future__ import annotations

import csv
import io
import struct
from datetime import date, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit
from xml.etree import ElementTree

import pytest
from openpyxl import load_workbook

from components import theme
from tests.browser.axe import findings
from tests.browser.charts import Chart
from tests.browser.chromium import Tab
from tests.browser.conftest import Down
from tests.dashboards import LIVE, Site

pytestmark = pytest.mark.browser
PATIENCE_S = 30.0
MENU = "details.menu:has(#chart-exports)"
WALL_MENU = ".fleet-controls details.menu:has([data-deed='server-png'])"


def opened(tab: Tab, site: Site, query: str = "?range=24h") -> Chart:
    tab.open(f"/devices/{site.fleet.ids[LIVE]}{query}")
    chart = Chart(tab).drawn()
    tab.until(lambda: tab.run(f"return document.querySelectorAll('{MENU} .menu-entry').length"))
    return chart


def key(tab: Tab, name: str) -> None:
    for kind in ("keyDown", "keyUp"):
        tab.cdp("Input.dispatchKeyEvent", type=kind, key=name, code=name)


def focused(tab: Tab) -> str:
    return tab.run("return document.activeElement.innerText")


# --- The menu ------------------------------------------------------------------------------------


def test_the_menu_by_keyboard(tab: Tab, site: Site) -> None:
    opened(tab, site)
    tab.run(f"document.querySelector('{MENU} summary').focus()")
    key(tab, "ArrowDown")
    tab.until(lambda: focused(tab).startswith("PNG"))
    key(tab, "ArrowDown")
    assert focused(tab).startswith("SVG")
    key(tab, "End")
    assert focused(tab).startswith("Report …")
    key(tab, "ArrowDown")
    assert focused(tab).startswith("PNG")
    key(tab, "Escape")
    assert not tab.run(f"return document.querySelector('{MENU}').open")
    assert focused(tab) == "Export"


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_an_open_menu_fits_the_screen_and_is_accessible(
    tab: Tab, site: Site, width: int, scheme: str
) -> None:
    tab.size(width, 900)
    tab.colours(scheme)
    opened(tab, site)
    for menu in (MENU, "#content .below .wide details.menu"):
        tab.click(f"{menu} summary")
        tab.until(lambda: tab.text(f"{menu} .menu-body"))  # noqa: B023 - used at once
        left, right = tab.run(
            "const r = document.querySelector(arguments[0]).getBoundingClientRect();"
            "return [r.left, r.right]",
            f"{menu} .menu-body",
        )
        assert left >= 0
        assert right <= width
        assert findings(tab) == []


def read(file: Path) -> list[list[str]]:
    return list(csv.reader(io.StringIO(file.read_bytes().decode("utf-8"), newline="")))


# --- Files ---------------------------------------------------------------------------------------


def test_the_rows_of_the_chart_as_files(tab: Tab, site: Site, down: Down) -> None:
    opened(tab, site, "?range=7d")
    tab.click(f"{MENU} a[href*='rows.csv'][href*='5min']")
    text = down(".csv")
    assert text.name.startswith("weir_FM-LIVE_20")
    assert text.name.endswith("Z_5min.csv")
    rows = read(text)
    assert rows[0][:4] == [
        "serial_number",
        "time_utc",
        "time_local (America/Denver)",
        "avg_flow_rate (gal/min)",
    ]
    assert len(rows) > 1_900
    tab.click(f"{MENU} a[href*='rows.xlsx'][href*='5min']")
    book = load_workbook(io.BytesIO(down(".xlsx").read_bytes()))
    messages = list(book.worksheets[0].iter_rows(values_only=True))
    assert len(messages) == len(rows)
    assert messages[1][0] == "FM-LIVE"
    assert messages[1][4] == pytest.approx(
        float(rows[1][3])
    )  # the UTC offset follows the local time


def test_days_and_hours_as_files(tab: Tab, site: Site, down: Down) -> None:
    opened(tab, site)
    for card, rows in (("device-days", 11), ("device-heat", 168)):
        tab.click(f"details.menu:has(#{card}-exports) a[href*='.csv']")
        file = down(".csv")
        # Ten days span parts of eleven, and at some hours exactly ten.
        assert len(read(file)) - 1 in (rows, rows - 1)
        file.unlink()


# --- Images --------------------------------------------------------------------------------------


def test_the_chart_as_png(tab: Tab, site: Site, down: Down) -> None:
    chart = opened(tab, site)
    before = tab.run("return document.querySelectorAll('.js-plotly-plot').length")
    count = len(tab.requested(""))
    tab.click(f"{MENU} [data-deed='image-png']")
    image = down(".png").read_bytes()
    assert down(".png").name.startswith("weir_FM-LIVE_20")
    width, height = struct.unpack(">II", image[16:24])
    shown = tab.run(
        "const l = document.querySelector('.js-plotly-plot')._fullLayout;return [l.width, l.height]"
    )
    assert width == round(2 * shown[0])
    assert height > 2 * shown[1]
    assert len(tab.requested("/export")) == 0
    assert count <= len(tab.requested(""))
    assert tab.run("return document.querySelectorAll('.js-plotly-plot').length") == before
    assert chart.rows() > 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_chart_as_svg_has_a_title_and_description(
    tab: Tab, site: Site, down: Down, scheme: str
) -> None:
    tab.colours(scheme)
    chart = opened(tab, site, "?range=7d&zone=Asia/Tokyo&metric=volume&units=metric")
    tab.click(f"{MENU} [data-deed='image-svg']")
    file = down(".svg")
    assert file.name.startswith("weir_FM-LIVE_20")
    root = ElementTree.fromstring(file.read_text("utf-8"))
    words = " ".join("".join(e.itertext()) for e in root.iter() if e.tag.endswith("text"))
    assert "Tenant 12 main" in words
    assert "Volume, " in words
    assert "Asia/Tokyo · JST (UTC+09:00)" in words
    assert "totals exact" in words
    assert "created " in words
    ground = theme.palette(scheme).surface.lstrip("#")
    red, green, blue = (int(ground[i : i + 2], 16) for i in (0, 2, 4))
    assert f"rgb({red}, {green}, {blue})" in file.read_text("utf-8")
    assert len(chart.marks()) > 3  # the screen's own chart is unchanged


# --- Share ---------------------------------------------------------------------------------------


def press(tab: Tab, selector: str) -> None:
    """A click with a user gesture: only then a browser lets a page write to the clipboard."""
    x, y = tab.run(
        "const r = document.querySelector(arguments[0]).getBoundingClientRect();"
        "return [r.left + r.width / 2, r.top + r.height / 2]",
        selector,
    )
    for kind in ("mousePressed", "mouseReleased"):
        tab.cdp("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)


def copied(tab: Tab) -> str:
    """The clipboard's text, pasted into a field."""
    tab.cdp("Browser.grantPermissions", permissions=["clipboardReadWrite"])
    return tab.driver.execute_async_script(
        "const done = arguments[arguments.length - 1]; window.focus();"
        "navigator.clipboard.readText().then(done, (e) => done('no: ' + e));"
    )


def test_a_fixed_view_is_copied_at_once(tab: Tab, site: Site) -> None:
    tab.open("/devices?status=all&q=zone")
    tab.until(lambda: "120 devices match" in tab.text("#devices-found"))
    press(tab, ".share summary")
    tab.until(lambda: tab.text(".share .menu-status") == "Link copied", patience_s=PATIENCE_S)
    assert copied(tab).endswith("/devices?status=all&q=zone")
    tab.until(lambda: not tab.run("return document.querySelector('.share').open"))


def test_a_rolling_view_may_be_copied_as_a_fixed_one(tab: Tab, site: Site) -> None:
    chart = opened(tab, site, "?range=24h&units=metric&zone=Asia/Tokyo")
    ends = chart.range()
    press(tab, ".share summary")
    tab.until(lambda: "This moment" in tab.text(".share .menu-body"))
    assert findings(tab) == []
    press(tab, "[data-deed='share-moment']")
    tab.until(lambda: tab.text(".share .menu-status") == "Link copied")
    result = parse_qs(urlsplit(copied(tab)).query)
    assert sorted(result) == ["range", "units", "zone"]
    assert [end[:19] for end in result["range"][0].split("..")] == ends
    tab.driver.get(copied(tab))
    assert Chart(tab).drawn().range() == ends
    tab.until(lambda: tab.run("return document.querySelectorAll('.share .menu-entry').length") == 2)
    press(tab, ".share summary")
    tab.until(lambda: tab.text(".share .menu-status") == "Link copied")  # it no longer moves


def test_without_a_clipboard_the_link_is_shown_to_be_copied(tab: Tab, site: Site) -> None:
    tab.open("/devices?q=zone")
    tab.until(lambda: "devices match" in tab.text("#devices-found"))
    tab.run(
        "navigator.clipboard.writeText = () => Promise.reject(new Error('no'));"
        "document.execCommand = () => false;"
    )
    press(tab, ".share summary")
    tab.until(lambda: tab.text(".share .menu-status") == "Copy this link:")
    chosen = tab.run(
        "const f = document.querySelector('.share-field');"
        "return document.activeElement === f && f.value.slice(f.selectionStart, f.selectionEnd)"
    )
    assert chosen == tab.driver.current_url
    assert findings(tab) == []


# --- Lists and summaries -------------------------------------------------------------------------


def test_the_file_is_the_list_as_shown(tab: Tab, site: Site, down: Down) -> None:
    tab.open("/devices?status=all&q=fm-&sort=label&order=desc")
    tab.until(lambda: "5 devices match" in tab.text("#devices-found"))
    tab.click("#devices details.menu:not(.columns) summary")
    tab.until(lambda: "status=all" in link(tab, "/download/devices.csv"))
    tab.click("a[href^='/download/devices.csv']")
    rows = read(down(".csv"))
    assert rows[0][:2] == ["serial_number", "label"]
    assert [row[1] for row in rows[1:]] == [
        "Tenant 12 main",
        "Old main",
        "East riser",
        "Clock tower",
        "<img src=x onerror=alert(1)> & Sons",
    ]


def link(tab: Tab, start: str) -> str:
    return tab.run(
        "const a = document.querySelector(`a.menu-entry[href^='${arguments[0]}']`);"
        "return a ? a.href : ''",
        start,
    )


def summed(tab: Tab) -> None:
    tab.until(
        lambda: tab.run("return document.querySelector('#usage').dataset.state") == "ready",
        patience_s=PATIENCE_S,
    )


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_a_summary_is_accessible(tab: Tab, site: Site, width: int, scheme: str) -> None:
    tab.size(width, 900)
    tab.colours(scheme)
    tab.open(f"/usage?range=7d&q=fm-&open={site.fleet.ids[LIVE]}")
    tab.until(lambda: "Tenant 12 main" in tab.text("#usage-table"))
    summed(tab)
    assert findings(tab) == []
    tab.click(".chooser summary")
    tab.until(lambda: "Clock tower" in tab.text("#usage-offered"))
    assert findings(tab) == []
    assert tab.run("return document.documentElement.scrollWidth") <= width


def test_a_summarys_controls_change_its_address(tab: Tab, site: Site, down: Down) -> None:
    tab.open("/usage?q=fm-")
    tab.until(lambda: "Tenant 12 main" in tab.text("#usage-table"))
    tab.click("#usage button[data-value='7d']")
    tab.until(lambda: "range=7d" in tab.driver.current_url)
    summed(tab)
    tab.until(lambda: "of 7" in tab.text("#usage-table"))
    tab.click(f"button[data-open='{site.fleet.ids[LIVE]}']")
    days = "return document.querySelectorAll('.day-row:not(:has(.calendar))').length"
    tab.until(lambda: tab.run(days) == 7)
    tab.click(".chooser summary")
    tab.until(lambda: "Clock tower" in tab.text("#usage-offered"))
    tab.click(f"[data-pick='{site.fleet.ids[LIVE]}']")
    tab.until(lambda: tab.text("#usage-chosen").startswith("1 selected"))
    tab.driver.refresh()
    tab.until(lambda: tab.text("#usage-chosen").startswith("1 selected"))
    summed(tab)
    tab.click("a[href*='by-day.csv']")
    rows = read(down(".csv"))
    assert len(rows) == 8
    assert {row[0] for row in rows[1:]} == {LIVE}
    tab.back()
    tab.until(lambda: "devices=" not in tab.driver.current_url)


def test_a_summary_while_the_service_is_down(tab: Tab, site: Site) -> None:
    tab.tolerated = ("500",)
    tab.open("/usage?q=fm-&range=7d")
    tab.until(lambda: "Tenant 12 main" in tab.text("#usage-table"))
    summed(tab)
    site.broken.set()
    try:
        tab.click("#usage button[data-value='30d']")
        tab.until(lambda: "on fire" in tab.text("#usage-notice"))
        assert "Tenant 12 main" in tab.text("#usage-table")  # the last good summary stays
    finally:
        site.broken.clear()
    tab.click("#usage-notice button")
    tab.until(lambda: tab.text("#usage-notice") == "")


def test_no_device_and_a_rolling_summary_as_it_is_now(tab: Tab, site: Site) -> None:
    tab.open("/usage?q=nobody-has-this")
    tab.until(lambda: "No device matches." in tab.text("#usage-notice"))
    tab.open("/usage?q=fm-&range=7d")
    summed_or_wait = "Tenant 12 main"
    tab.until(lambda: summed_or_wait in tab.text("#usage-table"))
    press(tab, ".share summary")
    tab.until(lambda: "This moment" in tab.text(".share .menu-body"))
    press(tab, "[data-deed='share-moment']")
    tab.until(lambda: tab.text(".share .menu-status") == "Link copied")
    first, last = parse_qs(urlsplit(copied(tab)).query)["range"][0].split("..")
    assert date.fromisoformat(last) - date.fromisoformat(first) == timedelta(days=6)


def test_the_walls_menu_has_images_links_files_and_comparison(tab: Tab, site: Site) -> None:
    """Each menu item acts on the wall as its address has it now."""
    tab.open("/?window=7d")
    tab.until(lambda: tab.run("return document.querySelectorAll('#fleet-wall .tile').length > 2"))
    menus = tab.run("return document.querySelectorAll('.fleet-controls details.menu').length")
    assert menus == 1
    tab.click(f"{WALL_MENU} summary")
    headings = "return [...document.querySelectorAll(arguments[0])].map((each) => each.innerText)"
    assert tab.run(headings, f"{WALL_MENU} .menu-heading") == [
        "Image of this wall",
        "Copy image link",
        "States of these devices",
        "Usage",
    ]
    assert findings(tab) == []
    hrefs = tab.run(
        "return [...document.querySelectorAll(arguments[0])].map((a) => a.getAttribute('href'))",
        f"{WALL_MENU} a.menu-entry",
    )
    assert hrefs == [
        f"{path}?window=7d"
        for path in ("/download/fleet.csv", "/download/fleet.xlsx", "/usage", "/report")
    ]
    box = tab.run(
        "const r = document.querySelector(arguments[0]).getBoundingClientRect();"
        "return [r.left, r.right, innerWidth]",
        f"{WALL_MENU} .menu-body",
    )
    assert 0 <= box[0] < box[1] <= box[2]
    tab.click(f"{WALL_MENU} a[href^='/report']")
    tab.until(lambda: tab.run("return location.pathname === '/report'"))
    tab.until(lambda: "at most 50" in tab.text("#report-notice"))


def test_a_file_and_an_image_of_the_wall_from_one_menu(tab: Tab, site: Site, down: Down) -> None:
    tab.open("/?q=fm-")
    tab.until(lambda: tab.run("return document.querySelectorAll('#fleet-wall .tile').length > 2"))
    tab.click(f"{WALL_MENU} summary")
    tab.click(f"{WALL_MENU} a[href^='/download/fleet.csv']")
    rows = read(down(".csv"))
    assert len(rows) == 1 + 4  # the inactive device isn't on the wall
    tab.click(f"{WALL_MENU} summary")
    tab.click(f"{WALL_MENU} [data-deed='server-svg']")
    drawn = ElementTree.fromstring(down(".svg").read_bytes())
    assert any("Tenant 12 main" in "".join(text.itertext()) for text in drawn.iter())
