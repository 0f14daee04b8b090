"""Images by their addresses: from a real service's rows, by a real Chromium."""

from __future__ import annotations

import io
from collections.abc import Iterator
from xml.etree import ElementTree

import httpx
import pytest
from pypdf import PdfReader

from api.timez import now_ms
from components import chart_query
from components.chart_query import Subject
from components.charts import figure as charts_figure
from components.image_query import read_chart
from components.queries import find_device, usual_interval_s
from components.theme import DARK, LIGHT
from tests.dashboards import CLOCKS, LIVE, NEVER, RETIRED, TRICKY, Site
from tests.pictures import Pixel, decoded
from web.images import routes
from web.images.chart import caption, image
from web.rendering import NoBrowser, RendererBusy

AUTUMN_DAY = "2026-11-01T04:00:00Z..2026-11-02T05:00:00Z"


@pytest.fixture
def web(site: Site) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=site.url, timeout=60) as http:
        yield http


def chart(site: Site, serial: str, ending: str = "svg", **fields: object) -> str:
    query = "&".join(f"{name}={value}" for name, value in fields.items())
    return f"/export/devices/{site.fleet.ids[serial]}/chart.{ending}?{query}"


def texts(svg: bytes) -> list[str]:
    """Each text of an SVG, line by line."""
    root = ElementTree.fromstring(svg)
    space = "{http://www.w3.org/2000/svg}"
    results = []
    for text in root.iter(f"{space}text"):
        lines = [each for each in text.iter(f"{space}tspan") if each.get("class") == "line"]
        results += ["".join(line.itertext()) for line in lines] or ["".join(text.itertext())]
    return [" ".join(each.replace("\xa0", " ").split()) for each in results]


def pixel(colour: str) -> Pixel:
    return Pixel(*bytes.fromhex(colour[1:]))


# --- What is drawn -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("width", "height", "scale"), [(320, 240, 1), (1_000, 420, 2), (480, 640, 1.5)]
)
def test_a_png_has_exactly_its_size(
    site: Site, web: httpx.Client, width: int, height: int, scale: float
) -> None:
    answer = web.get(chart(site, LIVE, "png", width=width, height=height, scale=scale))
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/png")
    assert decoded(answer.content).size == (width * scale, height * scale)


@pytest.mark.parametrize(("theme", "palette"), [("light", LIGHT), ("dark", DARK)])
def test_both_themes_have_a_background_of_their_own(
    site: Site, web: httpx.Client, theme: str, palette: object
) -> None:
    image = decoded(web.get(chart(site, LIVE, "png", theme=theme)).content)
    ground, line = pixel(palette.surface), pixel(palette.accent)  # pyright: ignore[reportAttributeAccessIssue]
    assert {image.at(1, 1), image.at(998, 418)} == {ground}
    assert line in image.colours()


def test_the_figure_is_the_screens_own(site: Site) -> None:
    """The same reply gives the same data and axes, to the last digit."""
    device = site.fleet.ids[LIVE]
    at = now_ms()
    view, size = read_chart([("range", "7d"), ("metric", "flow_rate")])
    result = find_device(site.client, device, at)
    subject = Subject.of(result, usual_interval_s(site.client, result))
    drawn = chart_query.draw(site.client, subject, view, at)
    screen = charts_figure.figure(drawn.picture, drawn.canvas)
    texts = caption(drawn, "Tenant 12 main", LIVE, size, at)
    figure = image(drawn, texts, size)
    assert figure["data"] == screen["data"]
    for axis in ("xaxis", "yaxis", "yaxis2", "yaxis3"):
        assert figure["layout"][axis] == screen["layout"][axis]
    gaps = [a for a in figure["layout"]["annotations"] if a.get("name") != "caption"]
    assert gaps == screen["layout"]["annotations"]
    assert any("no data" in gap["text"] for gap in gaps)


