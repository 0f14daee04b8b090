"""A batch of readings on its way to the store, in columns: cheap to check, to send and to split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from api.catalog import EARLIEST_READING_MS, FUTURE_TOLERANCE_MS, METRICS
from api.ingest.decode import Decoded, Rejection
from api.store.base import ReadingRow, RegisterRow
from api.store.refusals import MAX_NAME, MAX_SAMPLE

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

NO_DEVICE = -1


@dataclass(frozen=True, slots=True)
class Refused:
    """Readings of one batch that were refused for the same reason, with the first one's text."""

    reason: str
    device: str
    sample: str
    count: int


@dataclass(frozen=True, slots=True)
class Columns:
    """n readings: device keys, epoch ms, and one row of n values per metric of the catalog in its
    order, NaN where null (a reading itself is never NaN)."""

    devices: Ints
    instants: Ints
    values: Floats

    def __len__(self) -> int:
        return len(self.devices)

    def rows(self) -> list[ReadingRow]:
        measured = map(nullable, self.values)
        rows = zip(self.devices.tolist(), self.instants.tolist(), *measured, strict=False)
        return cast("list[ReadingRow]", list(rows))

    def bounds(self) -> list[tuple[int, int, int]]:
        """(device key, first, last instant) of each device."""
        if not len(self):
            return []
        order = np.argsort(self.devices, kind="stable")
        devices, instants = self.devices[order], self.instants[order]
        starts = np.flatnonzero(np.r_[True, devices[1:] != devices[:-1]])
        lows = np.minimum.reduceat(instants, starts).tolist()
        highs = np.maximum.reduceat(instants, starts).tolist()
        return list(zip(devices[starts].tolist(), lows, highs, strict=True))

    def taken(self, which: Bools | Ints) -> Columns:
        return Columns(self.devices[which], self.instants[which], self.values[:, which])


def nullable(column: Floats) -> Iterable[float | None]:
    missing = np.isnan(column)
    if missing.all():
        return repeat(None)  # as long as the other columns
    if not missing.any():
        return column.tolist()
    boxed = column.astype(object)
    boxed[missing] = None
    return boxed.tolist()


class RefusedRow(NamedTuple):
    """``text``: of the row as it stands in the file, cut at a limit."""

    reason: str
    device: str
    text: str


@dataclass(frozen=True, slots=True)
class Batch:
    """``read`` rows of a feed: the readings among them, in order, and what was refused.

    ``registers``: those of its rows that have one, and no readings.
    ``refused_rows``: the first ones of a foreign file, whole.
    ``unknown`` are ignored column names; ``consumed`` is the number of source bytes read, for a
    progress bar.
    """

    columns: Columns
    read: int
    refused: tuple[Refused, ...] = ()
    unknown: frozenset[str] = frozenset()
    consumed: int = 0
    registers: tuple[RegisterRow, ...] = ()
    refused_rows: tuple[RefusedRow, ...] = ()

    def bounds(self) -> list[tuple[int, int, int]]:
        """(device key, first, last instant) of each device's readings, and of its registers."""
        bounds: dict[int, tuple[int, int]] = {}
        for row in self.registers:
            low, high = bounds.get(row.device, (row.ts, row.ts))
            bounds[row.device] = min(low, row.ts), max(high, row.ts)
        return [*self.columns.bounds(), *((key, *both) for key, both in bounds.items())]

    @property
    def refused_count(self) -> int:
        return sum(refused.count for refused in self.refused)


@dataclass(slots=True)
class Refusals:
    """Counts refusals by reason and device, keeping the first text of each, capped."""

    counts: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    samples: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def add(self, rejection: Rejection, sample: str) -> None:
        kind = (rejection.reason, rejection.device[:MAX_NAME])
        self.counts[kind] += 1
        self.samples.setdefault(kind, sample[:MAX_SAMPLE])

    def all(self) -> tuple[Refused, ...]:
        return tuple(
            Refused(*kind, self.samples[kind], count) for kind, count in self.counts.items()
        )


@dataclass(frozen=True, slots=True)
class Draft:
    """What column-wise checks make of ``size`` rows: ``plain`` rows passed them all. The others
    aren't necessarily wrong, only unusual; the exact decoder decides."""

    columns: Columns
    plain: Bools


def draft(devices: Ints, instants: Ints, values: Floats, plain: Bools, now_ms: int) -> Draft:
    """Adds the checks that are the same for every feed to those already in ``plain``."""
    has_device = devices != NO_DEVICE
    timely = (instants >= EARLIEST_READING_MS) & (instants <= now_ms + FUTURE_TOLERANCE_MS)
    measured = ~np.isnan(values).all(axis=0)
    finite = ~np.isinf(values).any(axis=0)
    return Draft(
        Columns(devices, instants, values), plain & has_device & timely & measured & finite
    )


def settle(
    drafted: Draft,
    exact: Callable[[int], Decoded | Rejection],
    sample: Callable[[int], str],
) -> tuple[Columns, tuple[Refused, ...], tuple[RegisterRow, ...]]:
    """The accepted readings in their order, every unusual row decided by ``exact(index)``; what is
    refused; the registers."""
    columns, accepted = drafted.columns, drafted.plain.copy()
    refusals = Refusals()
    registers: list[RegisterRow] = []
    for index in np.flatnonzero(~drafted.plain).tolist():
        result = exact(index)
        if isinstance(result, Rejection):
            refusals.add(result, sample(index))
            continue
        if isinstance(result, RegisterRow):
            registers.append(result)
            continue
        accepted[index] = True
        columns.devices[index], columns.instants[index] = result[:2]
        columns.values[:, index] = [np.nan if v is None else v for v in result[2:]]
    readings = columns if accepted.all() else columns.taken(accepted)
    return readings, refusals.all(), tuple(registers)


def blank(size: int) -> Floats:
    return np.full((len(METRICS), size), np.nan)


def device_column(names: Iterable[Any], find: Callable[[Any, int], int], size: int) -> Ints:
    return np.fromiter(map(find, names, repeat(NO_DEVICE)), np.int64, size)
