"""The texts of a device's KPIs, gaps and rows."""

from __future__ import annotations

from dataclasses import replace

import pytest

from api.catalog import DAY, FLOW_RATE, QUALITY, RAW, RESOLUTION_BY_NAME
from api.client import Series
from api.metering.cost import Price
from api.metering.night_flow import NightFlow, TooSeldom
from api.timez import DAY_MS, HOUR_MS, MINUTE_MS, zone
from components.charts.frames import (
    INACTIVE,
    LOW_QUALITY,
    NO_DATA,
    NOT_INSTALLED,
    Frame,
    Life,
    frame,
    marked_spans,
    within,
)
from components.device import callback_results, kpis
from components.device.kpis import Usage
from components.device.reading_cards import (
    ABOUT_SPREAD,
    ABOUT_UNDATED,
    SPREAD,
    UNDATED,
    RowPage,
    row_table,
)
from components.formatting import Clock
from components.ranges import Window
from components.status_queries import CurrentStatus
from components.units import METRIC, US, Units
from components.url_state import Shown, read_shown, write_shown
from tests.components.rows import NOON, buckets
from tests.pages.elements import text
from tests.tables import cases

DENVER = zone("America/Denver")
WEEK = Shown(Window(NOON - 7 * DAY_MS, NOON - 1))
TEN_MINUTES = 10 * MINUTE_MS


# --- Numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("window", "label", "before"),
    [
        (Window(0, 7 * DAY_MS - 1), "7 d", "the week before"),
        (Window(5, DAY_MS + 4), "24 h", "the day before"),
        (Window(0, 350 * MINUTE_MS - 1), "5 h 50 min", "the 5 h 50 min before"),
    ],
)
def test_a_range_has_a_name(window: Window, label: str, before: str) -> None:
    assert (Shown(window).label, Shown(window).before) == (label, before)


@pytest.mark.parametrize("shown", [WEEK, Shown(Window(1, 86_400_000), "Asia/Tokyo", METRIC, DAY)])
def test_the_view_in_the_address_is_read_back(shown: Shown) -> None:
    assert read_shown(write_shown(shown)) == shown


@cases("fields", [None, {}, {"from": 3, "to": []}, {"from": "x", "to": "y"}])
def test_an_invalid_view_is_ignored(fields: dict[str, object] | None) -> None:
    assert read_shown(fields) is None


@cases(
    ("status", "value", "note"),
    [
        (CurrentStatus(0, 60_000, NOON - 38_000, flow=11.4), "11.4 gpm", "38 s ago"),
        (CurrentStatus(0, 60_000, NOON - 3 * DAY_MS, flow=0.0), "0 gpm", "3 d ago"),
        (CurrentStatus(0, 60_000, NOON - 400 * DAY_MS, flow=1.0), "1 gpm", "on 12 Oct 2025"),
        (CurrentStatus(0, 60_000, NOON - 38_000, flow=None), "–", "no flow rate · 38 s ago"),
        (CurrentStatus(0, 60_000), "–", "never reported"),
    ],
)
def test_the_last_reading(status: CurrentStatus, value: str, note: str) -> None:
    kpi = kpis.last_reading(status, US, DENVER, NOON)
    assert (kpi.value, kpi.note) == (value, note)


@cases(
    ("actual", "expected", "resolution", "value", "note", "low"),
    [
        (9_728, 10_080, "1min", "96.5%", "9,728 of 10,080 min", False),
        (2_000, 2_016, "5min", "99.2%", "2,000 of 2,016 × 5 min", False),
        (10, 168, "1hour", "5.9%", "10 of 168 h", True),
        (0, 0, "1min", "–", "no readings expected yet", False),
    ],
)
def test_uptime(
    actual: int, expected: int, resolution: str, value: str, note: str, low: bool
) -> None:
    kpi = kpis.uptime(actual, expected, RESOLUTION_BY_NAME[resolution], WEEK)
    assert (kpi.label, kpi.value, kpi.note, kpi.low) == ("Uptime, 7 d", value, note, low)


