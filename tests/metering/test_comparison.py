"""Pairs of instants by local time, against a recount with datetime alone."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from api.metering.comparison import SHIFTS, Shift, other_day, pairings
from api.timez import HOUR_MS, MINUTE_MS, from_datetime, zone
from tests.tables import cases

NEW_YORK, LORD_HOWE, KATHMANDU, APIA = (
    zone(name)
    for name in ("America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia")
)
STEP_MS = 10 * MINUTE_MS


def instants(tz: ZoneInfo, wall: datetime) -> list[int]:
    """The instants at which the zone's clock shows that time, in order."""
    results = {from_datetime(wall.replace(tzinfo=tz, fold=fold).astimezone(UTC)) for fold in (0, 1)}
    return sorted(at for at in results if shown(tz, at) == wall)


def shown(tz: ZoneInfo, at_ms: int) -> datetime:
    moment = datetime.fromtimestamp(at_ms / 1000, UTC).astimezone(tz)
    return moment.replace(tzinfo=None, fold=0)


def before(day: date, shift: Shift) -> date | None:
    if shift in ("day", "week"):
        return day - timedelta(days=1 if shift == "day" else 7)
    if shift == "year":
        try:
            return day.replace(year=day.year - 1)
        except ValueError:
            return None
    rank, end = (day.day - 1) // 7, day.replace(day=1) - timedelta(days=1)
    same = [
        result
        for number in range(1, end.day + 1)
        if (result := end.replace(day=number)).weekday() == day.weekday()
    ]
    return same[rank] if rank < len(same) else None


def recounted(tz: ZoneInfo, shift: Shift, at_ms: int) -> int | None:
    wall = shown(tz, at_ms)
    other = before(wall.date(), shift)
    if other is None:
        return None
    rank = instants(tz, wall).index(at_ms)
    there = instants(tz, datetime.combine(other, wall.time()))
    return there[rank] if rank < len(there) else None


CHANGES = [
    (NEW_YORK, "2026-03-08T00:00:00+00:00"),
    (NEW_YORK, "2026-11-01T00:00:00+00:00"),
    (LORD_HOWE, "2026-04-04T00:00:00+00:00"),
    (LORD_HOWE, "2026-10-03T00:00:00+00:00"),
    (KATHMANDU, "1986-01-01T00:00:00+00:00"),
    (KATHMANDU, "2026-06-01T00:00:00+00:00"),
    (APIA, "2011-12-29T00:00:00+00:00"),
    (APIA, "2021-04-03T00:00:00+00:00"),
]


@pytest.mark.parametrize("shift", SHIFTS)
@given(
    change=st.sampled_from(CHANGES),
    days=st.integers(-9, 40),
    minutes=st.integers(0, 143),
    hours=st.integers(1, 60),
)
@example(change=CHANGES[1], days=0, minutes=0, hours=60)
@example(change=CHANGES[6], days=1, minutes=0, hours=60)
@settings(max_examples=60, deadline=None)
def test_each_instant_pairs_by_local_time(
    shift: Shift, change: tuple[ZoneInfo, str], days: int, minutes: int, hours: int
) -> None:
    tz, text = change
    start = from_datetime(datetime.fromisoformat(text) + timedelta(days=days)) + minutes * STEP_MS
    end = start + hours * HOUR_MS
    result = pairings(tz, shift, start, end)
    paired = {
        at: at - pair.delta_ms
        for at in range(start, end, STEP_MS)
        for pair in result
        if pair.from_ms <= at < pair.to_ms
    }
    for at in range(start, end, STEP_MS):
        assert paired.get(at) == recounted(tz, shift, at), (tz.key, shift, at)


@cases(
    ("day", "shift", "other"),
    [
        ("2026-11-10", "month", "2026-10-13"),  # the second Tuesday
        ("2026-03-31", "month", None),  # a fifth Tuesday; February has four
        ("2028-02-29", "year", None),
        ("2028-03-01", "year", "2027-03-01"),
        ("2026-01-01", "month", "2025-12-04"),
    ],
)
def test_the_day_that_a_day_is_compared_with(day: str, shift: Shift, other: str | None) -> None:
    result = other_day(date.fromisoformat(day).toordinal(), shift)
    assert result == (other and date.fromisoformat(other).toordinal())
