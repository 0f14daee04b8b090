"""Volumes of many devices, summed over ranges of time."""

from __future__ import annotations

from collections.abc import Sequence

from api.catalog import FLOW_AMOUNT, Aggregate, Resolution
from api.store.sql.arithmetic import Arithmetic
from api.store.sql.query import Dialect, Query, marks
from api.store.sql.series import Ranges, value

_TOTAL = Aggregate("total", FLOW_AMOUNT)


def volumes(
    dialect: Dialect,
    keys: Sequence[int],
    source: Resolution,
    ranges: Ranges,
    arithmetic: Arithmetic,
) -> Query:
    """(device, low, gallons, rows of ``source``) of each range (low, high) that holds a row."""
    total = arithmetic.total(value(source, _TOTAL, arithmetic), f"{FLOW_AMOUNT.name}_n")
    return Query(
        f"SELECT device_id, r.low, {total}, COUNT(*)"
        f" FROM {dialect.relation(('low', 'high'))} AS r CROSS JOIN {source.table}"
        f" WHERE device_id IN ({marks(len(keys))}) AND ts >= r.low AND ts <= r.high"
        " GROUP BY device_id, r.low",
        (*dialect.bind(ranges), *keys),
    )
