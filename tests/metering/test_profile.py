"""The usual profile: weighted medians, days that don't train, and a state of fixed size."""

from __future__ import annotations

from datetime import date
from time import process_time

import numpy as np
import pytest

from api.catalog import DAY_MS, HOUR_MS
from api.metering.profile import (
    DAYS,
    HOLIDAY,
    REWIND_DAYS,
    History,
    day_row,
    day_types,
    untrained,
    usual,
)
from api.timez import day_start, zone
from tests.tables import cases

MONDAY = date(2026, 1, 5).toordinal()
NOTHING = np.full(24, np.nan)


def history(days: int, volume: float | list[float] = 10.0, first: int = MONDAY) -> History:
    """That many days from a Monday on, each with one volume in all its hours."""
    volumes = [volume] * days if isinstance(volume, (int, float)) else volume
    made = History.empty(first)
    for each in volumes:
        made = made.with_day(np.full(24, float(each)), NOTHING)
    return made


@cases(
    ("day", "holidays", "expected"),
    [
        (date(2026, 1, 5), (), 0),
        (date(2026, 1, 10), (), 5),
        (date(2026, 1, 11), (), 6),
        (date(2026, 1, 6), (date(2026, 1, 6).toordinal(),), HOLIDAY),
    ],
)
def test_a_holiday_counts_as_sunday(day: date, holidays: tuple[int, ...], expected: int) -> None:
    assert day_types(day.toordinal(), 1, holidays)[0] == expected


def test_working_days_share_half_their_weight() -> None:
    week = [1.0, 2.0, 2.0, 2.0, 2.0, 8.0, 9.0]
    table = usual(history(56, week * 8), ()).table
    assert table[0, 0] == 2.0  # four others at half weight outweigh the Mondays
    assert table[1, 0] == 2.0
    assert (table[5, 0], table[6, 0]) == (8.0, 9.0)  # weekends use no other days


def test_recent_days_weigh_more() -> None:
    table = usual(history(56, [10.0] * 42 + [20.0] * 14), ()).table
    assert table[6, 0] == 20.0  # two of eight Sundays, but the latest


def test_a_day_type_without_history_is_unknown() -> None:
    table = usual(history(5), ()).table
    assert not np.isnan(table[:5]).any()
    assert np.isnan(table[5:]).all()


@pytest.mark.parametrize(("recent", "level"), [(10.0, 0.0), (15.0, 0.5), (5.0, -0.5)])
def test_the_level_of_the_last_48_hours(recent: float, level: float) -> None:
    profile = usual(history(56, [10.0] * 54 + [recent] * 2), ())
    assert profile.level == pytest.approx(level)
    first = profile.expected(day_types(profile.day, 7, ()))
    assert first[0, 0] == pytest.approx(10 * (1 + 0.7 * level))
    assert first[3, 0] == pytest.approx(10 * (1 + 0.7 * level / 2))  # half-life of three days


def test_sigma_is_never_below_three_percent() -> None:
    made = History.empty(MONDAY)
    for _ in range(56):
        made = made.with_day(np.full(24, 100.0), np.full(24, 100.0))
    assert usual(made, ()).sigma == pytest.approx(np.full(24, 3.0))


def test_sigma_is_from_the_errors_of_42_days() -> None:
    made = History.empty(MONDAY)
    for day in range(56):
        error = 50.0 if day < 14 else 10.0 if day % 2 else -10.0
        made = made.with_day(np.full(24, 100.0), np.full(24, 100.0 - error))
    profile = usual(made, ())
    assert profile.sigma == pytest.approx(np.full(24, 14.826))
    assert profile.day_sigma == pytest.approx(24 * 14.826)


def test_hours_that_do_not_train_have_no_weight() -> None:
    made = history(56, [10.0] * 42 + [30.0] * 14)
    zone_ = zone("Europe/Rome")
    from_ms = day_start(zone_, made.day - 14)
    silenced = untrained(made.day, zone_, [(from_ms, from_ms + 14 * DAY_MS)])
    assert silenced is not None
    assert silenced.sum() == 14 * 24
    assert usual(made, ()).table[6, 0] == 30.0
    assert usual(made, (), silenced).table[6, 0] == 10.0
    assert usual(made, (), silenced).level == 0.0
    assert untrained(made.day, zone_, [(0, 1)]) is None