def test_uptime_tells_what_is_spread_between_registers() -> None:
    """Such hours count, as all rows do, but no reading came in them."""
    kpi = kpis.uptime(168, 168, RESOLUTION_BY_NAME["1hour"], replace(WEEK, spread="5 h"))
    assert kpi.note == "168 of 168 h · 5 h of them spread between registers"


@cases(
    ("worst", "best", "mean", "value", "note", "low"),
    [
        (71.0, 98.0, 94.2, "71 – 98", "mean 94", False),
        (25.4, 97.0, None, "25 – 97", "limit 40", True),
        (90.0, 90.0, 90.0, "90", "mean 90", False),
        (None, None, None, "–", "no readings with quality", False),
    ],
)
def test_quality(
    worst: float | None, best: float | None, mean: float | None, value: str, note: str, low: bool
) -> None:
    kpi = kpis.quality(worst, best, mean, 40.0, WEEK)
    assert (kpi.value, kpi.note, kpi.low) == (value, note, low)


@cases(
    ("usage", "value", "note"),
    [
        (Usage(48_912, 52_034, 1, 1), "48,912 gal", "6% below the week before"),
        (Usage(110, 100, 0.95, 0.91), "110 gal", "10% above the week before"),
        (Usage(100.9, 100, 1, 1), "101 gal", "same as the week before"),
        (Usage(1000.1, 1000.0, 1, 1), "1,000 gal", "same as the week before"),
        (Usage(100, None, 1, 0.4), "100 gal", "not enough data in the week before"),
        (Usage(100, None, 0.5, 1), "100 gal", ""),
        (Usage(100, 0.0, 1, 1), "100 gal", ""),
        (Usage(None), "–", "no readings with volume"),
    ],
)
def test_volume(usage: Usage, value: str, note: str) -> None:
    kpi = kpis.volume(usage, WEEK)
    assert (kpi.value, kpi.note) == (value, note)


@cases(
    ("gallons", "price", "units", "value", "note"),
    [
        (48_912, Price(0.012, "USD", True), US, "$586.94", "$0.012 / gal · device’s rate"),
        (1000, Price(0.012, "EUR", False), METRIC, "€12.00", "€3.17 / m³ · organization’s rate"),
        (1000, Price(1.5, "CHF", True), US, "1,500.00 CHF", "1.50 CHF / gal · device’s rate"),
        (0.108, Price(0.012, "USD", True), US, "<$0.01", "$0.012 / gal · device’s rate"),
        (0.0, Price(0.012, "USD", True), US, "$0.00", "$0.012 / gal · device’s rate"),
        (None, Price(0.012, "USD", True), US, "–", "$0.012 / gal · device’s rate"),
    ],
)
def test_cost(gallons: float | None, price: Price, units: Units, value: str, note: str) -> None:
    kpi = kpis.cost(gallons, price, Shown(WEEK.window, units=units))
    assert (kpi.value, kpi.note) == (value, note)


@pytest.mark.parametrize(
    ("last", "usual", "value", "note"),
    [
        (0.4, 0.3, "0.4 gpm", "usual 0.3"),
        (0.4, None, "0.4 gpm", "not enough data to compare"),
        (None, 0.3, "–", "too few readings last night"),
    ],
)
def test_night_flow(last: float | None, usual: float | None, value: str, note: str) -> None:
    flow = NightFlow(Window(NOON - HOUR_MS, NOON), last, usual)
    kpi = kpis.night(flow, US, DENVER, NOON + HOUR_MS)
    assert (kpi.label, kpi.value, kpi.note) == ("Night flow, 02–05", value, note)


def test_an_old_night_has_its_date() -> None:
    flow = NightFlow(Window(NOON - HOUR_MS, NOON), 0.4, 0.3)
    kpi = kpis.night(flow, US, DENVER, NOON + 90 * DAY_MS)
    assert kpi.note == "on 16 Nov 2026 · usual 0.3"
    silent = NightFlow(flow.night, None, 0.3)
    kpi = kpis.night(silent, US, DENVER, NOON + 90 * DAY_MS)
    assert kpi.note == "too few readings on 16 Nov 2026"


