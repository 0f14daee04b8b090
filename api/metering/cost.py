"""Cost of water: which price applies, and how money is formatted."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

DEFAULT_CURRENCY: Final = "USD"
LEAST_MONEY: Final = 0.01
SIGNS: Final = {"USD": "$", "EUR": "€", "GBP": "£", "CAD": "CA$", "AUD": "A$", "INR": "₹"}


@dataclass(frozen=True, slots=True)
class Price:
    """Per gallon. ``own``: the device's, else the organization's. ``tariff``: the name of the one
    that it is the marginal rate of; "" for a plain price."""

    per_gallon: float
    currency: str
    own: bool
    tariff: str = ""

    def cost(self, gallons: float) -> float:
        return gallons * self.per_gallon


def finite(value: Any) -> float | None:
    """A number of JSON as it is; None for anything else."""
    return float(value) if type(value) in (int, float) and math.isfinite(value) else None


def device_price(cost_per_gallon: Mapping[str, Any] | None) -> tuple[float | None, str]:
    """(per gallon, currency) of a device's ``costPerGallon``. The interface leaves the object's
    form open: ``value``, or the only number in it."""
    given = cost_per_gallon or {}
    value, currency = finite(given.get("value")), given.get("currency")
    numbers = [n for n in map(finite, given.values()) if n is not None]
    if value is None and len(numbers) == 1:
        value = numbers[0]
    return value, currency if isinstance(currency, str) and currency else DEFAULT_CURRENCY


def price_of(own: float | None, currency: str, default: float | None) -> Price | None:
    """The device's own, else the organization's; None where neither has one."""
    if own is not None:
        return Price(own, currency, own=True)
    return Price(default, currency, own=False) if default is not None else None


def costs(amounts: Iterable[tuple[float | None, Price | None]]) -> dict[str, float]:
    """Of gallons and their prices: the sums by currency, which are not added up."""
    sums: defaultdict[str, float] = defaultdict(float)
    for gallons, price in amounts:
        if gallons is not None and price is not None:
            sums[price.currency] += price.cost(gallons)
    return dict(sums)


def money(amount: float, currency: str) -> str:
    """$586.94; 1,200.00 CHF where there is no sign; <$0.01 for less than is counted, which isn't
    nothing; −$4.20 for water that ran backwards."""
    size = abs(amount)
    if 0 < size < LEAST_MONEY:
        text = f"<{_with_sign(f'{LEAST_MONEY:.2f}', currency)}"
    else:
        text = _with_sign(f"{size:,.2f}", currency)
    return f"−{text}" if amount < 0 else text


def rate(per_unit: float, currency: str) -> str:
    """A price: $0.012, with three significant digits below one."""
    if 0 < per_unit < 1:
        digits = f"{per_unit:.{2 - math.floor(math.log10(per_unit))}f}".rstrip("0").rstrip(".")
    else:
        digits = f"{per_unit:,.2f}"
    return _with_sign(digits, currency)


def _with_sign(digits: str, currency: str) -> str:
    sign = SIGNS.get(currency)
    return f"{sign}{digits}" if sign else f"{digits} {currency}"
