"""The strip of sums, in words."""

from __future__ import annotations

import pytest

from api.metering.usage import day_of
from api.metering.windows import DEFAULT_SPAN, SPAN_BY_NAME
from api.timez import zone
from components.fleet import totals
from components.fleet.day_volumes import Volume
from components.units import METRIC, US
from tests.components.fleet.meters import HOUR, MINUTE, NOW, known, row

GOOD, LOW = known(), known(actual=1000)
GONE, NEVER = known(seen_ms=NOW - HOUR, flow=8.0), known(seen_ms=None, actual=0, flow=None)
DENVER = day_of(zone("America/Denver"), NOW)  # a Friday
SATURDAY = day_of(zone("Pacific/Auckland"), NOW)


@pytest.mark.parametrize(
    ("share", "text"),
    [(1.0, "100%"), (0.99999, "99.9%"), (0.9996, "99.9%"), (0.939, "93.9%"), (0.0, "0%"),
     (0.0001, "<0.1%"), (0.28, "28.0%"), (None, "–")],
)  # fmt: skip
def test_a_share_never_reads_better_than_it_is(share: float | None, text: str) -> None:
    assert totals.percent(share) == text


def test_reporting() -> None:
    rows = [row("a", GOOD), row("b", LOW), row("c", GONE), row("d", NEVER)]
    made = totals.reporting(rows)
    assert (made.value, made.note) == ("1 / 4", "1 degraded · 1 silent · 1 no data")
    assert totals.reporting([row("a", GOOD)]).note == "every device"


def test_what_is_known_of_a_large_fleet_is_said() -> None:
    rows = [row(str(n), GOOD if n < 3450 else None) for n in range(10_000)]
    made = totals.reporting(rows)
    assert made.value == "3,450 / 3,450"
    assert made.note == "status of 3,450 of 10,000 devices so far"
    assert totals.reporting([row("a", None)]).value == "–"


def test_fleet_uptime_weighs_buckets_by_their_length() -> None:
    hourly = known(actual=12, expected=24, bucket_ms=HOUR)
    made = totals.uptime([row("a", GOOD), row("b", hourly)], DEFAULT_SPAN)
    assert made.label == "Fleet uptime, 24 h"
    assert (made.value, made.note) == ("75.0%", "2,160 of 2,880 minutes")
    assert totals.uptime([row("a", known(expected=0, actual=0))], DEFAULT_SPAN).value == "–"
    month = known(actual=43_200, expected=43_200, bucket_ms=MINUTE)
    many = totals.uptime([row(str(n), month) for n in range(50)], SPAN_BY_NAME["30d"])
    assert (many.value, many.note) == ("100%", "36,000 of 36,000 hours")


def test_flowing_quiet_and_no_data_are_three_things() -> None:
    rows = [row("a", known(flow=2.5)), row("b", known(flow=0.0)), row("c", known(flow=None)),
            row("d", GONE)]  # fmt: skip
    made = totals.flow_now(rows, US)
    assert (made.value, made.note) == ("2.5 gpm", "1 flowing · 1 quiet · 2 no data")
    assert totals.flow_now(rows, METRIC).value == "9.46 L/min"
    assert totals.flow_now([row("d", GONE)], US).value == "–"
    assert totals.flow_now([row("b", known(flow=0.0))], US).value == "0 gpm"


@pytest.mark.parametrize(
    ("today", "note"),
    [
        ([(104.0, 100.0)], "4% above a typical Friday so far"),
        ([(96.0, 100.0)], "4% below a typical Friday so far"),
        ([(100.2, 100.0)], "same as a typical Friday so far"),
        ([(2.0, 1.5)], "same as a typical Friday so far"),  # less than a gallon apart
        ([(5.0, 0.2)], "1 device"),  # nothing is usual
        ([(104.0, None)], "1 device"),
        ([(1.0, 1.0)] * 8 + [(1.0, None)], "9 devices"),  # under nine tenths can tell
        ([(2.0, 1.0)] * 9 + [(1.0, None)], "100% above a typical Friday so far"),
    ],
)
def test_volume_against_a_usual_weekday(today: list[tuple[float, float | None]], note: str) -> None:
    rows = [row(str(n), GOOD) for n in range(len(today))]
    volumes = {str(n): Volume(DENVER, *each) for n, each in enumerate(today)}
    assert totals.volume_today(rows, volumes, US).note == note


def test_volume_of_several_weekdays_names_none() -> None:
    volumes = {"a": Volume(DENVER, 20.0, 10.0), "b": Volume(SATURDAY, 20.0, 10.0)}
    made = totals.volume_today([row("a", GOOD), row("b", GOOD)], volumes, US)
    assert (made.value, made.note) == ("40 gal", "100% above a typical day so far")


def test_volume_says_how_many_devices_it_covers() -> None:
    rows = [row("a", GOOD), row("b", GOOD), row("c", GONE), row("d", NEVER), row("e", None)]
    known_none = Volume(DENVER, None, None)
    told = {"a": Volume(DENVER, 1234.0, 900.0), "c": known_none, "d": known_none}
    made = totals.volume_today(rows, told, US)
    assert (made.value, made.note) == ("–", "1,234 gal in 1 of 3 devices so far")
    assert totals.volume_today(rows, {}, US).value == "–"


@pytest.mark.parametrize(
    ("prices", "default", "value", "note"),
    [
        ([0.01, 0.02], None, "$3.00", "at each device’s rate"),
        ([None, None], 0.5, "$100.00", "at the organization’s rate"),
        ([0.01, None], 1.0, "$101.00", "at each device’s or the organization’s rate"),
        ([0.01, None], None, "$1.00", "at each device’s rate"),
        ([None, None], None, "–", "no price set"),
    ],
)
def test_cost(prices: list[float | None], default: float | None, value: str, note: str) -> None:
    rows = [row(str(n), GOOD, price=price) for n, price in enumerate(prices)]
    volumes = {str(n): Volume(DENVER, 100.0, None) for n in range(len(prices))}
    made = totals.cost_today(rows, volumes, default)
    assert (made.value, made.note) == (value, note)


def test_currencies_are_not_added_up() -> None:
    rows = [row("a", GOOD, price=1.0, currency="EUR"), row("b", GOOD, price=1.0)]
    volumes = {id: Volume(DENVER, 10.0, None) for id in "ab"}
    assert totals.cost_today(rows, volumes, None).note == "prices in several currencies"


def test_needs_attention_counts_devices_and_names_reasons() -> None:
    both = known(actual=3, quality_min=1.0)
    rows = [row("a", GOOD), row("b", both), row("c", GONE), row("d", GONE)]
    made = totals.needs_attention(rows)
    assert made.value == "3"
    assert made.note == "2 silent · 1 low uptime · 1 low quality"
    well = totals.needs_attention([row("a", GOOD)])
    assert (well.label, well.value) == ("Needs attention", "0")
    assert well.note == "by state and quality; leaks are not checked here"  # never "all is well"
    part = totals.needs_attention([row("a", GOOD), row("e", None)])
    assert part.note == "of 1 of 2 devices so far"
