"""The finest resolution whose rows fit a budget.

The interface's rule: go from coarse to fine and stop at the first resolution with more rows than
the budget; return the one before it. Where even the coarsest has more, return that one, capped.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol

from api import timez
from api.catalog import COARSEST_STORED, LADDER, METRICS, RAW, Metric, Resolution
from api.store.base import Device, Retention, Row, Span, TimeSeries


@dataclass(frozen=True, slots=True)
class Choice:
    """``count`` is the result of ``count_of`` for the chosen resolution."""

    resolution: Resolution
    count: int
    truncated: bool


@dataclass(frozen=True, slots=True)
class AdaptiveRows:
    """``count`` is the number of rows at the resolution in the whole range."""

    resolution: Resolution
    rows: list[Row]
    count: int
    truncated: bool


class Series(TimeSeries, Retention, Protocol):
    """Readings in the store."""


def choose(count_of: Callable[[Resolution], int], budget: int) -> Choice:
    """Chooses a resolution. Goes from coarse to fine and stops at the first one that exceeds the
    budget.

    Coarse to fine: a wide range is refused after one cheap count, not after counting raw rows.
    ``count_of`` only needs to be exact up to the budget.
    """
    chosen: Choice | None = None
    for resolution in LADDER:
        count = count_of(resolution)
        if count > budget:
            return chosen or Choice(resolution, count, truncated=True)
        chosen = Choice(resolution, count, truncated=False)
    assert chosen is not None  # the ladder isn't empty
    return chosen


def at_most_rows(resolution: Resolution, from_ms: int, to_ms: int) -> float:
    """Returns the largest possible number of rows in the range: its bucket starts. Raw rows have no
    such bound."""
    if resolution.length_ms is None:
        return float("inf")
    return timez.bucket_starts(from_ms, to_ms, resolution.length_ms)


def adaptive(
    series: Series,
    device: Device,
    from_ms: int,
    to_ms: int,
    budget: int,
    metrics: Collection[Metric] = METRICS,
) -> AdaptiveRows:
    """Returns the rows of [from, to] at the finest resolution that has at most ``budget`` of
    them."""
    span = Span(from_ms, to_ms)

    def count_of(resolution: Resolution) -> int:
        if resolution is RAW and not series.has_raw(device, span):
            return budget + 1  # a few remaining raw rows would look like all of them
        bound = at_most_rows(resolution, from_ms, to_ms)
        if bound <= budget:  # it fits whatever the data is: nothing needs counting
            return int(bound)
        return series.count(device, resolution, span, at_most=budget + 1)

    choice = choose(count_of, budget)
    rows = series.rows(device, choice.resolution, span, limit=budget, metrics=metrics)
    count = series.count(device, COARSEST_STORED, span) if choice.truncated else len(rows)
    return AdaptiveRows(choice.resolution, rows, count, choice.truncated)
