"""Days in every IANA zone: each has exactly the readings of its local date."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from datetime import date, datetime
from zoneinfo import ZoneInfo

import pytest

from api import timez
from api.catalog import AGGREGATE_COLUMNS, DAY, MONTH
from api.domain.calendar import calendar_rows
from api.store.base import Span
from tests import truth
from tests.world import METER, World, ms, opened

TOTAL = 1 + AGGREGATE_COLUMNS.index("total_flow_amount")
YEAR = Span(ms("2026-01-01T00:00Z"), ms("2026-12-31T23:59Z"))


@pytest.fixture(scope="module")
def world(place_url: str) -> Iterator[World]:
    with opened(place_url) as world:
        yield world


def _kind(name: str) -> tuple[tuple[int, int], ...]:
    """The same for zones with the same offsets all year."""
    assert YEAR.from_ms is not None
    assert YEAR.to_ms is not None
    return tuple(timez.offsets(timez.zone(name), YEAR.from_ms, YEAR.to_ms))


def test_each_day_and_month_holds_its_own_readings(world: World) -> None:
    kinds = {_kind(name): name for name in sorted(timez.zone_names())}
    assert len(kinds) > 50
    for name in sorted(kinds.values()):
        assert_exact(world, timez.zone(name))


def assert_exact(world: World, zone: ZoneInfo) -> None:
    device = world.devices[METER]
    amounts: dict[date, list[float]] = defaultdict(list)
    for row in world.readings[METER]:
        if row[4] is not None:
            amounts[truth.instant(row[1]).astimezone(zone).date()].append(row[4])
    days = calendar_rows(world.store, device, DAY, Span(), (), zone)
    shown = [datetime.fromisoformat(timez.stamp(row[0], zone)) for row in days]
    assert [stamp.date() for stamp in shown] == sorted(amounts), zone
    for stamp, row in zip(shown, days, strict=True):
        assert math.isclose(row[TOTAL], math.fsum(amounts[stamp.date()]), abs_tol=1e-9)
        before = truth.instant(row[0] - 1).astimezone(zone).date()
        assert before < stamp.date()
    months = calendar_rows(world.store, device, MONTH, Span(), (), zone)
    by_month: dict[date, list[float]] = defaultdict(list)
    for day, values in amounts.items():
        by_month[day.replace(day=1)] += values
    assert [truth.unit_of("month", zone, row[0]) for row in months] == sorted(by_month), zone
    for row, values in zip(months, (by_month[m] for m in sorted(by_month)), strict=True):
        assert math.isclose(row[TOTAL], math.fsum(values), abs_tol=1e-9)
