"""The fleet on a wall display, and on a phone."""

from __future__ import annotations

import pytest

from tests.browser.chromium import Tab
from tests.dashboards import Site

pytestmark = pytest.mark.browser

TILES = "return document.querySelectorAll('a.tile').length"
# Texts of the wall that don't fit, and elements outside the screen.
CUT = """
return [...document.querySelectorAll('.total-value, .tile-number b, .wall-clock *, .wall-foot')]
  .filter((e) => e.checkVisibility()).filter((e) => {
    const box = e.getBoundingClientRect();
    return e.scrollWidth > e.clientWidth + 1 && e.clientWidth
      || box.right > innerWidth || box.bottom > innerHeight;
  }).map((e) => e.className + ': ' + e.textContent)
"""


@pytest.mark.parametrize(("width", "height"), [(1920, 1080), (3840, 2160)])
def test_a_wall_fills_the_screen_without_anything_else(
    tab: Tab, site: Site, width: int, height: int
) -> None:
    tab.size(width, height)
    tab.open("/?wall=1")
    tab.until(lambda: tab.run(TILES) >= 50)
    assert not tab.text(".bar")
    assert not tab.text(".fleet-controls")
    assert tab.run(CUT) == []
    assert tab.run("return document.documentElement.scrollHeight <= innerHeight")
    states = tab.run("return [...document.querySelectorAll('a.tile')].map((t) => t.dataset.state)")
    assert states[0] in ("silent", "degraded")  # problems first
    tab.until(lambda: "Live" in tab.text("#wall-clock-line"))
    tab.until(lambda: "next in" in tab.text("#wall-foot"))
    tab.size(1440, 900)


def test_it_turns_its_pages_with_the_problems_on_each(tab: Tab, site: Site) -> None:
    tab.size(1920, 1080)
    tab.open("/?wall=1")
    tab.until(lambda: "1–50 of" in tab.text("#wall-foot"))
    first = tab.run("return document.querySelector('a.tile .tile-label').textContent")
    tab.until(lambda: "51–100 of" in tab.text("#wall-foot"), patience_s=40)
    assert tab.run("return document.querySelector('a.tile .tile-label').textContent") == first
    tab.size(1440, 900)


def test_escape_shows_the_exit(tab: Tab, site: Site) -> None:
    tab.open("/?wall=1")
    tab.until(lambda: tab.run(TILES) >= 50)
    escape = (
        "document.body.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape', bubbles: true}))"
    )
    tab.run(escape)
    tab.until(lambda: tab.text("#wall-leave") == "Leave the wall")
    tab.run(escape)
    tab.until(lambda: tab.text(".bar"))
    assert "wall=" not in tab.driver.current_url


def test_a_phone_has_numbers_first_and_its_controls_behind_one_button(tab: Tab, site: Site) -> None:
    tab.size(390, 844)
    tab.open("/?status=silent,degraded&q=tenant")
    tab.until(lambda: tab.text("#fleet-filters") == "Filters · 24 h · 3 set")
    assert not tab.text(".fleet-controls")
    order = "const top = (s) => document.querySelector(s).getBoundingClientRect().top;"
    assert tab.run(f"{order} return top('.totals') < top('#fleet-filters')")
    tab.click("#fleet-filters")
    tab.until(lambda: tab.text(".fleet-controls"))
    tab.size(1440, 900)
