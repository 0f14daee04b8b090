"""Expected results, recounted from the readings in plain Python with exact sums."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from api.catalog import AGGREGATES, METRICS, RAW, Aggregate, Resolution
from api.store.base import ReadingRow, Span

Row = tuple[Any, ...]


def distinct(rows: Iterable[ReadingRow]) -> list[Row]:
    """(ts, values…) of one device's distinct readings, in order of time and of arrival."""
    return sorted((row[1:] for row in dict.fromkeys(rows)), key=lambda row: row[0])


def within(rows: Iterable[Row], span: Span) -> list[Row]:
    low = -math.inf if span.from_ms is None else span.from_ms
    high = math.inf if span.to_ms is None else span.to_ms
    return [row for row in rows if low <= row[0] <= high]


def values_of(rows: Sequence[Row], aggregate: Aggregate) -> list[float]:
    """The non-null values of the aggregate's metric."""
    index = 1 + METRICS.index(aggregate.metric)
    return [row[index] for row in rows if row[index] is not None]


def _aggregated(rows: Sequence[Row], aggregate: Aggregate) -> float | None:
    values = values_of(rows, aggregate)
    if not values:
        return None
    if aggregate.function == "avg":
        return math.fsum(values) / len(values)
    if aggregate.function == "total":
        return math.fsum(values)
    return min(values) if aggregate.function == "min" else max(values)


def rolled(rows: Iterable[Row], resolution: Resolution) -> list[Row]:
    """The rows of a resolution: (bucket start, *AGGREGATES), or the raw rows themselves."""
    if resolution is RAW:
        return list(rows)
    buckets: defaultdict[int, list[Row]] = defaultdict(list)
    for row in rows:
        buckets[row[0] // resolution.fixed_ms * resolution.fixed_ms].append(row)
    return [
        (start, *(_aggregated(buckets[start], aggregate) for aggregate in AGGREGATES))
        for start in sorted(buckets)
    ]


def column(resolution: Resolution, aggregate: Aggregate) -> int:
    """The index of the column that the aggregate is made from, in a row of the resolution."""
    return 1 + (
        METRICS.index(aggregate.metric) if resolution is RAW else AGGREGATES.index(aggregate)
    )


def piece(rows: Sequence[Row], resolution: Resolution) -> list[float | None]:
    """AGGREGATES over source rows: mean of avg_, min of min_, max of max_, sum of total_."""
    answer: list[float | None] = []
    for aggregate in AGGREGATES:
        index = column(resolution, aggregate)
        values = [row[index] for row in rows if row[index] is not None]
        if not values:
            answer.append(None)
        elif aggregate.function == "avg":
            answer.append(math.fsum(values) / len(values))
        elif aggregate.function == "total":
            answer.append(math.fsum(values))
        else:
            answer.append(min(values) if aggregate.function == "min" else max(values))
    return answer


def close(result: Any, wanted: Any, scale: float = 100.0) -> bool:
    """Equal except for the rounding of sums of numbers up to ``scale``."""
    if result is None or wanted is None:
        return result is wanted
    return math.isclose(result, wanted, rel_tol=1e-12, abs_tol=scale * 1e-12)


def assert_same_rows(results: Sequence[Row], wanted: Sequence[Row], scale: float = 100.0) -> None:
    """Asserts that rows are the same, floats except for rounding."""
    assert [row[0] for row in results] == [row[0] for row in wanted]
    for got, want in zip(results, wanted, strict=True):
        assert len(got) == len(want)
        assert all(close(g, w, scale) for g, w in zip(got, want, strict=True)), (got, want)
