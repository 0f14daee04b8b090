"""Faults added to households: which are detected, and after how long."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from api.catalog import DAY_MS, HOUR_MS
from api.insight.findings import HourRow, evaluate
from benchmarks.found_leaks import Clean, device_of
from benchmarks.meters import Hours


@dataclass(frozen=True, slots=True)
class Fault:
    """How a span of ``hours`` is changed, and the kind that should detect it within
    ``within_h``."""

    kind: str
    hours: int
    within_h: int
    change: Callable[[float, float], float]
    """(gallons of the hour, mean gallons of the meter) → gallons."""


FAULTS: Final = (
    Fault("continuous-flow", 120, 31, lambda gallons, mean: gallons + 3),
    Fault("stuck", 48, 20, lambda gallons, mean: max(mean, 1.0)),
    Fault("backwards", 48, 48, lambda gallons, mean: -gallons - 1.5),
    Fault("no-use", 40 * 24, 40 * 24, lambda gallons, mean: 0.0),
)


@dataclass(frozen=True, slots=True)
class Tried:
    fault: Fault
    serial: str
    is_found: bool


def tried(clean: Iterable[Clean], fault: Fault, seed: int) -> list[Tried]:
    """Adds the fault once to each meter that has enough readings around it."""
    results: list[Tried] = []
    for one in clean:
        rows = one.meter.readings().rows
        first, last = rows[0].start_ms + 35 * DAY_MS, rows[-1].start_ms - fault.hours * HOUR_MS
        used = sum(row.gallons or 0 for row in rows if row.start_ms < first) / 35
        if last <= first or used < 20:
            continue
        dice = random.Random(f"{seed} {fault.kind} {one.meter.serial}")
        start_ms = dice.randrange(first, last, HOUR_MS)
        end_ms = start_ms + fault.hours * HOUR_MS
        present = sum(start_ms <= row.start_ms < end_ms for row in rows)
        if present < 0.95 * fault.hours or _is_reported(one, fault, start_ms):
            continue
        readings = Hours([_changed(row, fault, start_ms, end_ms, one.meter.mean) for row in rows])
        result = evaluate(device_of(one.meter), {}, None, readings)
        hit = any(
            each.kind == fault.kind
            and start_ms < each.opened_ms <= start_ms + fault.within_h * HOUR_MS
            for each in result.findings
        )
        results.append(Tried(fault, one.meter.serial, hit))
    return results


def _is_reported(one: Clean, fault: Fault, start_ms: int) -> bool:
    """Whether such a finding is open there anyway, or was a day before."""
    return any(
        each.kind == fault.kind
        and each.start_ms <= start_ms + DAY_MS
        and (each.end_ms or start_ms) + DAY_MS >= start_ms
        for each in one.findings
    )


def _changed(row: HourRow, fault: Fault, start_ms: int, end_ms: int, mean: float) -> HourRow:
    if not start_ms <= row.start_ms < end_ms or row.gallons is None:
        return row
    gallons = fault.change(row.gallons, mean)
    return HourRow(row.start_ms, gallons, 1.0, gallons / 60, gallons / 60)