def test_a_cadence_too_long_for_nights_is_the_reason() -> None:
    pace = TooSeldom(15 * MINUTE_MS, 10 * MINUTE_MS)
    flow = NightFlow(Window(NOON - HOUR_MS, NOON), None, None, pace)
    kpi = kpis.night(flow, US, DENVER, NOON + HOUR_MS)
    assert kpi.note == "reports every 15 min, night flow in this zone needs every 10 min"


# --- Gaps and their causes -----------------------------------------------------------------------


def framed(minutes: list[int], qualities: list[float] | None = None) -> Frame:
    """Ten-minute rows that start at these minutes after noon, in a window of three hours."""
    series = buckets("10min", [NOON + m * MINUTE_MS for m in minutes], [1.0] * len(minutes))
    worst = qualities or [90.0] * len(minutes)
    columns = {**series.columns, f"min_{QUALITY.name}": worst}
    whole = Series(series.resolution, series.times_ms, columns)
    window = Window(NOON, NOON + 3 * HOUR_MS - 1)
    return frame(whole, FLOW_RATE, window, tz=DENVER, cadence_ms=MINUTE_MS)


def marked_gaps(made: Frame, life: Life) -> list[tuple[int, int, str]]:
    """(from, to, cause), in minutes after noon."""
    return [
        (
            (s.window.from_ms - NOON) // MINUTE_MS,
            round((s.window.to_ms - NOON) / MINUTE_MS),
            s.cause.name,
        )
        for s in marked_spans(made, life)
    ]


EVERY = list(range(0, 180, 10))


@cases(
    ("minutes", "life", "expected"),
    [
        (EVERY, Life(40), []),
        ([m for m in EVERY if not 60 <= m < 90], Life(40), [(60, 90, NO_DATA)]),
        (EVERY[6:], Life(40, NOON + 60 * MINUTE_MS), [(0, 60, NOT_INSTALLED)]),
        (EVERY[6:], Life(40, NOON + 20 * MINUTE_MS), [(0, 20, NOT_INSTALLED), (20, 60, NO_DATA)]),
        (EVERY[:6], Life(40, NOON + 60 * MINUTE_MS), [(60, 180, NO_DATA)]),  # it reported before
        (EVERY[:6], Life(40, active=False), [(60, 180, INACTIVE)]),
        ([*EVERY[:3], *EVERY[6:9]], Life(40, active=False),
         [(30, 60, NO_DATA), (90, 180, INACTIVE)]),
        ([], Life(40), [(0, 180, NO_DATA)]),
        ([], Life(40, NOON + DAY_MS), [(0, 180, NOT_INSTALLED)]),
    ],
)  # fmt: skip
def test_causes_of_gaps(minutes: list[int], life: Life, expected: list) -> None:
    assert marked_gaps(framed(minutes), life) == [(a, b, cause.name) for a, b, cause in expected]


@cases(
    ("low", "expected"),
    [
        ({0, 10}, [(0, 20)]),
        ({20, 30, 90}, [(20, 40), (90, 100)]),
        ({170}, [(170, 180)]),
        (set(EVERY), [(0, 180)]),
        (set(), []),
    ],
)
def test_rows_below_the_limit(low: set[int], expected: list[tuple[int, int]]) -> None:
    made = framed(EVERY, [39.9 if m in low else 40.0 for m in EVERY])
    assert marked_gaps(made, Life(40)) == [(a, b, LOW_QUALITY.name) for a, b in expected]


def test_gaps_are_listed_with_their_length_and_cause() -> None:
    made = framed([m for m in EVERY if not 60 <= m < 90], [39.0 if m == 0 else 90 for m in EVERY
                  if not 60 <= m < 90])  # fmt: skip
    result = marked_spans(made, Life(40))
    parts = callback_results.gap_list(result, DENVER, now_ms=NOON + DAY_MS, counted_in="5 min")
    listed = " ".join(text(part) for part in parts)
    assert listed.startswith("1 gap, 30 min · 1 span below the quality limit, 10 min")
    assert "Mon 16 Nov 2026, 06:00–06:30 30 min no data" in listed
    assert "Mon 16 Nov 2026, 05:00–05:10 10 min below the quality limit" in listed
    assert callback_results.gap_list([], DENVER, now_ms=NOON, counted_in="raw") == []


