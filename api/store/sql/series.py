"""Reads of one device's rows: counts, pages, bounds and groups."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Final, NamedTuple

from api.catalog import (
    AGGREGATES,
    COARSEST_STORED,
    RAW,
    Aggregate,
    Metric,
    Resolution,
)
from api.store.base import Condition, Span, Where
from api.store.query import Dialect, Query, both
from api.store.sql.arithmetic import PLAIN, Arithmetic
from api.store.tables import HOUR_COUNTER, REGISTER, UNDATED, counter
from api.timez import FIRST_INSTANT_MS, LAST_INSTANT_MS, ceil_to, floor_to


class Closed(NamedTuple):
    """Inclusive bounds, both given; empty if low > high."""

    low: int
    high: int


def closed(span: Span) -> Closed:
    return Closed(
        FIRST_INSTANT_MS if span.from_ms is None else span.from_ms,
        LAST_INSTANT_MS if span.to_ms is None else span.to_ms,
    )


# --- Columns -------------------------------------------------------------------------------------


def value(
    resolution: Resolution, column: Metric | Aggregate, arithmetic: Arithmetic = PLAIN
) -> str:
    """Returns the final value of a column over the rows of a raw or stored resolution."""
    if resolution is RAW:
        return column.metric.name if isinstance(column, Aggregate) else column.name
    if isinstance(column, Metric):
        raise ValueError(f"{column.name} is a raw column; {resolution.name} has aggregates")
    name = column.metric.name
    if column.function == "avg":
        # Null where the sum is null: there is no value to divide.
        return arithmetic.quotient(f"{name}_sum", f"{name}_n")
    if column.function == "total":
        return f"{name}_sum"
    return f"COALESCE({name}_{column.function}, {name}_sum)"


@cache
def row_columns(
    resolution: Resolution, metrics: frozenset[Metric], arithmetic: Arithmetic = PLAIN
) -> str:
    columns = resolution.values(metrics)
    return ", ".join(("ts", *(value(resolution, column, arithmetic) for column in columns)))


def _order(resolution: Resolution, direction: str = "") -> str:
    return f"ts{direction}, seq{direction}" if resolution is RAW else f"ts{direction}"


# --- Which rows ----------------------------------------------------------------------------------


def between(device_key: int, low: int, high: int) -> Query:
    return Query("device_id = ? AND ts >= ? AND ts <= ?", (device_key, low, high))


def _condition(resolution: Resolution, condition: Condition, arithmetic: Arithmetic) -> Query:
    text = f"{value(resolution, condition.column, arithmetic)} {condition.operator} ?"
    return Query(text, (float(condition.value),))


def matching(
    device_key: int,
    resolution: Resolution,
    span: Span,
    where: Where,
    arithmetic: Arithmetic = PLAIN,
) -> Query:
    conditions = (_condition(resolution, condition, arithmetic) for condition in where)
    return both(between(device_key, *closed(span)), *conditions)


def undated(device_key: int, span: Span) -> Query:
    rows = between(device_key, *closed(span))
    return Query(f"SELECT ts FROM {UNDATED.name} WHERE {rows.sql} ORDER BY ts", rows.params)


def has_marks(device_key: int, span: Span) -> Query:
    """Returns (whether the span has undated readings, whether the device has registers)."""
    return Query(_HAS_MARKS, (device_key, *closed(span), device_key))


_HAS_MARKS: Final = (
    f"SELECT EXISTS (SELECT 1 FROM {UNDATED.name} WHERE {between(0, 0, 0).sql}),"
    f" EXISTS (SELECT 1 FROM {REGISTER.name} WHERE device_id = ?)"
)


# --- Counts --------------------------------------------------------------------------------------


def count_matching(
    device_key: int,
    resolution: Resolution,
    span: Span,
    where: Where,
    at_most: int | None,
    arithmetic: Arithmetic = PLAIN,
) -> Query:
    """Counts by reading the rows, no further than the ``at_most``-th."""
    rows = matching(device_key, resolution, span, where, arithmetic)
    if at_most is None:
        return Query(f"SELECT COUNT(*) FROM {resolution.table} WHERE {rows.sql}", rows.params)
    return Query(
        f"SELECT COUNT(*) FROM (SELECT 1 FROM {resolution.table} WHERE {rows.sql} LIMIT ?) AS s",
        (*rows.params, at_most),
    )


class Part(NamedTuple):
    """Bucket starts (raw: instants) of one resolution that make up a part of a span."""

    resolution: Resolution
    starts: Closed


def whole_buckets(span: Closed, length_ms: int) -> Closed:
    """Returns the first and last start of the buckets that lie entirely in the span."""
    return Closed(ceil_to(span.low, length_ms), floor_to(span.high + 1, length_ms) - length_ms)


def cover(span: Closed, ladder: Sequence[Resolution]) -> list[Part]:
    """Splits the span into disjoint parts: whole buckets of the first resolution, and what is left
    on both sides by the next ones. The last resolution takes all that is left, by its starts."""
    resolution, *finer = ladder
    if span.low > span.high:
        return []
    if not finer:
        return [Part(resolution, span)]
    length = resolution.fixed_ms
    whole = whole_buckets(span, length)
    if whole.low > whole.high:
        return cover(span, finer)
    return [
        *cover(Closed(span.low, whole.low - 1), finer),
        Part(resolution, whole),
        *cover(Closed(whole.high + length, span.high), finer),
    ]


def hours_and_edges(span: Closed, resolution: Resolution) -> list[Part]:
    """Returns how to count a resolution's rows: by hour counters, and at the edges by its own
    rows."""
    if resolution is COARSEST_STORED:  # the hour counters have one row for each of its rows
        return [Part(COARSEST_STORED, span)] if span.low <= span.high else []
    return cover(span, (COARSEST_STORED, resolution))


def counted(part: Part, resolution: Resolution) -> tuple[str, str]:
    """Returns (table, expression) that counts the rows of ``resolution`` in such a part."""
    if part.resolution is not COARSEST_STORED:
        return part.resolution.table, "COUNT(*)"
    if resolution is COARSEST_STORED:
        return HOUR_COUNTER.name, "COUNT(*)"
    return HOUR_COUNTER.name, f"SUM({counter(resolution)})"


def count_by_hours(
    device_key: int, resolution: Resolution, span: Span, at_most: int | None
) -> Query | None:
    """Counts by the hour counters and two edges; None where the span is empty. With ``at_most``,
    reading that many hours is enough, since each stored hour holds at least one row of each
    resolution."""
    parts = [
        _count_part(device_key, part, resolution, at_most)
        for part in hours_and_edges(closed(span), resolution)
    ]
    if not parts:
        return None
    union = both(*parts, between=" UNION ALL ")
    return Query(
        f"SELECT CAST(COALESCE(SUM(n), 0) AS BIGINT) FROM ({union.sql}) AS parts", union.params
    )


def _count_part(device_key: int, part: Part, resolution: Resolution, at_most: int | None) -> Query:
    table, expression = counted(part, resolution)
    rows = between(device_key, *part.starts)
    if table != HOUR_COUNTER.name or at_most is None:
        return Query(f"SELECT {expression} AS n FROM {table} WHERE {rows.sql}", rows.params)
    return Query(
        f"SELECT {expression} AS n FROM (SELECT * FROM {table} WHERE {rows.sql} LIMIT ?) AS s",
        (*rows.params, at_most),
    )


# --- Rows ----------------------------------------------------------------------------------------


def page(
    device_key: int,
    resolution: Resolution,
    columns: str,
    span: Span,
    where: Where,
    limit: int,
    offset: int,
    arithmetic: Arithmetic = PLAIN,
) -> Query:
    rows = matching(device_key, resolution, span, where, arithmetic)
    return Query(
        f"SELECT {columns} FROM {resolution.table} WHERE {rows.sql}"
        f" ORDER BY {_order(resolution)} LIMIT ? OFFSET ?",
        (*rows.params, limit, offset),
    )


def landing_hour(device_key: int, resolution: Resolution, hours: Closed, skipped: int) -> Query:
    """Returns (start, rows in these hours before it) of the hour that holds the row after
    ``skipped``."""
    rows = between(device_key, *hours)
    n = counter(resolution)
    return Query(
        f"SELECT ts, before FROM (SELECT ts, {n} AS n,"
        f" CAST(SUM({n}) OVER (ORDER BY ts ROWS UNBOUNDED PRECEDING) AS BIGINT) - {n} AS before"
        f" FROM {HOUR_COUNTER.name} WHERE {rows.sql}) AS s"
        " WHERE before <= ? AND before + n > ? LIMIT 1",
        (*rows.params, skipped, skipped),
    )


def bounds(
    device_key: int,
    resolution: Resolution,
    span: Span,
    where: Where,
    arithmetic: Arithmetic = PLAIN,
) -> Query:
    """Returns (first, last) by two seeks, both null where no row matches."""
    rows = matching(device_key, resolution, span, where, arithmetic)

    def end(direction: str) -> str:
        return (
            f"(SELECT ts FROM {resolution.table} WHERE {rows.sql} ORDER BY ts{direction} LIMIT 1)"
        )

    return Query(f"SELECT {end('')}, {end(' DESC')}", rows.params * 2)


# --- Aggregates over ranges of time --------------------------------------------------------------


class Grouped(NamedTuple):
    """Aggregates of one device's rows, taken over one or many ranges (low, high) of time, ``high``
    inclusive: (low, *aggregates) of each range that holds a row."""

    device_key: int
    table: str
    aggregates: str
    conditions: tuple[Query, ...] = ()


Ranges = Sequence[tuple[int, int]]


def over_one(grouped: Grouped, low: int, high: int) -> Query:
    rows = both(between(grouped.device_key, low, high), *grouped.conditions)
    return Query(
        f"SELECT CAST(? AS BIGINT), {grouped.aggregates} FROM {grouped.table}"
        f" WHERE {rows.sql} HAVING COUNT(*) > 0",
        (low, *rows.params),
    )


def over_all(dialect: Dialect, grouped: Grouped, ranges: Ranges) -> Query:
    mine = Query("device_id = ? AND ts >= r.low AND ts <= r.high", (grouped.device_key,))
    rows = both(mine, *grouped.conditions)
    return Query(
        f"SELECT r.low, {grouped.aggregates}"
        f" FROM {dialect.relation(('low', 'high'))} AS r CROSS JOIN {grouped.table}"
        f" WHERE {rows.sql} GROUP BY r.low ORDER BY r.low",
        (*dialect.bind(ranges), *rows.params),
    )


@cache
def _all_aggregates(source: Resolution, arithmetic: Arithmetic) -> str:
    parts = (_aggregate(source, aggregate, arithmetic) for aggregate in AGGREGATES)
    return ", ".join(("MIN(ts)", "MAX(ts)", *parts))


def _aggregate(source: Resolution, aggregate: Aggregate, arithmetic: Arithmetic) -> str:
    term = value(source, aggregate, arithmetic)
    count = None if source is RAW else f"{aggregate.metric.name}_n"
    if aggregate.function == "avg":
        return arithmetic.mean(term, count)
    if aggregate.function == "total":
        return arithmetic.total(term, count)
    return f"{aggregate.function.upper()}({term})"


def pieces(
    device_key: int, source: Resolution, where: Where, arithmetic: Arithmetic = PLAIN
) -> Grouped:
    """Returns (low, first ts, last ts, *AGGREGATES), where avg_ is the mean of the rows' values."""
    conditions = tuple(_condition(source, condition, arithmetic) for condition in where)
    return Grouped(device_key, source.table, _all_aggregates(source, arithmetic), conditions)


def hourly_counts(device_key: int, resolution: Resolution) -> Grouped:
    """Returns (low, rows of the resolution in the range's whole hours)."""
    total = f"CAST(SUM({counter(resolution)}) AS BIGINT)"
    return Grouped(device_key, HOUR_COUNTER.name, total)


def counted_hours(device_key: int, hours: Closed) -> Query:
    """Returns (first, last) hour with readings, both null where there is none."""
    rows = between(device_key, *hours)
    select = f"SELECT ts FROM {HOUR_COUNTER.name} WHERE {rows.sql} ORDER BY ts"
    return Query(f"SELECT ({select} LIMIT 1), ({select} DESC LIMIT 1)", rows.params * 2)
