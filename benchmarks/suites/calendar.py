"""Totals, months and days in any zone, compared with one bare aggregate over the same hours."""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose

import orjson

from api import timez
from api.catalog import (
    AGGREGATES,
    COARSEST_STORED,
    DAY,
    FLOW_AMOUNT,
    MONTH,
    TOTAL,
    Aggregate,
    Resolution,
)
from api.domain.datapoints import DatapointsRequest, datapoints
from api.store.base import Device, Row, Span, Store
from benchmarks import goals, plain
from benchmarks.clock import Race, Run, Runner
from benchmarks.goals import Goal
from benchmarks.ground import Ground, Wrong
from benchmarks.stopwatch import timed

Window = tuple[Device, Span]
Sums = list[tuple[int, float]]  # (edge, volume from there to the next)

_PAGE = 10_000
_VOLUME = 1 + AGGREGATES.index(Aggregate("total", FLOW_AMOUNT))
QUESTIONS: dict[str, tuple[Resolution, str, Goal]] = {
    "total": (TOTAL, "UTC", goals.TOTAL),
    "month in New York": (MONTH, "America/New_York", goals.MONTH),
    "day in UTC": (DAY, "UTC", goals.DAY),
    "day in New York, over DST": (DAY, "America/New_York", goals.DAY),
    "day in Kolkata (+05:30)": (DAY, "Asia/Kolkata", goals.DAY_OFF_THE_HOUR),
    "day in Kathmandu (+05:45)": (DAY, "Asia/Kathmandu", goals.DAY_OFF_THE_HOUR),
}


def races(ground: Ground, rounds: int) -> Iterator[Race]:
    start, end = ground.bounds
    for name, (resolution, zone, goal) in QUESTIONS.items():
        windows = ground.windows(name, (end - start) * 9 // 10, rounds)
        yield _race(ground, name, windows, resolution, zone, goal, COARSEST_STORED)
        source = timez.source_of(*timez.day_edges(timez.zone(zone), start, end))
        if source is not COARSEST_STORED:  # the rule's own rows, several times as many
            yield _race(ground, name, windows, resolution, zone, goals.DAY, source)


def _race(
    ground: Ground,
    name: str,
    windows: list[Window],
    resolution: Resolution,
    zone: str,
    goal: Goal,
    source: Resolution,
) -> Race:
    return Race(
        f"{name} ÷ one aggregate of {source.name}",
        windows,
        ground.fetching(lambda w: [plain.aggregate(w[0].key, w[1], source)]),
        (
            Runner(
                "ours",
                _ours(ground.reader(), resolution, zone),
                (goal,) if ground.dialect == "sqlite" else (),
            ),
            *_others(ground, resolution, zone),
        ),
    )


def _ours(store: Store, resolution: Resolution, zone: str) -> Run:
    return timed(lambda w: orjson.dumps(_ask(store, w[0], w[1], resolution, zone)))


def _ask(store: Store, device: Device, span: Span, resolution: Resolution, zone: str) -> list[Row]:
    request = DatapointsRequest(resolution, span, zone=timez.zone(zone), limit=_PAGE)
    return datapoints(store, device, request)


def _others(ground: Ground, resolution: Resolution, zone: str) -> Iterator[Runner]:
    if resolution is DAY:
        yield Runner("fetched, grouped in Python", _grouped(ground.reader(), zone))


def _grouped(store: Store, zone: str) -> Run:
    """Volume only, in a dict by local date: less than a response needs, and still expensive."""

    def answer(window: Window) -> bytes:
        (device, span), tz = window, timez.zone(zone)
        source = timez.source_of(*timez.day_edges(tz, *_closed(span)))
        volumes: dict[int, float] = {}
        for row in store.rows(device, source, span, limit=1_000_000):
            day = timez.local_ordinal(tz, row[0])
            volumes[day] = volumes.get(day, 0.0) + (row[_VOLUME] or 0.0)
        return orjson.dumps(list(volumes.items()))

    return timed(answer)


def _closed(span: Span) -> tuple[int, int]:
    low, high = span
    assert low is not None
    assert high is not None
    return low, high


def check(ground: Ground) -> None:
    """Checks that hierarchical sums equal flat sums of raw readings, day by local day."""
    for name, (resolution, zone, _) in QUESTIONS.items():
        for device in ground.devices[:5]:
            rows = _ask(ground.store, device, ground.span, resolution, zone)
            if resolution is TOTAL:  # one row without a stamp
                rows = [(ground.bounds[0], *rows[0])]
            ours: Sums = [(row[0], row[_VOLUME]) for row in rows]
            if not _same(ours, _flat(ground, device, resolution, zone)):
                raise Wrong(f"{name} of {device.serial_number}: not the sums of its readings")


def _flat(ground: Ground, device: Device, resolution: Resolution, zone: str) -> Sums:
    edges: list[int] = list(ground.bounds)
    if resolution is not TOTAL:
        cut = timez.day_edges if resolution is DAY else timez.month_edges
        edges = cut(timez.zone(zone), *ground.bounds)
    edges[-1] += 1
    sums = [ground.other.rows(s)[0] for s in plain.flow_between(device.key, edges)]
    return [(edge, volume) for edge, (n, volume) in zip(edges, sums, strict=False) if n]


def _same(ours: Sums, flat: Sums) -> bool:
    return len(ours) == len(flat) and all(
        a == b and isclose(mine, theirs, rel_tol=1e-9, abs_tol=1e-9)
        for (a, mine), (b, theirs) in zip(ours, flat, strict=True)
    )
