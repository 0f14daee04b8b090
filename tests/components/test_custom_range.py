"""A custom range in local time, also on the days that clocks change."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from api.timez import stamp, zone
from components import ranges
from tests.tables import cases
from tests.world import ms

NEW_YORK = zone("America/New_York")


def tell(zone_name: str = "America/New_York", **fields: Any) -> ranges.CustomRange:
    return ranges.custom_range(fields, zone(zone_name))


@cases(
    ("zone_name", "first", "last", "range_"),
    [
        ("America/New_York", "2026-03-08T00:00", "2026-03-09T00:00",
         "2026-03-08T05:00:00.000Z..2026-03-09T03:59:59.999Z"),  # 23 hours
        ("America/New_York", "2026-11-01T00:00", "2026-11-02T00:00",
         "2026-11-01T04:00:00.000Z..2026-11-02T04:59:59.999Z"),  # 25 hours
        ("Asia/Kolkata", "2026-11-20T00:00", "2026-11-20T06:30:15",
         "2026-11-19T18:30:00.000Z..2026-11-20T01:00:14.999Z"),
        ("Asia/Kathmandu", "2026-11-20 00:00", "2026-11-21 00:00",
         "2026-11-19T18:15:00.000Z..2026-11-20T18:14:59.999Z"),
        ("UTC", "2026-11-20T00:00", "2026-11-21T00:00",
         "2026-11-20T00:00:00.000Z..2026-11-20T23:59:59.999Z"),
    ],
)  # fmt: skip
def test_local_times_become_instants(zone_name: str, first: str, last: str, range_: str) -> None:
    assert tell(zone_name, first=first, last=last) == ranges.CustomRange(range_)


def test_a_time_that_does_not_exist_is_explained() -> None:
    result = tell(first="2026-03-08T02:30", last="2026-03-09T00:00")
    assert result.range == ""
    assert result.problems == [
        "From: 02:30 on Sun 8 Mar 2026 doesn’t exist in America/New_York."
        " Clocks go from 02:00 to 03:00."
    ]


def test_an_ambiguous_time_needs_a_choice() -> None:
    times = {"first": "2026-11-01T01:30", "last": "2026-11-02T00:00"}
    result = tell(**times)
    assert result.range == ""
    assert result.twice == {"first": ["EDT", "EST"]}
    assert result.problems == [
        "From: 01:30 on Sun 1 Nov 2026 occurs twice that night: choose EDT or EST."
    ]
    starts = [tell(**times, first_fold=fold).range.partition("..")[0] for fold in ("0", "1")]
    assert starts == ["2026-11-01T05:30:00.000Z", "2026-11-01T06:30:00.000Z"]


def test_both_ends_may_be_ambiguous() -> None:
    times = {"first": "2026-11-01T01:30", "last": "2026-11-01T01:30"}
    result = tell(**times, first_fold="0", last_fold="1")
    assert result.range == "2026-11-01T05:30:00.000Z..2026-11-01T06:29:59.999Z"
    assert tell(**times, first_fold="1", last_fold="0").problems == [
        "The range must end after it starts."
    ]


@cases("bad", [None, "", "yesterday", 7, [], "2026-02-30T00:00", "2026-11-20"])
def test_an_invalid_time_is_refused(bad: Any) -> None:
    result = tell(first=bad, last="2026-11-20T00:00")
    assert result.problems == ["From: give a date and a time."]


@given(
    st.datetimes(datetime(2000, 1, 1), datetime(2035, 1, 1)),  # noqa: DTZ001
    st.sampled_from(["America/New_York", "Europe/Rome", "Australia/Lord_Howe", "Asia/Kathmandu"]),
)
def test_every_instant_has_that_local_time(wall: datetime, zone_name: str) -> None:
    wall = wall.replace(microsecond=0)
    tz, text = zone(zone_name), wall.isoformat()
    read = ranges.read_wall(text)
    assert read is not None
    result = ranges.instants(tz, read)
    assert all(stamp(at, tz).startswith(text) for at in result)
    # Python's own rule: a local time exists if converting it to UTC and back gives the same.
    both = {round(wall.replace(tzinfo=tz, fold=f).timestamp() * 1000) for f in (0, 1)}
    real = {at for at in both if datetime.fromtimestamp(at / 1000, tz).replace(tzinfo=None) == wall}
    assert set(result) == real
    if not result:
        before, after = ranges.skipped(tz, read)
        assert before <= read < after


def test_a_skipped_time_names_the_change_of_clocks() -> None:
    wall = ms("2026-03-08T02:30Z")  # parsed as if it were UTC
    assert ranges.skipped(NEW_YORK, wall) == (
        ms("2026-03-08T02:00Z"),
        ms("2026-03-08T03:00Z"),
    )
