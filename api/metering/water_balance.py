"""Compares what a main lets in with what its sub-meters let out: the difference is unaccounted-for
water. Only hours in which every meter has nearly all of its readings are compared, so that a gap is
never taken for a leak."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from api.metering.uptime import LEAST_COVERAGE


@dataclass(frozen=True, slots=True)
class MeteredHour:
    """``coverage`` (0 to 1) is the share of the hour's expected readings that exist."""

    gallons: float | None
    coverage: float

    @property
    def complete(self) -> bool:
        return self.gallons is not None and self.coverage >= LEAST_COVERAGE


Hours = Mapping[int, MeteredHour]
"""By the start of the hour (epoch milliseconds). An hour without readings has no entry."""


@dataclass(frozen=True, slots=True)
class WaterBalance:
    """Gallons over the ``compared`` hours; ``hours`` counts all hours of the range. ``outlets`` are
    in the order of the sub-meters."""

    inlet: float
    outlets: tuple[float, ...]
    compared: int
    hours: int

    @property
    def outlet(self) -> float:
        return sum(self.outlets)

    @property
    def difference(self) -> float | None:
        """Returns unaccounted-for water in gallons: negative where the sub-meters measured more
        than their main, None where no hour is comparable."""
        return self.inlet - self.outlet if self.compared and self.outlets else None

    @property
    def share(self) -> float | None:
        """Returns the difference as a share of the inlet."""
        if self.difference is None or self.inlet <= 0:
            return None
        return self.difference / self.inlet


def balance(main: Hours, sub_meters: Sequence[Hours], hours: Sequence[int]) -> WaterBalance:
    """Computes the balance over these hours, given by their starts."""
    meters = (main, *sub_meters)
    compared = [
        hour
        for hour in hours
        if all((row := meter.get(hour)) is not None and row.complete for meter in meters)
    ]
    inlet, *outlets = (sum(meter[hour].gallons or 0.0 for hour in compared) for meter in meters)
    return WaterBalance(inlet, tuple(outlets), len(compared), len(hours))
