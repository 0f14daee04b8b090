"""How many of the units that readers choose make a gallon."""

from __future__ import annotations

from typing import Final

LITRES_PER_GALLON: Final = 3.785411784
LITRES_PER_CUBIC_METRE: Final = 1000.0
GALLONS_PER_CUBIC_METRE: Final = LITRES_PER_CUBIC_METRE / LITRES_PER_GALLON

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
