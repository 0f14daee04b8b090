"""Converts the water of a foreign file's rows: volumes and rates to gallons, registers as they
are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import repeat, starmap
from typing import Final, NamedTuple

import numpy as np

from api.catalog import BESIDE_REGISTER, METRICS
from api.ingest.batch import Bools, Columns, Floats, nullable
from api.ingest.foreign.mapping import ColumnMapping
from api.ingest.foreign.units import factor, row_unit, split
from api.metering.register import LARGEST, NEGATIVE
from api.metering.units import plain
from api.store.base import RegisterRow

PLACE: Final = {metric.name: place for place, metric in enumerate(METRICS)}
RATE, DURATION, AMOUNT = PLACE["flow_rate"], PLACE["flow_duration"], PLACE["flow_amount"]


@dataclass(slots=True)
class Faults:
    """The rows with a text that isn't a number, and the first reason for each."""

    any: Bools
    _reasons: list[tuple[Bools, str]] = field(default_factory=list[tuple[Bools, str]])

    def add(self, wrong: Bools, reason: str) -> None:
        if wrong.any():
            self.any |= wrong
            self._reasons.append((wrong, reason))

    def reason(self, index: int) -> str:
        return next((reason for wrong, reason in self._reasons if wrong[index]), "")


class Registers(NamedTuple):
    """``values``: NaN for a row without a register. ``units``: one for all, or one for each row."""

    values: Floats
    units: str | list[str] = ""

    def taken(self, accepted: Bools, counted: Bools) -> Registers:
        """Returns those of the accepted rows with a register."""
        values = self.values[accepted][counted]
        if isinstance(self.units, str):
            return Registers(values, self.units)
        rows: list[int] = np.flatnonzero(accepted)[counted].tolist()
        return Registers(values, [self.units[row] for row in rows])


def put_by_row(
    numbers: Floats, texts: Sequence[str], column: ColumnMapping, values: Floats, faults: Faults
) -> Registers:
    """Puts each number of a column of water among the amounts or rates, by the unit that its row
    gives in ``texts``. A unit with a time makes it a rate. Returns the registers."""
    by_text = {text: row_unit(text, column.unit) for text in set(texts)}
    units = [by_text[text] for text in texts]
    filled = ~np.isnan(numbers)
    unknown: Bools = np.array([not unit for unit in units], np.bool_)
    rates: Bools = np.array(["/" in unit for unit in units], np.bool_)
    faults.add(filled & unknown, f"{column.name} has an unknown unit")
    counted = column.values == "register"
    factors = {unit: _row_factor(unit, counted=counted) for unit in set(units) if unit}
    numbers = numbers * np.array([factors.get(unit, 1.0) for unit in units])
    for into, which in ((RATE, filled & rates), (AMOUNT, filled & ~rates)):
        if into == AMOUNT and counted:
            continue
        faults.add(which & ~np.isnan(values[into]), f"{column.name} gives a value twice")
        values[into][which] = numbers[which]
    registers = np.where(counted & ~rates, numbers, np.nan)
    check_registers(registers, column.name, faults)
    return Registers(registers, [split(unit)[1] for unit in units])


def _row_factor(unit: str, *, counted: bool) -> float:
    if "/" in unit:
        return factor(unit, "rate")
    return split(unit)[0] if counted else factor(unit, "amount")


def check_registers(registers: Floats, name: str, faults: Faults) -> None:
    faults.add(registers < 0, f"{name} {NEGATIVE}")
    faults.add(registers > LARGEST, f"{name} is beyond {plain(LARGEST)}")


def register_rows(
    rows: Columns, registers: Floats, units: str | Sequence[str]
) -> tuple[RegisterRow, ...]:
    """Returns rows with their registers, each in its unit or all in one. Their other
    water quantities are derived from the registers."""
    beside = (nullable(rows.values[PLACE[metric.name]]) for metric in BESIDE_REGISTER)
    columns = (rows.devices.tolist(), rows.instants.tolist(), registers.tolist())
    each = repeat(units) if isinstance(units, str) else units
    return tuple(starmap(RegisterRow, zip(*columns, each, *beside, strict=False)))


def complete_water(values: Floats, interval_s: float) -> None:
    """Computes a missing amount, rate or duration from the other two. ``interval_s``: the duration
    where no column has it, 0 if unknown."""
    amount, rate, duration = values[AMOUNT], values[RATE], values[DURATION]
    watered = ~np.isnan(amount) | ~np.isnan(rate)
    if interval_s:
        duration[watered & np.isnan(duration)] = interval_s
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = np.where(duration > 0, amount * 60 / duration, np.nan)
    amounts = rate * duration / 60
    values[AMOUNT] = np.where(np.isnan(amount), amounts, amount)
    values[RATE] = np.where(np.isnan(rate), rates, rate)
