"""Hover texts of charts: the browser formats values as the rest of the page does."""

from __future__ import annotations

import random
import re
from itertools import pairwise, product

import pytest

from api.catalog import HOUR_MS, MINUTE_MS, RESOLUTION_BY_NAME
from api.timez import zone
from components import formatting
from components.formatting import Clock
from components.units import UNITS, Units
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


def browser_texts(tab: Tab, word: str, arguments: list[object]) -> list[str]:
    """The browser's texts, one for each set of arguments."""
    return tab.run(
        f"return arguments[0].map((each) => window.weir.hover.{word}(...each))", arguments
    )


def test_the_browser_formats_as_the_server_does(tab: Tab, site: Site) -> None:
    opened(tab, site, LIVE, "?range=7d")
    numbers_are_equal(tab)
    spans_are_equal(tab)
    durations_are_equal(tab)
    for units in UNITS:
        volumes_are_equal(tab, units)
    times_are_equal_on_the_days_that_clocks_change(tab)


def numbers_are_equal(page: Tab) -> None:
    assert browser_texts(page, "number", [[v] for v in NUMBERS]) == [
        formatting.number(v) for v in NUMBERS
    ]
    assert browser_texts(page, "number", [[None]]) == [formatting.NOTHING]


def spans_are_equal(page: Tab) -> None:
    pairs = [sorted(pair) for pair in pairwise(NUMBERS)]
    assert browser_texts(page, "span", [*pairs]) == [formatting.span(*pair) for pair in pairs]


def durations_are_equal(page: Tab) -> None:
    lengths = [0, 999, 1_000, 599_999, 600_000, 172_799_999, 172_800_000, 8_640_000_000, 948_000,
               *(DICE.randrange(10 ** DICE.randint(3, 10)) for _ in range(500))]  # fmt: skip
    assert browser_texts(page, "duration", [[n] for n in lengths]) == [
        formatting.duration(n) for n in lengths
    ]


def volumes_are_equal(page: Tab, units: Units) -> None:
    gallons = [v for v in NUMBERS if abs(v) < 1e15]
    result = browser_texts(page, "volume", [[v, units.volume_steps] for v in gallons])
    assert result == [units.volume(v) for v in gallons]


AROUND = (
    ("America/New_York", SPRING + 2 * HOUR_MS),
    ("America/New_York", AUTUMN + 2 * HOUR_MS),
    ("Asia/Kolkata", ms("2026-11-16T12:00Z")),
    ("Asia/Kathmandu", ms("1986-01-01T00:00Z")),
    ("Australia/Lord_Howe", ms("2026-04-04T15:00Z")),  # half an hour back
    ("Pacific/Apia", ms("2011-12-30T10:00Z")),  # a day that never was
    ("Europe/London", ms("1970-01-01T00:00Z")),
)


