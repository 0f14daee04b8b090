"""The units a reader chose: what gallons are called and how many of them make one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from components import words

LITRES_PER_GALLON: Final = 3.785411784


@dataclass(frozen=True, slots=True)
class Units:
    """``flow_factor`` turns gal/min into the flow's unit."""

    name: str
    label: str
    flow_unit: str
    flow_factor: float

    def flow(self, gallons_per_minute: float | None) -> str:
        """A flow's number without its unit: 412, 2.8, 0.05; an en dash for None."""
        if gallons_per_minute is None:
            return words.NOTHING
        return words.number(gallons_per_minute * self.flow_factor)

    def volume(self, gallons: float | None) -> str:
        """A volume with its unit: 48,912 gal, 185 m³."""
        if gallons is None or self is US:
            return words.volume(gallons)
        litres = gallons * LITRES_PER_GALLON
        if abs(litres) < 1000:
            return f"{words.number(litres)} L"
        return f"{words.number(litres / 1000)} m³"


US: Final = Units("us", "gpm, gal", "gpm", 1.0)
METRIC: Final = Units("metric", "L/min, m³", "L/min", LITRES_PER_GALLON)
UNITS: Final = (US, METRIC)
UNITS_BY_NAME: Final = {units.name: units for units in UNITS}
