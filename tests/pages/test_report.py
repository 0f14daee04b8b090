"""The report as PDF by its address: from a real service's days, by a real Chromium."""

from __future__ import annotations

import io
import re
import threading
from collections.abc import Iterator

import httpx
import pytest
from pypdf import PdfReader

from api.store.base import Grant, NewDevice, Scope
from api.timez import now_ms
from components.concurrent_queries import Deadline, ReplyCache, ServiceAccess
from components.report.queries import read_report_view
from components.units import UNITS_BY_NAME
from components.usage.queries import gather, pick
from tests.dashboards import CLOCKS, LIVE, ORGANIZATION, Fleet, Site, ms
from tests.dashboards import _flow as flow  # pyright: ignore[reportPrivateUsage]
from web import report as report_pdf
from web.rendering import NoBrowser
from web.report import fluid

AUTUMN = "2026-10-31..2026-11-02"  # with New York's day of 25 hours
GROUP = "Risers"
POINTS = {"a4": (595, 842), "letter": (612, 792)}


@pytest.fixture(scope="module", autouse=True)
def risers(fleet: Fleet) -> list[str]:
    """A group of twelve with a month of readings; their serial numbers."""
    serials = [f"RISER-{n:02}" for n in range(12)]
    fields = {"deviceTimeZone": "America/New_York", "reportingInterval": 1800.0}
    fleet.store.import_devices(
        ORGANIZATION,
        [
            NewDevice(s, {"label": f"Riser {s[-2:]}", "config": {"groups": [GROUP]}, **fields})
            for s in serials
        ],
    )
    for device in fleet.store.resolve(Scope(ORGANIZATION, Grant(everything=True)), serials):
        assert device is not None
        start, end = ms("2026-09-30T00:00Z"), ms("2026-11-03T00:00Z")
        fleet.store.write(flow(device.key, start, end, 1_800_000))
    return serials


@pytest.fixture
def web(site: Site) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=site.url, timeout=120) as http:
        yield http


def pdf(web: httpx.Client, **text: str) -> PdfReader:
    answer = web.get("/export/report.pdf", params=text)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/pdf"), (
        answer.text
    )
    return PdfReader(io.BytesIO(answer.content))


def texts(reader: PdfReader) -> list[str]:
    return [" ".join(page.extract_text().replace("ﬂ", "fl").split()) for page in reader.pages]


@pytest.mark.parametrize(("paper", "units"), [("letter", "us"), ("a4", "metric")])
def test_one_device_on_paper(site: Site, web: httpx.Client, paper: str, units: str) -> None:
    """It has the same days and volumes as the usage summary."""
    fields = {"devices": site.fleet.ids[CLOCKS], "range": AUTUMN, "units": units}
    reader = pdf(web, paper=paper, **fields)
    width, height = POINTS[paper]
    assert [(round(p.mediabox.width), round(p.mediabox.height)) for p in reader.pages] == [
        (width, height)
    ]
    (text,) = texts(reader)
    assert text.count("Clock tower") >= 2  # the page header and the title
    assert "31 Oct 2026 – 2 Nov 2026 · 3 days" in text
    assert "America/New_York" in text
    assert "1 / 1" in text
    access, view = ServiceAccess(site.client, ReplyCache()), read_report_view(fields).usage
    picked = pick(access, view, now_ms())
    (usage,) = gather(access, picked.meters, view, None, Deadline(60), now_ms()).usages
    of = UNITS_BY_NAME[units]
    assert f"Total {of.volume(usage.gallons)}" in text
    for day in usage.days:
        assert of.volume(day.gallons) in text
    assert "Sun 1 Nov 2026 · 25 h" in text
    assert "Night flow, 02–05" in text


def test_a_group_has_a_page_of_totals_and_one_for_each_device(
    risers: list[str], web: httpx.Client
) -> None:
    pages = texts(pdf(web, group=GROUP, range="2026-10"))
    assert len(pages) == 1 + len(risers)
    for number, page in enumerate(pages, 1):
        assert f"{number} / {len(pages)}" in page
        assert page.startswith(GROUP)
        assert "1 Oct 2026 – 31 Oct 2026" in page
    assert all(serial in pages[0] for serial in risers)
    for serial, page in zip(risers, pages[1:], strict=True):
        assert serial in page
        assert "Sat 31 Oct 2026" in page


