"""The readings behind a finding, as a series around it."""

from __future__ import annotations

from typing import Final, NamedTuple

from api.catalog import (
    COARSEST_STORED,
    DAY_MS,
    FLOW_AMOUNT,
    FLOW_RATE,
    HOUR_MS,
    MINUTE_MS,
    ONBOARD_TEMPERATURE,
    ONE_MINUTE,
    QUALITY,
    SIGNAL_STRENGTH,
    Aggregate,
    Resolution,
)
from api.store.base import Device, FindingRow, Span, Store
from api.timez import floor_to

LONGEST_MS: Final = 31 * DAY_MS
BEFORE_MS: Final = DAY_MS
AFTER_MS: Final = 6 * HOUR_MS
ROUND_MINUTES_MS: Final = HOUR_MS

_VOLUME: Final = Aggregate("total", FLOW_AMOUNT)
COLUMNS: Final = {
    "low-quality": Aggregate("avg", QUALITY),
    "weak-signal": Aggregate("avg", SIGNAL_STRENGTH),
    "frost": Aggregate("min", ONBOARD_TEMPERATURE),
}
_BY_MINUTE: Final = frozenset({"high-flow", "backwards"})


class Evidence(NamedTuple):
    """``rows``: (start of the bucket, value); buckets without a reading are missing."""

    resolution: Resolution
    column: Aggregate
    span: Span
    rows: list[tuple[int, float | None]]


def evidence(store: Store, device: Device, finding: FindingRow, now_ms: int) -> Evidence:
    """Returns the series from a day before a finding to six hours after it, at most 31 days; by the
    minute for findings that last minutes."""
    end_ms = now_ms if finding.end_ms is None else finding.end_ms
    if finding.kind in _BY_MINUTE and end_ms - finding.start_ms <= DAY_MS:
        low = floor_to(finding.start_ms, MINUTE_MS) - ROUND_MINUTES_MS
        span = Span(low, min(end_ms + ROUND_MINUTES_MS, now_ms))
        return _read(store, device, ONE_MINUTE, Aggregate("avg", FLOW_RATE), span)
    low = floor_to(finding.start_ms, HOUR_MS) - BEFORE_MS
    high = max(low, min(end_ms + AFTER_MS, now_ms, low + LONGEST_MS))
    return _read(
        store, device, COARSEST_STORED, COLUMNS.get(finding.kind, _VOLUME), Span(low, high)
    )


def _read(
    store: Store, device: Device, resolution: Resolution, column: Aggregate, span: Span
) -> Evidence:
    most = 1 + LONGEST_MS // HOUR_MS if resolution is COARSEST_STORED else 27 * 60
    metrics = (column.metric,)
    place = resolution.values(metrics).index(column) + 1
    rows = store.rows(device, resolution, span, limit=most, metrics=metrics)
    return Evidence(resolution, column, span, [(row[0], row[place]) for row in rows])
