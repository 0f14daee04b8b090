"""The report's page: built, drawn, printed and saved by a real browser."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from pathlib import Path

import pytest
from pypdf import PdfReader

from tests.browser.axe import findings
from tests.browser.chromium import Tab
from tests.dashboards import CLOCKS, LIVE, NEVER, Site

pytestmark = pytest.mark.browser
PATIENCE_S = 60.0
AUTUMN = "2026-10-31..2026-11-02"
SHEETS = {"A4": (8.27, 11.69), "Letter": (8.5, 11.0)}  # inches
READY = """
const page = document.getElementById("report");
const charts = [...document.querySelectorAll("#report-body figure[data-chart]")];
return Boolean(page) && page.dataset.state === "ready" && charts.length === arguments[0]
  && charts.every((chart) => chart.dataset.state === "drawn");
"""


def opened(tab: Tab, query: str, charts: int = 1) -> Tab:
    tab.open(f"/report?{query}")
    tab.until(lambda: tab.run(READY, charts), patience_s=PATIENCE_S)
    return tab


def state(tab: Tab) -> str:
    return tab.run("return document.getElementById('report')?.dataset.state || ''")


@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_it_fits_every_screen(tab: Tab, site: Site, width: int, scheme: str) -> None:
    tab.size(width, 900)
    tab.colours(scheme)
    opened(tab, f"devices={site.fleet.ids[CLOCKS]}&range={AUTUMN}")
    assert findings(tab) == []
    assert tab.run("return document.documentElement.scrollWidth") == width
    assert tab.text("#report-body h1") == "Clock tower"
    assert "Sun 1 Nov 2026 · 25 h" in tab.text("#report-body table")
    lines, accent = tab.run(
        "const lines = [...document.querySelectorAll('.report-chart .js-line')];"
        "const probe = document.createElement('i');"
        "probe.style.color = 'var(--accent)'; document.body.append(probe);"
        "const accent = getComputedStyle(probe).color; probe.remove();"
        "return [lines.map((line) => getComputedStyle(line).stroke), accent];"
    )
    assert accent in lines  # the theme's colour, not paper white
    box, screen = tab.run(
        "return [document.querySelector('.report-chart svg').getBoundingClientRect().width,"
        " document.querySelector('.report-chart').clientWidth]"
    )
    assert box == pytest.approx(screen, abs=1)


def test_printed_from_a_dark_screen_it_is_light_and_without_controls(tab: Tab, site: Site) -> None:
    tab.colours("dark")
    opened(tab, f"devices={site.fleet.ids[CLOCKS]},{site.fleet.ids[LIVE]}&range={AUTUMN}", 2)
    for width, height in SHEETS.values():
        _assert_printed(tab, width, height)
    tab.cdp("Emulation.setEmulatedMedia", media="print")
    ground = tab.run("return getComputedStyle(document.querySelector('.report')).color")
    tab.cdp("Emulation.setEmulatedMedia", media="")
    assert ground == "rgb(22, 32, 43)"  # the light theme's ink


def _assert_printed(tab: Tab, width: float, height: float) -> None:
    printed = tab.cdp("Page.printToPDF", paperWidth=width, paperHeight=height, printBackground=True)
    reader = PdfReader(io.BytesIO(base64.b64decode(printed["data"])))
    for page in reader.pages:
        sides = float(page.mediabox.width) / 72, float(page.mediabox.height) / 72
        assert sides == pytest.approx((width, height), abs=0.02)
    pages = [" ".join(page.extract_text().split()) for page in reader.pages]
    assert len(pages) == 3  # totals, and a page for each device
    for number, text in enumerate(pages, 1):
        assert text.startswith("2 devices")
        assert f"{number} / 3" in text
        assert not any(word in text for word in ("Share", "Sign out", "Save PDF", "Choose devices"))


@pytest.fixture
def folder(tab: Tab, tmp_path: Path) -> Iterator[Path]:
    tab.cdp("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    yield tmp_path
    tab.cdp("Browser.setDownloadBehavior", behavior="default")


def test_the_saved_pdf_is_of_the_shown_report(tab: Tab, site: Site, folder: Path) -> None:
    query = f"devices={site.fleet.ids[CLOCKS]}&range={AUTUMN}&units=metric&paper=letter"
    opened(tab, query)
    tab.click("#report-save")
    file = tab.until(lambda: next(folder.glob("*.pdf"), None), patience_s=PATIENCE_S)
    assert file.name == "weir_report_Clock-tower_2026-10-31_2026-11-02.pdf"
    (page,) = PdfReader(io.BytesIO(file.read_bytes())).pages
    assert round(page.mediabox.width) == 612
    volume = tab.text("#report-body .report-numbers .value")
    assert volume in page.extract_text()
    assert "m³" in volume


def test_choices_are_in_the_address(tab: Tab, site: Site) -> None:
    device = site.fleet.ids[CLOCKS]
    opened(tab, f"devices={device}&range={AUTUMN}")
    tab.run(
        "const select = document.querySelector('select[data-set=metric]');"
        "select.value = 'volume'; select.dispatchEvent(new Event('change', {bubbles: true}))"
    )
    tab.until(lambda: "metric=volume" in tab.run("return location.search"))
    tab.until(lambda: tab.run(READY, 1), patience_s=PATIENCE_S)
    tab.until(lambda: tab.text("#report-body figcaption").startswith("Volume"))
    tab.back()
    tab.until(lambda: "metric" not in tab.run("return location.search"))
    tab.until(lambda: tab.text("#report-body figcaption").startswith("Flow rate"))


def test_a_device_links_to_its_report(tab: Tab, site: Site) -> None:
    tab.open(f"/devices/{site.fleet.ids[LIVE]}?range=7d&units=metric")
    link = "a.menu-entry[href^='/report']"
    href = tab.until(
        lambda: tab.run(f"return document.querySelector(\"{link}\")?.getAttribute('href')"),
        patience_s=PATIENCE_S,
    )
    opened(tab, href.partition("?")[2])
    assert tab.text("#report-body h1") == "Tenant 12 main"
    assert len(tab.run("return [...document.querySelectorAll('#report-body tbody tr')]")) == 8 + 1


# --- Not ready -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "words"),
    [("q=nothing+like+it", "No device matches."), ("", "a report covers at most 50")],
)
def test_a_missing_report_gives_the_reason(tab: Tab, query: str, words: str) -> None:
    tab.open(f"/report?{query}")
    tab.until(lambda: state(tab) == "empty", patience_s=PATIENCE_S)
    assert words in tab.text("#report-notice")
    assert not tab.run("return document.querySelector('.report').checkVisibility()")


def test_a_device_without_readings_has_a_report_that_says_so(tab: Tab, site: Site) -> None:
    opened(tab, f"devices={site.fleet.ids[NEVER]}&range={AUTUMN}")
    assert "This device has never reported." in tab.text(".report-chart")
    assert "no readings with volume" in tab.text("#report-body")


def test_while_the_service_fails_it_says_so_and_comes_back(tab: Tab, site: Site) -> None:
    site.broken.set()
    try:
        tab.open(f"/report?devices={site.fleet.ids[CLOCKS]}&range=2026-11-01..2026-11-01")
        tab.until(lambda: state(tab) == "failed", patience_s=PATIENCE_S)
        assert "on fire" in tab.text("#report-notice")
    finally:
        site.broken.clear()
    tab.click("#report-notice button")
    tab.until(lambda: tab.run(READY, 1), patience_s=PATIENCE_S)
