"""The price of a device's water, and how money is written."""

from __future__ import annotations

from typing import Any

from api.metering.cost import Price, device_price, money, price_of, rate
from tests.tables import cases


@cases(
    ("given", "price", "currency"),
    [
        ({"value": 0.01, "currency": "EUR"}, 0.01, "EUR"),
        ({"value": 0.01, "tier": 2}, 0.01, "USD"),
        ({"usd": 0.02}, 0.02, "USD"),  # the only number in the text
        ({"summer": 0.02, "winter": 0.01}, None, "USD"),
        ({"value": "0.01"}, None, "USD"),
        ({"value": True}, None, "USD"),
        ({"value": float("nan")}, None, "USD"),
        ({"value": 0, "currency": ""}, 0.0, "USD"),
        (None, None, "USD"),
    ],
)
def test_a_devices_price(given: dict[str, Any] | None, price: float | None, currency: str) -> None:
    assert device_price(given) == (price, currency)


def test_a_devices_own_price_overrides_the_organizations() -> None:
    assert price_of(0.01, "USD", 0.02) == Price(0.01, "USD", own=True)
    assert price_of(0.0, "USD", 0.02) == Price(0.0, "USD", own=True)
    assert price_of(None, "EUR", 0.02) == Price(0.02, "EUR", own=False)
    assert price_of(None, "USD", None) is None


@cases(
    ("amount", "currency", "text"),
    [
        (586.942, "USD", "$586.94"),
        (2237, "USD", "$2,237.00"),
        (18.4, "USD", "$18.40"),
        (0, "USD", "$0.00"),
        (0.004, "USD", "<$0.01"),
        (0.01, "USD", "$0.01"),
        (1200.4, "CHF", "1,200.40 CHF"),
        (0.004, "CHF", "<0.01 CHF"),
        (-4.2, "EUR", "−€4.20"),
    ],
)
def test_money(amount: float, currency: str, text: str) -> None:
    assert money(amount, currency) == text


@cases(
    ("per_unit", "text"),
    [(0.012, "$0.012"), (0.01234, "$0.0123"), (0.5, "$0.5"), (3.17, "$3.17"), (0, "$0.00")],
)
def test_a_price_has_three_digits(per_unit: float, text: str) -> None:
    assert rate(per_unit, "USD") == text
