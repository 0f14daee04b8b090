"""The cost of water by a tariff: tiers, seasons, local hours, fixed charges."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from decimal import Decimal
from itertools import pairwise
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.metering.tariff import Tariff, TariffProblems, parse_tariff, tariff_object
from api.timez import HOUR_MS, MINUTE_MS, day_start, zone

NEW_YORK = zone("America/New_York")


def made(*rates: dict[str, Any], since: str = "2020-01-01", fixed: str = "0") -> Tariff:
    version = {"from": since, "fixed": fixed, "rates": list(rates)}
    return parse_tariff({"name": "T", "currency": "USD", "versions": [version]})


FLAT = {"perGallon": "0.01"}
TIERED = (FLAT, {"perGallon": "0.02", "above": "100"}, {"perGallon": "0.05", "above": "200"})
EVENING = {"perGallon": "0.03", "hours": [17, 21]}


def hourly(day: date, gallons: float, tz: ZoneInfo = NEW_YORK) -> Iterator[tuple[int, float]]:
    """The hours of one local day, 23 to 25 of them."""
    start, end = (day_start(tz, day.toordinal() + more) for more in (0, 1))
    return ((at, gallons) for at in range(start, end, HOUR_MS))


@pytest.mark.parametrize(
    ("tariff", "day", "gallons", "cost"),
    [
        (made(FLAT), date(2026, 5, 1), 10, "2.4"),
        (made(*TIERED), date(2026, 5, 1), 10, "5"),  # 100 at 0.01, 100 at 0.02, 40 at 0.05
        (made(FLAT, EVENING), date(2026, 5, 1), 10, "3.2"),  # 4 of 24 hours at 0.03
        (made(FLAT, EVENING), date(2026, 3, 8), 10, "3.1"),  # the short day has all four too
        (made(FLAT, EVENING), date(2026, 11, 1), 10, "3.3"),
        (made(FLAT, {"perGallon": "0.03", "hours": [1, 2]}), date(2026, 11, 1), 10, "2.9"),  # twice
        (made(FLAT, {"perGallon": "0.03", "hours": [2, 3]}), date(2026, 3, 8), 10, "2.3"),  # never
        (made(FLAT, {"perGallon": "0.03", "hours": [22, 6]}), date(2026, 5, 1), 10, "4"),
        (made(FLAT, {"perGallon": "0.03", "days": ["fri"]}), date(2026, 5, 1), 10, "7.2"),
        (made(FLAT, {"perGallon": "0.03", "days": ["sat"]}), date(2026, 5, 1), 10, "2.4"),
        (made(FLAT, {"perGallon": "1", "season": ["11-15", "05-01"]}), date(2026, 5, 1), 1, "24"),
        (made(FLAT, {"perGallon": "1", "season": ["11-15", "04-30"]}), date(2026, 5, 1), 1, "0.24"),
        (made(*TIERED), date(2026, 5, 1), -1, "-0.24"),  # backward flow is credited
    ],
)
def test_a_days_cost(tariff: Tariff, day: date, gallons: float, cost: str) -> None:
    assert tariff.charges(hourly(day, gallons), NEW_YORK)[0] == Decimal(cost)


@pytest.mark.parametrize("name", ["Asia/Kathmandu", "Australia/Lord_Howe"])
def test_a_zone_off_the_hour_needs_finer_volumes(name: str) -> None:
    tz, day = zone(name), date(2026, 5, 1)
    start, end = (day_start(tz, day.toordinal() + more) for more in (0, 1))
    rows = [(at, 1.0) for at in range(start, end, 5 * MINUTE_MS)]
    assert made(FLAT, EVENING).charges(rows, tz)[0] == Decimal("0.01") * 240 + Decimal("0.03") * 48


rates = st.decimals(min_value=0, max_value=1, places=4, allow_nan=False).map(str)


@settings(max_examples=25, deadline=None)
@given(
    tiers=st.lists(rates, min_size=1, max_size=4),
    evening=rates,
    seed=st.integers(0, 2**32),
    cuts=st.lists(st.integers(0, 24 * 31), max_size=6),
    order=st.randoms(use_true_random=False),
)
def test_dividing_a_month_changes_no_cost(
    tiers: list[str], evening: str, seed: int, cuts: list[int], order: Any
) -> None:
    """By days, by any divisions, and with rows of the tariff in any order."""
    rows = [
        *({"perGallon": rate, "above": str(300 * n)} for n, rate in enumerate(tiers)),
        {"perGallon": evening, "hours": [17, 21], "days": ["mon", "tue"]},
    ]
    tariff = made(*rows)
    order.shuffle(rows)
    start = day_start(NEW_YORK, date(2026, 3, 1).toordinal())  # includes a change of clocks
    drawn = Random(seed)
    hours = [(start + at * HOUR_MS, drawn.uniform(-5, 60)) for at in range(24 * 31 - 1)]
    whole = tariff.charges(hours, NEW_YORK)[0]
    assert sum(tariff.charges(hours, NEW_YORK, key=lambda at: at // 86_400_000).values()) == whole
    assert made(*rows).charges(hours, NEW_YORK)[0] == whole
    edges = sorted({0, *cuts, len(hours)})
    untils = [tariff.charges(hours[:edge], NEW_YORK).get(0, Decimal(0)) for edge in edges]
    parts = [after - before for before, after in pairwise(untils)]
    assert sum(parts) == whole


def test_fixed_charges_add_up_over_months() -> None:
    tariff = made(FLAT, fixed="9.99")
    for month, days in ((2, 28), (3, 31)):
        parts = [tariff.fixed(date(2026, month, day + 1).toordinal()) for day in range(days)]
        assert sum(parts) == Decimal("9.99")


def test_versions_apply_from_their_day() -> None:
    tariff = parse_tariff(
        {
            "name": "T",
            "versions": [
                {"from": "2026-05-02", "rates": [{"perGallon": "1"}]},
                {"from": "2026-05-01", "rates": [FLAT]},
            ],
        }
    )
    days = [date(2026, 4, 30), date(2026, 5, 1), date(2026, 5, 2)]
    costs = [tariff.charges(hourly(day, 1), NEW_YORK).get(0) for day in days]
    assert costs == [None, Decimal("0.24"), Decimal(24)]
    assert tariff.marginal(days[0].toordinal(), 0) is None


def test_the_marginal_rate_is_that_of_the_present_tier() -> None:
    ordinal = date(2026, 5, 1).toordinal()
    assert made(*TIERED).marginal(ordinal, 0) == Decimal("0.01")
    assert made(*TIERED).marginal(ordinal, 150) == Decimal("0.02")
    assert made(*TIERED).marginal(ordinal, 10**9) == Decimal("0.05")
    evening = made(FLAT, {"perGallon": "0.07", "hours": [0, 12]})
    assert evening.marginal(ordinal, 0) == Decimal("0.04")


def test_a_tariff_is_stored_and_read_unchanged() -> None:
    tariff = made(*TIERED, EVENING | {"season": ["06-01", "09-30"], "days": ["mon"]}, fixed="5.5")
    assert parse_tariff(tariff_object(tariff)) == tariff


@pytest.mark.parametrize(
    ("rates", "words"),
    [
        ([], "at least one"),
        ([{"perGallon": "-1"}], "perGallon"),
        ([{"perGallon": "nan"}], "perGallon"),
        ([{"perGallon": True}], "perGallon"),
        ([{"perGallon": "0.000000000000001"}], "perGallon"),
        ([FLAT, FLAT], "two rates"),
        ([FLAT | {"above": "5"}], "above 0"),
        ([EVENING], "all other times"),
        ([FLAT | {"hours": [5, 5]}], "hours"),
        ([FLAT | {"hours": [False, True]}], "hours"),
        ([FLAT | {"season": ["06-01", "13-01"]}], "season"),
        ([FLAT | {"days": ["Monday"]}], "days"),
        ([FLAT | {"price": 1}], "no field price"),
    ],
)
def test_invalid_rates_are_named(rates: list[dict[str, Any]], words: str) -> None:
    with pytest.raises(TariffProblems, match=words) as error:
        made(*rates)
    assert set(error.value.by_field) == {"versions"}
