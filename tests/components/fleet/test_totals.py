"""The fleet's KPIs as text."""

from __future__ import annotations

from typing import Any

import pytest

from api.client import Attention, Observed, StatusSummary, UsualToday
from api.client.billing import BudgetStatus, MonthEndSum
from api.metering.windows import DEFAULT_SPAN, SPAN_BY_NAME
from api.timez import zone_or_utc
from components import formatting
from components.fleet import wall
from components.fleet.wall import checked
from components.formatting import Clock
from components.units import METRIC, US, Units
from tests.components.fleet.meters import HOUR, MINUTE, NOW
from tests.tables import cases


def summary(**fields: Any) -> StatusSummary:
    """Four healthy devices, with changes."""
    usual: dict[str, Any] = {
        "devices": 4,
        "sub_meters": 0,
        "states": {"reporting": 4},
        "flow": 2.5,
        "volume_today": 1234.0,
        "costs_today": {"USD": 14.8},
        "uptime_24h": 1.0,
        "findings": {},
        "as_of_ms": NOW,
        "evaluated": 4,
        "flowing": 1,
        "quiet": 1,
        "uptime": {"24h": Observed(2160 * 60, 2880 * 60), "30d": Observed(0, 0)},
    }
    return StatusSummary(**{**usual, **fields})


@cases(
    ("share", "text"),
    [(1.0, "100.0%"), (0.99999, "99.9%"), (0.9996, "99.9%"), (0.939, "93.9%"), (0.0, "0.0%"),
     (0.0001, "<0.1%"), (0.28, "28.0%"), (None, "–")],
)  # fmt: skip
def test_a_share_never_reads_better_than_it_is(share: float | None, text: str) -> None:
    assert formatting.percent(share) == text


@cases(
    ("fields", "value", "note"),
    [
        ({}, "4 / 4", "every device"),
        ({"states": {"reporting": 1, "degraded": 1, "silent": 1, "no-data": 1}}, "1 / 4",
         "1 degraded · 1 silent · 1 no data"),
        ({"evaluated": 3}, "4 / 4", "status of 3 of 4 devices so far"),
        ({"evaluated": 0, "states": {}}, "–", ""),
    ],
)  # fmt: skip
def test_reporting(fields: dict[str, Any], value: str, note: str) -> None:
    made = wall.reporting(summary(**fields))
    assert (made.value, made.note) == (value, note)


def test_each_number_of_a_note_links_to_a_filter() -> None:
    states = wall.reporting(summary(states={"reporting": 3, "no-data": 1}))
    assert states.parts == (("1 no data", "status", "nodata"),)
    result = Attention(2, {"burst": 1, "continuous-flow": 1}, {"USD": 105.53}, {"frost": 1})
    made = wall.needs_attention(summary(attention=result))
    assert set(made.parts) == {
        ("1 leak", "finding", "continuous-flow"), ("1 burst", "finding", "burst"),
    }  # fmt: skip


@cases(
    ("fields", "value", "note", "aside"),
    [
        ({}, "0", "all is well", ""),
        ({"attention": Attention(notices={"frost": 2})}, "0", "2 frost", ""),
        ({"states": {"reporting": 3, "silent": 1}}, "0", "no finding is open", ""),
        ({"unchecked": 2}, "–", "not all checked yet", ""),
        ({"evaluated": 3}, "–", "not all checked yet", ""),
        ({"evaluated": 0}, "–", "", ""),
        ({"attention": Attention(1, {"continuous-flow": 1}, {"USD": 15.67})}, "1", "1 leak",
         "at least $15.67 a day"),
        ({"attention": Attention(2, {"continuous-flow": 1, "night-flow-step": 1},
                                 {"EUR": 1.0, "USD": 2.0})},
         "2", "1 leak · 1 night flow step", "about €1.00 + $2.00 a day"),
        ({"attention": Attention(1, {"silent": 1})}, "1", "1 silent", ""),
        ({"attention": Attention(3, {"continuous-flow": 2, "burst": 1, "stuck": 2}, {"USD": 9.5})},
         "3", "5 findings on 3 devices · 2 leaks · 1 burst · 2 stuck", "at least $9.50 a day"),
    ],
)  # fmt: skip
def test_all_is_well_only_if_all_was_checked_and_nothing_is_open(
    fields: dict[str, Any], value: str, note: str, aside: str
) -> None:
    made = wall.needs_attention(summary(**fields))
    assert (made.value, made.note, made.aside) == (value, note, aside)


def test_uptime_weighs_buckets_by_their_length() -> None:
    made = wall.uptime(summary(), DEFAULT_SPAN)
    assert (made.label, made.value, made.note) == ("Uptime, 24 h", "75.0%", "2,160 of 2,880 min")
    assert wall.uptime(summary(), SPAN_BY_NAME["30d"]).note == "no readings expected yet"
    month = {"30d": Observed(2_160_000 * 60, 2_160_000 * 60)}
    many = wall.uptime(summary(uptime=month), SPAN_BY_NAME["30d"])
    assert (many.value, many.note) == ("100.0%", "36,000 of 36,000 h")


