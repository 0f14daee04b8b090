"""Registers as sent, and the readings that follow from them: pure rules for one transaction."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice, repeat
from operator import itemgetter, lt
from typing import Final, cast

from api.catalog import BESIDE_REGISTER, DAY_MS, HOUR_MS
from api.metering.register import (
    LARGEST,
    PARTS_A_GALLON,
    Register,
    RegisterSettings,
    booked,
    plain_water,
    settings_of,
    steps,
)
from api.metering.units import LITRES
from api.store import batch
from api.store.base import Device, Instant, RegisterEntry, RegisterRow, Row
from api.store.sql.rollups import Range
from api.store.tables import DERIVED_SEQ
from api.timez import floor_to

TOGETHER_MS: Final = DAY_MS  # registers no further apart than this are derived together
FEW: Final = 32  # fewer registers are faster to derive one by one than by columns


def in_order(rows: Sequence[RegisterRow]) -> list[RegisterRow]:
    """Returns the distinct registers by device and instant. Raises ValueError for one that can't be
    stored."""
    _refuse_unstorable(rows)
    return list(rows) if ascend(rows) else sorted(dict.fromkeys(rows), key=batch.instant_of)


def ascend(rows: Sequence[RegisterRow]) -> bool:
    """Whether rows are sorted by device and instant, each at an instant of its own."""
    instants = list(map(batch.instant_of, rows))
    return all(map(lt, instants, islice(instants, 1, None)))


def _refuse_unstorable(rows: Sequence[RegisterRow]) -> None:
    columns = list(zip(*rows, strict=True))
    instants = cast("Sequence[int]", columns[1])
    units, numbers = set(columns[3]), cast("list[Sequence[float]]", [columns[2], *columns[4:]])
    # One sum shows whether all numbers are finite, at a tenth of the cost of testing each.
    total = sum(sum(filter(None, column)) for column in numbers)
    valid = min(instants) >= 0 and units <= {"", *LITRES}
    if valid and math.isfinite(total) and max(map(abs, numbers[0])) <= LARGEST:
        return
    for row in rows:
        numbers = (row.value, *(number for number in row[4:] if number is not None))
        if not all(map(math.isfinite, numbers)) or abs(row.value) > LARGEST:
            raise ValueError(f"a register has a number that can't be stored: {row}")
        if row.ts < 0 or (row.unit and row.unit not in LITRES):
            raise ValueError(f"a register must have a known unit and a timestamp from 1970: {row}")


def merged(one: RegisterRow, other: RegisterRow | None) -> RegisterRow:
    """Merges two registers of one instant: takes the larger values, so that their order has no
    effect."""
    if other is None:
        return one if one.value else one._replace(value=0.0)  # -0.0 equals it
    unit, value = max((one.unit, one.value), (other.unit, other.value))
    beside = [
        max((number for number in pair if number is not None), default=None)
        for pair in zip(one[4:], other[4:], strict=True)
    ]
    return RegisterRow(one.device, one.ts, value + 0.0, unit, *beside)


def device_settings(device: Device) -> RegisterSettings:
    return settings_of(device.config, device.reporting_interval_s)


def _chain(rows: Sequence[RegisterRow]) -> list[Register]:
    return [Register(row.ts, row.value, row.unit) for row in rows]


def entries(rows: Sequence[RegisterRow], settings: RegisterSettings) -> list[RegisterEntry]:
    gallons = [settings.parts(row.value, row.unit) / PARTS_A_GALLON for row in rows]
    return [
        RegisterEntry(
            row.ts,
            settings.shown(row.value, row.unit),
            settings.shown_unit(row.unit),
            step.from_ms,
            step.gallons,
            tuple(flag.value for flag in step.flags),
            step.fall / PARTS_A_GALLON,
            before,
        )
        for row, step, before in zip(
            rows, steps(_chain(rows), settings), [None, *gallons[:-1]], strict=True
        )
    ]


def readings(rows: Sequence[RegisterRow], settings: RegisterSettings) -> list[Row]:
    """Returns the readings of one device's registers in order of time, each with its seq.
    Quantities sent with a register are in the reading at its instant."""
    if len(rows) < FEW:
        before = (None, *rows)
        return [row for at, this in enumerate(rows) for row in _one(before[at], this, settings)]
    keys, instants, values, units, *beside = zip(*rows, strict=True)
    import numpy as np  # every command opens a store, few need this

    water = plain_water(np.array(instants), np.array(values), units, settings)
    columns = (keys, instants, water.rates, water.seconds, water.gallons, *beside)
    plain = list(zip(*columns, repeat(DERIVED_SEQ), strict=False))
    if not water.unusual:
        return plain
    result, begun = list[Row](), 0
    for place in water.unusual:
        result += plain[begun:place]
        result += _one(rows[place - 1], rows[place], settings)
        begun = place + 1
    return [*result, *plain[begun:]]


def _one(before: RegisterRow | None, row: RegisterRow, settings: RegisterSettings) -> Iterator[Row]:
    """Yields the readings of the step up to a register."""
    nothing = (None,) * len(BESIDE_REGISTER)
    pair = [row] if before is None else [before, row]
    for water in booked(steps(_chain(pair), settings)[-1]):
        beside = row[4:] if water.at_ms == row.ts else nothing
        yield (
            row.device, water.at_ms, water.rate, water.seconds, water.gallons, *beside, DERIVED_SEQ,
        )  # fmt: skip


def changes(
    ordered: Sequence[RegisterRow], existing: Mapping[Instant, RegisterRow]
) -> tuple[list[RegisterRow], list[RegisterRow]]:
    """Returns those of sorted registers that change something, and the registers to store, one for
    each instant, in order."""
    if not existing and ascend(ordered):
        fresh = list(ordered)
        if 0.0 in map(itemgetter(2), fresh):
            return fresh, [row if row.value else merged(row, None) for row in fresh]
        return fresh, fresh
    fresh, changed = list[RegisterRow](), dict[Instant, RegisterRow]()
    for row in ordered:
        instant = batch.instant_of(row)
        there = existing.get(instant)
        both = merged(row, there)
        if both != there:
            fresh.append(row)
            before = changed.get(instant)
            changed[instant] = both if before is None else merged(both, before)
    return fresh, list(changed.values())


def pieces(rows: Sequence[RegisterRow]) -> Iterator[Sequence[RegisterRow]]:
    """Yields runs of one device's sorted registers that are close to each other."""
    first = 0
    if len(rows) > 1:
        import numpy as np

        steps_ms = np.diff(np.fromiter(map(itemgetter(1), rows), np.int64, len(rows)))
        for place in (np.flatnonzero(steps_ms > TOGETHER_MS) + 1).tolist():
            yield rows[first:place]
            first = place
    yield rows[first:] if first else rows


def hours(gone: Collection[Instant]) -> list[Range]:
    """Returns ranges of the hours that hold these instants, adjacent ones as one."""
    windows: list[Range] = []
    for key, hour in sorted({(key, floor_to(ts, HOUR_MS)) for key, ts in gone}):
        if windows and windows[-1][0] == key and windows[-1][2] == hour:
            windows[-1] = (key, windows[-1][1], hour + HOUR_MS)
        else:
            windows.append((key, hour, hour + HOUR_MS))
    return windows
