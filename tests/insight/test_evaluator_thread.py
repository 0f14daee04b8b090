"""The thread that evaluates devices: how it shares the machine with incoming readings."""

from __future__ import annotations

from typing import Any

import pytest

from api.insight import finding_evaluator
from api.store.base import Store


def test_with_100_000_devices_due_readings_come_first(
    sqlite_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While readings wait, it works a twentieth of the time; then without a pause."""
    clock_s, pauses, batches = [0.0], list[float](), list[int]()
    waiting = [True]
    thread = finding_evaluator.EvaluatorThread(sqlite_store, busy=lambda: waiting[0])

    class Many:
        """Due devices are taken in batches, the longest waiting first."""

        due = staticmethod(lambda at_ms: [_task(key) for key in range(finding_evaluator.LIST)])
        silent = staticmethod(lambda at_ms: [])
        changed = staticmethod(list)

        @staticmethod
        def run_each(tasks: Any, at_ms: int) -> Any:
            clock_s[0] += 0.1
            batches.append(len(tasks))
            waiting[0] = len(batches) < 10
            return finding_evaluator.Counts(len(tasks))

    class Stopping:
        is_set = staticmethod(lambda: False)
        wait = staticmethod(pauses.append)

    monkeypatch.setattr(finding_evaluator, "monotonic", lambda: clock_s[0])
    monkeypatch.setattr(thread, "_evaluator", Many)
    monkeypatch.setattr(thread, "_stopping", Stopping)
    assert thread.step() == 0.0
    assert (sum(batches), set(batches)) == (finding_evaluator.LIST, {finding_evaluator.BATCH})
    assert pauses == pytest.approx([1.9] * 9)


def _task(key: int) -> Any:
    return finding_evaluator._Task(key, None)  # pyright: ignore[reportPrivateUsage]