def test_flowing_quiet_and_no_data_are_three_things() -> None:
    made = wall.flow_now(summary(), US)
    assert (made.value, made.note) == ("2.5 gpm", "1 flowing · 1 quiet · 2 no data")
    assert wall.flow_now(summary(), METRIC).value == "9.46 L/min"
    none = wall.flow_now(summary(flow=None), US)
    assert (none.value, none.note) == ("–", "no recent reading")


def test_a_partial_sum_is_not_the_main_value() -> None:
    whole, part = summary(), summary(evaluated=3)
    assert wall.volume_today(whole, US).value == "1,234 gal"
    assert wall.volume_today(summary(sub_meters=1), US).note == "without 1 sub-meter"
    assert wall.volume_today(part, US).value == "–"
    assert wall.volume_today(part, US).note == "1,234 gal in 3 of 4 devices so far"
    assert wall.cost_today(whole).value == "$14.80"
    assert wall.cost_today(part).note == "$14.80 in 3 of 4 devices so far"
    assert wall.volume_today(summary(volume_today=None), US).note == "no reading today"


@cases(
    ("usual", "note"),
    [
        (UsualToday(4, 104.0, 100.0), "4% above a typical day so far"),
        (UsualToday(4, 96.0, 100.0), "4% below a typical day so far"),
        (UsualToday(4, 100.2, 100.0), "same as a typical day so far"),
        (UsualToday(4, 5.0, 0.2), "4 devices"),  # no typical day
        (UsualToday(3, 104.0, 100.0), "4 devices"),  # too few devices have one
        (UsualToday(), "4 devices"),
    ],
)
def test_volume_against_a_typical_day(usual: UsualToday, note: str) -> None:
    assert wall.volume_today(summary(usual=usual), US).note == note


def test_currencies_are_not_added_up() -> None:
    made = wall.cost_today(summary(costs_today={"EUR": 1.0, "USD": 2.0}))
    assert (made.value, made.note) == ("–", "€1.00 + $2.00")
    assert wall.cost_today(summary(costs_today={})).note == "no price set"


@cases(
    ("fields", "words", "late"),
    [
        ({}, "Checked 18:07", False),
        ({"as_of_ms": NOW - 2 * MINUTE}, "Checked 18:05", False),
        ({"as_of_ms": NOW - HOUR}, "Catching up: the status of some devices is of 17:07", True),
        ({"unchecked": 240, "checked_ms": NOW - HOUR},
         "Findings are catching up: 240 devices, checked to 17:07", True),
        ({"as_of_ms": None}, "", False),
    ],
)  # fmt: skip
def test_up_to_when_all_was_checked(fields: dict[str, Any], words: str, late: bool) -> None:
    clock = Clock(zone_or_utc("UTC"), NOW, NOW)
    assert checked(summary(**fields), clock, NOW) == {"words": words, "late": late}


@cases(
    ("measure", "budgeted", "amount", "units", "words"),
    [
        ("volume", 3_000_000.0, 264_606.0, US, "265 kgal"),
        ("volume", 3_000_000.0, 3_000_000.0, US, "3,000 kgal"),
        ("volume", 75_000.0, 1_200_000.0, US, "1,200,000 gal"),
        ("volume", 75_000.0, 100.0, METRIC, "0.379 m³"),
        ("volume", 75_000.0, None, US, "–"),
        ("cost", 12_000.0, 7_454.45, US, "$7,454.45"),
    ],
)
def test_amounts_of_a_budget_are_in_one_unit(
    measure: str, budgeted: float, amount: float | None, units: Units, words: str
) -> None:
    budget = BudgetStatus(
        "b", "FM-1", None, "Main", 1, measure, budgeted, "USD", None, None, None, "unknown"
    )

    assert wall.amount_words(budget, amount, units) == words


@pytest.mark.parametrize(
    ("so_far", "expected", "low80", "shown"),
    [
        (6.0, 6.0, None, (formatting.NOTHING, "too early to say")),
        (6.0, 40.0, None, ("40 gal", "expected")),
        (40.0, 40.0, 40.0, ("40 gal", "40 gal – 50 gal")),  # the month's last day
    ],
)
def test_the_month_end_waits_for_a_forecast(
    so_far: float, expected: float, low80: float | None, shown: tuple[str, str]
) -> None:
    end = MonthEndSum(so_far, expected, low80, low80 and 50.0, {}, 0)
    [total] = wall.month_end(summary(month_end=end), US)
    assert (total.value, total.note) == shown
