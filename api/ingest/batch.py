"""A batch of readings on its way to the store, in columns: fast to check, to send and to split."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from operator import itemgetter
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
    """n readings: device keys, epoch ms, and one row of n values per metric of the catalog, in its
    order; NaN for null (a real reading is never NaN)."""

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
        """Returns (device key, first, last instant) of each device."""
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
        return repeat(None)  # its length is that of the other columns
    if not missing.any():
        return column.tolist()
    boxed = column.astype(object)
    boxed[missing] = None
    return boxed.tolist()


class RefusedRow(NamedTuple):
    """``text``: the row as it is in the file, cut at a limit."""

    reason: str
    device: str
    text: str


@dataclass(frozen=True, slots=True)
class Batch:
    """``read`` rows of a source: the readings among them, in order, and those that were refused.

    ``registers``: the rows with a register; they aren't among the readings. ``refused_rows``: the
    first ones of a foreign file, whole. ``empty``: how many further rows of such a file had no
    value. ``unknown`` are ignored column names; ``consumed`` is the number of source bytes read,
    for a progress bar.
    """

    columns: Columns
    read: int
    refused: tuple[Refused, ...] = ()
    unknown: frozenset[str] = frozenset()
    consumed: int = 0
    registers: tuple[RegisterRow, ...] = ()
    refused_rows: tuple[RefusedRow, ...] = ()
    empty: int = 0

    def __reduce__(self) -> tuple[Callable[..., Batch], tuple[object, ...]]:
        """Sends registers to another process in columns, which take a tenth of the time of rows.
        All rows are sorted by device and instant, so that the process that stores them needn't."""
        order = np.lexsort((self.columns.instants, self.columns.devices)).astype(np.int64)
        return _unpacked, (
            self.columns.taken(order),
            self.read,
            self.refused,
            self.unknown,
            self.consumed,
            _packed(sorted(self.registers, key=itemgetter(0, 1))),
            self.refused_rows,
            self.empty,
        )

    def bounds(self) -> list[tuple[int, int, int]]:
        """Returns (device key, first, last instant) of each device's readings and registers."""
        return [*self.columns.bounds(), *self.register_bounds()]

    def register_bounds(self) -> list[tuple[int, int, int]]:
        """Returns (device key, first, last instant) of each device's registers."""
        size = len(self.registers)
        keys = np.fromiter(map(itemgetter(0), self.registers), np.int64, size)
        instants = np.fromiter(map(itemgetter(1), self.registers), np.int64, size)
        return Columns(keys, instants, blank(0)).bounds()

    @property
    def refused_count(self) -> int:
        return sum(refused.count for refused in self.refused)


class _Packed(NamedTuple):
    """Registers in columns. ``units``: one for each, or one for all."""

    devices: Ints
    instants: Ints
    values: Floats
    units: str | tuple[str, ...]
    beside: list[Floats | None]


# Makes a row in a third of the time of RegisterRow(...).
_new_row = cast("Callable[[type[RegisterRow], Iterable[object]], RegisterRow]", tuple.__new__)


def _packed(rows: Sequence[RegisterRow]) -> _Packed | None:
    if not rows:
        return None
    devices, instants, values, units, *beside = zip(*rows, strict=True)
    return _Packed(
        np.array(devices, np.int64),
        np.array(instants, np.int64),
        np.array(values, np.float64),
        units[0] if len(set(units)) == 1 else units,
        [np.array(each, np.float64) if _any_given(each) else None for each in beside],
    )


def _any_given(values: Sequence[float | None]) -> bool:
    return values.count(None) < len(values)


def _unpacked(
    columns: Columns,
    read: int,
    refused: tuple[Refused, ...],
    unknown: frozenset[str],
    consumed: int,
    packed: _Packed | None,
    refused_rows: tuple[RefusedRow, ...],
    empty: int,
) -> Batch:
    registers: tuple[RegisterRow, ...] = ()
    if packed is not None:
        numbers = (packed.devices, packed.instants, packed.values)
        units = repeat(packed.units) if isinstance(packed.units, str) else packed.units
        beside = (repeat(None) if each is None else nullable(each) for each in packed.beside)
        rows = zip(*(each.tolist() for each in numbers), units, *beside, strict=False)
        registers = tuple(map(_new_row, repeat(RegisterRow), rows))
    return Batch(columns, read, refused, unknown, consumed, registers, refused_rows, empty)


@dataclass(slots=True)
class Refusals:
    """Counts refusals by reason and device, and keeps the first text of each; limited in number."""

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
    """The result of column-wise checks on ``size`` rows. ``plain`` rows passed all of them. The
    others aren't necessarily wrong, only unusual; the exact decoder decides."""

    columns: Columns
    plain: Bools


def draft(devices: Ints, instants: Ints, values: Floats, plain: Bools, now_ms: int) -> Draft:
    """Adds the checks that are the same for every source to those already in ``plain``."""
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
    """Decides every unusual row by ``exact(index)``. Returns the accepted readings in their order,
    the refusals, and the registers."""
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
