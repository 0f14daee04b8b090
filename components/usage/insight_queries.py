"""Asking Weir's own interface about the devices of a summary: their findings, and where their month
will end."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final

from api.client import Client, Finding, MonthEnd
from api.client.balance import Balance
from api.errors import NotFound, NotOffered
from components.fleet.queries import ONE_DEVICE_ERRORS, Deadline, ServiceAccess
from components.usage.queries import PAGE_PATIENCE_S
from components.usage.sums import DeviceUsage, counted

MOST_FINDINGS: Final = 1_000
MOST_BALANCES: Final = 20


def findings_of(access: ServiceAccess, usages: Sequence[DeviceUsage]) -> tuple[Finding, ...]:
    """All that were open in these days, worst first; none where the server keeps none."""
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
    """Of the mains among the devices that have a sub-meter there; none where the server is no
    Weir. An hour that isn't over doesn't count."""
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


# --- Where the month ends ------------------------------------------------------------------------

MOST_MONTHS: Final = 20  # devices; of more the page would wait too long


def under_way(usage: DeviceUsage) -> bool:
    """Whether the last day of its range isn't over."""
    return bool(usage.days) and usage.days[-1].elapsed_ms < (
        usage.days[-1].end_ms - usage.days[-1].start_ms
    )


def month_end_of(client: Client, device_id: str) -> MonthEnd | None:
    """None where the server is no Weir, or can't say of this device."""
    try:
        return client.month_end(device_id)
    except (NotOffered, *ONE_DEVICE_ERRORS):
        return None


def month_ends(access: ServiceAccess, usages: Sequence[DeviceUsage]) -> list[MonthEnd]:
    """Of the devices whose days reach today, if these are few; those that answer in time."""
    asked = [usage.meter.id for usage in counted(usages) if under_way(usage)]
    if not asked or len(asked) > MOST_MONTHS:
        return []
    jobs = (partial(month_end_of, access.client, id) for id in asked)
    found = [each for each in access.run_all(jobs, Deadline(PAGE_PATIENCE_S)) if each is not None]
    return found if len(found) == len(asked) else []