@pytest.mark.parametrize(
    ("volume", "flowing", "expected"),
    [(101.0, 1.0, True), (99.0, 1.0, False), (500.0, 0.9, False)],
)
def test_district_like(volume: float, flowing: float, expected: bool) -> None:
    made = History.empty(MONDAY)
    for _ in range(50):
        row = np.where(np.arange(24) < 24 * flowing, volume, 0.0)
        made = made.with_day(row, NOTHING)
    assert usual(made, ()).district_like is expected


def test_a_new_device_has_no_profile() -> None:
    profile = usual(History.empty(MONDAY), ())
    assert profile.district_like is None
    assert profile.days == 0
    assert np.isnan(profile.table).all()


@cases("days", range(REWIND_DAYS + 1))
def test_a_history_is_rewound_exactly(days: int) -> None:
    dice = np.random.default_rng(1)
    rows = dice.gamma(2, 50, (90, 24))
    made = [History.empty(MONDAY)]
    for row in rows:
        made.append(made[-1].with_day(row, row * 1.1))
    back = made[-1].rewound_to(made[-1].day - days)
    then = usual(made[-1 - days], ())
    again = usual(back, ())
    for name in ("table", "sigma", "level", "mean", "day_sigma"):
        assert np.array_equal(getattr(then, name), getattr(again, name)), name


def test_a_history_cannot_be_rewound_further() -> None:
    with pytest.raises(ValueError, match="cannot go back"):
        history(20).rewound_to(MONDAY)


def test_a_history_is_stored_in_five_and_a_half_kilobytes() -> None:
    made = History.empty(MONDAY)
    for row in np.random.default_rng(2).gamma(2, 50, (70, 24)):
        row[3] = np.nan
        made = made.with_day(row, row * 1.1)
    data = made.dump()
    assert len(data) < 5500
    back = History.load(data)
    assert back.day == made.day
    assert np.array_equal(back.volumes, made.volumes, equal_nan=True)
    assert np.array_equal(back.errors, made.errors, equal_nan=True)
    with pytest.raises(ValueError, match="not a history"):
        History.load(data[:-1])


@cases("gap", [0, 1, 30, 100])
def test_days_without_readings_are_empty_rows(gap: int) -> None:
    made = history(60)
    skipped = made.skipped_to(made.day + gap)
    assert skipped.day == made.day + gap
    assert int((~np.isnan(skipped.volumes[-DAYS:])).any(axis=1).sum()) == max(0, DAYS - gap)


@cases(
    ("name", "day", "missing", "hours"),
    [
        ("Europe/Rome", date(2026, 3, 29), [2], 23),
        ("Europe/Rome", date(2026, 10, 25), [], 25),
        ("Europe/Rome", date(2026, 6, 1), [], 24),
        ("Asia/Kolkata", date(2026, 6, 1), [], 24),
    ],
)
def test_the_hours_of_a_day_on_which_clocks_change(
    name: str, day: date, missing: list[int], hours: int
) -> None:
    tz = zone(name)
    start, end = (day_start(tz, day.toordinal() + n) for n in (0, 1))
    starts = range(-(-start // HOUR_MS) * HOUR_MS, end, HOUR_MS)
    assert len(starts) == hours
    row = day_row(day.toordinal(), tz, [(at, 7.0) for at in starts])
    assert [hour for hour in range(24) if np.isnan(row[hour])] == missing
    assert np.nanmax(row) == np.nanmin(row) == 7.0  # the repeated hour counts once


def test_a_night_takes_a_fraction_of_a_millisecond() -> None:
    made = History.empty(MONDAY)
    rows = np.random.default_rng(3).gamma(2, 50, (500, 24))
    start = process_time()
    for row in rows:
        made = made.with_day(row, usual(made, ()).expected([3])[0])
    assert (process_time() - start) / len(rows) < 0.003  # measured 0.0002; 0.003 is promised
