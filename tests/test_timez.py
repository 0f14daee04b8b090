"""Instants are parsed, cut into local days and formatted exactly, in every zone."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api import timez
from api.catalog import DAY_MS, HOUR_MS, STORED
from tests.tables import cases

ZONES = sorted(timez.zone_names())
INSTANTS = st.integers(
    timez.parse_instant("1999-12-31"), timez.parse_instant("2100-01-01T00:00:00Z")
)


def at(text: str) -> int:
    return timez.from_datetime(datetime.fromisoformat(text).replace(tzinfo=UTC))


# --- Parsing -------------------------------------------------------------------------------------


@cases(
    ("text", "expected"),
    [
        ("2026-03-08T05:00:00Z", "2026-03-08T05:00:00.000Z"),
        ("2026-03-08T05:00:00z", "2026-03-08T05:00:00.000Z"),
        ("2026-03-08t05:00Z", "2026-03-08T05:00:00.000Z"),
        ("2026-03-08T00:00:00-05:00", "2026-03-08T05:00:00.000Z"),
        ("2026-03-08T10:30:00+05:30", "2026-03-08T05:00:00.000Z"),
        ("2026-03-08T10:30:00 05:30", "2026-03-08T05:00:00.000Z"),  # a plus decoded as a space
        ("2026-03-08T10:00:00+05", "2026-03-08T05:00:00.000Z"),
        ("2026-03-08T10:30:00+0530", "2026-03-08T05:00:00.000Z"),
        ("2026-03-08T05:00:00", "2026-03-08T05:00:00.000Z"),  # no offset is UTC
        ("2026-03-08", "2026-03-08T00:00:00.000Z"),  # a bare date is its midnight
        ("2026-03-08T05:00:00.1239Z", "2026-03-08T05:00:00.123Z"),  # floored, not rounded
        ("2026-03-08T05:00:00.5Z", "2026-03-08T05:00:00.500Z"),
        ("1969-12-31T23:59:59.9999Z", "1969-12-31T23:59:59.999Z"),
    ],
)
def test_an_instant_is_read(text: str, expected: str) -> None:
    assert timez.stamp(timez.parse_instant(text), fraction=True) == expected


@cases(
    "text",
    [
        "",
        "yesterday",
        "1772946000",
        "2026-02-30",
        "2026-13-01",
        "2026-03-08T25:00:00Z",
        "2026-03-08T05:00:61Z",
        "2026-03-08T05:00:00+25:00",
        "2026-03-08T05Z",
        "2026-3-8",
        " 2026-03-08",
        "2026-03-08T05:00:00Z ",
        "２０２６-03-08",
        "2026-03-08T05:00:00Z\n",
        "0001-01-01T00:00:00+05:00",
        "2026-W10-7",
        "20260308T050000Z",
    ],
)
def test_an_invalid_instant_is_refused_with_a_message(text: str) -> None:
    with pytest.raises(ValueError, match="date-time"):
        timez.parse_instant(text)


@given(INSTANTS)
def test_a_stamp_reads_back(instant: int) -> None:
    assert timez.parse_instant(timez.stamp(instant, fraction=True)) == instant


@given(INSTANTS, st.sampled_from(ZONES))
def test_a_zoned_stamp_reads_back_and_equals_zoneinfo(instant: int, name: str) -> None:
    tz = timez.zone(name)
    text = timez.stamp(instant, tz, fraction=True)
    assert timez.parse_instant(text) == instant
    expected = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=instant)
    assert text == expected.astimezone(tz).isoformat(timespec="milliseconds")


@given(st.lists(INSTANTS, max_size=40).map(sorted), st.sampled_from([None, *ZONES]))
def test_stamps_equal_single_ones(instants: list[int], name: str | None) -> None:
    tz = None if name is None else timez.zone(name)
    assert timez.stamps(instants, tz) == [timez.stamp(t, tz) for t in instants]


@cases("name", ["utc", "EST5", "America/new_york", "", "../zones", "UTC\x00", "localtime"])
def test_only_exact_iana_names_are_zones(name: str) -> None:
    with pytest.raises(ValueError, match="IANA"):
        timez.zone(name)


# --- Buckets -------------------------------------------------------------------------------------


@given(INSTANTS, INSTANTS, st.sampled_from([r.fixed_ms for r in STORED]))
def test_bucket_starts_are_counted(a: int, b: int, length: int) -> None:
    low, high = min(a, b), min(max(a, b), min(a, b) + 500 * length)
    starts = [k for k in range(timez.floor_to(low, length), high + 1, length) if k >= low]
    assert timez.bucket_starts(low, high, length) == len(starts)
    assert timez.ceil_to(low, length) == (starts[0] if starts else timez.ceil_to(low, length))


def test_an_aligned_closed_day_has_one_more_minute_than_a_day() -> None:
    day = at("2026-03-08T00:00:00")
    assert timez.bucket_starts(day, day + DAY_MS, 60_000) == 1441
    assert timez.bucket_starts(day, day + DAY_MS - 1, 60_000) == 1440


# --- Local days and months -----------------------------------------------------------------------


@cases(
    ("zone", "day", "start", "hours"),
    [
        ("UTC", "2026-03-08", "2026-03-08T00:00:00Z", 24),
        ("America/New_York", "2026-03-08", "2026-03-08T00:00:00-05:00", 23),
        ("America/New_York", "2026-11-01", "2026-11-01T00:00:00-04:00", 25),
        ("Europe/Rome", "2026-03-29", "2026-03-29T00:00:00+01:00", 23),
        ("Asia/Kolkata", "2026-03-08", "2026-03-08T00:00:00+05:30", 24),
        ("Asia/Kathmandu", "2026-03-08", "2026-03-08T00:00:00+05:45", 24),
        ("Australia/Lord_Howe", "2026-04-05", "2026-04-05T00:00:00+11:00", 24.5),
        ("America/Santiago", "2026-09-06", "2026-09-06T01:00:00-03:00", 23),  # starts at 01:00
        ("Asia/Beirut", "2026-03-29", "2026-03-29T01:00:00+03:00", 23),
        ("America/Havana", "2024-11-03", "2024-11-03T00:00:00-04:00", 25),  # midnight occurs twice
        ("America/Caracas", "2007-12-09", "2007-12-09T00:00:00-04:00", 24.5),
        ("Pacific/Apia", "2011-12-29", "2011-12-29T00:00:00-10:00", 24),
        ("Pacific/Apia", "2011-12-31", "2011-12-31T00:00:00+14:00", 24),
    ],
)
def test_start_and_length_of_a_local_day(zone: str, day: str, start: str, hours: float) -> None:
    tz, ordinal = timez.zone(zone), date.fromisoformat(day).toordinal()
    begin, end = timez.day_start(tz, ordinal), timez.day_start(tz, ordinal + 1)
    assert timez.stamp(begin, tz) == (start if zone != "UTC" else start.replace("Z", "+00:00"))
    assert (end - begin) / HOUR_MS == hours


def test_a_day_that_a_zone_skipped_is_empty() -> None:
    tz = timez.zone("Pacific/Apia")
    missing = date(2011, 12, 30).toordinal()
    assert timez.day_start(tz, missing) == timez.day_start(tz, missing + 1)
    edges = timez.day_edges(tz, at("2011-12-30T00:00:00"), at("2011-12-31T23:00:00"))
    assert len(edges) == len(set(edges))


@cases("name", ZONES)
def test_every_day_of_four_years_starts_at_its_first_instant(name: str) -> None:
    """Against zoneinfo at each start and just before it, around every change of offset."""
    tz = timez.zone(name)
    for ordinal in _days_near_changes(name):
        start = timez.day_start(tz, ordinal)
        shown = timez.to_datetime(start).astimezone(tz).date().toordinal()
        before = timez.to_datetime(start - 1).astimezone(tz).date().toordinal()
        assert before < ordinal <= shown


def _days_near_changes(name: str) -> set[int]:
    """The days of each week in which the offset changes, and one more at either end."""
    tz = timez.zone(name)
    first, last = date(2023, 12, 30).toordinal(), date(2028, 1, 2).toordinal()
    days = {first, last}
    for week in range(first, last, 7):
        if _offset(tz, week) != _offset(tz, week + 7):
            days.update(range(week - 1, week + 9))
    return days


def _offset(tz: ZoneInfo, ordinal: int) -> timedelta | None:
    noon = datetime.combine(date.fromordinal(ordinal), datetime.min.time(), tzinfo=UTC)
    return noon.astimezone(tz).utcoffset()


@given(INSTANTS, st.integers(0, 400 * DAY_MS), st.sampled_from(ZONES))
def test_edges_enclose_the_range_and_ascend(start: int, length: int, name: str) -> None:
    tz = timez.zone(name)
    for edges in (
        timez.day_edges(tz, start, start + length),
        timez.month_edges(tz, start, start + length),
    ):
        assert edges == sorted(set(edges))
        assert edges[0] <= start
        assert edges[-1] > start + length


@cases(
    ("zone", "source"),
    [
        ("UTC", "1hour"),
        ("America/New_York", "1hour"),
        ("Asia/Kolkata", "10min"),
        ("Asia/Kathmandu", "5min"),
        ("Pacific/Chatham", "5min"),
        ("Australia/Lord_Howe", "10min"),
        ("America/St_Johns", "10min"),
    ],
)
def test_days_use_the_coarsest_level_that_fits_them(zone: str, source: str) -> None:
    edges = timez.day_edges(timez.zone(zone), at("2026-05-01T00:00:00"), at("2026-08-01T00:00:00"))
    assert {timez.source_of(*day).name for day in pairwise(edges)} == {source}


def test_a_day_off_the_hour_at_either_end_uses_finer_rows() -> None:
    """Lord Howe's summer is on the hour and its winter isn't: it is decided day by day."""
    tz = timez.zone("Australia/Lord_Howe")
    days = pairwise(timez.day_edges(tz, at("2026-04-02T20:00:00"), at("2026-04-06T20:00:00")))
    assert [(timez.stamp(d[0], tz)[:10], timez.source_of(*d).name) for d in days] == [
        ("2026-04-03", "1hour"),
        ("2026-04-04", "1hour"),
        ("2026-04-05", "10min"),
        ("2026-04-06", "10min"),
        ("2026-04-07", "10min"),
    ]


@cases(
    ("text", "message"),
    [
        ("1772946000000", "not epoch milliseconds: 1772946000000 is 2026-03-08T05:00:00.000Z"),
        ("1772946000", "not epoch seconds: 1772946000 is 2026-03-08T05:00:00Z"),
        ("20260308", "such as 2026-03-08T05:00:00Z$"),
        ("٣٣٣٣٣٣٣٣٣٣", "such as 2026-03-08T05:00:00Z$"),
    ],
)
def test_epoch_numbers_are_refused_with_the_date_time_they_mean(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        timez.parse_instant(text)
