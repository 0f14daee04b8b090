"""Days, months and totals: stored rows regrouped, and the minutes that they cover.

avg_flow_rate of a regrouped row is its total divided by the minutes of all source buckets that
start in the range, with readings or without. An open side of the range ends at the first or last
bucket that matched. The other values come from the store unchanged.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby, pairwise
from typing import Final
from zoneinfo import ZoneInfo

from api import timez
from api.catalog import (
    AGGREGATE_COLUMNS,
    AGGREGATES,
    COARSEST_STORED,
    DAY,
    FLOW_AMOUNT,
    FLOW_RATE,
    MINUTE_MS,
    ONE_MINUTE,
    RAW,
    STORED,
    Aggregate,
    Resolution,
)
from api.store.base import Device, Piece, Row, Span, TimeSeries, Where

_AVG_RATE: Final = AGGREGATES.index(Aggregate("avg", FLOW_RATE))
_TOTAL: Final = AGGREGATES.index(Aggregate("total", FLOW_AMOUNT))
_NOTHING: Final[Row] = (None,) * len(AGGREGATE_COLUMNS)
_UTC: Final = timez.zone("UTC")


def calendar_rows(
    series: TimeSeries,
    device: Device,
    resolution: Resolution,
    span: Span,
    where: Where,
    zone: ZoneInfo | None,
) -> list[Row]:
    """Returns (first instant of the local day or month in ms, *AGGREGATES) for each one that has
    rows."""
    edges = _edges(series, device, resolution, span, zone or _UTC)
    ends = dict(pairwise(edges))
    runs = groupby(ends.items(), lambda bucket: timez.source_of(*bucket))
    sourced = [
        (source, piece)
        for source, buckets in runs
        for piece in series.pieces(device, source, span, _joined(buckets), where)
    ]
    reach = _closed(span, [piece for _, piece in sourced])
    return [
        (piece.start_ms, *_with_rate(piece, source, _within(reach, piece, ends[piece.start_ms])))
        for source, piece in sourced
    ]


def _joined(buckets: Iterable[tuple[int, int]]) -> list[int]:
    """Returns the edges of adjacent buckets."""
    starts, ends = zip(*buckets, strict=True)
    return [*starts, ends[-1]]


def _edges(
    series: TimeSeries, device: Device, resolution: Resolution, span: Span, zone: ZoneInfo
) -> list[int]:
    """Returns the local edges around the device's rows; none where it has no rows.

    Rows are searched up to one bucket beyond ``to``: a bucket belongs to the range by its start,
    and all of its readings may lie after ``to``.
    """
    to_ms = None if span.to_ms is None else span.to_ms + COARSEST_STORED.fixed_ms
    bounds = series.bounds(device, ONE_MINUTE, Span(span.from_ms, to_ms))
    if bounds is None:
        return []
    first, last = bounds if span.to_ms is None else (min(end, span.to_ms) for end in bounds)
    cut = timez.day_edges if resolution is DAY else timez.month_edges
    return cut(zone, first, last)


def _closed(span: Span, pieces: list[Piece]) -> tuple[int, int]:
    """Closes the range's open sides at the first and last row that matched."""
    if not pieces:
        return 0, -1
    return (
        pieces[0].first_ms if span.from_ms is None else span.from_ms,
        pieces[-1].last_ms if span.to_ms is None else span.to_ms,
    )


def _within(reach: tuple[int, int], piece: Piece, next_edge_ms: int) -> tuple[int, int]:
    return max(reach[0], piece.start_ms), min(reach[1], next_edge_ms - 1)


def covered_minutes(source: Resolution, from_ms: int, to_ms: int) -> float:
    """Returns the minutes of the source buckets that start in the range; for raw rows, the length
    of the range."""
    if source is RAW:
        return max(0, to_ms - from_ms) / MINUTE_MS
    length = source.fixed_ms
    return timez.bucket_starts(from_ms, to_ms, length) * length / MINUTE_MS


def _with_rate(piece: Piece, source: Resolution, reach: tuple[int, int]) -> Row:
    """Inserts avg_flow_rate into the row's values: null without a total or with no minutes."""
    total, minutes = piece.values[_TOTAL], covered_minutes(source, *reach)
    rate = None if total is None or not minutes else total / minutes
    return (*piece.values[:_AVG_RATE], rate, *piece.values[_AVG_RATE + 1 :])


# --- One row for the whole range -----------------------------------------------------------------


def source_of_total(span: Span) -> Resolution:
    """Returns the coarsest rollup whose bucket fits the range: raw below a minute, 1hour for an
    open range."""
    if span.from_ms is None or span.to_ms is None:
        return COARSEST_STORED
    return coarsest_within(span.to_ms - span.from_ms)


def coarsest_within(duration_ms: int) -> Resolution:
    """Returns the coarsest rollup whose bucket is no longer than the duration, else raw."""
    fitting = (r for r in reversed(STORED) if r.fixed_ms <= duration_ms)
    return next(fitting, RAW)


def total_row(series: TimeSeries, device: Device, span: Span, where: Where) -> Row:
    """Returns the one row of AGGREGATES over the range. Without readings all values are null: no
    data is not zero flow."""
    source = source_of_total(span)
    low = timez.FIRST_INSTANT_MS if span.from_ms is None else span.from_ms
    high = timez.LAST_INSTANT_MS if span.to_ms is None else span.to_ms
    pieces = series.pieces(device, source, span, (low, high + 1), where)
    return _with_rate(pieces[0], source, _closed(span, pieces)) if pieces else _NOTHING
