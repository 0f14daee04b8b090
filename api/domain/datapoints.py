"""The rows of one device at one resolution, a page at a time."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from api.catalog import METRICS, TOTAL, Metric, Resolution
from api.domain.calendar import calendar_rows, total_row
from api.store.base import Device, Row, Span, TimeSeries, Where


@dataclass(frozen=True, slots=True)
class DatapointsQuestion:
    """``where`` selects rows; on day, month and total the source rows before they are regrouped.
    ``metrics``: only these values of each row."""

    resolution: Resolution
    span: Span
    where: Where = ()
    zone: ZoneInfo | None = None
    limit: int = 0
    offset: int = 0
    metrics: Collection[Metric] = METRICS


def count_datapoints(series: TimeSeries, device: Device, asked: DatapointsQuestion) -> int:
    """How many rows the question has, whatever its page."""
    if asked.resolution is TOTAL:
        return 1
    if asked.resolution.calendar:
        return len(_calendar(series, device, asked))
    return series.count(device, asked.resolution, asked.span, asked.where)


def datapoints(series: TimeSeries, device: Device, asked: DatapointsQuestion) -> list[Row]:
    """The page, ascending: (instant in ms, *values), for total the one row without an instant."""
    if asked.resolution is TOTAL:
        return _narrowed([total_row(series, device, asked.span, asked.where)], asked)
    if asked.resolution.calendar:
        page = slice(asked.offset, asked.offset + asked.limit)
        return _narrowed(_calendar(series, device, asked)[page], asked)
    return series.rows(
        device,
        asked.resolution,
        asked.span,
        asked.where,
        limit=asked.limit,
        offset=asked.offset,
        metrics=asked.metrics,
    )


def _narrowed(rows: list[Row], asked: DatapointsQuestion) -> list[Row]:
    """Regrouped rows are few and made whole; what wasn't asked for is left out afterwards."""
    if asked.metrics is METRICS:
        return rows
    wanted = asked.resolution.columns_of(asked.metrics)
    kept = [index for index, name in enumerate(asked.resolution.columns) if name in wanted]
    return [tuple(row[index] for index in kept) for row in rows]


def _calendar(series: TimeSeries, device: Device, asked: DatapointsQuestion) -> list[Row]:
    return calendar_rows(series, device, asked.resolution, asked.span, asked.where, asked.zone)
