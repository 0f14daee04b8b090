"""The units that a reader chose: their names and factors from gallons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from api.catalog import FLOW_AMOUNT, FLOW_RATE, ONBOARD_TEMPERATURE, Metric
from api.metering.units import (
    FAHRENHEIT_PER_CELSIUS,
    FREEZING_FAHRENHEIT,
    GALLONS_PER_CUBIC_METRE,
    LITRES_PER_CUBIC_METRE,
    LITRES_PER_GALLON,
    ShownUnit,
    shown_unit,
)
from components import formatting, session


class Scale(NamedTuple):
    """The unit of an axis, and the conversion of a value from the catalog's unit: times ``factor``,
    plus ``offset``."""

    unit: str
    factor: float
    offset: float = 0.0

    def of(self, value: float) -> float:
        return value * self.factor + self.offset


@dataclass(frozen=True, slots=True)
class Units:
    """``flow_factor``: from gal/min to the flow's unit. ``flow_name``: the long name of that unit.
    ``volume_unit``: the unit of a price; ``volume_factor``: gallons in it."""

    name: str
    label: str
    flow_unit: str
    flow_name: str
    flow_factor: float
    volume_unit: str
    volume_factor: float

    def flow(self, gallons_per_minute: float | None) -> str:
        """A flow's number without its unit: 412, 2.8, 0.05; an en dash for None."""
        if gallons_per_minute is None:
            return formatting.NOTHING
        return formatting.number(gallons_per_minute * self.flow_factor)

    def volume(self, gallons: float | None) -> str:
        """A volume with its unit: 48,912 gal, 185 m³."""
        if gallons is None or self is US:
            return formatting.volume(gallons)
        scale = self.scale(FLOW_AMOUNT, gallons)
        return f"{formatting.number(gallons * scale.factor)} {scale.unit}"

    @property
    def volume_steps(self) -> list[tuple[float, float, str]]:
        """The units of `volume`: (gallons at least, gallons in one, unit), the largest first."""
        if self is US:
            return [
                *((float(a), float(b), unit) for a, b, unit in formatting.VOLUME_UNITS),
                (0, 1, "gal"),
            ]
        return [
            (GALLONS_PER_CUBIC_METRE, 1 / self.volume_factor, "m³"),
            (0, 1 / LITRES_PER_GALLON, "L"),
        ]

    def quantity(self, value: float | None, metric: Metric) -> str:
        """A value of the catalog's unit, with the unit it is shown in."""
        if value is None:
            return formatting.NOTHING
        if metric is FLOW_AMOUNT:
            return self.volume(value)
        scale = self.scale(metric, value)
        return f"{formatting.number(scale.of(value))} {scale.unit}"

    def shown(self, unit: str) -> ShownUnit:
        """How a number that is stored in that unit is shown and typed in forms."""
        return shown_unit(unit, self.name)

    def scale(self, metric: Metric, largest: float) -> Scale:
        """The unit for values up to ``largest`` (in the catalog's unit)."""
        if metric is FLOW_RATE:
            return Scale(self.flow_name, self.flow_factor)
        if metric is ONBOARD_TEMPERATURE and self is US:
            return FAHRENHEIT
        if metric is not FLOW_AMOUNT:
            return Scale(metric.unit, 1.0)
        if self is US:
            unit, size = formatting.volume_unit(largest)
            return Scale(unit, 1 / size)
        if abs(largest) * LITRES_PER_GALLON < LITRES_PER_CUBIC_METRE:
            return Scale("L", LITRES_PER_GALLON)
        return Scale("m³", self.volume_factor)


FAHRENHEIT: Final = Scale("°F", FAHRENHEIT_PER_CELSIUS, FREEZING_FAHRENHEIT)
US: Final = Units("us", "gpm, gal", "gpm", "gal/min", 1.0, "gal", 1.0)
METRIC: Final = Units(
    "metric", "L/min, m³", "L/min", "L/min", LITRES_PER_GALLON, "m³",
    LITRES_PER_GALLON / LITRES_PER_CUBIC_METRE,
)  # fmt: skip
UNITS: Final = (US, METRIC)
UNITS_BY_NAME: Final = {units.name: units for units in UNITS}


def usual_units() -> Units:
    """The default units of the reader: those of their organization."""
    return UNITS_BY_NAME.get(session.organization_units(), US)


def read_units(name: str) -> Units:
    """The units of that name, otherwise the default."""
    return UNITS_BY_NAME.get(name) or usual_units()


def write_units(units: Units) -> str | None:
    """The name in an address; None for the default, which is left out."""
    return None if units is usual_units() else units.name
