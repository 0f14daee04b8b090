"""How many of the units that readers choose make a gallon."""

from __future__ import annotations

from typing import Final

LITRES_PER_GALLON: Final = 3.785411784
LITRES_PER_CUBIC_METRE: Final = 1000.0
GALLONS_PER_CUBIC_METRE: Final = LITRES_PER_CUBIC_METRE / LITRES_PER_GALLON
