"""Which tariff or price applies to a device, and what its water costs."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Final, NamedTuple
from zoneinfo import ZoneInfo

import orjson

from api.catalog import COARSEST_STORED, HOUR_MS, STORED, Resolution
from api.metering.cost import Price, device_price, price_of
from api.metering.tariff import FINEST_MS, Tariff, parse_tariff, tariff_object
from api.store.base import BillingRow, Device, Status, Store
from api.timez import day_edges, local_ordinal, month_edges, offsets, zone_or_utc

_FINE: Final = next(each for each in STORED if each.fixed_ms == FINEST_MS)


@dataclass(frozen=True, slots=True)
class StoredTariff:
    """``devices`` (UUIDs) and ``groups`` that it applies to; ``everyone``: all others of the
    organization too."""

    row: BillingRow
    tariff: Tariff
    everyone: bool
    groups: tuple[str, ...]
    devices: tuple[str, ...]

    @classmethod
    def of(cls, row: BillingRow) -> StoredTariff:
        body: dict[str, Any] = orjson.loads(row.definition)
        return cls(
            row,
            parse_tariff(body),
            bool(body["organization"]),
            tuple(body["groups"]),
            tuple(body["devices"]),
        )

    def as_json(self) -> dict[str, Any]:
        return definition(self.tariff, self.everyone, self.groups, self.devices)


def definition(
    tariff: Tariff, everyone: bool, groups: Sequence[str], devices: Sequence[str]
) -> dict[str, Any]:
    targets = {"organization": everyone, "groups": list(groups), "devices": list(devices)}
    return tariff_object(tariff) | targets


class Prices(NamedTuple):
    """The tariffs and the price of an organization. In order of precedence: a device's tariff, its
    own price, its group's tariff, the organization's tariff, the organization's price."""

    tariffs: Sequence[StoredTariff]
    default: float | None

    @classmethod
    def read(cls, store: Store, organization_id: str) -> Prices:
        organization = store.organization(organization_id)
        rows = store.billing_rows("tariff", organization_id)
        default = organization.default_cost_per_gallon if organization else None
        return cls([StoredTariff.of(row) for row in rows], default)

    def groups(self, store: Store, devices: Sequence[Device]) -> Mapping[int, Sequence[str]]:
        """Returns groups by device key; empty where no tariff applies to a group."""
        if not any(each.groups for each in self.tariffs):
            return {}
        return store.groups_by_device([device.key for device in devices])

    def tariff(self, device: Device, groups: Sequence[str] = ()) -> Tariff | None:
        if not self.tariffs:
            return None
        for each in self.tariffs:
            if device.id in each.devices:
                return each.tariff
        if device_price(device.cost_per_gallon)[0] is not None:
            return None
        for each in self.tariffs:
            if any(name in each.groups for name in groups):
                return each.tariff
        return next((each.tariff for each in self.tariffs if each.everyone), None)

    def flat(self, device: Device) -> Price | None:
        own, currency = device_price(device.cost_per_gallon)
        return price_of(own, currency, self.default)

    def price(
        self, device: Device, groups: Sequence[str], at_ms: int, month_volume: float | None
    ) -> Price | None:
        """Returns a price, or a tariff's marginal rate after ``month_volume`` gallons of the
        month."""
        tariff = self.tariff(device, groups)
        if tariff is None:
            return self.flat(device)
        return tariff.price(
            local_ordinal(zone_or_utc(device.time_zone), at_ms), month_volume or 0.0
        )


def price_now(store: Store, device: Device, at_ms: int) -> Price | None:
    """Returns the price of one device, as `Prices.price` does."""
    prices = Prices.read(store, device.organization_id)
    if not prices.tariffs:
        return prices.flat(device)
    groups = prices.groups(store, [device]).get(device.key, ())
    return prices.price(device, groups, at_ms, expected_volumes(store, [device]).get(device.key))


def expected_volumes(store: Store, devices: Sequence[Device]) -> dict[int, float]:
    """Returns the gallons that each device's month is expected to reach, by key: they decide its
    tier."""
    rows = store.month_ends([device.key for device in devices])
    ends = {key: (row.expected, row.so_far) for key, row in rows.items()}
    amounts = {key: so_far if end is None else end for key, (end, so_far) in ends.items()}
    return {key: amount for key, amount in amounts.items() if amount is not None}


def with_tariffs(
    store: Store, devices: Sequence[Device], statuses: Sequence[Status], now_ms: int
) -> list[Status]:
    """Returns the statuses with the marginal rate as the price of each device that has a tariff."""
    prices = {id: Prices.read(store, id) for id in {each.organization_id for each in devices}}
    tariffed = [each for each in devices if prices[each.organization_id].tariffs]
    if not tariffed:
        return list(statuses)
    volumes = expected_volumes(store, tariffed)
    by_key: dict[int, Price] = {}
    for organization_id, own in prices.items():
        members = [each for each in tariffed if each.organization_id == organization_id]
        groups = own.groups(store, members)
        for device in members:
            tariff = own.tariff(device, groups.get(device.key, ()))
            ordinal = local_ordinal(zone_or_utc(device.time_zone), now_ms)
            price = tariff and tariff.price(ordinal, volumes.get(device.key, 0.0))
            if price:
                by_key[device.key] = price
    return [
        replace(each, price=by_key[each.key].per_gallon, currency=by_key[each.key].currency)
        if each.key in by_key
        else each
        for each in statuses
    ]


# --- Costs ---------------------------------------------------------------------------------------


def step_of(from_ms: int, to_ms: int, *zones: ZoneInfo) -> Resolution:
    """Returns the coarsest buckets that no local hour of these zones cuts."""
    shifts = (offset for tz in zones for _, offset in offsets(tz, from_ms, to_ms))
    return COARSEST_STORED if all(offset % HOUR_MS == 0 for offset in shifts) else _FINE


def daily_costs(
    store: Store, device: Device, tariff: Tariff, tz: ZoneInfo, from_ms: int, to_ms: int
) -> list[tuple[int, Decimal | None]]:
    """Returns (start, cost) of each day in ``tz`` from ``from_ms`` to before ``to_ms``, or of its
    part in that span; None where there is no reading or no version. The fixed charge is that of the
    days that begin in the span."""
    days = [edge for edge in day_edges(tz, from_ms, to_ms - 1) if edge < to_ms]
    if not days:
        return []
    edges = [max(days[0], from_ms), *days[1:]]
    own = zone_or_utc(device.time_zone)
    first = max(edge for edge in month_edges(own, edges[0], edges[0]) if edge <= edges[0])
    step = step_of(first, to_ms, own, tz)
    rows = store.gallons([device.key], step, first, to_ms).get(device.key, [])
    costs = tariff.charges(rows, own, lambda start_ms: bisect_right(edges, start_ms) - 1)
    made: list[tuple[int, Decimal | None]] = []
    for place, start in enumerate(edges):
        cost = costs.get(place)
        fixed = tariff.fixed(local_ordinal(tz, start)) if start in days else Decimal(0)
        made.append((start, None if cost is None else cost + fixed))
    return made
