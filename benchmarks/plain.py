"""The plainest SQL for each query: no counters unless named, no bounds, no optimization.

Written independently of the store's own statements: the exactness checks compare the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from api.catalog import (
    AGGREGATES,
    COARSEST_STORED,
    FLOW_AMOUNT,
    LADDER,
    METRICS,
    ONE_MINUTE,
    QUALITY,
    STORED,
    Aggregate,
    Resolution,
)
from api.store.base import Span
from api.store.tables import HOUR_COUNTER, READING, ROLLUPS, counter
from benchmarks.floor import Statement

_RAW_VALUES = ", ".join(metric.name for metric in METRICS)
_IN = "device_id = ? AND ts BETWEEN ? AND ?"


def rows(resolution: Resolution, key: int, span: Span, limit: int, offset: int = 0) -> Statement:
    """Returns the rows of a response, with the interface's column names."""
    values, order = _RAW_VALUES, "ts, seq"
    if resolution.aggregated:
        values, order = ", ".join(map(_value, AGGREGATES)), "ts"
    return (
        f"SELECT ts, {values} FROM {resolution.table} WHERE {_IN}"
        f" ORDER BY {order} LIMIT ? OFFSET ?",
        (key, *span, limit, offset),
    )


def count(resolution: Resolution, key: int, span: Span) -> Statement:
    return f"SELECT COUNT(*) FROM {resolution.table} WHERE {_IN}", (key, *span)


def rungs(key: int, span: Span, budget: int) -> list[tuple[Statement, Statement]]:
    """Returns the interface's ladder, with each rung counted to its end."""
    return [(count(r, key, span), rows(r, key, span, budget)) for r in LADDER]


def last(key: int, span: Span) -> Statement:
    return (
        f"SELECT ts, {_RAW_VALUES} FROM reading WHERE {_IN} ORDER BY ts DESC, seq DESC LIMIT 1",
        (key, *span),
    )


def counter_sum(key: int, span: Span, resolution: Resolution = ONE_MINUTE) -> Statement:
    """Sums the hourly counters and ignores the range's two edges: faster than an exact count."""
    return f"SELECT SUM({counter(resolution)}) FROM {HOUR_COUNTER.name} WHERE {_IN}", (key, *span)


def quality(key: int, span: Span) -> Statement:
    """Returns quality's extremes from the hourly rows."""
    ends = (_value(Aggregate(end, QUALITY)) for end in ("min", "max"))
    low, high = ends
    return (
        f"SELECT MIN({low}), MAX({high}) FROM {COARSEST_STORED.table} WHERE {_IN}",
        (key, *span),
    )


def counts(keys: Sequence[int], span: Span, resolution: Resolution = ONE_MINUTE) -> Statement:
    """Returns the rows of many devices, counted one by one."""
    marks = ", ".join("?" * len(keys))
    return (
        f"SELECT device_id, COUNT(*) FROM {resolution.table}"
        f" WHERE device_id IN ({marks}) AND ts BETWEEN ? AND ? GROUP BY device_id",
        (*keys, *span),
    )


def aggregate(key: int, span: Span, source: Resolution = COARSEST_STORED) -> Statement:
    """Returns one row of AGGREGATES over the whole range, with unweighted means."""
    functions = {"avg": "AVG", "min": "MIN", "max": "MAX", "total": "SUM"}
    values = ", ".join(f"{functions[a.function]}({_value(a)})" for a in AGGREGATES)
    return f"SELECT {values} FROM {source.table} WHERE {_IN}", (key, *span)


def flow_between(key: int, edges: Sequence[int]) -> list[Statement]:
    """Returns rows and volume from raw readings, edge by edge: what calendar rows must add up
    to."""
    amount = FLOW_AMOUNT.name
    return [
        (
            f"SELECT COUNT(*), SUM({amount}) FROM reading WHERE {_IN}",
            (key, low, high - 1),
        )
        for low, high in pairwise(edges)
    ]


def insert_raw() -> str:
    """Inserts a raw row and ignores an exact repeat of its key: (device, instant, then METRICS)."""
    names = f"device_id, ts, {_RAW_VALUES}"
    marks = ", ".join("?" * (2 + len(METRICS)))
    return f"INSERT INTO {READING.name} ({names}) VALUES ({marks}) ON CONFLICT DO NOTHING"


def tables() -> list[str]:
    """Returns every table of the time series."""
    return [READING.name, *(ROLLUPS[r].name for r in STORED), HOUR_COUNTER.name]


def _value(aggregate: Aggregate) -> str:
    """Returns an interface column from a rollup's; where there was one value, only its sum is
    stored."""
    name = aggregate.metric.name
    if aggregate.function == "avg":
        return f"{name}_sum / NULLIF({name}_n, 0)"
    if aggregate.function == "total":
        return f"{name}_sum"
    return f"COALESCE({name}_{aggregate.function}, {name}_sum)"
