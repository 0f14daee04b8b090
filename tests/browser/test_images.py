"""Server-made images, by the menus of a device and of the wall."""

from __future__ import annotations

import io

import httpx
import pytest
from pypdf import PdfReader

from tests.browser.charts import Chart
from tests.browser.chromium import Tab
from tests.browser.conftest import Down
from tests.dashboards import LIVE, Site
from tests.pictures import Pixel, decoded

pytestmark = pytest.mark.browser
PATIENCE_S = 40.0
CHART_MENU = "details.menu:has(#chart-exports)"
WALL_MENU = ".fleet-controls details.menu:has([data-deed='server-png'])"


def device(tab: Tab, site: Site, query: str = "?range=7d&units=metric") -> None:
    tab.open(f"/devices/{site.fleet.ids[LIVE]}{query}")
    Chart(tab).drawn()
    tab.until(lambda: tab.run(f"return document.querySelector('{CHART_MENU} [data-deed^=signed]')"))


def wall(tab: Tab) -> None:
    tab.open("/?q=FM&sort=label")
    tab.until(lambda: tab.run("return document.querySelectorAll('#fleet-wall .tile').length > 2"))


def choose(tab: Tab, menu: str, deed: str) -> None:
    tab.click(f"{menu} > summary")
    tab.click(f"{menu} [data-deed='{deed}']")


def message(tab: Tab, menu: str) -> str:
    return tab.run(f'return document.querySelector("{menu} .menu-status").textContent')


def until_said(tab: Tab, menu: str, words: str) -> None:
    tab.until(lambda: words in message(tab, menu), patience_s=PATIENCE_S)


def link(tab: Tab, menu: str) -> str:
    """The link to copy: shown in a field where the clipboard is closed, as it is in tests."""
    shown = f'return (document.querySelector("{menu} .share-field") || {{}}).value'
    return tab.until(lambda: tab.run(shown), patience_s=PATIENCE_S)


def test_a_chart_as_pdf(tab: Tab, site: Site, down: Down) -> None:
    device(tab, site)
    choose(tab, CHART_MENU, "server-pdf")
    file = down(".pdf")
    until_said(tab, CHART_MENU, "Saved")
    assert file.name.startswith("weir_FM-LIVE_flow_rate_20")
    (page,) = PdfReader(io.BytesIO(file.read_bytes())).pages
    text = page.extract_text()
    assert "Tenant 12 main" in text
    assert "Flow rate, L/min" in text


def test_a_wall_as_png(tab: Tab, site: Site, down: Down) -> None:
    wall(tab)
    choose(tab, WALL_MENU, "server-png")
    image = decoded(down(".png").read_bytes())
    shown_px = tab.run("return document.getElementById('fleet-wall').clientWidth")
    assert image.width == 2 * shown_px


def test_a_card_as_png_and_svg(tab: Tab, site: Site, down: Down) -> None:
    device(tab, site)
    for name in ("days", "heat"):
        menu = f"details.menu:has(#device-{name}-exports)"
        there = f'return !!document.querySelector("{menu} [data-deed]")'
        tab.until(lambda there=there: tab.run(there))
        choose(tab, menu, f"server-png-{name}")
        image = down(".png")
        until_said(tab, menu, "Saved")
        assert image.name.startswith(f"weir_FM-LIVE_{name}_20")
        assert decoded(image.read_bytes()).size == (2_000, 840)
        choose(tab, menu, f"server-svg-{name}")
        drawing = down(".svg")
        assert b"Tenant 12 main" in drawing.read_bytes()
        image.unlink()
        drawing.unlink()


def test_a_copied_link_opens_the_image_without_a_session(tab: Tab, site: Site) -> None:
    tab.colours("dark")
    device(tab, site)
    tab.run("navigator.clipboard.writeText = () => Promise.reject(new Error('closed'))")
    tab.run("document.execCommand = () => false")
    choose(tab, CHART_MENU, "signed-30")
    href = link(tab, CHART_MENU)
    assert href.startswith(f"{site.url}/export/devices/{site.fleet.ids[LIVE]}/chart.png?range=7d")
    # A host name that isn't this machine's own: only the signature gives access.
    away = {"Host": "weir.example"}
    unsigned = href.partition("&key=")[0]
    assert httpx.get(unsigned, headers=away, timeout=60).status_code == 303
    answer = httpx.get(href, headers=away, timeout=60)
    assert answer.status_code == 200
    assert decoded(answer.content).at(1, 1) == Pixel(0x16, 0x1E, 0x27)
    tab.colours("light")


_ANSWERS = """
window.__fetch = window.fetch;
window.__busy = arguments[0];
window.fetch = (url, options) => {
  const ours = String(url).startsWith("/export/");
  if (!ours || window.__busy-- <= 0) return window.__fetch(url, options);
  return Promise.resolve(new Response(JSON.stringify({detail: arguments[1]}),
    {status: arguments[2], headers: arguments[2] === 503 ? {"Retry-After": "1"} : {}}));
};
"""


def test_a_busy_server_is_retried(tab: Tab, site: Site, down: Down) -> None:
    device(tab, site)
    tab.run(_ANSWERS, 1, "busy", 503)
    choose(tab, CHART_MENU, "server-pdf")
    until_said(tab, CHART_MENU, "Busy. Retrying in 1 s")
    assert down(".pdf").read_bytes()[:5] == b"%PDF-"


@pytest.mark.parametrize(
    ("status", "detail"),
    [(503, "Too many wait."), (501, "Chromium is not installed on this server.")],
)
def test_a_failed_image_gives_the_reason(tab: Tab, site: Site, status: int, detail: str) -> None:
    device(tab, site)
    tab.run(_ANSWERS, 99, detail, status)
    choose(tab, CHART_MENU, "server-pdf")
    until_said(tab, CHART_MENU, detail)
