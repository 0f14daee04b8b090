"""Queries of findings, balances, tariffs, comparisons and forecasts for the devices of a summary,
which only a Weir server has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from api.catalog import DAY
from api.client import Client, Finding, MonthEnd
from api.client.balance import Balance
from api.client.billing import DeviceCosts
from api.client.expectations import ItemVolumes
from api.errors import NotFound, NotOffered
from api.metering import uptime
from api.metering.cost import Price
from api.metering.uptime import comparable
from api.timez import day_start
from components.concurrent_queries import ONE_DEVICE_ERRORS, Deadline, ServiceAccess, batches
from components.usage.queries import PAGE_PATIENCE_S
from components.usage.sums import Day, DeviceUsage, counted
from components.usage.url_state import Dates, UsageView, months_before

MOST_FINDINGS: Final = 1_000
MOST_BALANCES: Final = 20


def findings_of(access: ServiceAccess, usages: Sequence[DeviceUsage]) -> tuple[Finding, ...]:
    """All findings that were open in these days, worst first; none from a server without
    findings."""
    days = [day for usage in usages if usage.days for day in (usage.days[0], usage.days[-1])]
    if not days:
        return ()
    first, last = min(d.start_ms for d in days), max(d.end_ms for d in days)
    try:
        return access.client.findings(
            states=("open", "closed"), from_ms=first, to_ms=last - 1, limit=MOST_FINDINGS
        ).findings
    except NotFound:
        return ()


def balances_of(
    access: ServiceAccess, usages: Sequence[DeviceUsage], now_ms: int
) -> tuple[Balance, ...]:
    """The balances of the mains with a sub-meter among the devices; none if the server isn't a Weir
    server. The current hour doesn't count."""
    nearest = {usage.meter.upstream[0] for usage in usages if usage.meter.upstream}
    mains = [each for each in usages if each.meter.serial in nearest and each.days]
    try:
        return tuple(
            access.client.balance(
                main.meter.id,
                from_ms=main.days[0].start_ms,
                to_ms=min(main.days[-1].end_ms - 1, now_ms),
            )
            for main in mains[:MOST_BALANCES]
        )
    except (NotFound, NotOffered):
        return ()


# --- By tariffs ----------------------------------------------------------------------------------


def with_tariffs(
    access: ServiceAccess, usages: Sequence[DeviceUsage], view: UsageView
) -> list[DeviceUsage]:
    """The usages, with the days' costs by tariff for devices that have one; unchanged if the server
    isn't a Weir server. One request for each fifty devices."""
    ids = [each.meter.id for each in usages if each.days]
    days = [day for each in usages if each.days for day in (each.days[0], each.days[-1])]
    if not ids:
        return list(usages)
    from_ms, to_ms = min(d.start_ms for d in days), max(d.end_ms for d in days) - 1
    costs: dict[str, DeviceCosts] = {}
    try:
        for some in batches(ids):
            costs |= access.client.costs(some, from_ms=from_ms, to_ms=to_ms, timezone=view.zone)
    except NotOffered:
        return list(usages)
    return [_charged(each, costs.get(each.meter.id)) for each in usages]


def _charged(usage: DeviceUsage, costs: DeviceCosts | None) -> DeviceUsage:
    if costs is None:
        return usage
    charges = {
        day.ordinal: costs.days[day.start_ms] for day in usage.days if day.start_ms in costs.days
    }
    gallons, total = usage.gallons or 0.0, sum(charges.values())
    mean = total / gallons if gallons > 0 else 0.0
    price = Price(mean, costs.currency, False, costs.tariff)
    return replace(usage, price=price, charges=charges)


# --- The same days before ------------------------------------------------------------------------


class Earlier(NamedTuple):
    """``gallons``: of ``dates``. ``now``: of the range's finished days. None: too few readings to
    compare."""

    dates: Dates
    gallons: float | None
    now: float | None


