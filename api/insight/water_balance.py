"""The water balance of a main, from the hours of its meters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from api.insight.finding_inputs import coverage
from api.metering.cadence import UNKNOWN, Cadence
from api.metering.water_balance import Hours, MeteredHour, WaterBalance, balance
from api.store.base import Device, Scope, Store
from api.timez import HOUR_MS, ceil_to


class MainBalance(NamedTuple):
    """``sub_meters`` in the order of ``balance.outlets``."""

    sub_meters: Sequence[Device]
    balance: WaterBalance


def balance_of(store: Store, scope: Scope, main: Device, from_ms: int, to_ms: int) -> MainBalance:
    """Returns the balance of the hours that start from ``from_ms`` on and end by ``to_ms``, against
    the sub-meters that the scope sees."""
    below = store.sub_meters(scope, main)
    statuses = store.status_rows([each.key for each in (main, *below)])

    def hours(device: Device) -> Hours:
        status = statuses.get(device.key)
        cadence = Cadence(status.cadence_ms, status.event_driven) if status else UNKNOWN
        rows = store.hours_of_readings(device.key, from_ms, to_ms)
        return {row.start_ms: MeteredHour(row.gallons, coverage(row, cadence)) for row in rows}

    starts = range(ceil_to(from_ms, HOUR_MS), to_ms - HOUR_MS + 1, HOUR_MS)
    return MainBalance(below, balance(hours(main), [hours(each) for each in below], starts))
