"""Pure rules for writing a batch of readings.

A batch is deduplicated and sorted by device and time; `decide` finds its new rows; `touched` finds
the buckets to recompute.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from operator import itemgetter
from typing import NamedTuple, cast

from api.catalog import (
    COARSEST_STORED,
    METRICS,
    RAW_COLUMNS,
    ROLLED_METRICS,
    Metric,
    Resolution,
)
from api.store.base import Instant, ReadingRow, Row
from api.store.sql.rollups import Range
from api.timez import floor_to

HOUR_MS = COARSEST_STORED.fixed_ms

device_of = itemgetter(0)
instant_of = itemgetter(0, 1)
Instants = Mapping[int, Sequence[int]]  # by device key, each ascending
ALONE_FROM = 100  # fewer rows of a device aren't worth a statement of their own
_WIDTH = 1 + len(RAW_COLUMNS)  # (device key, instant, values)
_FIRST_VALUE = _WIDTH - len(METRICS)


def in_order(rows: Sequence[ReadingRow]) -> list[ReadingRow]:
    """Returns the distinct rows by device and instant; rows that share both keep their order of
    arrival.

    Raises ValueError for a row of the wrong width, before 1970 or with a number that isn't finite.
    """
    _refuse_unstorable(rows)
    return sorted(dict.fromkeys(rows), key=instant_of)


def _refuse_unstorable(rows: Sequence[ReadingRow]) -> None:
    # One sum over all values shows whether they are finite, at a tenth of the cost of testing each.
    if not math.isfinite(sum(filter(None, chain.from_iterable(rows)), 0.0)):
        for row in rows:
            if not all(value is None or math.isfinite(value) for value in row):
                raise ValueError(f"a reading has a number that isn't finite: {row}")
    if set(map(len, rows)) - {_WIDTH} or min(map(itemgetter(1), rows), default=0) < 0:
        raise ValueError(f"a reading must have {_WIDTH} values and a timestamp from 1970 on")


def by_device(rows: Iterable[Row]) -> Instants:
    """Returns the instants of sorted rows by device, ascending."""
    return {device: [row[1] for row in group] for device, group in groupby(rows, device_of)}


def hours_met(instants: Instants) -> list[Range]:
    """Returns, for each device, the range of whole hours that contains all of its rows."""
    return [
        (device, floor_to(some[0], HOUR_MS), floor_to(some[-1], HOUR_MS) + HOUR_MS)
        for device, some in instants.items()
    ]


def doubtful(instants: Instants, last_hours: Mapping[int, int]) -> list[Instant]:
    """Returns the distinct instants at which rows may already be stored: those not after the
    device's last hour with readings, among the hours of the batch."""
    return [
        (device, ts)
        for device, hour in sorted(last_hours.items())
        if (some := instants.get(device))
        for ts in dict.fromkeys(some[: bisect_left(some, hour + HOUR_MS)])
    ]


class New(NamedTuple):
    """The new rows of a batch. ``first`` are the first at their instant (seq 0); ``further`` end
    with their seq."""

    first: list[ReadingRow]
    further: list[Row]

    @property
    def rows(self) -> list[Row]:
        """Returns all new rows, by device and instant."""
        return sorted([*self.first, *self.further], key=instant_of) if self.further else self.first

    @property
    def readings(self) -> list[ReadingRow]:
        """Returns the new rows as readings, without seq; ``first`` before ``further``."""
        return [*self.first, *(cast("ReadingRow", row[:-1]) for row in self.further)]


def decide(existing: Sequence[Row], batch: Sequence[ReadingRow]) -> New:
    """Returns the new rows of a sorted, distinct batch, given the stored rows (…, seq) at its
    doubtful instants. A row with all values equal to a stored one is a repeat; a different row at
    the same instant gets the next seq."""
    if not existing and len(set(map(instant_of, batch))) == len(batch):
        return New(list(batch), [])
    stored = {row[:-1] for row in existing}
    next_seq: defaultdict[Instant, int] = defaultdict(int)
    for row in existing:
        key = instant_of(row)
        next_seq[key] = max(next_seq[key], row[-1] + 1)
    new = New([], [])
    for row in batch:
        if row not in stored:
            key = instant_of(row)
            seq = next_seq[key]
            next_seq[key] = seq + 1
            if seq:
                new.further.append((*row, seq))
            else:
                new.first.append(row)
    return new


def touched(
    instants: Instants, resolution: Resolution, last_hours: Mapping[int, int]
) -> list[Range]:
    """Returns ranges of the buckets that new rows at these instants fall into, adjacent buckets as
    one range.

    If nothing is stored after a device's first affected hour, this is one range from its first to
    its last bucket: the buckets between are empty or part of this batch.
    """
    length = resolution.fixed_ms
    ranges: list[Range] = []
    for device, some in instants.items():
        first, last = some[0], some[-1]
        if last_hours.get(device, 0) <= first - first % HOUR_MS:
            ranges.append((device, first - first % length, last - last % length + length))
        else:
            ranges += _coalesced(device, some, length)
    return ranges


def by_company(instants: Instants, last_hours: Mapping[int, int]) -> tuple[Instants, Instants]:
    """Splits the instants of new rows: those whose hours may hold earlier rows, and long runs after
    the device's last hour with readings."""
    joint: dict[int, Sequence[int]] = {}
    alone: dict[int, Sequence[int]] = {}
    for device, some in instants.items():
        place = bisect_left(some, last_hours[device] + HOUR_MS) if device in last_hours else 0
        if len(some) - place >= ALONE_FROM:
            alone[device] = some[place:] if place else some
            some = some[:place]
        if some:
            joint[device] = some
    return joint, alone


def one_a_bucket(instants: Instants, resolution: Resolution) -> tuple[Instants, Instants]:
    """Splits by device: those with a bucket for each row, and those with several rows in one."""
    length = resolution.fixed_ms
    single = {
        device: some
        for device, some in instants.items()
        if len({instant // length for instant in some}) == len(some)
    }
    return single, {device: instants[device] for device in instants.keys() - single.keys()}


def measured(rows: Sequence[Row]) -> tuple[Metric, ...]:
    """Returns the metrics of the rollups that any of the rows has."""
    if not rows:
        return ()
    return tuple(
        metric
        for place, metric in enumerate(METRICS, _FIRST_VALUE)
        if metric in ROLLED_METRICS
        and (
            rows[0][place] is not None or list(map(itemgetter(place), rows)).count(None) < len(rows)
        )
    )


def _coalesced(device: int, instants: Sequence[int], length: int) -> Iterator[Range]:
    buckets = dict.fromkeys(instant // length for instant in instants)
    for _, run in groupby(enumerate(buckets), lambda pair: pair[1] - pair[0]):
        members = [bucket for _, bucket in run]
        yield device, members[0] * length, (members[-1] + 1) * length


def earliest(instants: Instants) -> list[tuple[int, int]]:
    """Returns (device, its earliest instant), by device."""
    return [(device, some[0]) for device, some in instants.items()]
