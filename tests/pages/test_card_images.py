"""Images of cards by their addresses: from a real service's rows, by a real Chromium."""

from __future__ import annotations

import io
from collections.abc import Iterator
from xml.etree import ElementTree

import httpx
import pytest
from pypdf import PdfReader

from api.timez import now_ms, zone
from components.device import queries, volume_cards
from components.theme import DARK, LIGHT, Palette
from components.units import METRIC
from tests.dashboards import LIVE, NEVER, Site
from tests.pages.elements import hints
from tests.pages.test_images import pixel, texts
from tests.pictures import decoded

CARDS = ["days", "heat"]
EMPTY = {"days": volume_cards.NO_DAYS, "heat": volume_cards.NO_WEEK}
ZONE = "Asia/Kathmandu"


@pytest.fixture
def web(site: Site) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=site.url, timeout=60) as http:
        yield http


def address(site: Site, card: str, query: str = "", serial: str = LIVE, ending: str = "svg") -> str:
    return f"/export/devices/{site.fleet.ids[serial]}/{card}.{ending}?{query}"


def titles(svg: bytes) -> list[str]:
    root = ElementTree.fromstring(svg)
    return [e.text or "" for e in root.iter() if e.tag.endswith("}title")]


def shown(site: Site, card: str) -> list[str]:
    """The texts of each part of the card, in that zone and units."""
    device, tz, now = site.fleet.ids[LIVE], zone(ZONE), now_ms()
    if card == "days":
        result = volume_cards.days(queries.daily(device, tz, now), tz, now)
        return hints(volume_cards.day_bars(result, METRIC), "Button")
    table = volume_cards.heat_map(queries.weekly(device, tz, now), METRIC)
    return hints(table, "Td")


@pytest.mark.parametrize("card", CARDS)
def test_an_image_has_the_cards_values_in_its_zone_and_units(
    looking: Site, web: httpx.Client, card: str
) -> None:
    svg = web.get(address(looking, card, f"zone={ZONE}&units=metric")).content
    assert titles(svg) == shown(looking, card)
    text = " ".join(texts(svg))
    for words in ("Tenant 12 main", LIVE, f"{ZONE} · UTC+05:45 (UTC+05:45)", "Weir · "):
        assert words in text
    assert ("Volume by day, m³" if card == "days" else "Typical week, mean L/min") in text


@pytest.mark.parametrize("card", CARDS)
@pytest.mark.parametrize(("theme", "palette"), [("light", LIGHT), ("dark", DARK)])
def test_a_png_has_its_size_and_its_themes_background(
    site: Site, web: httpx.Client, card: str, theme: str, palette: Palette
) -> None:
    answer = web.get(address(site, card, f"theme={theme}&width=500&height=300&scale=2",
                             ending="png"))  # fmt: skip
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "image/png")
    assert f"weir_{LIVE}_{card}_" in answer.headers["Content-Disposition"]
    image = decoded(answer.content)
    assert image.size == (1_000, 600)
    assert {image.at(1, 1), image.at(998, 598)} == {pixel(palette.surface)}
    assert pixel(palette.accent) in image.colours()


@pytest.mark.parametrize("card", CARDS)
def test_a_pdf_is_one_page_with_its_texts(site: Site, web: httpx.Client, card: str) -> None:
    (page,) = PdfReader(io.BytesIO(web.get(address(site, card, ending="pdf")).content)).pages
    assert (page.mediabox.width, page.mediabox.height) == pytest.approx((750, 315), abs=0.5)
    assert "Tenant 12 main" in page.extract_text()


@pytest.mark.parametrize("card", CARDS)
def test_the_image_of_a_device_without_readings_has_a_message(
    site: Site, web: httpx.Client, card: str
) -> None:
    assert EMPTY[card] in texts(web.get(address(site, card, serial=NEVER)).content)


@pytest.mark.parametrize("card", CARDS)
def test_an_invalid_image_is_a_problem(site: Site, web: httpx.Client, card: str) -> None:
    wrong = web.get(address(site, card, "zone=Mars/Base&range=7d&width=1"))
    assert (wrong.status_code, wrong.headers["Content-Type"]) == (400, "application/problem+json")
    assert [each["parameter"] for each in wrong.json()["errors"]] == ["zone", "range", "width"]
    assert web.get(f"/export/devices/nobody/{card}.svg").status_code == 404
    assert web.get(address(site, card, ending="gif")).status_code == 404
