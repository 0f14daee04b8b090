"""The lines and uptime strips of a page of devices: rows of flow, and cells of uptime."""

from __future__ import annotations

from collections.abc import Sequence

from api.catalog import COARSEST_STORED, FLOW_RATE, STORED, Aggregate, Resolution
from api.store.query import Query, marks
from api.store.sql.arithmetic import Arithmetic
from api.store.sql.series import value
from api.store.tables import HOUR_COUNTER, counter


def flow_rows(
    keys: Sequence[int], resolution: Resolution, low: int, high: int, arithmetic: Arithmetic
) -> Query:
    """Returns (device, bucket start, mean, lowest, highest rate), ascending."""
    values = [
        value(resolution, Aggregate(end, FLOW_RATE), arithmetic) for end in ("avg", "min", "max")
    ]
    return Query(
        f"SELECT device_id, ts, {', '.join(values)} FROM {resolution.table}"
        f" WHERE device_id IN ({marks(len(keys))}) AND ts >= ? AND ts < ? ORDER BY device_id, ts",
        (*keys, low, high),
    )


def cell_counts(
    keys: Sequence[int], counted: Resolution, cell_ms: int, low: int, high: int
) -> Query:
    """Returns (device, index of the cell from ``low`` on, buckets with a reading), from the
    coarsest rows that fit a cell and count the finer ones."""
    fits = (r for r in reversed(STORED) if cell_ms % r.fixed_ms == 0)
    source = next((r for r in fits if r.fixed_ms > counted.fixed_ms), counted)
    each = "1" if source is counted else counter(counted)
    table = HOUR_COUNTER.name if source is COARSEST_STORED else source.table
    return Query(
        f"SELECT device_id, (ts - ?) / ?, SUM({each}) FROM {table}"
        f" WHERE device_id IN ({marks(len(keys))}) AND ts >= ? AND ts < ? GROUP BY 1, 2",
        (low, cell_ms, *keys, low, high),
    )
