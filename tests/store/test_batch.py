"""What a batch means, decided without a database."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from api.catalog import HOUR_MS, METRICS, MINUTE_MS, ONE_MINUTE, STORED, Resolution
from api.store import batch
from tests.store.fleet import NOON_MS
from tests.tables import cases

NOTHING = (None,) * (len(METRICS) - 1)


def row(device: int, at: int, rate: float | None = None) -> Any:
    return (device, NOON_MS + at, rate, *NOTHING)


def test_rows_come_in_order_of_device_and_time_and_arrival() -> None:
    rows = [row(2, 5), row(1, 9, 2.0), row(1, 9, 1.0), row(2, 5), row(1, 0)]
    assert batch.in_order(rows) == [row(1, 0), row(1, 9, 2.0), row(1, 9, 1.0), row(2, 5)]


def test_a_sum_that_overflows_is_no_reason_to_refuse() -> None:
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
def test_what_is_new_is_decided(existing: Any, arriving: Any, first: Any, further: Any) -> None:
    assert batch.decide(existing, arriving) == batch.New(first, further)


def test_only_rows_up_to_the_last_stored_hour_are_doubtful() -> None:
    rows = [row(1, 0), row(1, HOUR_MS - 1), row(1, HOUR_MS), row(2, 0)]
    assert batch.doubtful(rows, {1: NOON_MS}) == [(1, NOON_MS), (1, NOON_MS + HOUR_MS - 1)]
    assert batch.doubtful(rows, {}) == []


@given(
    rows=st.lists(
        st.tuples(st.integers(1, 3), st.integers(0, 5 * HOUR_MS)), min_size=1, unique=True
    ),
    last_hours=st.dictionaries(st.integers(1, 3), st.sampled_from((0, 1, 4)), max_size=3),
    resolution=st.sampled_from(STORED),
)
def test_every_touched_bucket_lies_in_one_range_of_whole_buckets(
    rows: list[tuple[int, int]], last_hours: dict[int, int], resolution: Resolution
) -> None:
    ordered = batch.in_order([row(device, at) for device, at in rows])
    hours = {device: NOON_MS + hour * HOUR_MS for device, hour in last_hours.items()}
    ranges = batch.touched(ordered, resolution, hours)
    length = resolution.fixed_ms
    assert all(low % length == high % length == 0 and low < high for _, low, high in ranges)
    for (device, _, high), (next_device, low, _) in pairwise(ranges):
        assert (device, high) <= (next_device, low)
    for device, at, *_ in ordered:
        assert sum(d == device and low <= at < high for d, low, high in ranges) == 1


def test_buckets_that_nothing_fell_into_are_left_alone_among_stored_ones() -> None:
    rows = batch.in_order([row(1, 0), row(1, 1), row(1, MINUTE_MS), row(1, 30 * MINUTE_MS)])
    later = {1: NOON_MS + 9 * HOUR_MS}
    assert batch.touched(rows, ONE_MINUTE, later) == [
        (1, NOON_MS, NOON_MS + 2 * MINUTE_MS),
        (1, NOON_MS + 30 * MINUTE_MS, NOON_MS + 31 * MINUTE_MS),
    ]
    fresh = [(1, NOON_MS, NOON_MS + 31 * MINUTE_MS)]
    assert batch.touched(rows, ONE_MINUTE, {}) == fresh
    assert batch.touched(rows, ONE_MINUTE, {1: NOON_MS}) == fresh
