"""Leaks added to districts: which are detected, and after how long."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from api.catalog import DAY_MS, HOUR_MS
from api.insight.findings import Device, Finding, HourRow, Settings, State, evaluate
from benchmarks.meters import Hours, Leak, Meter

GAPS: Final = frozenset({"silent", "missing-data"})
"""Kinds that detect missing readings: the data's own gaps, not false findings."""
WARM_MS: Final = 100 * DAY_MS  # history before a leak begins
ROOM_MS: Final = 45 * DAY_MS  # data after it began


@dataclass(frozen=True, slots=True)
class Trial:
    """One leak on one meter. ``share`` is that of the mean inflow; ``after_h`` None: not detected.
    ``aside``: it began while the meter sent nothing, or during a burst of its own that was already
    detected."""

    serial: str
    leak: Leak
    share: float
    after_h: float | None
    kind: str | None
    aside: bool


@dataclass(frozen=True, slots=True)
class Clean:
    """A meter as it is: its findings about water, and the number of months with data."""

    meter: Meter
    findings: tuple[Finding, ...]
    months: float


def device_of(meter: Meter) -> Device:
    return Device(meter.zone, 3600)


def clean(meter: Meter, settings: Settings) -> Clean:
    readings = meter.readings()
    result = evaluate(device_of(meter), settings, None, readings)
    about_water = tuple(each for each in result.findings if each.kind not in GAPS)
    span_ms = readings.rows[-1].start_ms - readings.rows[0].start_ms
    return Clean(meter, about_water, span_ms / DAY_MS / 30.4)


def trials(
    one: Clean, leaks: Sequence[Leak], shares: Sequence[float], seed: int, settings: Settings
) -> list[Trial]:
    """Adds each leak once in each size, at a random start from the seed."""
    rows = one.meter.readings().rows
    dice = random.Random(f"{seed} {one.meter.serial}")
    first, last = rows[0].start_ms + WARM_MS, rows[-1].start_ms - ROOM_MS
    starts = sorted((dice.randrange(first, last, HOUR_MS), leak) for leak in leaks)
    results: list[Trial] = []
    state: State | None = None
    device, existing = device_of(one.meter), {(f.kind, f.opened_ms) for f in one.findings}
    for start_ms, leak in starts:
        before = Hours([row for row in rows if row.start_ms <= start_ms])
        state = evaluate(device, settings, state, before).state
        for share in shares:
            leaking = Hours(_with_leak(rows, start_ms, leak, share * one.meter.mean))
            result = evaluate(device, settings, state, leaking)
            new = [
                f
                for f in result.findings
                if (f.kind, f.opened_ms) not in existing
                and f.kind not in GAPS
                and start_ms < f.opened_ms
            ]
            first_one = min(new, key=lambda f: f.opened_ms, default=None)
            after = None if first_one is None else (first_one.opened_ms - start_ms) / HOUR_MS
            kind = None if first_one is None else first_one.kind
            aside = _aside(one, start_ms)
            results.append(Trial(one.meter.serial, leak, share, after, kind, aside))
    return results


def _aside(one: Clean, start_ms: int) -> bool:
    hours = range(start_ms, start_ms + DAY_MS, HOUR_MS)
    in_burst = any(
        each.kind == "burst" and each.start_ms <= start_ms < (each.end_ms or start_ms + 1)
        for each in one.findings
    )
    return in_burst or 2 * sum(hour in one.meter.gallons for hour in hours) < len(hours)


def _with_leak(
    rows: Sequence[HourRow], start_ms: int, leak: Leak, most_gal_h: float
) -> list[HourRow]:
    """Returns the rows from a little before the leak to its end, with its water added."""
    end_ms = start_ms + len(leak.shares) * HOUR_MS
    changed: list[HourRow] = []
    for row in rows:
        if start_ms - DAY_MS <= row.start_ms < end_ms:
            hour = (row.start_ms - start_ms) // HOUR_MS
            more = leak.shares[hour] * most_gal_h if hour >= 0 else 0.0
            gallons = (row.gallons or 0) + more
            changed.append(HourRow(row.start_ms, gallons, 1.0, gallons / 60, gallons / 60))
    return changed