@pytest.mark.parametrize(
    ("length_ms", "now_ms", "words"),
    [
        (12 * MINUTE_MS, NOON + DAY_MS, "Mon 16 Nov 2026, 05:00–05:12"),
        (20 * HOUR_MS, NOON + DAY_MS, "Mon 16 Nov 2026, 05:00 – Tue 17 Nov 2026, 01:00"),
        (HOUR_MS, NOON + HOUR_MS, "Mon 16 Nov 2026, 05:00 – now"),
    ],
)
def test_a_span_in_words(length_ms: int, now_ms: int, words: str) -> None:
    window = Window(NOON, NOON + length_ms)
    assert callback_results.span_words(window, Clock(DENVER, *window), now_ms) == words


# --- Frames that reach beyond their window -------------------------------------------------------


def test_within_keeps_rows_that_overlap_the_window() -> None:
    made = framed([m for m in EVERY if not 60 <= m < 90])
    window = Window(NOON + 35 * MINUTE_MS, NOON + 115 * MINUTE_MS)
    cut = within(made, window)
    assert [(s - NOON) // MINUTE_MS for s in cut.starts_ms] == [30, 40, 50, 90, 100, 110]
    assert [list(run) for run in cut.runs] == [[0, 1, 2], [3, 4, 5]]
    assert cut.gaps == [Window(NOON + 60 * MINUTE_MS, NOON + 90 * MINUTE_MS)]
    assert len(cut.series) == len(cut.middle) == 6
    assert within(made, made.window) == made
    nothing = within(made, Window(NOON + 70 * MINUTE_MS, NOON + 80 * MINUTE_MS))
    assert len(nothing) == 0
    assert nothing.gaps == [Window(NOON + 70 * MINUTE_MS, NOON + 80 * MINUTE_MS)]


# --- Rows ----------------------------------------------------------------------------------------


def test_rows_are_listed_latest_first_in_the_chosen_units() -> None:
    series = buckets("10min", [NOON, NOON + TEN_MINUTES], [1.0, 2.0])
    shown = text(row_table(RowPage(series, 1, 2), DENVER, METRIC)[0])
    first, second = shown.index("05:10–05:20 MST"), shown.index("05:00–05:10 MST")
    assert first < second
    assert "Flow rate, L/min" in shown
    assert "7.57 (5.68–9.46)" in shown
    assert "1–2 of 2 rows" in text(row_table(RowPage(series, 1, 2), DENVER, METRIC)[1])


def test_rows_of_a_gap_between_registers_are_marked() -> None:
    gap = [(NOON, NOON + 3_000)]
    page = RowPage(Series(RAW, [NOON, NOON + 2_000, NOON + 3_000], {}), 1, 3)
    parts = [text(part) for part in row_table(page, DENVER, METRIC, spread=gap)]
    assert f"05:00:02 MST{SPREAD}" in parts[0]
    assert parts[0].count(SPREAD) == 2  # its start is the previous register reading
    assert parts[1] == ABOUT_SPREAD
    hours = RowPage(buckets("10min", [NOON, NOON + TEN_MINUTES], [1.0, 2.0]), 1, 2)
    assert text(row_table(hours, DENVER, METRIC, spread=gap)[0]).count(SPREAD) == 1


def test_a_row_timed_by_its_receipt_is_marked_and_the_mark_explained() -> None:
    page = RowPage(Series(RAW, [NOON, NOON + 2_000], {}, undated={NOON + 2_000}), 1, 2)
    texts = [text(part) for part in row_table(page, DENVER, METRIC)]
    assert texts[0].count(UNDATED) == 1
    assert f"05:00:02 MST{UNDATED}" in texts[0]
    assert texts[1] == ABOUT_UNDATED
    dated = RowPage(Series(RAW, [NOON], {}), 1, 1)
    assert UNDATED not in "".join(text(part) for part in row_table(dated, DENVER, METRIC))


def test_an_empty_table_has_a_message() -> None:
    assert text(row_table(RowPage(Series(RAW, [], {}), 1, 0), DENVER, US)[0]) == (
        "No rows in this range."
    )
