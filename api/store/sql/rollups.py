"""Recomputes the buckets of new readings, level by level: 1min from raw, each further one from the
next finer one.

Each statement takes ranges (device_id, low, high) of whole buckets, ``high`` exclusive, and sets
every bucket in them to the total of its children. Only sums and counts are added; nothing divides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache

from api.catalog import COARSEST_STORED, RAW, ROLLED_METRICS, STORED, Metric, Resolution
from api.store.query import Dialect, Query, of_one_device
from api.store.sql.arithmetic import PLAIN, Arithmetic
from api.store.tables import COUNTED, HOUR_COUNTER, ROLLUPS, Table, counter, finer

Range = tuple[int, int, int]
"""(device key, first bucket's start, end of the last bucket), epoch ms."""

_NULL = "CAST(NULL AS DOUBLE PRECISION)"
_RANGE_NAMES = ("device_id", "low", "high")


def recompute(
    dialect: Dialect,
    resolution: Resolution,
    ranges: Sequence[Range],
    arithmetic: Arithmetic = PLAIN,
    metrics: Sequence[Metric] = ROLLED_METRICS,
    *,
    single: bool = False,
) -> Query:
    """Sets the rollup rows of these ranges from the next finer level. ``metrics``: those of which
    the ranges may have values; fewer take less time. ``single``: every raw row of the ranges is
    alone in its bucket, which takes a third of the time."""
    one = of_one_device(ranges)
    sql = _recompute(dialect, resolution, arithmetic, tuple(metrics), one.sql, single=single)
    return Query(sql, (*dialect.bind(ranges), *one.params))


def recount(dialect: Dialect, ranges: Sequence[Range]) -> Query:
    """Sets the hour counters of these ranges from the hourly rollup."""
    one = of_one_device(ranges)
    return Query(_recount(dialect, one.sql), (*dialect.bind(ranges), *one.params))


def expressions(
    resolution: Resolution, arithmetic: Arithmetic, metrics: Sequence[Metric]
) -> tuple[str, ...]:
    """Returns a rollup's columns after (device_id, ts), as expressions over the next finer level,
    of which only these metrics may have values."""
    if resolution is STORED[0]:
        return flat(resolution, arithmetic, metrics)
    child = finer(resolution)[-1]
    counts = [f"SUM({counter(c)})" for c in (RAW, *finer(child))]
    return (*counts, "COUNT(*)", *_each(metrics, lambda m: _from_child(m, arithmetic)))


def flat(
    resolution: Resolution,
    arithmetic: Arithmetic = PLAIN,
    metrics: Sequence[Metric] = ROLLED_METRICS,
) -> tuple[str, ...]:
    """Returns the same columns over raw rows, for any stored resolution."""
    counts = [f"COUNT(DISTINCT ts / {c.fixed_ms})" for c in finer(resolution)]
    return ("COUNT(*)", *counts, *_each(metrics, lambda m: _from_raw(m, arithmetic)))


def _each(metrics: Sequence[Metric], of: Callable[[Metric], list[str]]) -> Iterator[str]:
    """Yields the columns of every metric; constants for one without values."""
    for metric in ROLLED_METRICS:
        yield from of(metric) if metric in metrics else _of_none(metric)


def _of_none(metric: Metric) -> list[str]:
    """Returns what the other functions give where the metric has no value."""
    return [_NULL, "0", _NULL, _NULL] if metric.extremes else [_NULL, "0"]


def _from_raw(metric: Metric, arithmetic: Arithmetic) -> list[str]:
    name = metric.name
    columns = [arithmetic.total(name), f"COUNT({name})"]
    if metric.extremes:
        columns += [f"CASE WHEN COUNT({name}) > 1 THEN {end}({name}) END" for end in ("MIN", "MAX")]
    return columns


def _from_child(metric: Metric, arithmetic: Arithmetic) -> list[str]:
    name = metric.name
    columns = [arithmetic.total(f"{name}_sum", f"{name}_n"), f"SUM({name}_n)"]
    if metric.extremes:
        columns += [
            f"CASE WHEN SUM({name}_n) > 1"
            f" THEN {end}(COALESCE({name}_{end.lower()}, {name}_sum)) END"
            for end in ("MIN", "MAX")
        ]
    return columns


def _of_one(metric: Metric) -> list[str]:
    """Returns what `_from_raw` gives for a single row."""
    name = metric.name
    columns = [name, f"CASE WHEN {name} IS NULL THEN 0 ELSE 1 END"]
    return [*columns, _NULL, _NULL] if metric.extremes else columns


@cache
def _recompute(
    dialect: Dialect,
    resolution: Resolution,
    arithmetic: Arithmetic,
    metrics: tuple[Metric, ...],
    one: str,
    *,
    single: bool,
) -> str:
    table = ROLLUPS[resolution]
    source = finer(resolution)[-1].table if finer(resolution) else RAW.table
    bucket = f"s.ts / {resolution.fixed_ms} * {resolution.fixed_ms}"
    columns = expressions(resolution, arithmetic, metrics)
    groups = f" GROUP BY s.device_id, {bucket}"
    if single:
        counts = ["1" for _ in (RAW, *finer(resolution))]
        columns, groups = (*counts, *_each(metrics, _of_one)), ""
    return (
        f"INSERT INTO {table.name} ({', '.join(table.names)})"
        f" SELECT s.device_id, {bucket}, {', '.join(columns)}"
        f" FROM {dialect.relation(_RANGE_NAMES)} AS r CROSS JOIN {source} AS s"
        f" WHERE s.device_id = r.device_id AND s.ts >= r.low AND s.ts < r.high{one}"
        f"{groups} {_overwrite(table)}"
    )


@cache
def _recount(dialect: Dialect, one: str) -> str:
    names = ", ".join(counter(child) for child in COUNTED)
    return (
        f"INSERT INTO {HOUR_COUNTER.name} (device_id, ts, {names})"
        f" SELECT s.device_id, s.ts, {names}"
        f" FROM {dialect.relation(_RANGE_NAMES)} AS r CROSS JOIN {COARSEST_STORED.table} AS s"
        f" WHERE s.device_id = r.device_id AND s.ts >= r.low AND s.ts < r.high{one}"
        f" {_overwrite(HOUR_COUNTER)}"
    )


def _overwrite(table: Table) -> str:
    rest = [name for name in table.names if name not in table.key]
    return f"ON CONFLICT ({', '.join(table.key)}) DO UPDATE SET " + ", ".join(
        f"{name} = excluded.{name}" for name in rest
    )
