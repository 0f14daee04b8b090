"""What is usual for one device and what is coming: reads its history and applies `api.metering`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import date
from math import inf, nan
from threading import Lock
from time import monotonic
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary
from zoneinfo import ZoneInfo

import numpy as np

from api.catalog import DAY, DAY_MS, FLOW_AMOUNT, HOUR_MS, RAW
from api.domain.datapoints import DatapointsRequest, datapoints
from api.insight.finding_dismissal import NEW_NORMAL
from api.insight.finding_inputs import holidays_of, steady, whole_hour
from api.insight.findings import KIND_BY_NAME
from api.insight.findings.driver import MASKS_MS
from api.insight.projected_cache import until_projected
from api.metering.cadence import UNKNOWN, Cadence, configured
from api.metering.forecast import READ_DAYS, ForecastHour, forecast
from api.metering.month_end import MonthEnd, Pool, Score, month_end, month_of, month_scores
from api.metering.profile import DAYS, Floats, Span
from api.metering.uptime import LEAST_COVERAGE
from api.metering.usual_band import UsualHour, usual_hours
from api.store import base
from api.store.base import Device, FindingRow, Scope, Store
from api.timez import day_start, floor_to, local_ordinal, zone_or_utc

POOL_DEVICES: Final = 60
POOL_DAYS: Final = 215  # seven finished months at most
POOLED_AGAIN_S: Final = 600.0  # after which too few errors are looked for again: imports go on

_pools: WeakKeyDictionary[Store, dict[tuple[str, int], tuple[Pool, float]]] = WeakKeyDictionary()
_pooling = Lock()


class History(NamedTuple):
    """``hours``: start in ms → gallons, with enough coverage. ``spans`` aren't used for
    training."""

    tz: ZoneInfo
    hours: dict[int, float]
    spans: tuple[Span, ...]
    holidays: frozenset[int]


def usual_of(
    store: Store, scope: Scope, device: Device, from_ms: int, to_ms: int
) -> list[UsualHour]:
    """Returns the usual hours that start from ``from_ms`` to ``to_ms``. What depends on readings is
    cached until the next one: a chart that is refreshed or panned requests the same hours."""
    to_ms = min(to_ms, floor_to(to_ms, HOUR_MS))  # readings of the current hour change nothing
    tz, status = zone_or_utc(device.time_zone), store.status_of(scope, device).status
    first = day_start(tz, local_ordinal(tz, from_ms) - DAYS)
    spans = untrained_spans(store.findings_of(device.key, first), to_ms + 1)
    holidays = holidays_of(store, device.organization_id)

    def load(_: Collection[int]) -> dict[int, list[UsualHour]]:
        hours = _volumes(store, scope, device, first, to_ms + 1).items()
        made = usual_hours(hours, from_ms, to_ms, tz, holidays=holidays, spans=spans)
        return {device.key: made}

    name = ("usual", to_ms - floor_to(from_ms, HOUR_MS))
    token = (device.updated_ms, from_ms, to_ms, spans, holidays)
    as_of = {device.key: None if status is None else status.as_of_ms}
    return until_projected(store, name, token, as_of, load)[device.key]


def forecast_of(
    store: Store, scope: Scope, device: Device, as_of_ms: int, count: int
) -> list[ForecastHour]:
    """Forecasts from readings before ``as_of_ms`` only."""
    tz = zone_or_utc(device.time_zone)
    first = day_start(tz, local_ordinal(tz, as_of_ms) - READ_DAYS)
    history = _history(store, scope, device, first, as_of_ms)
    return forecast(
        history.hours, as_of_ms, tz, count=count, holidays=history.holidays, spans=history.spans
    )


def _history(store: Store, scope: Scope, device: Device, from_ms: int, to_ms: int) -> History:
    findings = store.findings_of(device.key, from_ms)
    return History(
        zone_or_utc(device.time_zone),
        _volumes(store, scope, device, from_ms, to_ms),
        untrained_spans(findings, to_ms),
        holidays_of(store, device.organization_id),
    )


def _volumes(
    store: Store, scope: Scope, device: Device, from_ms: int, to_ms: int
) -> dict[int, float]:
    """Returns start in ms → gallons of the hours in [from_ms, to_ms) with enough coverage."""
    cadence = cadence_of(store, scope, device)
    counted, whole = whole_hour(cadence) or (RAW, 0.0)
    least, last = LEAST_COVERAGE * whole, to_ms - HOUR_MS
    rows = store.hour_volumes(device.key, counted, from_ms, to_ms)
    return {
        start: gallons
        for start, gallons, count in rows
        if count >= least and gallons is not None and start <= last
    }


def cadence_of(store: Store, scope: Scope, device: Device) -> Cadence:
    fixed = configured(device.reporting_interval_s)
    if fixed is not None:
        return steady(fixed)
    status = store.status_of(scope, device).status
    if status is None:
        return UNKNOWN
    return steady(Cadence(status.cadence_ms, event_driven=status.event_driven))


def untrained_spans(findings: Iterable[FindingRow], as_of_ms: int) -> tuple[Span, ...]:
    """Returns the spans of findings that aren't used for training, as of an instant: see
    `api.insight.findings.driver`."""
    spans: list[Span] = []
    for row in findings:
        if row.opened_ms >= as_of_ms or not KIND_BY_NAME[row.kind].masks:
            continue
        if row.judgement == NEW_NORMAL.name and (row.dismissed_ms or 0) <= as_of_ms:
            spans.append((row.start_ms - (DAYS + 2) * DAY_MS, row.start_ms))
            continue
        end = as_of_ms if row.end_ms is None else min(row.end_ms, as_of_ms)
        if end - row.opened_ms < MASKS_MS:
            spans.append((row.start_ms, end))
    return tuple(spans)


# --- The month's end -----------------------------------------------------------------------------


class MonthSoFar(NamedTuple):
    """``end`` None: too few days for a forecast."""

    month: date
    so_far: float
    end: MonthEnd | None


def month_of_device(store: Store, device: Device, as_of_ms: int) -> MonthSoFar:
    """Forecasts from readings before ``as_of_ms`` only."""
    tz = zone_or_utc(device.time_zone)
    today = local_ordinal(tz, as_of_ms)
    start, _ = month_of(today)
    first = min(start, today - DAYS)
    totals = _daily(store, device, first, today, as_of_ms)
    past, flowed = totals[:-1], float(np.nan_to_num(totals[-1]))
    holidays = holidays_of(store, device.organization_id)
    pool = _pool(store, device.organization_id, today, holidays)
    end = month_end(past, first, flowed, holidays, pool)
    so_far = float(np.nansum(totals[start - first :]))
    return MonthSoFar(date.fromordinal(start), so_far, end)


def _daily(store: Store, device: Device, first: int, last: int, to_ms: int) -> Floats:
    """Returns the gallons of the local days from ``first`` to ``last``, before ``to_ms``; NaN for
    none."""
    tz = zone_or_utc(device.time_zone)
    span = base.Span(day_start(tz, first), to_ms - 1)
    query = DatapointsRequest(DAY, span, (), tz, last - first + 2, 0, (FLOW_AMOUNT,))
    place = DAY.columns_of((FLOW_AMOUNT,)).index(f"total_{FLOW_AMOUNT.name}")
    by_day = {local_ordinal(tz, row[0]): row[place] for row in datapoints(store, device, query)}
    values = [by_day.get(day) for day in range(first, last + 1)]
    return np.array([nan if value is None else value for value in values], np.float64)


def _pool(store: Store, organization_id: str, today: int, holidays: frozenset[int]) -> Pool:
    """Returns the errors of month-end forecasts of this organization's meters, computed once a day
    per process from an evenly spaced sample of its devices; again where they were too few. They
    are ratios and reveal nothing about a single device."""
    with _pooling:
        cached = _pools.setdefault(store, {})
        key = (organization_id, today)
        pool, until_s = cached.get(key, (None, 0.0))
        if pool is None or monotonic() > until_s:
            keys = store.device_keys(organization_id)
            chosen = keys[:: max(1, len(keys) // POOL_DEVICES)][:POOL_DEVICES]
            pool = _pooled(store, store.devices_by_key(chosen), today, holidays)
            cached[key] = pool, inf if pool.usable else monotonic() + POOLED_AGAIN_S
            for old in [name for name in cached if name[1] < today - 2]:
                del cached[old]
        return pool


def forget_pools(store: Store) -> None:
    """Lets the errors of forecasts be computed anew, after a history was imported."""
    with _pooling:
        _pools.pop(store, None)


def _pooled(store: Store, devices: Sequence[Device], today: int, holidays: frozenset[int]) -> Pool:
    scores: list[Score] = []
    first = today - POOL_DAYS
    for device in devices:
        tz = zone_or_utc(device.time_zone)
        totals = _daily(store, device, first, today - 1, day_start(tz, today))
        scores += month_scores(totals, first, holidays)
    return Pool(scores)
