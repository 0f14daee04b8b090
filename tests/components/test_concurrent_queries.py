"""Concurrent requests within a time budget."""

from __future__ import annotations

from functools import partial
from threading import Condition

import pytest

from components.concurrent_queries import Deadline, batches, run_all
from tests.tables import cases


def test_concurrency_is_limited() -> None:
    changed, now, most = Condition(), 0, 0

    def job(n: int) -> int:
        nonlocal now, most
        with changed:
            now += 1
            most = max(most, now)
            changed.notify_all()
            assert changed.wait_for(lambda: most >= 3, 60)
        with changed:
            now -= 1
        return n

    assert sorted(run_all((partial(job, n) for n in range(20)), width=3)) == list(range(20))
    assert most == 3


def test_after_the_deadline_no_job_starts_and_running_ones_finish() -> None:
    clock = iter([0.0, 0.1, 0.2, 0.3, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0])
    deadline = Deadline(1.0, lambda: next(clock))
    begun: list[int] = []

    def job(n: int) -> int:
        begun.append(n)
        return n

    got = list(run_all((partial(job, n) for n in range(20)), width=1, deadline=deadline))
    assert got == begun == list(range(3))


def test_an_error_ends_all_jobs() -> None:
    def job(n: int) -> int:
        if n == 2:
            raise ValueError("two")
        return n

    with pytest.raises(ValueError, match="two"):
        list(run_all((partial(job, n) for n in range(20)), width=1))


@cases(("count", "sizes"), [(0, []), (50, [50]), (51, [50, 1]), (149, [50, 50, 49])])
def test_batches(count: int, sizes: list[int]) -> None:
    assert [len(some) for some in batches(range(count))] == sizes