def test_its_caption_describes_the_chart(site: Site, web: httpx.Client) -> None:
    reply = texts(web.get(chart(site, CLOCKS, range=AUTUMN_DAY, width=1200)).content)
    assert "Clock tower FM-CLOCKS" in reply
    (line,) = (text for text in reply if " – " in text)
    assert line == (
        "Sun 1 Nov 2026, 00:00 EDT – Mon 2 Nov 2026, 00:00 EST · America/New_York ·"
        " EDT (UTC−04:00) and EST (UTC−05:00) · 1 min rows · min and max exact"
    )
    assert "Flow rate, gal/min" in reply
    assert any(text.startswith("Weir · ") for text in reply)


@pytest.mark.parametrize(
    ("zone", "marks"),
    [
        ("America/New_York", ["03:00", "06:00", "09:00", "12:00", "15:00", "18:00", "21:00"]),
        ("Asia/Kolkata", ["12:00", "15:00", "18:00", "21:00", "00:00", "03:00", "06:00", "09:00"]),
    ],
)
def test_its_axis_is_in_the_zone(
    site: Site, web: httpx.Client, zone: str, marks: list[str]
) -> None:
    """On New York's day of 25 hours 03:00 is four hours after midnight, not three; Kolkata is half
    an hour off."""
    root = ElementTree.fromstring(web.get(chart(site, CLOCKS, range=AUTUMN_DAY, zone=zone)).content)
    marked = [e[0] for e in root.iter() if e.get("class") == "xtick" and len(e)]
    fields = {"".join(text.itertext())[:5]: _left_px(text) for text in marked}
    assert [text for text in fields if text in marks] == marks
    hour_px = (1_000 - 64 - 16) / 25
    first = {"America/New_York": 4.0, "Asia/Kolkata": 2.5}[zone]
    for n, text in enumerate(marks):
        assert fields[text] == pytest.approx(64 + hour_px * (first + 3 * n), abs=0.6)


def _left_px(text: ElementTree.Element) -> float:
    """The x of ``translate(x,y)``."""
    return float(text.get("transform", "").partition("(")[2].partition(",")[0])


def test_a_name_is_never_markup(site: Site, web: httpx.Client) -> None:
    reply = texts(web.get(chart(site, TRICKY)).content)
    assert "<img src=x onerror=alert(1)> & Sons FM-<b>&amp;" in reply


def test_an_empty_image_has_a_reason(site: Site, web: httpx.Client) -> None:
    assert "This device has never reported." in texts(web.get(chart(site, NEVER)).content)


def test_a_pdf_is_one_page_with_its_caption(site: Site, web: httpx.Client) -> None:
    answer = web.get(chart(site, LIVE, "pdf", range="7d"))
    assert answer.headers["Content-Type"] == "application/pdf"
    (page,) = PdfReader(io.BytesIO(answer.content)).pages
    assert (page.mediabox.width, page.mediabox.height) == pytest.approx((750, 315), abs=0.5)
    assert "Tenant 12 main" in page.extract_text()


# --- The wall ------------------------------------------------------------------------------------


def test_a_wall_shows_up_to_fifty_tiles_with_their_texts(site: Site, web: httpx.Client) -> None:
    answer = web.get("/export/fleet.svg?sort=label")
    root = ElementTree.fromstring(answer.content)
    tiles = [e for e in root if e.tag.endswith("}g")]
    assert len(tiles) == 50
    shown = texts(answer.content)
    assert {"Fleet", "Clock tower", "FM-CLOCKS", "■ Silent", "uptime", "quality"} <= set(shown)
    assert any("1–50 of" in text for text in shown)
    assert any(text.startswith("<img src=x") and text.endswith("…") for text in shown)


