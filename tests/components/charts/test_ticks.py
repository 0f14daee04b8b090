"""Labels of a time axis in the chosen zone, also on the days that clocks change."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from api.timez import DAY_MS, HOUR_MS, MINUTE_MS, zone
from components.charts.labels import STEPS, ticks
from tests.world import ms


def visible(
    zone_name: str, start: str, length_ms: int, width_px: int = 1_200
) -> list[tuple[str, str]]:
    """The labels within the axis: (UTC text, label)."""
    first = ms(start)
    made = ticks(first, first + length_ms - 1, zone(zone_name), width_px)
    return [
        (datetime.fromtimestamp(value / 1000, UTC).strftime("%dT%H:%M"), text)
        for value, text in zip(made.values_ms, made.texts, strict=True)
        if first <= value < first + length_ms
    ]


def test_spring_in_new_york_has_no_two_o_clock() -> None:
    marks = visible("America/New_York", "2026-03-08T05:00Z", 6 * HOUR_MS, 700)
    assert marks == [
        ("08T05:00", "00:00<br>Sun 8 Mar 2026"),
        ("08T06:00", "01:00"),
        ("08T07:00", "03:00<br>EDT"),
        ("08T08:00", "04:00"),
        ("08T09:00", "05:00"),
        ("08T10:00", "06:00"),
    ]


def test_autumn_in_new_york_has_one_o_clock_twice() -> None:
    marks = visible("America/New_York", "2026-11-01T04:00Z", 5 * HOUR_MS, 600)
    assert marks == [
        ("01T04:00", "00:00<br>Sun 1 Nov 2026"),
        ("01T05:00", "01:00"),
        ("01T06:00", "01:00<br>EST"),
        ("01T07:00", "02:00"),
        ("01T08:00", "03:00"),
    ]


def test_three_hour_labels_stay_in_local_time_across_a_change() -> None:
    marks = visible("America/New_York", "2026-03-08T05:00Z", 23 * HOUR_MS, 900)
    assert [text.split("<br>")[0] for _, text in marks] == [
        "00:00", "03:00", "06:00", "09:00", "12:00", "15:00", "18:00", "21:00",
    ]  # fmt: skip
    assert [at for at, _ in marks][:3] == ["08T05:00", "08T07:00", "08T10:00"]


def test_days_are_23_24_or_25_hours_apart() -> None:
    marks = visible("America/New_York", "2026-03-06T05:00Z", 5 * DAY_MS - HOUR_MS, 500)
    assert marks == [
        ("06T05:00", "Fri 6<br>Mar 2026"),
        ("07T05:00", "Sat 7"),
        ("08T05:00", "Sun 8"),
        ("09T04:00", "Mon 9"),
        ("10T04:00", "Tue 10"),
    ]


def test_half_an_hour_back_on_lord_howe() -> None:
    marks = visible("Australia/Lord_Howe", "2026-04-04T13:00Z", 4 * HOUR_MS, 500)
    assert [(at, text.split("<br>")[0]) for at, text in marks] == [
        ("04T13:00", "00:00"),
        ("04T14:00", "01:00"),
        ("04T15:30", "02:00"),
        ("04T16:30", "03:00"),
    ]


def test_quarters_of_an_hour_in_kathmandu() -> None:
    marks = visible("Asia/Kathmandu", "2026-01-01T00:00Z", 3 * HOUR_MS, 300)
    assert [text.split("<br>")[0] for _, text in marks] == ["06:00", "07:00", "08:00"]
    assert marks[0][0] == "01T00:15"


def test_a_day_that_starts_at_one_in_santiago() -> None:
    marks = visible("America/Santiago", "2026-09-05T04:00Z", 3 * DAY_MS - HOUR_MS, 240)
    assert [text.split("<br>")[0] for _, text in marks] == ["Sat 5", "Sun 6", "Mon 7"]
    assert [at for at, _ in marks] == ["05T04:00", "06T04:00", "07T03:00"]


def test_apia_never_had_a_thirtieth_of_december() -> None:
    marks = visible("Pacific/Apia", "2011-12-28T10:00Z", 5 * DAY_MS, 400)
    assert [text.split("<br>")[0] for _, text in marks] == [
        "Wed 28", "Thu 29", "Sat 31", "Sun 1", "Mon 2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("length_ms", "width_px", "first"),
    [
        (30_000, 1_200, "12:00:00<br>Wed 1 Jul 2026"),
        (HOUR_MS, 1_200, "12:00<br>Wed 1 Jul 2026"),
        (DAY_MS, 1_200, "12:00<br>Wed 1 Jul 2026"),
        (7 * DAY_MS, 1_200, "Thu 2<br>Jul 2026"),
        (7 * DAY_MS, 300, "Fri 3<br>Jul 2026"),
        (30 * DAY_MS, 300, "6 Jul<br>2026"),
        (365 * DAY_MS, 1_200, "Aug<br>2026"),
        (365 * DAY_MS, 300, "Oct<br>2026"),
        (12 * 365 * DAY_MS, 1_200, "2027"),
        (60 * 365 * DAY_MS, 600, "2030"),
    ],
)
def test_labels_suit_the_length_and_the_width(length_ms: int, width_px: int, first: str) -> None:
    assert visible("UTC", "2026-07-01T12:00Z", length_ms, width_px)[0][1] == first


def test_the_date_is_given_where_it_changes() -> None:
    texts = [text for _, text in visible("UTC", "2026-12-30T00:00Z", 4 * DAY_MS, 400)]
    assert texts == ["Wed 30<br>Dec 2026", "Thu 31", "Fri 1<br>Jan 2027", "Sat 2"]


ZONES = st.sampled_from(
    ["UTC", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "America/Santiago",
     "Europe/Rome", "Pacific/Apia", "Africa/Casablanca", "Asia/Tokyo"]
)  # fmt: skip
INSTANTS = st.integers(ms("2005-01-01T00:00Z"), ms("2035-01-01T00:00Z"))


# The first call computes and caches a zone's offsets, which takes longer.
@settings(deadline=None)
@given(ZONES, INSTANTS, st.integers(10_000, 30 * 365 * DAY_MS), st.integers(250, 2_500))
def test_marks_ascend_reach_beyond_both_ends_and_leave_room(
    zone_name: str, start: int, length_ms: int, width_px: int
) -> None:
    made = ticks(start, start + length_ms, zone(zone_name), width_px)
    assert made.values_ms == sorted(set(made.values_ms))
    assert all(start - length_ms <= v <= start + 2 * length_ms for v in made.values_ms)
    inside = [v for v in made.values_ms if start <= v <= start + length_ms]
    assert len(inside) <= width_px / made.step.room_px + 2
    if made.step is not STEPS[-1]:
        assert len(made.values_ms) >= 3 * width_px / made.step.room_px / 8


@settings(deadline=None)
@given(ZONES, INSTANTS, st.integers(10_000, 12 * DAY_MS), st.integers(250, 2_500))
def test_every_label_is_the_local_time_of_its_instant(
    zone_name: str, start: int, length_ms: int, width_px: int
) -> None:
    made = ticks(start, start + length_ms, zone(zone_name), width_px)
    for value, text in zip(made.values_ms, made.texts, strict=True):
        wall = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=value)
        shown = wall.astimezone(zone(zone_name))
        if made.step.wall_ms:
            form = "%H:%M:%S" if made.step.wall_ms < MINUTE_MS else "%H:%M"
            assert text.split("<br>")[0] == shown.strftime(form)
            assert (shown.hour * 3600 + shown.minute * 60 + shown.second) * 1000 % min(
                made.step.wall_ms, DAY_MS
            ) == 0
        else:
            assert f"{shown.day}" in text.split("<br>")[0].split(" ")
