"""The finest rows that fit a budget: choosing, fetching and dumping against fetching alone."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from time import perf_counter
from typing import NamedTuple

import orjson

from api.catalog import DAY_MS, HOUR_MS
from api.domain.adaptive import AdaptiveRows, adaptive
from api.store.base import Device, Span, Store
from benchmarks import goals, plain
from benchmarks.clock import Race, Run, Runner
from benchmarks.floor import Statement
from benchmarks.goals import Goal
from benchmarks.ground import Ground, Wrong

RANGES = {"6 h": 6 * HOUR_MS, "1 d": DAY_MS, "3 d": 3 * DAY_MS, "7 d": 7 * DAY_MS, "all": None}
BUDGETS = (1_000, 4_000)  # the interface's default; the most that a chart asks for


class Case(NamedTuple):
    """A question, and the statement that fetches exactly its answer's rows."""

    device: Device
    span: Span
    budget: int
    answer: Statement


def races(ground: Ground, rounds: int) -> Iterator[Race]:
    for label, length in RANGES.items():
        for budget in BUDGETS:
            yield _race(ground, rounds, label, length, budget)


def _race(ground: Ground, rounds: int, label: str, length: int | None, budget: int) -> Race:
    start, end = ground.bounds
    windows = ground.windows(f"{label} {budget}", length or end - start, rounds)
    found = [ask(ground.store, device, span, budget) for device, span in windows]
    cases = [
        Case(device, span, budget, plain.rows(answer.resolution, device.key, span, budget))
        for (device, span), answer in zip(windows, found, strict=True)
    ]
    size = int(median(len(answer.rows) for answer in found))
    levels = "/".join(dict.fromkeys(answer.resolution.name for answer in found))
    return Race(
        f"{label}, at most {budget:,}: {size:,} of {levels}",
        cases,
        ground.fetching(lambda c: [c.answer]),
        (
            Runner("rows", _rows(ground.reader()), _goals(ground, size)),
            Runner(
                "naive ladder",
                lambda c: ground.other.ladder(
                    plain.rungs(c.device.key, c.span, c.budget), c.budget
                ),
            ),
        ),
    )


def _goals(ground: Ground, size: int) -> tuple[Goal, ...]:
    if size < goals.ADAPTIVE_MIN_ROWS:
        return ()
    sqlite = ground.dialect == "sqlite"
    return (goals.ADAPTIVE_ROWS if sqlite else goals.POSTGRES_ADAPTIVE,)


def _rows(store: Store) -> Run:
    def run(case: Case) -> float:
        start = perf_counter()
        orjson.dumps(ask(store, case.device, case.span, case.budget).rows)
        return perf_counter() - start

    return run


def ask(store: Store, device: Device, span: Span, budget: int) -> AdaptiveRows:
    low, high = span
    assert low is not None
    assert high is not None
    return adaptive(store, device, low, high, budget)


def check(ground: Ground) -> None:
    """The answer is the naive ladder's, row for row."""
    for label, length in RANGES.items():
        start, end = ground.bounds
        for budget in (1, *BUDGETS):
            for device, span in ground.windows(f"check {label}", length or end - start, 3):
                found = ask(ground.store, device, span, budget)
                if found.rows != _naive(ground, device, span, budget):
                    raise Wrong(f"adaptive {label} of {device.serial_number}, at most {budget}")


def _naive(ground: Ground, device: Device, span: Span, budget: int) -> list[tuple[object, ...]]:
    rungs = plain.rungs(device.key, span, budget)
    chosen = rungs[0][1]
    for count, rows in rungs:
        if ground.other.rows(count)[0][0] > budget:
            break
        chosen = rows
    return ground.other.rows(chosen)
