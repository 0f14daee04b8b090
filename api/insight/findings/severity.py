"""How severe a finding is, what it costs a day, and how findings are ordered."""

from __future__ import annotations

from collections.abc import Mapping
from zoneinfo import ZoneInfo

from api.catalog import HOUR_MS
from api.insight.findings.model import Draft, Finding, Kind, Severity
from api.insight.findings.night_flow_step import KIND as NIGHT_FLOW_STEP


def severity_of(
    kind: Kind, draft: Draft, values: Mapping[str, float], cost: float | None, now_ms: int
) -> Severity:
    """``now_ms``: the end of the available data."""
    if kind.major(draft, values):
        return "critical"
    if kind.loss:
        end_ms = now_ms if draft.end_ms is None else draft.end_ms
        if end_ms - draft.start_ms >= values["critical_after"] * HOUR_MS:
            return "critical"
        if cost is not None and cost >= values["critical_cost"]:
            return "critical"
    return kind.severity


def finding_of(
    kind: Kind,
    draft: Draft,
    values: Mapping[str, float],
    price: float | None,
    tz: ZoneInfo,
    now_ms: int,
    usual_per_day: float,
) -> Finding:
    """``usual_per_day``: of the current day; a closed draft has its own."""
    per_day = kind.per_day(draft)
    cost = None if price is None or per_day is None else per_day * price
    return Finding(
        kind=kind.name,
        severity=severity_of(kind, draft, values, cost, now_ms),
        start_ms=draft.start_ms,
        end_ms=draft.end_ms,
        opened_ms=draft.opened_ms,
        value=draft.value,
        unit=kind.unit,
        usual=draft.usual,
        gallons=draft.gallons,
        cost_per_day=cost,
        words=kind.words(draft, tz),
        offers_new_normal=kind is NIGHT_FLOW_STEP and bool(draft.extra) and draft.end_ms is None,
        usual_per_day=usual_per_day if draft.usual_per_day is None else draft.usual_per_day,
    )
