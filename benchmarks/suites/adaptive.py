"""The finest rows that fit a budget: choosing, fetching and dumping, compared with fetching
only."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import partial
from statistics import median
from typing import NamedTuple

import orjson

from api.catalog import (
    DAY_MS,
    FLOW_AMOUNT,
    FLOW_DURATION,
    FLOW_RATE,
    HOUR_MS,
    PATH_PREFIX,
    QUALITY,
    Metric,
)
from api.domain.adaptive import AdaptiveRows, adaptive
from api.params import AdaptiveQuery, read
from api.routes.endpoint import Call
from api.routes.readings import get_adaptive
from api.store.base import Device, Span, Store
from api.timez import stamp
from benchmarks import goals, plain, wire
from benchmarks.clock import Race, Run, Runner
from benchmarks.floor import Statement
from benchmarks.ground import Ground, Wrong
from benchmarks.stopwatch import timed

RANGES = {"6 h": 6 * HOUR_MS, "1 d": DAY_MS, "3 d": 3 * DAY_MS, "7 d": 7 * DAY_MS, "all": None}
BUDGETS = (1_000, 4_000)  # the interface's default, and the largest budget of a chart
CHARTED = (FLOW_RATE, FLOW_DURATION, FLOW_AMOUNT, QUALITY)  # what a flow chart draws and shows


class Case(NamedTuple):
    """A query, also as a request, and the statement that fetches exactly its rows."""

    device: Device
    span: Span
    budget: int
    request: wire.Environ
    query: AdaptiveQuery
    answer: Statement


def races(ground: Ground, rounds: int) -> Iterator[Race]:
    start, end = ground.bounds
    for label, length in RANGES.items():
        if length is not None and length >= end - start:
            continue  # the fleet has no such range but "all"
        for budget in BUDGETS:
            yield _race(ground, rounds, label, length, budget)


def _race(ground: Ground, rounds: int, label: str, length: int | None, budget: int) -> Race:
    start, end = ground.bounds
    windows = ground.windows(f"{label} {budget}", length or end - start, rounds)
    choices = [ask(ground.store, device, span, budget) for device, span in windows]
    cases = [
        _case(device, span, budget, answer)
        for (device, span), answer in zip(windows, choices, strict=True)
    ]
    size = int(median(len(answer.rows) for answer in choices))
    levels = "/".join(dict.fromkeys(answer.resolution.name for answer in choices))
    return Race(
        f"{label}, at most {budget:,}: {size:,} of {levels}",
        cases,
        ground.fetching(lambda c: [c.answer]),
        _runners(ground, judged=size >= goals.ADAPTIVE_MIN_ROWS),
    )


def _case(device: Device, span: Span, budget: int, answer: AdaptiveRows) -> Case:
    low, high = (stamp(bound or 0, fraction=True) for bound in span)
    params = {"from": low, "to": high, "maxDatapoints": str(budget)}
    rows = plain.rows(answer.resolution, device.key, span, budget)
    path = f"{PATH_PREFIX}/flow/adaptive/{device.id}"
    query = read(AdaptiveQuery, params.items())
    return Case(device, span, budget, wire.request(path, params), query, rows)


def _runners(ground: Ground, *, judged: bool) -> tuple[Runner, ...]:
    wanted = (goals.POSTGRES_ADAPTIVE, None, None)
    if ground.dialect == "sqlite":
        wanted = (goals.ADAPTIVE_ROWS, goals.ADAPTIVE_BODY, goals.ADAPTIVE_CHART)
    rows, body, chart = ((goal,) if goal and judged else () for goal in wanted)
    app = wire.service(ground.reader())
    return (
        Runner("rows", _rows(ground.reader()), rows),
        Runner("public body", _body(ground), body),
        Runner("chart's columns", _body(ground, CHARTED), chart),
        Runner("whole request", timed(lambda c: wire.body(app, c.request))),
        Runner("naive ladder", partial(_ladder, ground)),
    )


def _rows(store: Store) -> Run:
    return timed(lambda c: orjson.dumps(ask(store, c.device, c.span, c.budget).rows))


def _body(ground: Ground, columns: Collection[Metric] | None = None) -> Run:
    """Runs the endpoint itself, with the lookup of the device, but without parameters and
    headers."""
    store = ground.reader()

    def answer(case: Case) -> bytes:
        call = Call(store, ground.scope, case.query, case.device.id, columns)
        return orjson.dumps(get_adaptive(call).body)

    return timed(answer)


def _ladder(ground: Ground, case: Case) -> float:
    rungs = plain.rungs(case.device.key, case.span, case.budget)
    return ground.other.ladder(rungs, case.budget)


def ask(store: Store, device: Device, span: Span, budget: int) -> AdaptiveRows:
    low, high = span
    assert low is not None
    assert high is not None
    return adaptive(store, device, low, high, budget)


def check(ground: Ground) -> None:
    """Checks that the result equals the naive ladder's, row for row, and that the public body holds
    these rows."""
    app = wire.service(ground.store)
    start, end = ground.bounds
    for label, length in RANGES.items():
        for budget in (1, *BUDGETS):
            for device, span in ground.windows(f"check {label}", length or end - start, 3):
                chosen = ask(ground.store, device, span, budget)
                if chosen.rows != _naive(ground, device, span, budget):
                    raise Wrong(f"adaptive {label} of {device.serial_number}, at most {budget}")
                answer = orjson.loads(wire.body(app, _case(device, span, budget, chosen).request))
                values = [tuple(row.values())[1:] for row in answer["data"]]
                if values != [row[1:] for row in chosen.rows]:
                    raise Wrong(f"the body of {label} of {device.serial_number}, at most {budget}")


def _naive(ground: Ground, device: Device, span: Span, budget: int) -> list[tuple[object, ...]]:
    rungs = plain.rungs(device.key, span, budget)
    chosen = rungs[0][1]
    for count, rows in rungs:
        if ground.other.rows(count)[0][0] > budget:
            break
        chosen = rows
    return ground.other.rows(chosen)
