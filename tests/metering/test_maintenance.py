"""When maintenance takes place, and which buckets it excludes from uptime."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from api.catalog import DAY_MS, HOUR_MS, MINUTE_MS
from api.metering.maintenance import (
    Plan,
    Repeat,
    bucket_count,
    excused,
    merged,
    occurrences,
)
from tests.tables import cases
from tests.world import ms

NEW_YORK, UTC = ZoneInfo("America/New_York"), ZoneInfo("UTC")
START = ms("2026-03-06T02:30-05:00")


def starts(plan: Plan) -> list[str]:
    result = occurrences(plan, 0, 2**50)
    assert {end - start for start, end in result} == {plan.to_ms - plan.from_ms}
    return [
        datetime.fromtimestamp(start / 1000, plan.tz).isoformat(timespec="minutes")
        for start, _ in result
    ]


@cases(
    ("repeat", "until", "expected"),
    [
        (Repeat.ONCE, None, ["2026-03-06T02:30-05:00"]),
        (Repeat.DAILY, "2026-03-09T12:00-04:00",
         ["2026-03-06T02:30-05:00", "2026-03-07T02:30-05:00", "2026-03-08T03:30-04:00",
          "2026-03-09T02:30-04:00"]),  # 02:30 doesn't exist on the 8th
        (Repeat.WEEKLY, "2026-03-20T02:30-04:00",
         ["2026-03-06T02:30-05:00", "2026-03-13T02:30-04:00", "2026-03-20T02:30-04:00"]),
        (Repeat.MONTHLY, "2026-05-01T00:00-04:00",
         ["2026-03-06T02:30-05:00", "2026-04-06T02:30-04:00"]),
    ],
)  # fmt: skip
def test_repeats_keep_the_time_of_day(
    repeat: Repeat, until: str | None, expected: list[str]
) -> None:
    until_ms = None if until is None else ms(until)
    assert starts(Plan(START, START + HOUR_MS, repeat, until_ms, NEW_YORK)) == expected


def test_a_month_without_the_day_uses_its_last_day() -> None:
    first = ms("2026-01-31T10:00Z")
    plan = Plan(first, first + HOUR_MS, Repeat.MONTHLY, ms("2026-05-01T00:00Z"), UTC)
    assert [text[5:10] for text in starts(plan)] == ["01-31", "02-28", "03-31", "04-30"]


def test_only_occurrences_that_overlap_the_window_are_listed() -> None:
    plan = Plan(0, HOUR_MS, Repeat.DAILY, 100 * DAY_MS, UTC)
    assert occurrences(plan, 10 * DAY_MS + HOUR_MS, 11 * DAY_MS + 1) == [
        (11 * DAY_MS, 11 * DAY_MS + HOUR_MS)
    ]
    assert occurrences(plan, 10 * DAY_MS + HOUR_MS - 1, 11 * DAY_MS) == [
        (10 * DAY_MS, 10 * DAY_MS + HOUR_MS)
    ]


_minutes = st.integers(0, 600)
_spans = st.lists(st.tuples(_minutes, st.integers(1, 120)), max_size=5).map(
    lambda drawn: [(a * MINUTE_MS + 7, (a + n) * MINUTE_MS + 7) for a, n in drawn]
)


@given(
    spans=_spans,
    low=_minutes,
    length=st.integers(1, 300),
    bucket_min=st.sampled_from((1, 5, 10, 60)),
)
def test_buckets_that_overlap_maintenance_are_excluded(
    spans: list[tuple[int, int]], low: int, length: int, bucket_min: int
) -> None:
    """Against a count bucket by bucket."""
    size = bucket_min * MINUTE_MS
    from_ms, to_ms = low * size, (low + length) * size - 1
    expected = sum(
        any(start < bucket + size and bucket < end for start, end in spans)
        for bucket in range(from_ms, to_ms, size)
    )
    result = excused(spans, from_ms, to_ms, size)
    assert bucket_count(result, size) == expected
    assert merged(result) == result
