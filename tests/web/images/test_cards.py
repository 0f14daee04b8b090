"""Images of cards, against the values of the cards."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from api.errors import BadRequest
from api.metering.hourly_profile import DAYS, HOURS
from api.timez import day_start, local_ordinal, zone
from components.device import volume_cards
from components.formatting import WEEKDAYS
from components.image_query import Size, read_card
from components.theme import DARK, LIGHT, Palette
from components.units import METRIC, US, Units
from tests.pages.elements import hints
from tests.tables import cases
from tests.world import ms
from web.images import cards
from web.images.svg import Box

SVG = "{http://www.w3.org/2000/svg}"
BOX = Box(16, 80, 984, 390)
NEW_YORK = zone("America/New_York")
HEIGHT_PX = BOX.bottom - BOX.top - cards.UNIT_PX - cards.CLOCKS_PX - cards.MARKS_PX


def parsed(drawn: str) -> ElementTree.Element:
    return ElementTree.fromstring(f'<svg xmlns="{SVG[1:-1]}">{drawn}</svg>')


def marked(root: ElementTree.Element, name: str) -> list[ElementTree.Element]:
    return [each for each in root.iter() if each.get("class") == name]


def title(element: ElementTree.Element) -> str:
    return element.findtext(f"{SVG}title") or ""


def six_weeks(now: str) -> list[volume_cards.Day]:
    """Each day's gallons are its number; every fifth day has none."""
    today = local_ordinal(NEW_YORK, ms(now))
    starts = [day_start(NEW_YORK, today - back) for back in range(volume_cards.DAYS)]
    fields = {start: float(n * 10) for n, start in enumerate(reversed(starts)) if n % 5}
    return volume_cards.days(fields, NEW_YORK, ms(now))


def week() -> list[list[float | None]]:
    return [
        [None if (day + hour) % 11 == 0 else day + hour / 4 for hour in range(HOURS)]
        for day in range(DAYS)
    ]


# --- Days ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("units", [US, METRIC])
def test_every_bar_has_the_text_and_height_of_the_cards(units: Units) -> None:
    result = six_weeks("2026-11-20T17:00Z")
    bars = marked(parsed(cards.bars(result, units, BOX, LIGHT)), "day")
    card = hints(volume_cards.day_bars(result, units), "Button")
    assert [title(bar) for bar in bars] == card
    for day, bar in zip(result, bars, strict=True):
        if day.gallons is None:
            assert bar.get("fill") == "url(#none)"
        else:
            high = HEIGHT_PX * day.gallons / 410
            assert float(bar.get("height", "")) == pytest.approx(max(1, high), abs=0.2)
    assert [n for n, bar in enumerate(bars) if "url(#partial)" in (bar.get("fill") or "")] == [41]


@pytest.mark.parametrize(
    ("now", "odd"),
    [
        ("2026-11-20T17:00Z", ("Sun 1 Nov 2026", "25 h")),
        ("2026-03-20T17:00Z", ("Sun 8 Mar 2026", "23 h")),
    ],
)
def test_the_day_that_clocks_change_on_is_marked(now: str, odd: tuple[str, str]) -> None:
    root = parsed(cards.bars(six_weeks(now), US, BOX, DARK))
    ((mark,),) = marked(root, "clocks")
    (bar,) = (each for each in marked(root, "day") if "a day of" in title(each))
    assert (title(bar).partition(":")[0], mark.text) == odd
    middle = float(bar.get("x", "")) + float(bar.get("width", "")) / 2
    assert float(mark.get("x", "")) == pytest.approx(middle, abs=0.02)
    assert float(mark.get("y", "")) < float(bar.get("y", ""))


@cases(
    ("highest", "marks"),
    [
        (410, [0, 200, 400]),
        (1, [0, 0.25, 0.5, 0.75, 1]),
        (0.07, [0, 0.02, 0.04, 0.06]),
        (9.9, [0, 2.5, 5, 7.5]),
    ],
)
def test_a_scale_has_round_values_within_it(highest: float, marks: list[float]) -> None:
    assert cards.steps(highest) == pytest.approx(marks)


def test_without_a_volume_both_have_a_message() -> None:
    result = volume_cards.days({}, NEW_YORK, ms("2026-11-20T17:00Z"))
    (text,) = parsed(cards.bars(result, US, BOX, LIGHT))
    (card,) = volume_cards.day_bars(result, US)
    assert text.text == card.children == "No volume in the last six weeks."


# --- Hours ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("units", [US, METRIC])
def test_every_hour_has_the_text_of_the_cards(units: Units) -> None:
    cells = marked(parsed(cards.hours(week(), units, BOX, LIGHT)), "hour")
    card = hints(volume_cards.heat_map(week(), units), "Td")
    assert len(cells) == DAYS * HOURS
    assert [title(cell) for cell in cells] == card
    assert title(cells[0]) == f"{WEEKDAYS[0]} 00:00–01:00: no data"


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_a_shade_is_the_flows_share_of_the_highest(palette: Palette) -> None:
    assert cards.shade(8.0, 8.0, palette) == palette.accent
    assert cards.shade(None, 8.0, palette) == "url(#none)"
    halfway = bytes.fromhex(cards.shade(4.0, 8.0, palette)[1:])
    ends = zip(bytes.fromhex(palette.accent[1:]), bytes.fromhex(palette.bg[1:]), strict=True)
    assert list(halfway) == pytest.approx([0.52 * a + 0.48 * b for a, b in ends], abs=0.51)


def test_without_a_flow_both_have_a_message() -> None:
    empty: list[list[float | None]] = [[None] * HOURS] * DAYS
    (result,) = parsed(cards.hours(empty, US, BOX, LIGHT))
    (card,) = volume_cards.heat_map(empty, US)
    assert result.text == card.children == "No flow in the last eight weeks."


# --- Addresses -----------------------------------------------------------------------------------


def test_a_cards_address_has_zone_units_theme_and_size() -> None:
    view, size = read_card([("zone", "Asia/Kolkata"), ("units", "metric"), ("height", "300")])
    assert (view.zone, view.units, view.theme, size) == (
        "Asia/Kolkata", METRIC, "light", Size(1_000, 300, 1.0)
    )  # fmt: skip


@cases("name", ["range", "from", "metric", "sig", "colour"])
def test_a_card_has_no_other_parameters(name: str) -> None:
    with pytest.raises(BadRequest) as result:
        read_card([(name, "7d")])
    assert [problem.parameter for problem in result.value.errors] == [name]
