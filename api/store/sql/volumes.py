"""Volumes of many devices, summed over ranges of time."""

from __future__ import annotations

from collections.abc import Sequence

from api.catalog import COARSEST_STORED, FLOW_AMOUNT, STORED, Aggregate, Resolution
from api.store.query import Dialect, Query, both, marks
from api.store.sql.arithmetic import Arithmetic
from api.store.sql.series import Closed, Ranges, between, cover, value

_LADDER = (COARSEST_STORED, STORED[0])
_TOTAL = Aggregate("total", FLOW_AMOUNT)


def volumes(
    dialect: Dialect,
    keys: Sequence[int],
    source: Resolution,
    ranges: Ranges,
    arithmetic: Arithmetic,
) -> Query:
    """Returns (device, low, gallons, rows of ``source``) of each range (low, high) that holds a
    row."""
    total = arithmetic.total(value(source, _TOTAL, arithmetic), f"{FLOW_AMOUNT.name}_n")
    return Query(
        f"SELECT device_id, r.low, {total}, COUNT(*)"
        f" FROM {dialect.relation(('low', 'high'))} AS r CROSS JOIN {source.table}"
        f" WHERE device_id IN ({marks(len(keys))}) AND ts >= r.low AND ts <= r.high"
        " GROUP BY device_id, r.low",
        (*dialect.bind(ranges), *keys),
    )


def over_spans(device_key: int, spans: Ranges, arithmetic: Arithmetic) -> Query | None:
    """Returns (gallons) of each part of these spans, bounds inclusive: whole hours, and minutes at
    both ends. None where the spans are empty."""
    total = arithmetic.total(value(STORED[0], _TOTAL, arithmetic), f"{FLOW_AMOUNT.name}_n")
    parts = [
        Query(f"SELECT {total} FROM {part.resolution.table} WHERE {rows.sql}", rows.params)
        for low, high in spans
        for part in cover(Closed(low, high), _LADDER)
        if (rows := between(device_key, *part.starts))
    ]
    return both(*parts, between=" UNION ALL ") if parts else None