def times_are_equal_on_the_days_that_clocks_change(page: Tab) -> None:
    wanted: list[object] = []
    expected: list[str] = []
    for (name, around), level in product(AROUND, ("raw", "1min", "10min", "1hour")):
        resolution = RESOLUTION_BY_NAME[level]
        length = resolution.length_ms or 0
        first = (around - 30 * HOUR_MS) // HOUR_MS * HOUR_MS
        step = max(length, 7 * MINUTE_MS if length else 7 * MINUTE_MS + 1_234)
        starts = [max(0, first + i * step) for i in range(60 * HOUR_MS // step)]
        clock = Clock(zone(name), starts[0], starts[-1] + length)
        pieces = [(start, offset, clock.name(start)) for start, offset in clock.pieces]
        wanted += [[start, length, pieces] for start in starts]
        expected += [formatting.bucket(s, s + length, resolution, clock) for s in starts]
    assert browser_texts(page, "title", wanted) == expected


# --- On the screen -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "hours", "query"),
    [(SPRING, 23, ""), (AUTUMN, 25, ""), (AUTUMN, 25, "&zone=Asia/Kolkata"),
     (AUTUMN, 25, "&units=metric"), (SPRING, 23, "&metric=quality")],
)  # fmt: skip
def test_a_point_shows_the_same_as_its_row_in_the_table(
    tab: Tab, site: Site, start: int, hours: int, query: str
) -> None:
    """The last rows of the window are in the table below the chart, formatted by the server."""
    chart = opened(tab, site, CLOCKS, whole_day(start, hours) + query)
    table = {row[0]: row for row in tab.until(lambda: rows_below(tab))}
    metric = tab.text(".ytitle")  # with its unit
    for minutes_ago in (3, 7, 12):
        lines = chart.hover(1 - (minutes_ago + 0.5) / (hours * 60))
        row = table[lines[0]]
        values = [numbers(line) for line in lines[1:3]]
        column = numbers(row[heads(tab).index(metric)])
        assert [n for n in (*values[0], *values[1])] == pytest.approx(
            (column * 3)[:3], rel=0.01, abs=0.05
        )


def numbers(text: str) -> list[float]:
    return [float(n.replace(",", "")) for n in re.findall(r"[\d,]+(?:\.\d+)?", text)]


def rows_below(tab: Tab) -> list[list[str]]:
    return tab.run(
        "return [...document.querySelectorAll('table.rows tbody tr')]"
        ".map((row) => [...row.cells].map((cell) => cell.textContent))"
    )


def heads(tab: Tab) -> list[str]:
    return tab.run(
        "return [...document.querySelectorAll('table.rows thead th')].map((e) => e.textContent)"
    )


def test_bars_and_days_show_their_span(tab: Tab, site: Site) -> None:
    chart = opened(tab, site, LIVE, "?range=7d&metric=volume")
    title, value, *_ = chart.hover(0.9)
    assert title.endswith(("MST", "MDT"))
    assert re.fullmatch(r"Volume [\d,.]+ gal", value)
    days = Chart(tab)
    tab.open(f"/devices/{site.fleet.ids[LIVE]}?range=1y&metric=volume")
    days.drawn()
    assert len(days.hover(0.995)[0].split(" ")) == 4  # Mon 16 Nov 2026


def test_the_second_metric_shows_its_value(tab: Tab, site: Site) -> None:
    chart = opened(tab, site, LIVE, "?range=24h&metric=signal")
    result = chart.hover(0.9)
    assert any(text.startswith("Network RSSI −") and text.endswith(" dBm") for text in result), (
        result
    )


# --- The card ------------------------------------------------------------------------------------

CARD = "document.querySelector('.hover-card:not([hidden])')"


def card(tab: Tab) -> str:
    return tab.run(f"const card = {CARD}; return card ? card.textContent : ''")


def test_the_card_stays_right_while_the_chart_is_redrawn(tab: Tab, site: Site) -> None:
    chart = opened(tab, site, LIVE, "?range=7d")
    chart.hover(0.6)
    tab.run(
        f"""window.__empty = [];
            const look = () => {{ const card = {CARD};
              const text = card ? card.textContent : 'no card';
              if (!card || /–( |$)| – |NaN/.test(text)) window.__empty.push(text); }};
            window.weir.chart.graph().on('plotly_afterplot', () => setTimeout(look, 0));"""
    )
    before, coarse = card(tab), chart.badge()
    tab.run(
        "const { move, range } = window.weir.chart;"
        "move(...range().map((ms, i) => i ? ms - 2e7 : ms + 2e7))"
    )
    tab.until(lambda: chart.badge() != coarse)
    tab.until(lambda: card(tab) and card(tab) != before)
    zoomed = card(tab)
    tab.run("window.weir.chart.reset()")
    tab.until(lambda: chart.badge().startswith(coarse.partition(" · ")[0]))
    tab.until(lambda: card(tab) and card(tab) != zoomed)
    rows = "return window.weir.chart.currentQuestion().request_id"
    shown = tab.run(rows)
    tab.run("document.dispatchEvent(new Event('visibilitychange'))")  # a live refresh
    tab.until(lambda: tab.run(rows) != shown)
    tab.until(lambda: tab.text("#freshness") == "Live · just now")
    assert "average" in card(tab)
    assert tab.run("return window.__empty") == []


@pytest.mark.parametrize("width", [1440, 390])
def test_the_card_has_padding_and_never_covers_the_line(tab: Tab, site: Site, width: int) -> None:
    tab.size(width, 900)
    chart = opened(tab, site, LIVE, "?range=7d")
    # On a phone the middle of the chart is below the fold, where no pointer reaches.
    tab.run("window.weir.chart.graph().scrollIntoView({ block: 'center' })")
    for at in (0.02, 0.2, 0.37, 0.5, 0.63, 0.8, 0.98):
        chart.hover(at)
        covered, padding, inside = tab.run(
            f"""const card = {CARD}.getBoundingClientRect();
                const graph = window.weir.chart.graph();
                const box = graph.getBoundingClientRect();
                const {{ xaxis, yaxis }} = graph._fullLayout;
                const line = graph.data[2];
                const [from, to] = window.weir.chart.range();
                const [low, high] = yaxis.range;
                const covered = line.x.filter((x, i) => {{
                  if (x === null) return false;
                  const [across, up] = [
                    (Date.parse(x + 'Z') - from) / (to - from), (line.y[i] - low) / (high - low)];
                  const px = box.x + xaxis._offset + across * xaxis._length;
                  const py = box.y + yaxis._offset + (1 - up) * yaxis._length;
                  return px > card.left && px < card.right && py > card.top && py < card.bottom;
                }}).length;
                const style = getComputedStyle({CARD});
                const inside = card.left >= 0 && card.right <= innerWidth;
                return [covered, parseFloat(style.paddingLeft), inside]"""
        )
        assert (covered, padding >= 12, inside) == (0, True, True), at
    tab.size(1440, 900)
