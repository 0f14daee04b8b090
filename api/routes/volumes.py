"""Volumes of several devices or groups."""

from __future__ import annotations

from typing import Any, Final
from zoneinfo import ZoneInfo

from api.catalog import DAY, INSIGHT_PREFIX, Resolution
from api.errors import BadRequest, NotFound, ParameterProblem
from api.insight.volumes import (
    MOST_BUCKETS,
    MOST_DEVICES,
    MOST_ROWS,
    ItemVolumes,
    Members,
    members_of,
    rows_to_sum,
    volumes_of,
)
from api.openapi import Operation, ref
from api.params.volumes import VolumesQuery
from api.routes.endpoint import Call, Reply, Route
from api.routes.serialize import instant
from api.timez import bucket_starts, ceil_to, day_edges, month_edges, now_ms, zone_or_utc


def get_volumes(call: Call[VolumesQuery]) -> Reply:
    query = call.query
    _check_length(query)
    members = members_of(call.store, call.scope, query.items)
    if not members:
        raise NotFound("Device or group not found, or you don't have access.")
    tz = query.timezone or zone_or_utc(members[0].devices[0].time_zone)
    edges = _edges(query.resolution, tz, query.from_ms, query.to_ms)
    _check_size(members, edges)
    volumes = volumes_of(call.store, members, edges, now_ms()) if len(edges) > 1 else []
    return Reply(
        {
            "resolution": query.resolution.name,
            "timezone": tz.key,
            "starts": [instant(start) for start in edges[:-1]],
            "end": instant(edges[-1]) if edges else None,
            "data": [_object(each) for each in volumes],
        }
    )


def _object(each: ItemVolumes) -> dict[str, Any]:
    members = each.members
    only = members.devices[0] if members.item.kind == "device" else None
    return {
        "item": members.item.text,
        "kind": members.item.kind,
        "label": only.label if only else members.item.name,
        "deviceId": only.id if only else None,
        "serialNumber": only.serial_number if only else None,
        "devices": len(members.entries),
        "subMeters": members.sub_meters,
        "attributes": each.attributes,
        "volume": each.total,
        "coverage": each.coverage,
        "volumes": each.volumes,
    }


def _edges(resolution: Resolution, tz: ZoneInfo, from_ms: int, to_ms: int) -> list[int]:
    if resolution.length_ms is None:
        edges = (day_edges if resolution is DAY else month_edges)(tz, from_ms, to_ms)
        return [edge for edge in edges if edge >= from_ms]
    length = resolution.length_ms
    count = bucket_starts(from_ms, to_ms, length)
    first = ceil_to(from_ms, length)
    return [first + number * length for number in range(count + 1)] if count else []


def _check_length(query: VolumesQuery) -> None:
    """Runs before devices are listed. Days are at least 23 hours long."""
    length = query.resolution.length_ms or 23 * 3_600_000
    if (query.to_ms - query.from_ms) // length > MOST_BUCKETS:
        _refuse("resolution", f"holds more than {MOST_BUCKETS:,} buckets with from and to")


def _check_size(members: list[Members], edges: list[int]) -> None:
    if sum(len(each.entries) for each in members) > MOST_DEVICES:
        _refuse("item", f"are more than {MOST_DEVICES:,} devices together")
    if len(edges) > 1 and rows_to_sum(members, edges) > MOST_ROWS:
        _refuse(
            "from",
            "is too early for this number of devices: choose a shorter range or fewer devices",
        )


def _refuse(parameter: str, problem: str) -> None:
    raise BadRequest("", errors=(ParameterProblem(parameter, problem),))


VOLUME_ROUTES: Final = (
    Route(
        Operation(
            id="getVolumes",
            path=f"{INSIGHT_PREFIX}/volumes",
            tag="expectations",
            summary="Volumes of up to fifty devices or groups",
            answer=ref("Volumes"),
            query=VolumesQuery,
            named_in_query=True,
        ),
        get_volumes,
    ),
)
