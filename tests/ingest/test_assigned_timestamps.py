"""Assigned receipt times: not before now, unique for each sender, not stored for long."""

from __future__ import annotations

from collections import defaultdict

from hypothesis import given
from hypothesis import strategies as st

from api.ingest import assigned_timestamps
from api.ingest.assigned_timestamps import AssignedTimestamps

TAKES = st.lists(st.tuples(st.sampled_from("abc"), st.integers(0, 3), st.integers(1, 4)))


@given(TAKES)
def test_a_senders_timestamps_are_unique_and_begin_with_now(
    takes: list[tuple[str, int, int]],
) -> None:
    clock, now_ms, given_ms = AssignedTimestamps(), 1_000, defaultdict[str, list[int]](list)
    for sender, later_ms, several in takes:
        now_ms += later_ms
        first_ms = clock.take(sender, now_ms, several)
        taken = given_ms[sender]
        assert first_ms == max(now_ms, taken[-1] + 1 if taken else 0)
        taken.extend(range(first_ms, first_ms + several))
    assert all(len(set(taken)) == len(taken) for taken in given_ms.values())


def test_timestamps_stay_unique_after_a_restart() -> None:
    clock = AssignedTimestamps(from_ms=5_000)
    assert [clock.take("a", 1_000), clock.take("b", 1_000), clock.take("a", 1_000)] == [
        5_000, 5_000, 5_001,
    ]  # fmt: skip
    assert clock.take("b", 6_000) == 6_000


def test_old_senders_are_dropped_and_a_burst_is_not() -> None:
    clock = AssignedTimestamps()
    clock.take("burst", 0, 5_000)
    for n in range(3 * assigned_timestamps._MOST_SENDERS):
        clock.take(n, n // 100)
    assert clock.take("burst", 400) == 5_000
    assert len(clock._next_ms) <= 2 * assigned_timestamps._MOST_SENDERS
