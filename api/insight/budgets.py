"""Budgets of devices and groups: how a month stands against what it may use or cost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Literal, NamedTuple

import orjson

from api.insight.month_ends import cost_of, volume_of
from api.metering.cost import money
from api.metering.month_end import MonthEnd, chance_above, summed
from api.store.base import Device, Grant, MonthEndRow, PlanRow, Scope, StatusQuery, Store

Measure = Literal["volume", "cost"]
MEASURES: Final[tuple[Measure, ...]] = ("volume", "cost")
LIKELY: Final = 0.8  # chance of exceeding, from which an alert fires
POSSIBLE: Final = 0.2


@dataclass(frozen=True, slots=True)
class Budget:
    """A month's ``amount``, in gallons or in money, of a device (``target``: its UUID) or a group
    (its name)."""

    row: PlanRow
    level: Literal["device", "group"]
    target: str
    measure: Measure
    amount: Decimal

    @classmethod
    def of(cls, row: PlanRow) -> Budget:
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
    """``devices``: those that count; ``end`` None: too early to say; ``currency`` of a cost.
    ``keys``: of all that its alert may stand for, ascending."""

    budget: Budget
    label: str
    devices: int
    month: str
    end: MonthEnd | None
    currency: str
    as_of_ms: int
    keys: tuple[int, ...]

    @property
    def chance(self) -> float | None:
        """Of exceeding, 0 to 1; None: unknown."""
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
    return [Budget.of(row) for row in store.plans("budget", organization_id)]


def states_of(store: Store, organization_id: str, budgets: Sequence[Budget]) -> list[BudgetState]:
    """In the order of the budgets; of devices that are gone none."""
    scope = Scope(organization_id, Grant(everything=True))
    ids = [each.target for each in budgets if each.level == "device"]
    resolved = store.resolve(scope, ids) if ids else []
    devices = {device.id: device for device in resolved if device is not None}
    rows = store.month_ends([device.key for device in devices.values()])
    groups = {
        name: store.month_ends_of(scope, StatusQuery(group=name))
        for name in {each.target for each in budgets if each.level == "group"}
    }
    made: list[BudgetState] = []
    for each in budgets:
        device: Device | None = devices.get(each.target)
        if each.level == "group":
            made.append(_state(each, each.target, groups[each.target], ()))
        elif device is not None:
            own = rows.get(device.key)
            made.append(_state(each, device.label, [own] if own else [], (device.key,)))
    return made


def _state(
    budget: Budget, label: str, rows: Sequence[MonthEndRow], keys: tuple[int, ...]
) -> BudgetState:
    month = max((row.month for row in rows), default="")
    rows = [row for row in rows if row.month == month]
    currencies = {row.currency for row in rows}
    ends = [cost_of(row) if budget.measure == "cost" else volume_of(row) for row in rows]
    certain = [end for end in ends if end is not None]
    mixed = budget.measure == "cost" and len(currencies) > 1
    whole = len(certain) == len(ends) and not mixed
    return BudgetState(
        budget=budget,
        label=label,
        devices=len(rows),
        month=month,
        end=summed(certain) if whole else None,
        currency=currencies.pop() if len(currencies) == 1 else "",
        as_of_ms=max((row.as_of_ms for row in rows), default=0),
        keys=keys or tuple(sorted(row.key for row in rows)),
    )


def state_of_row(budget: Budget, device: Device, row: MonthEndRow) -> BudgetState:
    """A device's budget against this month end."""
    return _state(budget, device.label, [row], (device.key,))


def totals(rows: Sequence[MonthEndRow]) -> tuple[MonthEnd | None, dict[str, MonthEnd]]:
    """(volume, costs by currency) of devices together; those of which it is too early to say are
    left out."""
    volumes = [end for row in rows if (end := volume_of(row)) is not None]
    by_currency: dict[str, list[MonthEnd]] = {}
    for row in rows:
        end = cost_of(row)
        if end is not None:
            by_currency.setdefault(row.currency, []).append(end)
    costs = {currency: summed(ends) for currency, ends in by_currency.items()}
    return summed(volumes), {name: end for name, end in costs.items() if end is not None}
