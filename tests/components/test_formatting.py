"""Numbers, units, durations and times as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.catalog import RESOLUTION_BY_NAME
from api.timez import DAY_MS, HOUR_MS, MINUTE_MS, zone
from components import formatting
from components.formatting import Clock
from tests.tables import cases
from tests.world import ms


@cases(
    ("value", "text"),
    [
        (None, "–"),
        (float("nan"), "–"),
        (0, "0"),
        (-0.0, "0"),
        (0.01234, "0.0123"),
        (0.4, "0.4"),
        (0.412345, "0.412"),
        (9.81, "9.81"),
        (12.6, "12.6"),
        (98.14, "98.1"),
        (412, "412"),
        (998.6, "999"),
        (999.4, "999"),
        (999.5, "1,000"),
        (48_912.3, "48,912"),
        (-65_650.2, "−65,650"),
        (-1.5, "−1.5"),
        (1e-12, "0"),
        (100.0, "100"),
    ],
)
def test_number(value: float | None, text: str) -> None:
    assert formatting.number(value) == text


@given(st.floats(-1e12, 1e12, allow_nan=False))
def test_a_number_reads_back_to_three_digits(value: float) -> None:
    read = float(formatting.number(value).replace("−", "-").replace(",", ""))
    assert read == pytest.approx(value, rel=6e-3, abs=1e-9)


@cases(
    ("gallons", "text"),
    [
        (None, "–"),
        (0.925, "0.925 gal"),
        (98.1, "98.1 gal"),
        (48_912, "48,912 gal"),
        (999_999, "999,999 gal"),
        (1_234_567, "1,235 kgal"),
        (5_432_100_000, "5,432 Mgal"),
        (-65_650, "−65,650 gal"),
    ],
)
def test_volume(gallons: float | None, text: str) -> None:
    assert formatting.volume(gallons) == text


@cases(
    ("low", "high", "text"),
    [
        (6.9, 12.6, "6.9–12.6"),
        (5.0, 5.0001, "5"),
        (-3, 4, "−3 to 4"),
        (-3, -1, "−3 to −1"),
        (None, None, "–"),
        (0, 0.925, "0–0.925"),
    ],
)
def test_span(low: float | None, high: float | None, text: str) -> None:
    assert formatting.span(low, high) == text


@cases(("count", "text"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (1_003, "1,003 rows")])
def test_plural(count: int, text: str) -> None:
    assert formatting.plural(count, "row") == text


@cases(
    ("length_ms", "text"),
    [
        (0, "0 s"),
        (999, "0 s"),
        (38_000, "38 s"),
        (2 * MINUTE_MS + 5_000, "2 min 5 s"),
        (36 * MINUTE_MS + 58_000, "36 min"),
        (5 * HOUR_MS + 50 * MINUTE_MS, "5 h 50 min"),
        (24 * HOUR_MS, "1 d"),
        (2 * DAY_MS + 3 * HOUR_MS + 1, "2 d 3 h"),
        (250 * DAY_MS + 3 * HOUR_MS, "250 d"),
    ],
)
def test_duration(length_ms: int, text: str) -> None:
    assert formatting.duration(length_ms) == text


@cases(
    ("elapsed_ms", "text"),
    [
        (-HOUR_MS, "1 h in the future"),
        (-90_000, "just now"),
        (4_999, "just now"),
        (38_000, "38 s ago"),
        (6 * HOUR_MS + 12 * MINUTE_MS, "6 h 12 min ago"),
        (30 * HOUR_MS, "1 d ago"),
        (729 * DAY_MS, "729 d ago"),
        (730 * DAY_MS, "2 y ago"),
        (1_330 * DAY_MS, "3 y ago"),
    ],
)
def test_ago(elapsed_ms: int, text: str) -> None:
    assert formatting.ago(0, elapsed_ms) == text


@cases(
    ("resolution", "zone_name", "start", "end", "text"),
    [
        (
            "10min",
            "America/Denver",
            "2026-11-17T04:40Z",
            "2026-11-17T04:50Z",
            "Mon 16 Nov 2026, 21:40–21:50 MST",
        ),
        ("raw", "UTC", "2026-11-17T04:40:07.250Z", None, "Tue 17 Nov 2026, 04:40:07 UTC"),
        # New York, 2026-11-01: the hour from 01:00 occurs twice.
        (
            "1hour",
            "America/New_York",
            "2026-11-01T05:00Z",
            "2026-11-01T06:00Z",
            "Sun 1 Nov 2026, 01:00 EDT–01:00 EST",
        ),
        (
            "1hour",
            "America/New_York",
            "2026-11-01T06:00Z",
            "2026-11-01T07:00Z",
            "Sun 1 Nov 2026, 01:00–02:00 EST",
        ),
        # 2026-03-08: 02:00 to 03:00 doesn't exist.
        (
            "1hour",
            "America/New_York",
            "2026-03-08T06:00Z",
            "2026-03-08T07:00Z",
            "Sun 8 Mar 2026, 01:00 EST–03:00 EDT",
        ),
        (
            "1hour",
            "Asia/Kathmandu",
            "2026-01-01T00:00Z",
            "2026-01-01T01:00Z",
            "Thu 1 Jan 2026, 05:45–06:45 UTC+05:45",
        ),
        (
            "1hour",
            "America/Sao_Paulo",
            "2026-01-01T03:00Z",
            "2026-01-01T04:00Z",
            "Thu 1 Jan 2026, 00:00–01:00 UTC-03",
        ),
        ("day", "Europe/Rome", "2026-03-28T23:00Z", "2026-03-29T22:00Z", "Sun 29 Mar 2026"),
        ("month", "Europe/Rome", "2026-02-28T23:00Z", "2026-03-31T22:00Z", "Mar 2026"),
    ],
)
def test_the_span_of_a_row(
    resolution: str, zone_name: str, start: str, end: str | None, text: str
) -> None:
    first = ms(start)
    last = ms(end) if end else first
    clock = Clock(zone(zone_name), first, last)
    assert formatting.bucket(first, last, RESOLUTION_BY_NAME[resolution], clock) == text


@cases(
    ("values", "texts"),
    [
        ([1.59, 1.6], ["1.59", "1.60"]),
        ([12.6, 6.94], ["12.6", "6.9"]),
        ([120.0, 0.05], ["120.00", "0.05"]),  # the smallest can be seen
        ([48_912.0, 3.2], ["48,912", "3"]),
        ([85.0, 86.0, None], ["85", "86", "–"]),
        ([-3.5, 0.0], ["−3.50", "0.00"]),
    ],
)
def test_a_column_has_one_count_of_decimals(values: list[float | None], texts: list[str]) -> None:
    places = formatting.decimals(values)
    assert [formatting.exact(value, places) for value in values] == texts
