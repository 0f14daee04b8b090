"""The units that readers choose for volumes and flows, as factors per gallon."""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Final, NamedTuple

LITRES_PER_GALLON: Final = 3.785411784
LITRES_PER_CUBIC_METRE: Final = 1000.0
GALLONS_PER_CUBIC_METRE: Final = LITRES_PER_CUBIC_METRE / LITRES_PER_GALLON
FAHRENHEIT_PER_CELSIUS: Final = 1.8
FREEZING_FAHRENHEIT: Final = 32.0

LITRES: Final[dict[str, float]] = {
    "gal": LITRES_PER_GALLON,
    "kgal": 1000 * LITRES_PER_GALLON,
    "imperial gal": 4.54609,
    "l": 1.0,
    "ml": 0.001,
    "hl": 100.0,
    "m3": LITRES_PER_CUBIC_METRE,
    "ft3": 28.316846592,
    "ccf": 2831.6846592,
}
"""Volume unit → litres."""


class ShownUnit(NamedTuple):
    """A unit in which a stored number is shown and typed. ``factor``: how many of it are one of the
    stored unit."""

    name: str
    factor: float = 1.0

    def shown(self, value: float) -> float:
        """Converts a stored number, to at most six decimals and twelve digits: the number that was
        typed is shown again."""
        if self.factor == 1:
            return value
        return round(float(f"{value * self.factor:.12g}"), 6)

    def stored(self, shown: float) -> float:
        return shown / self.factor

    def text(self, value: float | str) -> str:
        """Formats a stored number for an input: 3.5, 0.013."""
        text = f"{Decimal(repr(self.shown(float(value)))):f}"
        return text.rstrip("0").rstrip(".") if "." in text else text

    def stored_text(self, text: str, digits: int = 12) -> str:
        """Converts a number that was typed, to at most ``digits`` decimals. A text that isn't a
        number stays: the service reports it."""
        try:
            return text if self.factor == 1 else f"{self.stored(float(text)):.{digits}f}"
        except ValueError:
            return text


LARGE: Final = "gal of a month"
PER_GALLON: Final = "per gallon"
METRIC_UNITS: Final[Mapping[str, ShownUnit]] = {
    "gal": ShownUnit("L", LITRES_PER_GALLON),
    "gal/min": ShownUnit("L/min", LITRES_PER_GALLON),
    "gal/h": ShownUnit("L/h", LITRES_PER_GALLON),
    "gal/day": ShownUnit("L/day", LITRES_PER_GALLON),
    LARGE: ShownUnit("m³", 1 / GALLONS_PER_CUBIC_METRE),
    PER_GALLON: ShownUnit("per m³", GALLONS_PER_CUBIC_METRE),
}
"""Unit of a stored number → what metric readers see and type."""


def shown_unit(unit: str, units: str) -> ShownUnit:
    """``units``: a name of `catalog.UNIT_SYSTEMS`. A unit that isn't of water stays."""
    metric = METRIC_UNITS.get(unit) if units == "metric" else None
    return metric or ShownUnit("gal" if unit == LARGE else unit)


_QUANTITY: Final = re.compile(r"(?<![\w.,+])(-?\d[\d,]*(?:\.\d+)?) gal(/min|/h|/day|\b(?!/))")


def words_in(text: str, units: str) -> str:
    """Converts the gallons in a sentence to another system of `catalog.UNIT_SYSTEMS`. The service
    writes and stores its sentences about findings and alerts in gallons."""
    return _QUANTITY.sub(_metric, text) if units == "metric" else text


def _metric(match: re.Match[str]) -> str:
    litres = float(match[1].replace(",", "")) * LITRES_PER_GALLON
    if match[2] == "/min":
        return f"{number(litres)} L/min"
    if abs(litres) < LITRES_PER_CUBIC_METRE:
        return f"{number(litres)} L{match[2]}"
    return f"{number(litres / LITRES_PER_CUBIC_METRE)} m³{match[2]}"


def plain(value: float) -> str:
    """Formats all digits, with separators and without an exponent: 0.5, 1,000,000."""
    text = f"{Decimal(repr(float(value))):,f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def number(value: float) -> str:
    """Formats three significant digits, and at least all whole ones: 0.0038, 0.54, 54.4, 5,440."""
    size = abs(value)
    if 0 < size < 0.1:
        return f"{value:.2g}"
    decimals = 0 if size >= 100 else 1 if size >= 10 else 2
    return f"{value:,.{decimals}f}"
