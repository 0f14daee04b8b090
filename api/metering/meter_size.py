"""The largest flow that a meter of a given size can measure.

ISO 4064-1 sizes a meter by its permanent flow rate Q3 in m³/h. It tolerates Q4 = 1.25 × Q3 for a
short time. Where only the bore is known, the safe maximum flow of the AWWA standards is used: C700
for displacement meters up to 2 inches, C701 (class II turbine meters) above.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final

from api.metering.units import LITRES, LITRES_PER_GALLON

OVERLOAD: Final = 1.25  # Q4 ÷ Q3
_GALLONS_PER_M3: Final = LITRES["m3"] / LITRES_PER_GALLON
_RATE_BY_INCHES: Final = {
    Fraction(1, 2): 15.0,
    Fraction(5, 8): 20.0,
    Fraction(3, 4): 30.0,
    Fraction(1): 50.0,
    Fraction(3, 2): 100.0,
    Fraction(2): 160.0,
    Fraction(3): 435.0,
    Fraction(4): 750.0,
    Fraction(6): 1_600.0,
    Fraction(8): 2_800.0,
    Fraction(10): 4_200.0,
    Fraction(12): 5_300.0,
}
"""gal/min."""
LEAST_SIZE_RATE: Final = 1.0  # gal/min; the largest flow of any meter is above it
_INCHES_BY_MM: Final = {
    15: Fraction(5, 8), 20: Fraction(3, 4), 25: Fraction(1), 40: Fraction(3, 2), 50: Fraction(2),
    80: Fraction(3), 100: Fraction(4), 150: Fraction(6), 200: Fraction(8), 250: Fraction(10),
    300: Fraction(12),
}  # fmt: skip
_PERMANENT: Final = re.compile(r"\bQ3\s*[=:]?\s*(\d+(?:[.,]\d+)?)", re.IGNORECASE)
_BORE_MM: Final = re.compile(r"\bDN\s*(\d+)\b|\b(\d+)\s*mm\b", re.IGNORECASE)
_BORE_INCHES: Final = re.compile(
    r"(?:(?P<whole>\d+)[ -])?(?P<part>\d+/\d+)|(?P<inches>\d+)\s*(?:\"|″|''|in\b|inch)",
    re.IGNORECASE,
)


def largest_rate(size: str) -> float | None:
    """Returns the largest flow in gal/min, or None for an unknown size. ``size`` is written as on
    the meter: ``Q3 4``, ``DN 20``, ``25 mm``, ``3/4"``, ``1 1/2 in``."""
    permanent = _PERMANENT.search(size)
    if permanent:
        cubic_metres_per_hour = float(permanent[1].replace(",", "."))
        return cubic_metres_per_hour * OVERLOAD * _GALLONS_PER_M3 / 60 or None
    bore = _BORE_MM.search(size)
    inches = _INCHES_BY_MM.get(int(bore[1] or bore[2])) if bore else _inches(size)
    return None if inches is None else _RATE_BY_INCHES.get(inches)


def names_a_size(size: str) -> bool:
    """Returns whether ``size`` is written as on a meter, even if its largest flow is unknown."""
    return any(form.search(size) for form in (_PERMANENT, _BORE_MM, _BORE_INCHES))


def _inches(size: str) -> Fraction | None:
    match = _BORE_INCHES.search(size)
    if match is None:
        return None
    try:
        return Fraction(match["inches"] or match["whole"] or 0) + Fraction(match["part"] or 0)
    except ZeroDivisionError:
        return None


def size_rate(config: Mapping[str, Any] | None) -> float | None:
    """Returns the largest flow for a device's ``meterSize``, in gal/min, or None."""
    size = (config or {}).get("meterSize")
    return largest_rate(size) if isinstance(size, str) else None
