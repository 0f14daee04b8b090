"""Budgets of devices and groups: compares a month with what it may use or cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from math import sqrt
from typing import Any, Final, Literal, NamedTuple

import orjson

from api.insight.month_ends import cost_of, volume_of
from api.metering.cost import money
from api.metering.forecast import Interval
from api.metering.month_end import MonthEnd, chance_above
from api.store.base import (
    BillingRow,
    Device,
    Grant,
    MonthEndRow,
    MonthEndSums,
    Scope,
    StatusQuery,
    Store,
    Sums,
)

Measure = Literal["volume", "cost"]
MEASURES: Final[tuple[Measure, ...]] = ("volume", "cost")
LIKELY: Final = 0.8  # chance of exceeding at which an alert fires
POSSIBLE: Final = 0.2
SHARED: Final = 0.2  # share of the variance of a fleet's errors that its devices have in common


@dataclass(frozen=True, slots=True)
class Budget:
    """A month's ``amount``, in gallons or money, for a device (``target``: its UUID) or a group
    (its name)."""

    row: BillingRow
    level: Literal["device", "group"]
    target: str
    measure: Measure
    amount: Decimal

    @classmethod
    def of(cls, row: BillingRow) -> Budget:
        level, _, target = row.name.partition(":")
        body: dict[str, Any] = orjson.loads(row.definition)
        return cls(
            row,
            "group" if level == "group" else "device",
            target,
            "cost" if body["measure"] == "cost" else "volume",
            Decimal(body["amount"]),
        )

    def as_json(self) -> dict[str, Any]:
        return {self.level: self.target, "measure": self.measure, "amount": float(self.amount)}


class BudgetState(NamedTuple):
    """``devices``: the number that counts. ``end`` None: too early to say. ``currency``: of a cost.
    ``key``: the device that its alert is stored with."""

    budget: Budget
    label: str
    devices: int
    month: str
    end: MonthEnd | None
    currency: str
    as_of_ms: int
    key: int | None

    @property
    def chance(self) -> float | None:
        """Returns the chance of exceeding the budget, 0 to 1; None if unknown."""
        return None if self.end is None else chance_above(self.end, float(self.budget.amount))

    @property
    def state(self) -> str:
        chance = self.chance
        if chance is None or self.end is None:
            return "unknown"
        if self.end.so_far > float(self.budget.amount):
            return "exceeded"
        return "likely" if chance >= LIKELY else "possible" if chance >= POSSIBLE else "within"

    def amount_words(self, amount: float) -> str:
        if self.budget.measure == "cost":
            return money(amount, self.currency or "USD")
        return f"{amount:,.0f} gal"


def budgets_of(store: Store, organization_id: str) -> list[Budget]:
    return [Budget.of(row) for row in store.billing_rows("budget", organization_id)]


def states_of(store: Store, organization_id: str, budgets: Sequence[Budget]) -> list[BudgetState]:
    """Returns states in the order of the budgets. Budgets of deleted devices are left out."""
    if not budgets:
        return []
    scope = Scope(organization_id, Grant(everything=True))
    ids = [each.target for each in budgets if each.level == "device"]
    resolved = store.resolve(scope, ids) if ids else []
    devices = {device.id: device for device in resolved if device is not None}
    rows = store.month_ends([device.key for device in devices.values()])
    groups = {
        name: store.month_end_sums(scope, StatusQuery(group=name))
        for name in {each.target for each in budgets if each.level == "group"}
    }
    made: list[BudgetState] = []
    for each in budgets:
        device: Device | None = devices.get(each.target)
        if each.level == "group":
            made.append(_of_group(each, groups[each.target]))
        elif device is not None:
            made.append(state_of_row(each, device, rows.get(device.key)))
    return made


def state_of_row(budget: Budget, device: Device, row: MonthEndRow | None) -> BudgetState:
    """Compares a device's budget with this month end."""
    if row is None:
        return BudgetState(budget, device.label, 0, "", None, "", 0, device.key)
    end = cost_of(row) if budget.measure == "cost" else volume_of(row)
    currency, as_of_ms = row.currency, row.as_of_ms
    return BudgetState(budget, device.label, 1, row.month, end, currency, as_of_ms, device.key)


def _of_group(budget: Budget, sums: Sequence[MonthEndSums]) -> BudgetState:
    """Costs in several currencies can't be compared with one amount."""
    if not sums:
        return BudgetState(budget, budget.target, 0, "", None, "", 0, None)
    by_currency = {each.currency: end for each in sums if (end := _cost(each)) is not None}
    end = next(iter(by_currency.values())) if len(by_currency) == 1 else None
    return BudgetState(
        budget=budget,
        label=budget.target,
        devices=sum(each.gallons.devices for each in sums),
        month=max(each.month for each in sums),
        end=end if budget.measure == "cost" else volume_together(sums),
        currency=next(iter(by_currency)) if len(by_currency) == 1 else "",
        as_of_ms=max(each.as_of_ms for each in sums),
        key=min(each.first_key for each in sums),
    )


def _cost(sums: MonthEndSums) -> MonthEnd | None:
    return together(_first_day(sums.month), sums.cost) if sums.currency else None


def costs_together(sums: Sequence[MonthEndSums]) -> dict[str, MonthEnd]:
    """Returns month ends by currency."""
    return {each.currency: end for each in sums if (end := _cost(each)) is not None}


def volume_together(sums: Sequence[MonthEndSums]) -> MonthEnd | None:
    every = [each.gallons for each in sums]
    if not every:
        return None
    bounds = range(len(every[0].offs))
    whole = Sums(
        sum(each.devices for each in every),
        sum(each.with_interval for each in every),
        sum(each.so_far for each in every),
        sum(each.expected for each in every),
        tuple(sum(each.offs[place] for each in every) for place in bounds),
        tuple(sum(each.squares[place] for each in every) for place in bounds),
    )
    return together(_first_day(max(each.month for each in sums)), whole)


def together(month: date, sums: Sums) -> MonthEnd | None:
    """Returns the month end of several devices, or None for no devices. Their errors partly cancel,
    as far as they are independent. A device without an interval adds nothing to the width."""
    if not sums.devices:
        return None
    if not sums.with_interval:
        return MonthEnd(month, sums.so_far, sums.expected, None)
    bounds: list[float] = []
    for off, square in zip(sums.offs, sums.squares, strict=True):
        width = sqrt(SHARED * off * off + (1 - SHARED) * square)
        bounds.append(max(sums.so_far, sums.expected + (width if off > 0 else -width)))
    return MonthEnd(month, sums.so_far, sums.expected, Interval(*bounds))


def _first_day(month: str) -> date:
    return date.fromisoformat(f"{month}-01")
