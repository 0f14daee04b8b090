"""A local day's volume so far, and the usual volume by that time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from api.metering.usage import change, day_of, hourly_sums, such_days, usual_by, usual_curve
from api.timez import HOUR_MS, zone
from tests.tables import cases
from tests.world import ms


@cases(
    ("name", "now", "start", "wall_h", "weekday"),
    [
        ("America/Denver", "2026-11-20T18:30Z", "2026-11-20T07:00Z", 11.5, 4),
        ("Asia/Kolkata", "2026-11-20T18:30Z", "2026-11-20T18:30Z", 0.0, 5),
        ("America/New_York", "2026-03-08T12:00Z", "2026-03-08T05:00Z", 8.0, 6),  # an hour skipped
        ("America/New_York", "2026-11-01T12:00Z", "2026-11-01T04:00Z", 7.0, 6),  # one twice
        ("America/Santiago", "2026-09-06T12:00Z", "2026-09-06T04:00Z", 9.0, 6),  # starts at 01:00
    ],
)
def test_the_current_day(name: str, now: str, start: str, wall_h: float, weekday: int) -> None:
    day = day_of(zone(name), ms(now))
    assert (day.start_ms, day.wall_ms / HOUR_MS, day.weekday) == (ms(start), wall_h, weekday)


def test_earlier_days_are_the_same_local_weekday_across_clock_changes() -> None:
    days = such_days(day_of(zone("America/New_York"), ms("2026-11-15T12:00Z")))
    assert [w.from_ms for w, _ in days] == [
        ms(t)
        for t in (
            "2026-11-08T05:00Z",
            "2026-11-01T04:00Z",
            "2026-10-25T04:00Z",
            "2026-10-18T04:00Z",
        )
    ]
    assert [round(w.length_ms / HOUR_MS) for w, _ in days] == [24, 25, 24, 24]
    assert {r.name for _, r in days} == {"1hour"}
    kolkata = such_days(day_of(zone("Asia/Kolkata"), ms("2026-11-15T12:00Z")))
    assert {r.name for _, r in kolkata} == {"10min"}


def rows(start: int, hours: list[float]) -> list[tuple[int, float | None]]:
    return [(start + h * HOUR_MS, gallons) for h, gallons in enumerate(hours)]


def test_a_day_with_readings_in_too_few_hours_is_ignored() -> None:
    window, _ = such_days(day_of(zone("UTC"), ms("2026-11-20T12:00Z")))[0]
    assert hourly_sums(rows(window.from_ms, [1.0] * 21), window, zone("UTC")) is None
    sums = hourly_sums(rows(window.from_ms, [1.0] * 22), window, zone("UTC"))
    assert sums == [*map(float, range(23)), 22.0, 22.0]


def test_on_the_day_with_25_hours_the_repeated_one_counts_once_with_both() -> None:
    tz = zone("America/New_York")
    window, _ = such_days(day_of(tz, ms("2026-11-08T12:00Z")))[0]
    sums = hourly_sums(rows(window.from_ms, [1.0] * 25), window, tz)
    assert sums is not None
    assert (sums[1], sums[2], sums[24]) == (1.0, 3.0, 25.0)


def test_usual_is_the_mean_of_at_least_two_days() -> None:
    one, two = [0.0] * 25, [float(h) for h in range(25)]
    assert usual_curve([one, None, None]) is None
    assert usual_curve([one, None, two]) == [h / 2 for h in range(25)]


@given(st.lists(st.floats(0, 1e4), min_size=24, max_size=24), st.integers(0, 86_400_000))
def test_usual_grows_through_the_day(hours: list[float], wall_ms: int) -> None:
    curve = [sum(hours[:h]) for h in range(25)]
    now = usual_by(curve, wall_ms)
    assert curve[0] <= now <= curve[24] + 1e-6
    assert now <= usual_by(curve, wall_ms + 600_000) + 1e-6


def test_usual_within_an_hour_is_its_share() -> None:
    curve = [float(10 * h) for h in range(25)]
    assert usual_by(curve, 5 * HOUR_MS // 2) == 25.0
    assert usual_by(curve, 30 * HOUR_MS) == 240.0


@cases(
    ("gallons", "usual", "percent"),
    [
        (110.0, 100.0, 10),
        (90.0, 100.0, -10),
        (100.9, 100.0, 0),  # less than a gallon is no difference
        (5.0, 0.9, None),  # nor is less than a gallon a base for a percentage
        (1.9, 1.0, 0),
        (2.0, 1.0, 100),
        (1000.0, 1004.0, 0),
    ],
)
def test_how_much_more_or_less(gallons: float, usual: float, percent: int | None) -> None:
    assert change(gallons, usual) == percent
