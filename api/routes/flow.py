"""Readings: datapoints at one resolution, at the one that fits, and the summary of many devices."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any
from zoneinfo import ZoneInfo

from api.catalog import COLUMNS_TYPE, METRICS, PATH_PREFIX, RAW, TOTAL, Metric, Resolution
from api.domain.adaptive import adaptive
from api.domain.datapoints import DatapointsQuestion, count_datapoints, datapoints
from api.domain.identify import identify
from api.domain.latest import Summary, latest
from api.openapi import Operation, ref
from api.params import AdaptiveQuery, DatapointsQuery, LatestQuery
from api.routes.endpoint import Call, Reply, Route
from api.routes.serialize import datapoint_object, instant, row_columns, row_objects
from api.store.base import Row, Span


def get_datapoints(call: Call[DatapointsQuery]) -> Reply:
    asked = call.query
    device = identify(call.store, call.scope, call.identifier)
    question = DatapointsQuestion(
        asked.resolution,
        Span(asked.from_ms, asked.to_ms),
        asked.filter,
        asked.timezone,
        asked.limit,
        asked.offset,
        METRICS if call.columns is None else call.columns,
    )
    if asked.count:
        count = count_datapoints(call.store, device, question)
        return Reply({"resolution": asked.resolution.name, "count": count})
    rows = datapoints(call.store, device, question)
    total = asked.resolution is TOTAL
    envelope: dict[str, Any] = {
        "resolution": asked.resolution.name,
        "timezone": _zone_name(asked.timezone),
        "limit": 1 if total else asked.limit,
        "offset": 0 if total else asked.offset,
    }
    if call.columns is not None and asked.resolution is RAW and rows:
        undated = call.store.undated(device, Span(rows[0][0], rows[-1][0]))
        if undated:  # for our own screens: no field of the interface's rows could say it
            envelope["undated"] = undated
    return _with_rows(envelope, call.columns, asked.resolution, rows, asked.timezone)


def get_adaptive(call: Call[AdaptiveQuery]) -> Reply:
    asked = call.query
    device = identify(call.store, call.scope, call.identifier)
    metrics = METRICS if call.columns is None else call.columns
    found = adaptive(call.store, device, asked.from_ms, asked.to_ms, asked.max_datapoints, metrics)
    envelope = {
        "resolution": found.resolution.name,
        "count": found.count,
        "truncated": found.truncated,
        "timezone": _zone_name(asked.timezone),
    }
    return _with_rows(envelope, call.columns, found.resolution, found.rows, asked.timezone)


def get_latest(call: Call[LatestQuery]) -> Reply:
    asked = call.query
    found = latest(
        call.store,
        call.scope,
        asked.ids,
        from_ms=asked.start_ms,
        to_ms=asked.to_ms,
        uptime=asked.uptime_resolution if "uptime" in asked.metrics else None,
        quality="quality" in asked.metrics,
        last=not asked.metrics.isdisjoint({"lastSeen", "lastDatapoint"}),
    )
    return Reply(
        {
            "range": {"from": instant(asked.start_ms), "to": instant(asked.to_ms)},
            "qualityResolution": found.quality.name if found.quality else None,
            "uptimeResolution": found.uptime.name if found.uptime else None,
            "expectedBuckets": found.expected,
            "data": [_entry(summary, asked.metrics, found.expected) for summary in found.entries],
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
    """A LatestEntry with the metrics asked for and no others."""
    device, found = summary
    shown = {
        "lastSeen": found.last and instant(found.last[0]),
        "uptime": {"actual": found.observed, "expected": expected},
        "quality": {"min": found.quality_min, "max": found.quality_max},
        "lastDatapoint": found.last and datapoint_object(found.last),
    }
    return {
        "deviceId": device.id,
        "serialNumber": device.serial_number,
        "networkUniqueIdentifier": device.network_unique_identifier,
        **{metric: value for metric, value in shown.items() if metric in metrics},
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
