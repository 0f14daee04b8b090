"""The single query of `latest`, for up to 50 devices, and the assembly of its rows.

Each part of the union is grouped by device over the same keys and padded to the same columns:
(device_id, part, a, b, ts, seq, values…).
"""

from __future__ import annotations

from collections.abc import Sequence

from api.catalog import COARSEST_STORED, METRICS, QUALITY, RAW, STORED, Aggregate, Resolution
from api.store.base import LatestQuery, LatestResult, Row
from api.store.query import Query, both, marks
from api.store.sql.series import Closed, Part, closed, counted, cover, hours_and_edges, value
from api.store.tables import HOUR_COUNTER, READING

_DESCENT = (COARSEST_STORED, STORED[-2], RAW)
_UPTIME, _QUALITY, _LAST = range(3)
_NO_REAL = "CAST(NULL AS DOUBLE PRECISION)"
_NO_WHOLE = "CAST(NULL AS BIGINT)"
_NO_READING = ", ".join([_NO_WHOLE, _NO_WHOLE, *[_NO_REAL] * len(METRICS)])
_READING = ", ".join(f"s.{name}" for name in ("ts", "seq", *(m.name for m in METRICS)))


def latest(keys: Sequence[int], query: LatestQuery) -> Query | None:
    """Returns the query; None if nothing is requested or the span is empty."""
    span = closed(query.span)
    parts: list[Query] = []
    if not keys or span.low > span.high:
        return None
    if query.uptime is not None:
        parts += _uptime(keys, query.uptime, span)
    if query.quality is not None:
        parts.append(_quality(keys, query.quality, span))
    if query.last:
        parts += _last(keys, span)
    if not parts:
        return None
    union = both(*parts, between=" UNION ALL ")
    # As a subquery, a cluster's workers answer the whole union in one round trip; without it, each
    # part takes one.
    return Query(f"SELECT * FROM ({union.sql}) AS parts", union.params)


def results_by_device(keys: Sequence[int], parts: Sequence[Row]) -> dict[int, LatestResult]:
    """Returns one result per device from the rows of the union."""
    observed = dict.fromkeys(keys, 0)
    quality: dict[int, tuple[float | None, float | None]] = {}
    last: dict[int, Row] = {}
    for row in parts:
        key, part = row[0], row[1]
        if part == _UPTIME:
            observed[key] += int(row[2])
        elif part == _QUALITY:
            quality[key] = row[2], row[3]
        elif key not in last or row[4:6] > last[key][4:6]:  # by instant, then by seq
            last[key] = row
    unknown = (None, None)
    return {
        key: LatestResult(
            observed[key],
            *quality.get(key, unknown),
            (last[key][4], *last[key][6:]) if key in last else None,
        )
        for key in keys
    }


def _among(keys: Sequence[int], bounds: Closed) -> Query:
    return Query(f"device_id IN ({marks(len(keys))}) AND ts >= ? AND ts <= ?", (*keys, *bounds))


def _uptime(keys: Sequence[int], resolution: Resolution, span: Closed) -> list[Query]:
    return [
        _observed(keys, *counted(part, resolution), part.starts)
        for part in hours_and_edges(span, resolution)
    ]


def _observed(keys: Sequence[int], table: str, count: str, bounds: Closed) -> Query:
    rows = _among(keys, bounds)
    return Query(
        f"SELECT device_id, {_UPTIME} AS part, CAST({count} AS DOUBLE PRECISION) AS a,"
        f" {_NO_REAL} AS b, {_NO_READING} FROM {table} WHERE {rows.sql} GROUP BY device_id",
        rows.params,
    )


def _quality(keys: Sequence[int], resolution: Resolution, span: Closed) -> Query:
    rows = _among(keys, span)
    low, high = (value(resolution, Aggregate(end, QUALITY)) for end in ("min", "max"))
    return Query(
        f"SELECT device_id, {_QUALITY} AS part, MIN({low}) AS a, MAX({high}) AS b, {_NO_READING}"
        f" FROM {resolution.table} WHERE {rows.sql} GROUP BY device_id",
        rows.params,
    )


def _last(keys: Sequence[int], span: Closed) -> list[Query]:
    """Returns the last reading of each device; all of them if several share its instant.

    The span is cut into whole hours, whole buckets of the next finer kinds at the edges, and
    instants. Each part gives its last piece that holds readings. The parts are disjoint, so the
    latest piece has both the greatest low end and the greatest high end, and its last instant is
    the result.
    """
    candidates = [_candidate(keys, part) for part in cover(span, _DESCENT)]
    if not candidates:
        return []
    union = both(*candidates, between=" UNION ALL ")
    where = (
        "SELECT device_id, MAX(low) AS low, MAX(high) AS high"
        f" FROM ({union.sql}) AS c GROUP BY device_id"
    )
    when = (
        f"SELECT w.device_id, MAX(s.ts) AS ts FROM ({where}) AS w CROSS JOIN {READING.name} AS s"
        " WHERE s.device_id = w.device_id AND s.ts >= w.low AND s.ts <= w.high"
        " GROUP BY w.device_id"
    )
    return [
        Query(
            f"SELECT s.device_id, {_LAST} AS part, {_NO_REAL} AS a, {_NO_REAL} AS b, {_READING}"
            f" FROM ({when}) AS l CROSS JOIN {READING.name} AS s"
            " WHERE s.device_id = l.device_id AND s.ts = l.ts",
            union.params,
        )
    ]


def _candidate(keys: Sequence[int], part: Part) -> Query:
    hourly = part.resolution is COARSEST_STORED
    table = HOUR_COUNTER.name if hourly else part.resolution.table
    rest = (part.resolution.length_ms or 1) - 1
    rows = _among(keys, part.starts)
    return Query(
        f"SELECT device_id, MAX(ts) AS low, MAX(ts) + {rest} AS high"
        f" FROM {table} WHERE {rows.sql} GROUP BY device_id",
        rows.params,
    )
