"""Forecasts each device's month end in gallons and money; the writer process keeps it up to
date."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import date
from decimal import Decimal
from itertools import pairwise
from typing import Any, Final
from zoneinfo import ZoneInfo

from api.catalog import COARSEST_STORED, DAY_MS, HOUR_MS
from api.insight.expectations import MonthSoFar, forget_pools, month_of_device
from api.insight.tariffs import Prices, step_of
from api.metering.forecast import Interval
from api.metering.month_end import MonthEnd, month_of
from api.metering.tariff import Tariff
from api.store.base import Device, MonthEndRow, Store
from api.store.billing_tables import AMOUNTS
from api.timez import day_start, local_ordinal, zone_or_utc
from api.timez import now_ms as clock_ms

BATCH: Final = 50
FRESH_MS: Final = HOUR_MS
SHAPE_MS: Final = 28 * DAY_MS  # span that shows at which hours of a week water flows
Amounts = tuple[float | None, ...]


class MonthEnds:
    """Computes the month ends that are due. Several may run at once: they write the same rows."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def run(self, now_ms: int | None = None) -> int:
        """Computes some that are due. Returns how many."""
        now = clock_ms() if now_ms is None else now_ms
        keys = self._store.due_month_ends(now, BATCH)
        self._store.save_month_ends(rows_of(self._store, keys, now))
        return len(keys)

    def all_due(self, now_ms: int | None = None) -> int:
        made = 0
        while count := self.run(now_ms):
            made += count
        return made


def after_import(store: Store, keys: Sequence[int], now_ms: int) -> None:
    """Forecasts anew, with the history that was imported."""
    forget_pools(store)
    for start in range(0, len(keys), BATCH):
        store.save_month_ends(rows_of(store, keys[start : start + BATCH], now_ms))


def rows_of(store: Store, keys: Sequence[int], now_ms: int) -> list[MonthEndRow]:
    by_organization: defaultdict[str, list[Device]] = defaultdict(list)
    for device in store.devices_by_key(keys):
        by_organization[device.organization_id].append(device)
    rows: list[MonthEndRow] = []
    for organization_id, devices in by_organization.items():
        prices = Prices.read(store, organization_id)
        groups = prices.groups(store, devices)
        for device in devices:
            rows.append(row_of(store, device, prices, groups.get(device.key, ()), now_ms))
    return rows


def row_of(
    store: Store, device: Device, prices: Prices, groups: Sequence[str], as_of_ms: int
) -> MonthEndRow:
    """Forecasts from readings before ``as_of_ms`` only."""
    month = month_of_device(store, device, as_of_ms)
    amounts = _amounts(month)
    costs: Amounts = (None,) * len(AMOUNTS)
    tariff, flat = prices.tariff(device, groups), prices.flat(device)
    name = currency = ""
    if tariff is not None:
        costs = _costs(store, device, tariff, amounts, as_of_ms)
        name, currency = tariff.name, tariff.currency
    elif flat is not None:
        costs = tuple(None if each is None else flat.cost(each) for each in amounts)
        currency = flat.currency
    tz = zone_or_utc(device.time_zone)
    tomorrow = day_start(tz, local_ordinal(tz, as_of_ms) + 1)
    due_ms = min(as_of_ms + FRESH_MS, tomorrow)
    month_name = month.month.isoformat()[:7]
    values: list[Any] = [device.key, as_of_ms, due_ms, month_name, *amounts, *costs, currency, name]
    return MonthEndRow(*values)


def volume_of(row: MonthEndRow) -> MonthEnd | None:
    """Returns None where it is too early to say."""
    return _end(row.month, row[4:10])


def cost_of(row: MonthEndRow) -> MonthEnd | None:
    return _end(row.month, row[10:16])


def _end(month: str, amounts: Sequence[float | None]) -> MonthEnd | None:
    so_far, expected, *bounds = amounts
    if so_far is None or expected is None:
        return None
    present = [each for each in bounds if each is not None]
    interval = Interval(*present) if len(present) == len(Interval._fields) else None
    return MonthEnd(date.fromisoformat(f"{month}-01"), so_far, expected, interval)


def _amounts(month: MonthSoFar) -> Amounts:
    end = month.end
    expected = None if end is None else end.expected
    bounds = (None,) * 4 if end is None or end.interval is None else end.interval
    return (month.so_far, expected, *bounds)


# --- By a tariff ---------------------------------------------------------------------------------


def _costs(
    store: Store, device: Device, tariff: Tariff, amounts: Amounts, as_of_ms: int
) -> Amounts:
    """The remaining volume is distributed over the hours of the week at which water flowed in the
    last weeks."""
    tz = zone_or_utc(device.time_zone)
    today = local_ordinal(tz, as_of_ms)
    first, end = month_of(today)
    start_ms, end_ms = day_start(tz, first), day_start(tz, end)
    step = step_of(start_ms - SHAPE_MS, end_ms, tz)
    shape_ms = min(start_ms, as_of_ms - SHAPE_MS)
    rows = store.gallons([device.key], step, shape_ms, as_of_ms).get(device.key, [])
    month = [row for row in rows if row[0] >= start_ms]
    ahead = _ahead(rows, tz, as_of_ms, end_ms)
    so_far = amounts[0] or 0.0
    fixed = sum((tariff.fixed(day) for day in range(first, end)), Decimal(0))
    fixed_so_far = sum((tariff.fixed(day) for day in range(first, today + 1)), Decimal(0))

    def cost(total: float) -> Decimal:
        coming = [(at, share * (total - so_far)) for at, share in ahead]
        return tariff.charges([*month, *coming], tz).get(0, Decimal(0))

    if tariff.version(today) is None:
        return (None,) * len(amounts)
    return (
        float(cost(so_far) + fixed_so_far),
        *(None if each is None else float(cost(each) + fixed) for each in amounts[1:]),
    )


def _ahead(
    rows: Sequence[tuple[int, float | None]], tz: ZoneInfo, from_ms: int, to_ms: int
) -> list[tuple[int, float]]:
    """Returns (start of each remaining hour, its share of the remaining volume)."""
    usual: defaultdict[tuple[int, int], float] = defaultdict(float)
    for start_ms, gallons in rows:
        usual[_hour_of_week(tz, start_ms)] += max(0.0, gallons or 0.0)
    starts = _local_hours(tz, from_ms, to_ms)
    weights = [usual[_hour_of_week(tz, at)] for at in starts]
    whole = sum(weights)
    if not starts:
        return []
    if whole <= 0:
        return [(at, 1 / len(starts)) for at in starts]
    return [(at, weight / whole) for at, weight in zip(starts, weights, strict=True)]


def _local_hours(tz: ZoneInfo, from_ms: int, to_ms: int) -> list[int]:
    days = range(local_ordinal(tz, from_ms), local_ordinal(tz, to_ms - 1) + 2)
    starts = [
        at
        for low, high in pairwise(day_start(tz, day) for day in days)
        for at in range(low, high, COARSEST_STORED.fixed_ms)
    ]
    return [at for at in starts if from_ms <= at < to_ms]


def _hour_of_week(tz: ZoneInfo, at_ms: int) -> tuple[int, int]:
    ordinal = local_ordinal(tz, at_ms)
    return (ordinal - 1) % 7, (at_ms - day_start(tz, ordinal)) // HOUR_MS
