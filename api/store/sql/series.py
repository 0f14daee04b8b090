"""Reads of one device's rows: counts, pages, bounds and groups."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from api.catalog import (
    AGGREGATES,
    COARSEST_STORED,
    HOUR_MS,
    METRICS,
    RAW,
    Aggregate,
    Metric,
    Resolution,
)
from api.store.base import Condition, Span, Where
from api.store.sql.query import Dialect, Query, both
from api.store.tables import HOUR_COUNTER, counter
from api.timez import FIRST_INSTANT_MS, LAST_INSTANT_MS, ceil_to, floor_to


class Closed(NamedTuple):
    """Inclusive bounds, both there; empty where low > high."""

    low: int
    high: int


def closed(span: Span) -> Closed:
    return Closed(
        FIRST_INSTANT_MS if span.from_ms is None else span.from_ms,
        LAST_INSTANT_MS if span.to_ms is None else span.to_ms,
    )


# --- Columns -------------------------------------------------------------------------------------


def value(resolution: Resolution, column: Metric | Aggregate) -> str:
    """The final value of a column over the rows of a raw or stored resolution."""
    if resolution is RAW:
        return column.metric.name if isinstance(column, Aggregate) else column.name
    if isinstance(column, Metric):
        raise ValueError(f"{column.name} is a raw column; {resolution.name} has aggregates")
    name = column.metric.name
    if column.function == "avg":
        return f"{name}_sum / {name}_n"  # null where the sum is: no value, no division
    if column.function == "total":
        return f"{name}_sum"
    return f"COALESCE({name}_{column.function}, {name}_sum)"


@cache
def row_columns(resolution: Resolution) -> str:
    columns = METRICS if resolution is RAW else AGGREGATES
    return ", ".join(("ts", *(value(resolution, column) for column in columns)))


def _order(resolution: Resolution, direction: str = "") -> str:
    return f"ts{direction}, seq{direction}" if resolution is RAW else f"ts{direction}"


# --- Which rows ----------------------------------------------------------------------------------


def between(device_key: int, low: int, high: int) -> Query:
    return Query("device_id = ? AND ts >= ? AND ts <= ?", (device_key, low, high))


def _condition(resolution: Resolution, condition: Condition) -> Query:
    text = f"{value(resolution, condition.column)} {condition.operator} ?"
    return Query(text, (float(condition.value),))


def matching(device_key: int, resolution: Resolution, span: Span, where: Where) -> Query:
    conditions = (_condition(resolution, condition) for condition in where)
    return both(between(device_key, *closed(span)), *conditions)


# --- Counts --------------------------------------------------------------------------------------


def count_matching(
    device_key: int, resolution: Resolution, span: Span, where: Where, at_most: int | None
) -> Query:
    """Count by looking at the rows, no further than the ``at_most``-th."""
    rows = matching(device_key, resolution, span, where)
    if at_most is None:
        return Query(f"SELECT COUNT(*) FROM {resolution.table} WHERE {rows.sql}", rows.params)
    return Query(
        f"SELECT COUNT(*) FROM (SELECT 1 FROM {resolution.table} WHERE {rows.sql} LIMIT ?) AS s",
        (*rows.params, at_most),
    )


def whole_hours(span: Closed) -> Closed:
    """First and last start of the hours that lie in the span entirely."""
    return Closed(ceil_to(span.low, HOUR_MS), floor_to(span.high + 1, HOUR_MS) - HOUR_MS)


def edges(span: Closed, whole: Closed) -> list[Closed]:
    """What is left of the span on both sides of its whole hours, where not empty."""
    if whole.low > whole.high:
        return [span]
    sides = (Closed(span.low, whole.low - 1), Closed(whole.high + HOUR_MS, span.high))
    return [side for side in sides if side.low <= side.high]


def count_by_hours(
    device_key: int, resolution: Resolution, span: Span, at_most: int | None
) -> Query:
    """Count by the hour counters and two edges. With ``at_most`` that many hours suffice, since
    an hour that is there holds a row of each resolution."""
    bounds = closed(span)
    if resolution is COARSEST_STORED:
        whole, sides, counted = bounds, list[Closed](), "1"
    else:
        whole = whole_hours(bounds)
        sides, counted = edges(bounds, whole), counter(resolution)
    parts = [_edge(device_key, resolution, side) for side in sides]
    if whole.low <= whole.high:
        parts.append(_hours(device_key, counted, whole, at_most))
    union = both(*parts, between=" UNION ALL ")
    return Query(
        f"SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM ({union.sql}) AS parts", union.params
    )


def _edge(device_key: int, resolution: Resolution, side: Closed) -> Query:
    rows = between(device_key, *side)
    return Query(f"SELECT COUNT(*) AS n FROM {resolution.table} WHERE {rows.sql}", rows.params)


def _hours(device_key: int, counted: str, whole: Closed, at_most: int | None) -> Query:
    rows = between(device_key, *whole)
    table = HOUR_COUNTER.name
    if at_most is None:
        return Query(f"SELECT SUM({counted}) AS n FROM {table} WHERE {rows.sql}", rows.params)
    return Query(
        f"SELECT SUM(n) AS n FROM"
        f" (SELECT {counted} AS n FROM {table} WHERE {rows.sql} LIMIT ?) AS s",
        (*rows.params, at_most),
    )


# --- Rows ----------------------------------------------------------------------------------------


def page(
    device_key: int, resolution: Resolution, span: Span, where: Where, limit: int, offset: int
) -> Query:
    rows = matching(device_key, resolution, span, where)
    return Query(
        f"SELECT {row_columns(resolution)} FROM {resolution.table} WHERE {rows.sql}"
        f" ORDER BY {_order(resolution)} LIMIT ? OFFSET ?",
        (*rows.params, limit, offset),
    )


def hours_before(device_key: int, resolution: Resolution, whole: Closed, skipped: int) -> Query:
    """(start, rows in the hours before it) of the hour in which the row after ``skipped`` lies."""
    rows = between(device_key, *whole)
    counted = counter(resolution)
    return Query(
        f"SELECT ts, before FROM (SELECT ts, {counted} AS n,"
        f" CAST(SUM({counted}) OVER (ORDER BY ts ROWS UNBOUNDED PRECEDING) AS BIGINT)"
        f" - {counted} AS before"
        f" FROM {HOUR_COUNTER.name} WHERE {rows.sql}) AS s"
        " WHERE before <= ? AND before + n > ? LIMIT 1",
        (*rows.params, skipped, skipped),
    )


def bounds(device_key: int, resolution: Resolution, span: Span, where: Where) -> Query:
    """(first, last) as two seeks, both null where no row matches."""
    rows = matching(device_key, resolution, span, where)

    def end(direction: str) -> str:
        return (
            f"(SELECT ts FROM {resolution.table} WHERE {rows.sql} ORDER BY ts{direction} LIMIT 1)"
        )

    return Query(f"SELECT {end('')}, {end(' DESC')}", rows.params * 2)


# --- Groups --------------------------------------------------------------------------------------


def pieces(
    dialect: Dialect,
    device_key: int,
    source: Resolution,
    ranges: Sequence[tuple[int, int]],
    where: Where,
) -> Query:
    """(low, first ts, last ts, *AGGREGATES) of each (low, high) range, high inclusive, that has
    a matching row. avg_flow_rate and the like are means of the rows' values."""
    conditions = both(*(_condition(source, c) for c in where)) if where else Query("1 = 1")
    return Query(
        f"SELECT r.low, MIN(ts), MAX(ts), {_grouped(source)}"
        f" FROM {dialect.relation(('low', 'high'))} AS r CROSS JOIN {source.table} AS s"
        f" WHERE s.device_id = ? AND s.ts >= r.low AND s.ts <= r.high AND {conditions.sql}"
        " GROUP BY r.low ORDER BY r.low",
        (*dialect.bind(ranges), device_key, *conditions.params),
    )


_SQL_FUNCTION = {"avg": "AVG", "min": "MIN", "max": "MAX", "total": "SUM"}


@cache
def _grouped(source: Resolution) -> str:
    return ", ".join(f"{_SQL_FUNCTION[a.function]}({value(source, a)})" for a in AGGREGATES)