def earlier(access: ServiceAccess, usages: Sequence[DeviceUsage], months: int) -> Earlier | None:
    """The same days ``months`` earlier; None if no day is over, there were no readings then, or the
    service doesn't respond."""
    summed = [usage for usage in counted(usages) if usage.days and not usage.failure]
    over = [[day for day in usage.days if _is_over(day)] for usage in summed]
    if not summed or not all(over):
        return None
    last = min(days[-1].ordinal for days in over)
    dates = months_before(Dates(min(days[0].ordinal for days in over), last), months)
    whole_days = [day for days in over for day in days if day.ordinal <= last]
    key = (access.principal, "earlier", dates, tuple(sorted(each.meter.id for each in summed)))
    cached: Sequence[ItemVolumes] | None = access.cache.get(key)
    if cached is None:
        cached = _volumes_of(access, summed, dates)
        if cached is None:
            return None
        access.cache.put(key, cached)
    if all(each.gallons is None for each in cached):
        return None
    return _compared(dates, whole_days, cached)


def _is_over(day: Day) -> bool:
    return day.elapsed_ms >= day.end_ms - day.start_ms


def _volumes_of(
    access: ServiceAccess, usages: Sequence[DeviceUsage], dates: Dates
) -> list[ItemVolumes] | None:
    """One request for each fifty devices of a zone."""
    by_zone: defaultdict[ZoneInfo, list[str]] = defaultdict(list)
    for usage in usages:
        by_zone[usage.tz].append(f"device:{usage.meter.id}")
    jobs = [
        partial(
            access.client.volumes, items, DAY, from_ms=day_start(tz, dates.first),
            to_ms=day_start(tz, dates.last + 1) - 1, timezone=tz.key,
        )
        for tz, every in by_zone.items()
        for items in batches(every)
    ]  # fmt: skip
    try:
        pages = list(access.run_all(jobs, Deadline(PAGE_PATIENCE_S)))
    except (NotOffered, *ONE_DEVICE_ERRORS):
        return None
    return [each for part in pages for each in part.items] if len(pages) == len(jobs) else None


def _compared(dates: Dates, days: Sequence[Day], volumes: Sequence[ItemVolumes]) -> Earlier:
    observed, expected = sum(day.observed for day in days), sum(day.expected for day in days)
    coverages = [each.coverage for each in volumes]
    then = sum(coverages) / len(coverages) if coverages else 0.0
    if not comparable(uptime.share(observed, expected) or 0.0, then):
        return Earlier(dates, None, None)
    gallons = [each.gallons for each in volumes if each.gallons is not None]
    now = [day.gallons for day in days if day.gallons is not None]
    return Earlier(dates, sum(gallons) if gallons else None, sum(now) if now else None)


# --- The month's end ------------------------------------------------------------------------------

MOST_MONTHS: Final = 20  # devices; for more the page would take too long


def under_way(usage: DeviceUsage) -> bool:
    """Whether the last day of its range is today."""
    return bool(usage.days) and usage.days[-1].elapsed_ms < (
        usage.days[-1].end_ms - usage.days[-1].start_ms
    )


def month_end_of(client: Client, device_id: str) -> MonthEnd | None:
    """None if the server isn't a Weir server or has no forecast for this device."""
    try:
        return client.month_end(device_id)
    except (NotOffered, *ONE_DEVICE_ERRORS):
        return None


def month_ends(access: ServiceAccess, usages: Sequence[DeviceUsage]) -> list[MonthEnd]:
    """The forecasts of the devices whose days include today, if these are few; those that arrive in
    time."""
    ids = [usage.meter.id for usage in counted(usages) if under_way(usage)]
    if not ids or len(ids) > MOST_MONTHS:
        return []
    jobs = (partial(month_end_of, access.client, id) for id in ids)
    results = [each for each in access.run_all(jobs, Deadline(PAGE_PATIENCE_S)) if each is not None]
    return results if len(results) == len(ids) else []
