"""The rows of one device at one resolution, a page at a time."""

from __future__ import annotations

from dataclasses import dataclass
from zoneinfo import ZoneInfo

from api.catalog import TOTAL, Resolution
from api.domain.calendar import calendar_rows, total_row
from api.store.base import Device, Row, Span, TimeSeries, Where


@dataclass(frozen=True, slots=True)
class DatapointsQuestion:
    """``where`` selects rows; on day, month and total the source rows before they are regrouped."""

    resolution: Resolution
    span: Span
    where: Where = ()
    zone: ZoneInfo | None = None
    limit: int = 0
    offset: int = 0


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
        return [total_row(series, device, asked.span, asked.where)]
    if asked.resolution.calendar:
        return _calendar(series, device, asked)[asked.offset : asked.offset + asked.limit]
    return series.rows(
        device, asked.resolution, asked.span, asked.where, limit=asked.limit, offset=asked.offset
    )


def _calendar(series: TimeSeries, device: Device, asked: DatapointsQuestion) -> list[Row]:
    return calendar_rows(series, device, asked.resolution, asked.span, asked.where, asked.zone)
