"""What points of a chart say: the browser's words are those of the rest of the page."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from api.catalog import HOUR_MS, MINUTE_MS, RESOLUTION_BY_NAME
from api.timez import zone
from components import formatting
from components.clock import Clock
from components.units import UNITS
from tests.browser.charts import Chart
from tests.browser.chromium import Tab
from tests.browser.test_chart import opened, whole_day
from tests.dashboards import AUTUMN, CLOCKS, LIVE, SPRING, Site
from tests.world import ms

pytestmark = pytest.mark.browser

DICE = random.Random(7)
BETWEEN = [0.125, 0.5, 1.125, 2.5, 6.25, 10.25, 12.25, 62.5, 100.5, 101.5, 999.5, 1000.5, 2001.5,
           4.35, 1.005, 0.0005, 9.995, 99.95, 999.4999]  # fmt: skip
ANY = [round(DICE.uniform(-1, 1) * 10 ** DICE.randint(-5, 9), 6) for _ in range(3_000)]
NUMBERS = [0.0, -0.0, 1e-10, 1e21, 3.2e25, *BETWEEN, *ANY]


@pytest.fixture
def page(tab: Tab, site: Site) -> Tab:
    opened(tab, site, LIVE, "?range=7d")
    return tab


def said(tab: Tab, word: str, asked: list[object]) -> list[str]:
    """The browser's words, each for its arguments."""
    return tab.run(f"return arguments[0].map((each) => window.weirHover.{word}(...each))", asked)


def test_numbers(page: Tab) -> None:
    assert said(page, "number", [[v] for v in NUMBERS]) == [formatting.number(v) for v in NUMBERS]
    assert said(page, "number", [[None]]) == [formatting.NOTHING]


def test_spans(page: Tab) -> None:
    pairs = [sorted(pair) for pair in pairwise(NUMBERS)]
    assert said(page, "span", [*pairs]) == [formatting.span(*pair) for pair in pairs]


def test_durations(page: Tab) -> None:
    lengths = [0, 999, 1_000, 599_999, 600_000, 172_799_999, 172_800_000, 8_640_000_000, 948_000,
               *(DICE.randrange(10 ** DICE.randint(3, 10)) for _ in range(500))]  # fmt: skip
    assert said(page, "duration", [[n] for n in lengths]) == [
        formatting.duration(n) for n in lengths
    ]


@pytest.mark.parametrize("units", UNITS, ids=lambda units: units.name)
def test_volumes(page: Tab, units: object) -> None:
    gallons = [v for v in NUMBERS if abs(v) < 1e15]
    steps = units.volume_steps  # pyright: ignore[reportAttributeAccessIssue]
    told = said(page, "volume", [[v, steps] for v in gallons])
    assert told == [units.volume(v) for v in gallons]  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    ("name", "around"),
    [
        ("America/New_York", SPRING + 2 * HOUR_MS),
        ("America/New_York", AUTUMN + 2 * HOUR_MS),
        ("Asia/Kolkata", ms("2026-11-16T12:00Z")),
        ("Asia/Kathmandu", ms("1986-01-01T00:00Z")),
        ("Australia/Lord_Howe", ms("2026-04-04T15:00Z")),  # half an hour back
        ("Pacific/Apia", ms("2011-12-30T10:00Z")),  # a day that never was
        ("Europe/London", ms("1970-01-01T00:00Z")),
    ],
)
@pytest.mark.parametrize("level", ["raw", "1min", "10min", "1hour"])
def test_spans_of_time_on_the_days_that_clocks_change(
    page: Tab, name: str, around: int, level: str
) -> None:
    resolution = RESOLUTION_BY_NAME[level]
    length = resolution.length_ms or 0
    first = (around - 30 * HOUR_MS) // HOUR_MS * HOUR_MS
    step = max(length, 7 * MINUTE_MS if length else 7 * MINUTE_MS + 1_234)
    starts = [max(0, first + i * step) for i in range(60 * HOUR_MS // step)]
    clock = Clock(zone(name), starts[0], starts[-1] + length)
    pieces = [(start, offset, clock.name(start)) for start, offset in clock.pieces]
    told = said(page, "title", [[start, length, pieces] for start in starts])
    assert told == [formatting.bucket(s, s + length, resolution, clock) for s in starts]


# --- On the screen -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "hours", "query"),
    [(SPRING, 23, ""), (AUTUMN, 25, ""), (AUTUMN, 25, "&zone=Asia/Kolkata"),
     (AUTUMN, 25, "&units=metric"), (SPRING, 23, "&metric=quality")],
)  # fmt: skip
def test_a_point_says_what_its_row_in_the_table_says(
    tab: Tab, site: Site, start: int, hours: int, query: str
) -> None:
    """The last rows of the window stand in the table below, in the server's words."""
    chart = opened(tab, site, CLOCKS, whole_day(start, hours) + query)
    table = {row[0]: row for row in tab.until(lambda: rows_below(tab))}
    metric = tab.text(".ytitle")  # with its unit
    for minutes_ago in (3, 7, 12):
        lines = chart.hover(1 - (minutes_ago + 0.5) / (hours * 60))
        row = table[lines[0]]
        average, reach = (line.split(" ")[1] for line in lines[1:3])
        column = heads(tab).index(metric)
        assert row[column] == f"{average} ({reach})" or row[column] == average


def rows_below(tab: Tab) -> list[list[str]]:
    return tab.run(
        "return [...document.querySelectorAll('table.rows tbody tr')]"
        ".map((row) => [...row.cells].map((cell) => cell.textContent))"
    )


def heads(tab: Tab) -> list[str]:
    return tab.run(
        "return [...document.querySelectorAll('table.rows thead th')].map((e) => e.textContent)"
    )


def test_bars_and_days_say_their_span(tab: Tab, site: Site) -> None:
    chart = opened(tab, site, LIVE, "?range=7d&metric=volume")
    title, value, *_ = chart.hover(0.9)
    assert title.endswith(("MST", "MDT"))
    assert value.endswith(" gal")
    days = Chart(tab)
    tab.open(f"/devices/{site.fleet.ids[LIVE]}?range=1y&metric=volume")
    days.drawn()
    assert len(days.hover(0.995)[0].split(" ")) == 4  # Mon 16 Nov 2026


def test_the_second_metric_says_its_value(tab: Tab, site: Site) -> None:
    chart = opened(tab, site, LIVE, "?range=24h&metric=signal")
    chart.hover(0.9)
    told = tab.run(
        "return [...document.querySelectorAll('.hovertext text.nums')].map((e) => e.textContent)"
    )
    assert any(text.startswith("Network RSSI −") and text.endswith(" dBm") for text in told), told
