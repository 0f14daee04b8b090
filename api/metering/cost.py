"""Cost of water: which price applies, and how money is formatted."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

DEFAULT_CURRENCY: Final = "USD"
LEAST_MONEY: Final = 0.01
SIGNS: Final = {"USD": "$", "EUR": "€", "GBP": "£", "CAD": "CA$", "AUD": "A$", "INR": "₹"}


@dataclass(frozen=True, slots=True)
class Price:
    """A price per gallon. ``own`` is True for the device's own price and False for its
    organization's. ``tariff`` names the tariff that this is the marginal rate of; "" for a plain
    price."""

    per_gallon: float
    currency: str
    own: bool
    tariff: str = ""

    def cost(self, gallons: float) -> float:
        return gallons * self.per_gallon


def finite(value: Any) -> float | None:
    """Returns a finite JSON number as float, or None for anything else."""
    return float(value) if type(value) in (int, float) and math.isfinite(value) else None


def device_price(cost_per_gallon: Mapping[str, Any] | None) -> tuple[float | None, str]:
    """Returns (price per gallon, currency) from a device's ``costPerGallon``.

    The interface doesn't define the object's fields, so ``value`` is used, or else its only number.
    """
    given = cost_per_gallon or {}
    value, currency = finite(given.get("value")), given.get("currency")
    numbers = [n for n in map(finite, given.values()) if n is not None]
    if value is None and len(numbers) == 1:
        value = numbers[0]
    return value, currency if isinstance(currency, str) and currency else DEFAULT_CURRENCY


def price_of(own: float | None, currency: str, default: float | None) -> Price | None:
    """Returns the device's own price, else the organization's, else None."""
    if own is not None:
        return Price(own, currency, own=True)
    return Price(default, currency, own=False) if default is not None else None


def money(amount: float, currency: str) -> str:
    """Formats an amount: $586.94, or 1,200.00 CHF for a currency without a sign. Amounts too small
    to show are <$0.01, not zero; reverse flow gives −$4.20."""
    size = abs(amount)
    if 0 < size < LEAST_MONEY:
        text = f"<{_with_sign(f'{LEAST_MONEY:.2f}', currency)}"
    else:
        text = _with_sign(f"{size:,.2f}", currency)
    return f"−{text}" if amount < 0 else text


def rate(per_unit: float, currency: str) -> str:
    """Formats a price per unit, such as $0.012; three significant digits below one."""
    if 0 < per_unit < 1:
        digits = f"{per_unit:.{2 - math.floor(math.log10(per_unit))}f}".rstrip("0").rstrip(".")
    else:
        digits = f"{per_unit:,.2f}"
    return _with_sign(digits, currency)


def _with_sign(digits: str, currency: str) -> str:
    sign = SIGNS.get(currency)
    return f"{sign}{digits}" if sign else f"{digits} {currency}"
