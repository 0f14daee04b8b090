"""The one query behind `latest`, for up to 50 devices, and how its parts make the answer.

Each part of the union is grouped by device over the same keys and padded to one shape:
(device_id, part, a, b, ts, seq, values…).
"""

from __future__ import annotations

from collections.abc import Sequence

from api.catalog import COARSEST_STORED, HOUR_MS, METRICS, QUALITY, RAW, Aggregate, Resolution
from api.store.base import LatestFound, LatestQuestion, Row
from api.store.sql.query import Query, both, marks
from api.store.sql.series import Closed, closed, edges, value, whole_hours
from api.store.tables import HOUR_COUNTER, READING, counter

_UPTIME, _QUALITY, _LAST = range(3)
_NO_REAL = "CAST(NULL AS DOUBLE PRECISION)"
_NO_WHOLE = "CAST(NULL AS BIGINT)"
_NO_READING = ", ".join([_NO_WHOLE, _NO_WHOLE, *[_NO_REAL] * len(METRICS)])
_READING = ", ".join(f"s.{name}" for name in ("ts", "seq", *(m.name for m in METRICS)))


def latest(keys: Sequence[int], question: LatestQuestion) -> Query | None:
    """None where nothing is asked."""
    span = closed(question.span)
    parts: list[Query] = []
    if question.uptime is not None:
        parts += _uptime(keys, question.uptime, span)
    if question.quality is not None:
        parts.append(_quality(keys, question.quality, span))
    if question.last:
        parts.append(_last(keys, span))
    return both(*parts, between=" UNION ALL ") if parts and keys else None


def gathered(keys: Sequence[int], parts: Sequence[Row]) -> dict[int, LatestFound]:
    """The parts of the union as one answer a device."""
    found = {key: LatestFound() for key in keys}
    order: dict[int, tuple[int, int]] = {}
    for key, part, a, b, ts, seq, *values in parts:
        before = found[key]
        if part == _UPTIME:
            found[key] = before._replace(observed=before.observed + int(a))
        elif part == _QUALITY:
            found[key] = before._replace(quality_min=a, quality_max=b)
        elif (ts, seq) > order.get(key, (ts - 1, 0)):
            order[key] = ts, seq
            found[key] = before._replace(last=(ts, *values))
    return found


def _among(keys: Sequence[int], bounds: Closed) -> Query:
    return Query(f"device_id IN ({marks(len(keys))}) AND ts >= ? AND ts <= ?", (*keys, *bounds))


def _uptime(keys: Sequence[int], resolution: Resolution, span: Closed) -> list[Query]:
    if resolution is COARSEST_STORED:
        return [_observed(keys, HOUR_COUNTER.name, "COUNT(*)", span)]
    whole = whole_hours(span)
    parts = [_observed(keys, resolution.table, "COUNT(*)", side) for side in edges(span, whole)]
    if whole.low <= whole.high:
        total = f"SUM({counter(resolution)})"
        parts.append(_observed(keys, HOUR_COUNTER.name, total, whole))
    return parts


def _observed(keys: Sequence[int], table: str, counted: str, bounds: Closed) -> Query:
    rows = _among(keys, bounds)
    return Query(
        f"SELECT device_id, {_UPTIME} AS part, CAST({counted} AS DOUBLE PRECISION) AS a,"
        f" {_NO_REAL} AS b, {_NO_READING} FROM {table} WHERE {rows.sql} GROUP BY device_id",
        rows.params,
    )


def _quality(keys: Sequence[int], resolution: Resolution, span: Closed) -> Query:
    rows = _among(keys, span)
    low, high = (value(resolution, Aggregate(end, QUALITY)) for end in ("min", "max"))
    return Query(
        f"SELECT device_id, {_QUALITY}, MIN({low}), MAX({high}), {_NO_READING}"
        f" FROM {resolution.table} WHERE {rows.sql} GROUP BY device_id",
        rows.params,
    )


def _last(keys: Sequence[int], span: Closed) -> Query:
    """The last reading lies in the edge after the whole hours, or in the last whole hour that
    has any, or in the edge before them: these candidates, and the greatest instant of each."""
    whole = whole_hours(span)
    candidates = [_instants(keys, side) for side in edges(span, whole)]
    if whole.low <= whole.high:
        candidates.append(_instants_of_last_hour(keys, whole))
    union = both(*candidates, between=" UNION ALL ")
    return Query(
        f"SELECT s.device_id, {_LAST}, {_NO_REAL}, {_NO_REAL}, {_READING}"
        f" FROM (SELECT device_id, MAX(ts) AS ts FROM ({union.sql}) AS c GROUP BY device_id) AS m"
        f" CROSS JOIN {READING.name} AS s WHERE s.device_id = m.device_id AND s.ts = m.ts",
        union.params,
    )


def _instants(keys: Sequence[int], bounds: Closed) -> Query:
    rows = _among(keys, bounds)
    return Query(f"SELECT device_id, ts FROM {RAW.table} WHERE {rows.sql}", rows.params)


def _instants_of_last_hour(keys: Sequence[int], whole: Closed) -> Query:
    rows = _among(keys, whole)
    return Query(
        "SELECT s.device_id, s.ts"
        f" FROM (SELECT device_id, MAX(ts) AS hour FROM {HOUR_COUNTER.name}"
        f" WHERE {rows.sql} GROUP BY device_id) AS h CROSS JOIN {RAW.table} AS s"
        f" WHERE s.device_id = h.device_id AND s.ts >= h.hour AND s.ts < h.hour + {HOUR_MS}",
        rows.params,
    )
