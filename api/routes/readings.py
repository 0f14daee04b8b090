"""Readings: datapoints at one resolution, at an adaptive resolution, and summaries of many
devices."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final
from zoneinfo import ZoneInfo

from api.catalog import COLUMNS_TYPE, DAY_MS, METRICS, PATH_PREFIX, TOTAL, Metric, Resolution
from api.domain.adaptive import adaptive
from api.domain.datapoints import DatapointsRequest, count_datapoints, datapoints
from api.domain.identify import identify
from api.domain.latest import Summary, latest
from api.openapi import Operation, ref
from api.params import AdaptiveQuery, DatapointsQuery, LatestQuery
from api.routes.endpoint import Call, Reply, Route
from api.routes.serialize import datapoint_object, instant, row_columns, row_objects
from api.store.base import Device, Row, Span, Store

MONTH_MS: Final = 31 * DAY_MS  # the longest bucket


def get_datapoints(call: Call[DatapointsQuery]) -> Reply:
    params = call.query
    device = identify(call.store, call.scope, call.identifier)
    datapoints_request = DatapointsRequest(
        params.resolution,
        Span(params.from_ms, params.to_ms),
        params.filter,
        params.timezone,
        params.limit,
        params.offset,
        METRICS if call.columns is None else call.columns,
    )
    if params.count:
        count = count_datapoints(call.store, device, datapoints_request)
        return Reply({"resolution": params.resolution.name, "count": count})
    rows = datapoints(call.store, device, datapoints_request)
    total = params.resolution is TOTAL
    envelope: dict[str, Any] = {
        "resolution": params.resolution.name,
        "timezone": _zone_name(params.timezone),
        "limit": 1 if total else params.limit,
        "offset": 0 if total else params.offset,
    }
    if call.columns is not None and rows:
        envelope |= _remarks(call.store, device, params.resolution, rows)
    return _with_rows(envelope, call.columns, params.resolution, rows, params.timezone)


def get_adaptive(call: Call[AdaptiveQuery]) -> Reply:
    params = call.query
    device = identify(call.store, call.scope, call.identifier)
    metrics = METRICS if call.columns is None else call.columns
    result = adaptive(
        call.store, device, params.from_ms, params.to_ms, params.max_datapoints, metrics
    )
    envelope = {
        "resolution": result.resolution.name,
        "count": result.count,
        "truncated": result.truncated,
        "timezone": _zone_name(params.timezone),
    }
    if call.columns is not None and result.rows:
        envelope |= _remarks(call.store, device, result.resolution, result.rows)
    return _with_rows(envelope, call.columns, result.resolution, result.rows, params.timezone)


def _remarks(
    store: Store, device: Device, resolution: Resolution, rows: Sequence[Row]
) -> dict[str, Any]:
    """Returns what the dashboard shows about rows and the interface's rows have no field for."""
    if resolution is TOTAL:
        return {}
    length_ms = MONTH_MS if resolution.calendar else resolution.length_ms or 0
    span = Span(rows[0][0], rows[-1][0] + length_ms)
    marks = store.chart_marks(device, resolution, span)._asdict()
    return {name: spans for name, spans in marks.items() if spans}


def get_latest(call: Call[LatestQuery]) -> Reply:
    params = call.query
    result = latest(
        call.store,
        call.scope,
        params.ids,
        from_ms=params.start_ms,
        to_ms=params.to_ms,
        uptime=params.uptime_resolution if "uptime" in params.metrics else None,
        quality="quality" in params.metrics,
        last=not params.metrics.isdisjoint({"lastSeen", "lastDatapoint"}),
    )
    return Reply(
        {
            "range": {"from": instant(params.start_ms), "to": instant(params.to_ms)},
            "qualityResolution": result.quality.name if result.quality else None,
            "uptimeResolution": result.uptime.name if result.uptime else None,
            "expectedBuckets": result.expected,
            "data": [
                _entry(summary, params.metrics, result.expected) for summary in result.entries
            ],
        }
    )


def _zone_name(zone: ZoneInfo | None) -> str | None:
    return zone.key if zone else None


def _with_rows(
    envelope: dict[str, Any],
    columns: Collection[Metric] | None,
    resolution: Resolution,
    rows: Sequence[Row],
    zone: ZoneInfo | None,
) -> Reply:
    if columns is not None:
        return Reply(envelope | {"columns": row_columns(resolution, rows, columns)}, COLUMNS_TYPE)
    return Reply(envelope | {"data": row_objects(resolution, rows, zone)})


def _entry(summary: Summary, metrics: frozenset[str], expected: int) -> dict[str, Any]:
    """Returns a LatestEntry with only the requested metrics."""
    device, result = summary
    values = {
        "lastSeen": result.last and instant(result.last[0]),
        "uptime": {"actual": result.observed, "expected": expected},
        "quality": {"min": result.quality_min, "max": result.quality_max},
        "lastDatapoint": result.last and datapoint_object(result.last),
    }
    return {
        "deviceId": device.id,
        "serialNumber": device.serial_number,
        "networkUniqueIdentifier": device.network_unique_identifier,
        **{metric: value for metric, value in values.items() if metric in metrics},
    }


FLOW_ROUTES = (
    Route(
        Operation(
            id="getDatapoints",
            path=f"{PATH_PREFIX}/flow/datapoints/{{id}}",
            tag="flow",
            summary="Readings, rollups or totals of one device",
            answer=ref("DatapointsResponse"),
            query=DatapointsQuery,
            of_device=True,
        ),
        get_datapoints,
    ),
    Route(
        Operation(
            id="getAdaptive",
            path=f"{PATH_PREFIX}/flow/adaptive/{{id}}",
            tag="flow",
            summary="One device at the finest resolution that fits maxDatapoints",
            answer=ref("AdaptiveResponse"),
            query=AdaptiveQuery,
            of_device=True,
        ),
        get_adaptive,
    ),
    Route(
        Operation(
            id="getLatest",
            path=f"{PATH_PREFIX}/flow/latest",
            tag="flow",
            summary="Uptime, last reading and quality of up to 50 devices",
            answer=ref("LatestResponse"),
            query=LatestQuery,
        ),
        get_latest,
    ),
)
