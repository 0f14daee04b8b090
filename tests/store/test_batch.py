"""The effect of a batch, computed without a database."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.catalog import (
    FLOW_AMOUNT,
    FLOW_RATE,
    HOUR_MS,
    METRICS,
    MINUTE_MS,
    ONE_MINUTE,
    STORED,
    Resolution,
)
from api.store import batch
from tests.store.fleet import NOON_MS
from tests.tables import cases

NOTHING = (None,) * (len(METRICS) - 1)


def row(device: int, at: int, rate: float | None = None) -> Any:
    return (device, NOON_MS + at, rate, *NOTHING)


def test_rows_are_sorted_by_device_time_and_arrival() -> None:
    rows = [row(2, 5), row(1, 9, 2.0), row(1, 9, 1.0), row(2, 5), row(1, 0)]
    assert batch.in_order(rows) == [row(1, 0), row(1, 9, 2.0), row(1, 9, 1.0), row(2, 5)]


def test_a_batch_with_an_overflowing_sum_is_accepted() -> None:
    rows = [row(1, 0, 1.7e308), row(1, 1, 1.7e308)]
    assert batch.in_order(rows) == rows


@cases(
    ("existing", "arriving", "first", "further"),
    [
        ([], [row(1, 0, 1.0), row(1, 1, 1.0)], [row(1, 0, 1.0), row(1, 1, 1.0)], []),
        ([], [row(1, 0, 1.0), row(1, 0, 2.0)], [row(1, 0, 1.0)], [(*row(1, 0, 2.0), 1)]),
        ([(*row(1, 0, 1.0), 0)], [row(1, 0, 1.0)], [], []),
        ([(*row(1, 0, 1.0), 0)], [row(1, 0, 2.0)], [], [(*row(1, 0, 2.0), 1)]),
        (
            [(*row(1, 0, 1.0), 0), (*row(1, 0, 2.0), 1)],
            [row(1, 0, 3.0), row(1, 0, 2.0), row(1, 0, 4.0), row(2, 0, 1.0)],
            [row(2, 0, 1.0)],
            [(*row(1, 0, 3.0), 2), (*row(1, 0, 4.0), 3)],
        ),
    ],
)
def test_new_rows_are_told_from_repeats(
    existing: Any, arriving: Any, first: Any, further: Any
) -> None:
    assert batch.decide(existing, arriving) == batch.New(first, further)


def test_only_rows_up_to_the_last_stored_hour_may_be_repeats() -> None:
    rows = [row(1, 0), row(1, HOUR_MS - 1), row(1, HOUR_MS), row(2, 0)]
    assert batch.doubtful(batch.by_device(rows), {1: NOON_MS}) == [
        (1, NOON_MS),
        (1, NOON_MS + HOUR_MS - 1),
    ]
    assert batch.doubtful(batch.by_device(rows), {}) == []


@given(
    rows=st.lists(
        st.tuples(st.integers(1, 3), st.integers(0, 5 * HOUR_MS)), min_size=1, unique=True
    ),
    last_hours=st.dictionaries(st.integers(1, 3), st.sampled_from((0, 1, 4)), max_size=3),
    resolution=st.sampled_from(STORED),
)
def test_every_touched_bucket_is_in_exactly_one_range(
    rows: list[tuple[int, int]], last_hours: dict[int, int], resolution: Resolution
) -> None:
    ordered = batch.in_order([row(device, at) for device, at in rows])
    hours = {device: NOON_MS + hour * HOUR_MS for device, hour in last_hours.items()}
    ranges = batch.touched(batch.by_device(ordered), resolution, hours)
    length = resolution.fixed_ms
    assert all(low % length == high % length == 0 and low < high for _, low, high in ranges)
    for (device, _, high), (next_device, low, _) in pairwise(ranges):
        assert (device, high) <= (next_device, low)
    for device, at, *_ in ordered:
        assert sum(d == device and low <= at < high for d, low, high in ranges) == 1


def test_untouched_stored_buckets_are_left_alone() -> None:
    rows = batch.in_order([row(1, 0), row(1, 1), row(1, MINUTE_MS), row(1, 30 * MINUTE_MS)])
    later = {1: NOON_MS + 9 * HOUR_MS}
    assert batch.touched(batch.by_device(rows), ONE_MINUTE, later) == [
        (1, NOON_MS, NOON_MS + 2 * MINUTE_MS),
        (1, NOON_MS + 30 * MINUTE_MS, NOON_MS + 31 * MINUTE_MS),
    ]
    fresh = [(1, NOON_MS, NOON_MS + 31 * MINUTE_MS)]
    assert batch.touched(batch.by_device(rows), ONE_MINUTE, {}) == fresh
    assert batch.touched(batch.by_device(rows), ONE_MINUTE, {1: NOON_MS}) == fresh


@cases(
    ("last_hour", "joint", "alone"),
    [
        (None, [], [0, 59, 60, 120]),
        (0, [0, 59], [60, 120]),
        (1, [0, 59, 60], [120]),
        (2, [0, 59, 60, 120], []),
    ],
)
def test_long_runs_after_the_stored_hours_are_alone(
    last_hour: int | None, joint: list[int], alone: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Minutes after noon."""
    monkeypatch.setattr(batch, "ALONE_FROM", 1)
    at_ms = [NOON_MS + minute * MINUTE_MS for minute in (0, 59, 60, 120)]
    last_hours = {} if last_hour is None else {1: NOON_MS + last_hour * HOUR_MS}
    parts = batch.by_company({1: at_ms}, last_hours)
    minutes = [[(ms - NOON_MS) // MINUTE_MS for ms in part.get(1, [])] for part in parts]
    assert minutes == [joint, alone]
    monkeypatch.setattr(batch, "ALONE_FROM", 5)
    assert batch.by_company({1: at_ms}, {}) == ({1: at_ms}, {})


def test_two_rows_of_a_minute_share_their_bucket() -> None:
    instants = {1: [NOON_MS, NOON_MS + MINUTE_MS], 2: [NOON_MS, NOON_MS + 1]}
    assert batch.one_a_bucket(instants, ONE_MINUTE) == ({1: instants[1]}, {2: instants[2]})


def test_only_metrics_with_a_value_are_measured() -> None:
    volume = (None, None, 0.0, *NOTHING[2:])
    assert batch.measured([row(1, 0), (1, NOON_MS, *volume)]) == (FLOW_AMOUNT,)
    assert batch.measured([row(1, 0, 2.0), (1, NOON_MS, *volume)]) == (FLOW_RATE, FLOW_AMOUNT)
    assert batch.measured([]) == ()