def test_a_long_table_repeats_its_header_and_cuts_no_row(site: Site, web: httpx.Client) -> None:
    reader = pdf(web, devices=site.fleet.ids[LIVE], range="200d")
    pages = texts(reader)
    assert 3 <= len(pages) <= 6
    assert all("Day Volume Cost Mean flow Max flow Coverage" in page for page in pages)
    result = " ".join(pages)
    days = re.findall(r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) \d{1,2} \w{3} 20\d\d", result)
    assert len(days) == 200 + 1  # and the time of its making


def test_its_chart_is_the_figure_of_the_screen(
    site: Site, web: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the same rows, in colours that follow the page's theme."""
    drawn: list[str] = []

    def watched(svg: str) -> str:
        drawn.append(fluid(svg))
        return drawn[-1]

    monkeypatch.setattr(report_pdf, "fluid", watched)
    answer = web.get(
        "/export/report/chart.json", params={"devices": site.fleet.ids[CLOCKS], "range": AUTUMN}
    )
    body = answer.json()["html"]
    (svg,) = drawn
    assert svg in body
    assert "Flow rate · 5 min rows" in body or "Flow rate · 1 min rows" in body
    assert "var(--accent)" in svg
    assert "var(--band)" in svg
    assert "var(--ok)" in svg  # the strip of quality
    assert 'role="img" aria-label="Flow rate. ' in body


# --- Refused reports -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("fields", "parameter"),
    [
        ({"range": "yesterday"}, "range"),
        ({"paper": "a3"}, "paper"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_invalid_reports_are_refused_with_a_reason(
    web: httpx.Client, fields: dict[str, str], parameter: str
) -> None:
    answer = web.get("/export/report.pdf", params=fields)
    assert (answer.status_code, answer.headers["Content-Type"]) == (400, "application/problem+json")
    assert [each["parameter"] for each in answer.json()["errors"]] == [parameter]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"q": "nothing like it"}, "No device matches."),
        ({}, "devices match, and a report covers at most 50"),
        ({"group": GROUP, "range": "366d"}, "4,392 rows, and a report covers at most 3,700"),
    ],
)
def test_too_many_devices_or_none_are_refused(
    risers: list[str], web: httpx.Client, fields: dict[str, str], words: str
) -> None:
    answer = web.get("/export/report.pdf", params=fields)
    assert answer.status_code == 400
    assert words in answer.json()["detail"]


def test_a_third_concurrent_report_gets_a_time_to_retry(
    site: Site, web: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go = threading.Semaphore(0), threading.Event()

    def slow(*_: object) -> object:
        begun.release()
        assert go.wait(60)
        raise NoBrowser("Chromium is not installed on this server.")

    monkeypatch.setattr(report_pdf, "paper", slow)
    fields = {"devices": site.fleet.ids[CLOCKS]}
    statuses: list[int] = []

    def ask() -> None:
        statuses.append(
            httpx.get(f"{site.url}/export/report.pdf", params=fields, timeout=90).status_code
        )

    waiting = [threading.Thread(target=ask) for _ in range(2)]
    for thread in waiting:
        thread.start()
    for _ in waiting:
        assert begun.acquire(timeout=60)
    third = web.get("/export/report.pdf", params=fields)
    go.set()
    for thread in waiting:
        thread.join()
    assert third.status_code == 503
    assert int(third.headers["Retry-After"]) >= 1
    assert "2 reports are already in progress" in third.json()["detail"]
    assert statuses == [501, 501]


def test_the_rest_of_the_fleet_stays_out_of_a_report(site: Site, web: httpx.Client) -> None:
    """Ids outside the reader's scope, or of no device, are left out."""
    other = "00000000-0000-4000-8000-000000000000"
    assert web.get("/export/report.pdf", params={"devices": other}).status_code == 400
    chart = web.get("/export/report/chart.json", params={"devices": other})
    assert chart.status_code == 404
    both = f"{site.fleet.ids[CLOCKS]},{site.fleet.ids[LIVE]}"
    assert web.get("/export/report/chart.json", params={"devices": both}).status_code == 400
