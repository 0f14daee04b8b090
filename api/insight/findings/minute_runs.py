"""Runs of minutes in which a condition holds, for the kinds that read minutes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from api.insight.findings.model import Minute


class Run(NamedTuple):
    """Minutes in which the condition held, without one between in which it didn't: the first, the
    end of the last, their gallons, and the highest rate."""

    start_ms: int
    end_ms: int
    gallons: float
    peak: float

    @property
    def length_ms(self) -> int:
        return self.end_ms - self.start_ms


def remembered(memory: Callable[[Run | None, int], Any]) -> Callable[..., Any]:
    """Returns the constructor of a kind's memory (run, last_ms), from nothing or from its stored
    fields."""

    def make(run: Sequence[Any] | None = None, last_ms: int = 0) -> Any:
        return memory(None if run is None else Run(*run), last_ms)

    return make


def extended(
    run: Run | None, minutes: Iterable[Minute], holds: Callable[[float], bool], reading_ms: int
) -> list[tuple[Run | None, int]]:
    """Returns, for each minute with a flow, the run that it belongs to (None: the condition doesn't
    hold) and its end. A minute covers ``reading_ms``."""
    runs: list[tuple[Run | None, int]] = []
    for minute in minutes:
        if minute.rate is None:
            continue
        end = minute.start_ms + reading_ms
        if not holds(minute.rate):
            run = None
        else:
            gallons = minute.rate * reading_ms / 60_000
            run = (
                Run(minute.start_ms, end, gallons, minute.rate)
                if run is None
                else Run(
                    run.start_ms,
                    end,
                    run.gallons + gallons,
                    max(run.peak, minute.rate, key=abs),
                )
            )
        runs.append((run, end))
    return runs
