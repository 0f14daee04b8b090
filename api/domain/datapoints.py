"""The rows of one device at one resolution, page by page."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from api.catalog import METRICS, TOTAL, Metric, Resolution
from api.domain.calendar import calendar_rows, total_row
from api.store.base import Device, Row, Span, TimeSeries, Where


@dataclass(frozen=True, slots=True)
class DatapointsRequest:
    """``where`` filters rows: for day, month and total, the source rows before they are regrouped.
    ``metrics``: only these values of each row."""

    resolution: Resolution
    span: Span
    where: Where = ()
    zone: ZoneInfo | None = None
    limit: int = 0
    offset: int = 0
    metrics: Collection[Metric] = METRICS


def count_datapoints(series: TimeSeries, device: Device, request: DatapointsRequest) -> int:
    """Returns the number of rows that match, on all pages."""
    if request.resolution is TOTAL:
        return 1
    if request.resolution.calendar:
        return len(_calendar(series, device, request))
    return series.count(device, request.resolution, request.span, request.where)


def datapoints(series: TimeSeries, device: Device, request: DatapointsRequest) -> list[Row]:
    """Returns the page, ascending: (instant in ms, *values); for total, one row without an
    instant."""
    if request.resolution is TOTAL:
        return _narrowed([total_row(series, device, request.span, request.where)], request)
    if request.resolution.calendar:
        page = slice(request.offset, request.offset + request.limit)
        return _narrowed(_calendar(series, device, request)[page], request)
    return series.rows(
        device,
        request.resolution,
        request.span,
        request.where,
        limit=request.limit,
        offset=request.offset,
        metrics=request.metrics,
    )


def _narrowed(rows: list[Row], request: DatapointsRequest) -> list[Row]:
    """Drops the values that weren't requested. Regrouped rows are few, so they are computed
    whole."""
    if request.metrics is METRICS:
        return rows
    wanted = request.resolution.columns_of(request.metrics)
    indexes = [index for index, name in enumerate(request.resolution.columns) if name in wanted]
    return [tuple(row[index] for index in indexes) for row in rows]


def _calendar(series: TimeSeries, device: Device, request: DatapointsRequest) -> list[Row]:
    return calendar_rows(
        series, device, request.resolution, request.span, request.where, request.zone
    )
