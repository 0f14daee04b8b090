"""Decides what the numbers of water are: registers, amounts or rates, and in which unit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from api.ingest.batch import Floats
from api.ingest.foreign.columns import Column, Meanings
from api.ingest.foreign.heading_words import HOW
from api.ingest.foreign.units import Values
from api.metering.register import only_rises

MOST_FAULTS: Final = 0.05  # of the values of a register that are negative
MOST_LONE: Final = 0.5  # devices a row of a file whose numbers show whether they rise


def values_of(each: Column, devices: Sequence[str], walls: Sequence[int]) -> tuple[Values, bool]:
    """Returns (what the column's numbers are, whether that is sure). Numbers that only ever rise
    are a register, whatever the heading. Rows without a time, such as totals, don't count."""
    assert each.numbers is not None  # only columns of numbers measure
    named = {values for values, words in HOW.items() if each.words & words}
    falls_allowed = int("register" in named and "amount" not in named)
    rising = _rises(each.numbers, devices, walls, falls_allowed)
    unit = each.unit
    if "/" in unit:
        return "rate", not rising
    if rising:
        return "register", "register" in named and "amount" not in named
    if "amount" in named or "register" in named or (each.units_differ and "/" not in unit):
        return "amount", "register" not in named
    if "rate" in named or ("flow" in each.words and not unit):
        return "rate", True
    return "amount", bool(unit)


def _rises(
    numbers: Floats, devices: Sequence[str], walls: Sequence[int], falls_allowed: int
) -> bool:
    """Whether the numbers of all devices together only rise, in the order of the rows, in the
    opposite order, or in that of their times."""
    by_device: dict[str, list[tuple[int, float]]] = {}
    for device, number, wall in zip(devices, numbers.tolist(), walls, strict=True):
        if wall and number == number:
            by_device.setdefault(device, []).append((wall, number))
    if not by_device or len(by_device) > MOST_LONE * sum(map(len, by_device.values())):
        return False
    in_order = [_steps(rows) for rows in by_device.values()]
    in_time = [_steps(sorted(rows)) for rows in by_device.values()]
    steps, by_time = np.concatenate(in_order), np.concatenate(in_time)
    return any(only_rises(each, falls_allowed) for each in (steps, -steps, by_time))


def _steps(rows: Sequence[tuple[int, float]]) -> Floats:
    return np.diff(_without_faults(np.array([number for _, number in rows])))


def _without_faults(numbers: Floats) -> Floats:
    """Leaves out the few negative numbers, such as -1, with which some registers mark faults."""
    negative = numbers < 0
    return numbers[~negative] if negative.sum() <= MOST_FAULTS * len(numbers) else numbers


def is_sum_of_others(
    columns: Sequence[Column], place: int, meanings: Meanings, walls: Sequence[int]
) -> bool:
    """Whether a column of a wide table is the sum of its other columns of water."""
    rest = (None, "water")
    numbers = {
        p: np.nan_to_num(each.numbers[np.array(walls) != 0])
        for p, each in enumerate(columns)
        if each.numbers is not None and meanings.is_.get(p) in rest
    }
    total = numbers.pop(place, None)
    others = [each for each in numbers.values() if each.any()]
    if total is None or len(others) < 2:
        return False
    return bool(np.allclose(total, sum(others), rtol=1e-3, atol=1e-9) and total.any())


def row_rises(columns: Sequence[Column]) -> bool:
    """Whether the numbers of each row only rise, from column to column."""
    numbers = np.array([each.numbers for each in columns if each.numbers is not None])
    steps = [np.diff(row[~np.isnan(row)]) for row in numbers.T]
    return bool(steps) and only_rises(np.concatenate(steps))


def likely_volume(each: Column, values: str, decimal: str) -> str:
    """A register of cubic metres is written with decimals, one of litres without."""
    fractions = sum(decimal in text for text in each.texts)
    return "m3" if values == "register" and fractions > 0.5 * len(each.texts) else "l"
