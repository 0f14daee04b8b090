"""Runs, gaps and rounding."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from api.catalog import FLOW_RATE, HOUR_MS, MINUTE_MS, QUALITY
from api.client import Series
from api.timez import zone
from components.charts.frames import Frame, frame, largest, rounded, with_spread
from components.ranges import Window
from tests.components.rows import NOON, buckets, holey_series, raw
from tests.tables import cases
from tests.world import ms

UTC = zone("UTC")


def framed(series: Series, window: Window | None = None, **details: object) -> Frame:
    if window is None:
        window = Window(series.times_ms[0], series.times_ms[-1])
    return frame(series, FLOW_RATE, window, tz=UTC, **details)  # pyright: ignore[reportArgumentType]


def minutes(*at: int) -> list[int]:
    return [NOON + minute * MINUTE_MS for minute in at]


def lengths(made: Frame) -> list[list[int]]:
    return [list(run) for run in made.runs]


def test_rows_without_a_gap_are_one_run() -> None:
    made = framed(buckets("1min", minutes(0, 1, 2, 3), [1, 2, 3, 4]))
    assert lengths(made) == [[0, 1, 2, 3]]
    assert made.gaps == []


def test_a_missing_bucket_breaks_the_run_and_is_a_gap() -> None:
    made = framed(buckets("1min", minutes(0, 1, 3, 4), [1, 2, 3, 4]))
    assert lengths(made) == [[0, 1], [2, 3]]
    assert made.gaps == [Window(*minutes(2, 3))]


def test_a_null_breaks_the_line_but_is_not_a_gap() -> None:
    """A reading without a flow rate is a reading."""
    made = framed(buckets("1min", minutes(0, 1, 2, 3), [1, None, 3, 4]))
    assert lengths(made) == [[0], [2, 3]]
    assert made.gaps == []


def test_gaps_count_at_both_ends_of_the_window() -> None:
    series = buckets("1min", minutes(10, 11), [1, 2])
    made = framed(series, Window(*minutes(0, 30)))
    assert made.gaps == [Window(*minutes(0, 10)), Window(*minutes(12, 30))]


def test_a_spread_volume_is_one_gap_with_a_line_through_it() -> None:
    series = raw([NOON + m * MINUTE_MS for m in (0, 1, 2, 60, 120, 150, 151, 200)], [1] * 8)
    made = framed(series, cadence_ms=MINUTE_MS)
    spread = with_spread(made, [Window(*minutes(2, 150))])
    assert (len(made.gaps), len(made.runs)) == (4, 5)
    assert spread.gaps == [Window(*minutes(2, 150)), Window(*minutes(151, 200))]
    assert lengths(spread) == [[0, 1, 2, 3, 4, 5, 6], [7]]
    assert with_spread(made, []) is made


def test_the_future_is_no_gap() -> None:
    series = buckets("1min", minutes(0, 1, 2), [1, 2, 3])
    window = Window(*minutes(0, 60))
    assert framed(series, window, until_ms=NOON + 4 * MINUTE_MS).gaps == [Window(*minutes(3, 4))]
    assert framed(series, window, until_ms=NOON + 3 * MINUTE_MS).gaps == []


def test_no_rows_are_one_gap() -> None:
    made = frame(buckets("1min", [], []), FLOW_RATE, Window(*minutes(0, 9)), tz=UTC)
    assert (made.runs, made.gaps) == ([], [Window(*minutes(0, 9))])


@cases(
    ("cadence_ms", "step_min", "broken"),
    [
        (None, 2, False),  # estimated: the rows themselves are 2 min apart
        (10_000, 1, True),  # three reports of 10 s may be late
        (20_000, 1, False),
        (15 * MINUTE_MS, 45, False),
        (15 * MINUTE_MS, 46, True),
    ],
)
def test_gaps_of_raw_rows_follow_the_device_s_cadence(
    cadence_ms: int | None, step_min: int, broken: bool
) -> None:
    made = framed(raw(minutes(0, step_min), [1, 2]), cadence_ms=cadence_ms)
    assert bool(made.gaps) is broken


def test_a_slow_device_has_no_gaps_in_fine_buckets() -> None:
    """It reports every 15 minutes: two of three 5-minute buckets are rightly empty."""
    series = buckets("5min", minutes(0, 15, 30, 45, 105), [1, 2, 3, 4, 5])
    made = framed(series, cadence_ms=15 * MINUTE_MS)
    assert lengths(made) == [[0, 1, 2, 3], [4]]
    assert framed(series).gaps == made.gaps == [Window(*minutes(50, 105))]


def test_days_follow_the_calendar() -> None:
    """A day of 23 hours is followed by the next one; a missing day is a gap."""
    new_york = zone("America/New_York")
    days = [ms(f"2026-03-{text}Z") for text in ("07T05:00", "08T05:00", "09T04:00", "11T04:00")]
    series = buckets("day", days, [1, 2, 3, 4])
    made = frame(series, FLOW_RATE, Window(days[0], days[-1]), tz=new_york)
    assert lengths(made) == [[0, 1, 2], [3]]
    assert made.ends_ms == [*days[1:3], ms("2026-03-10T04:00Z"), ms("2026-03-12T04:00Z")]
    assert made.gaps == [Window(ms("2026-03-10T04:00Z"), days[3])]


def test_days_of_another_zone_than_asked_are_still_drawn() -> None:
    series = buckets("day", [ms("2026-03-07T00:00Z"), ms("2026-03-08T00:00Z")], [1, 2])
    made = frame(series, FLOW_RATE, Window(*series.times_ms), tz=zone("America/New_York"))
    assert all(end > start for start, end in zip(made.starts_ms, made.ends_ms, strict=True))


def test_a_server_without_extremes_has_no_band() -> None:
    series = Series(buckets("1hour", [], []).resolution, [NOON], {"avg_quality": [3.0]})
    made = frame(series, QUALITY, Window(NOON, NOON + HOUR_MS), tz=UTC)
    assert made.low is made.middle is made.high


@given(holey_series())
def test_runs_and_gaps_account_for_everything(series: Series) -> None:
    made = framed(series)
    drawn = [index for run in made.runs for index in run]
    assert drawn == [i for i, v in enumerate(series.values("avg_flow_rate")) if v is not None]
    assert made.gaps == sorted(made.gaps)
    for gap in made.gaps:
        assert gap.to_ms > gap.from_ms
        for start, end in zip(made.starts_ms, made.ends_ms, strict=True):
            assert end <= gap.from_ms or start >= gap.to_ms
    for run in made.runs:
        for index in run[1:]:
            between = Window(made.ends_ms[index - 1], made.starts_ms[index])
            assert between not in made.gaps


@given(st.lists(st.none() | st.floats(-1e9, 1e9), max_size=40))
def test_rounding_keeps_the_order_and_what_an_eye_can_see(values: list[float | None]) -> None:
    scale = largest(values)
    done = rounded(values, scale)
    for before, after in zip(values, done, strict=True):
        if before is None:
            assert after is None
        else:
            assert after is not None
            assert abs(after - before) <= scale * 1e-4
    present = [v for v in done if v is not None]
    if present:
        assert max(present) == rounded([max(v for v in values if v is not None)], scale)[0]