def test_a_wall_equals_that_of_the_page(site: Site, web: httpx.Client) -> None:
    reply = texts(web.get(f"/export/fleet.svg?q={LIVE}&window=7d&units=metric").content)
    assert {"Tenant 12 main", LIVE, "● Reporting"} <= set(reply)
    assert any(text.startswith("L/min") for text in reply)
    assert not {"Clock tower", "Old main"} & set(reply)
    (share,) = (text for text in reply if text.endswith("%"))
    assert 90 < float(share[:-1]) < 100  # ten days with a gap of six hours, in a window of seven


def test_a_wall_as_png_and_pdf(site: Site, web: httpx.Client) -> None:
    png = web.get("/export/fleet.png?q=FM&width=800&scale=2&theme=dark").content
    image = decoded(png)
    assert image.size[0] == 1_600
    assert image.at(2, 2) == pixel(DARK.bg)
    (page,) = PdfReader(io.BytesIO(web.get("/export/fleet.pdf?q=FM&width=800").content)).pages
    points = (page.mediabox.width, page.mediabox.height)
    assert points == pytest.approx((600, image.size[1] / 2 * 0.75), abs=0.5)
    assert "Clock tower" in page.extract_text()


def test_a_wall_without_a_device_has_a_message(site: Site, web: httpx.Client) -> None:
    assert "No device matches “nowhere”." in texts(web.get("/export/fleet.svg?q=nowhere").content)


# --- Responses -----------------------------------------------------------------------------------


def test_an_image_has_a_name_and_is_cached_for_a_minute(site: Site, web: httpx.Client) -> None:
    answers = [
        web.get(chart(site, CLOCKS, range=AUTUMN_DAY, **more)) for more in ({}, {"units": "us"})
    ]
    headers = answers[1].headers
    assert headers["Content-Disposition"] == (
        'inline; filename="weir_FM-CLOCKS_flow_rate_2026-11-01T040000Z_2026-11-02T050000Z.svg"'
    )
    assert headers["Cache-Control"] == "private, max-age=60"
    # Without units the organization's setting counts, which may change.
    assert answers[0].headers["Cache-Control"] == "private, max-age=0"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "script-src" not in headers["Content-Security-Policy"]
    assert headers["Content-Security-Policy"].startswith("default-src 'none'")


@pytest.mark.parametrize(
    ("path", "status", "named"),
    [
        ("/export/devices/{live}/chart.png?width=99&tint=red", 400, ["width", "tint"]),
        ("/export/fleet.png?status=odd", 400, ["status"]),
        ("/export/devices/nobody/chart.png", 404, None),
        ("/export/devices/{live}/chart.gif", 404, None),
        ("/export/fleet.webp", 404, None),
    ],
)
def test_an_invalid_image_is_a_problem(
    site: Site, web: httpx.Client, path: str, status: int, named: list[str] | None
) -> None:
    answer = web.get(path.format(live=site.fleet.ids[LIVE]))
    assert answer.status_code == status
    if named is not None:
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert [each["parameter"] for each in answer.json()["errors"]] == named


def test_a_failing_service_is_a_problem_with_a_message(site: Site, web: httpx.Client) -> None:
    site.broken.set()
    try:
        answer = web.get(chart(site, LIVE))
    finally:
        site.broken.clear()
    assert answer.status_code == 500
    assert answer.headers["Content-Type"] == "application/problem+json"


@pytest.mark.parametrize(
    ("error", "status", "again"),
    [
        (RendererBusy("3 others wait.", retry_after_s=4.2), 503, "5"),
        (NoBrowser("Chromium is not installed on this server."), 501, None),
    ],
)
def test_a_failing_renderer_has_a_reason(error: Exception, status: int, again: str | None) -> None:
    def make() -> routes.Image:
        raise error

    answer = routes.image_response(make, "png")
    assert (answer.status_code, answer.headers.get("Retry-After")) == (status, again)
    assert answer.get_json()["detail"] == error.detail  # pyright: ignore[reportAttributeAccessIssue]


def test_an_inactive_device_is_drawn_by_its_id(site: Site, web: httpx.Client) -> None:
    assert web.get(chart(site, RETIRED)).status_code == 200
