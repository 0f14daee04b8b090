"""Detects suspicious data in an import: amounts that look like a register, and flows larger than
any before. The rows are stored all the same; the operator is warned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice, pairwise
from math import inf
from typing import Final, NamedTuple

import numpy as np

from api.catalog import (
    AGGREGATES,
    COARSEST_STORED,
    DAY_MS,
    FLOW_AMOUNT,
    FLOW_RATE,
    HOUR_MS,
    METRICS,
    Aggregate,
)
from api.ingest.batch import Batch, Columns, Floats, Ints
from api.metering.meter_size import size_rate
from api.metering.register import looks_like_register
from api.metering.units import words_in
from api.store.base import SUSPICIOUS, Device, Refusal, Span, Store
from api.timez import floor_to

REGISTER_LIKE: Final = "flowAmount looks like a register: it only rises; send it as register"
TOO_LARGE: Final = "flowRate is larger than the meter can have"
TIMES_LARGEST: Final = 10.0
HISTORY_MS: Final = 90 * DAY_MS
VALUES_LOOKED_AT: Final = 200  # values read of each device
MOST_DEVICES: Final = 1_000  # devices whose history is read
_RATE, _AMOUNT = METRICS.index(FLOW_RATE), METRICS.index(FLOW_AMOUNT)
_MAX_OF_HOURS: Final = AGGREGATES.index(Aggregate("max", FLOW_RATE))
_MAX_RATE: Final = 3  # positions in an hour's row: start, average, least, largest


class Suspect(NamedTuple):
    """A device with suspicious rows, why, and one of them."""

    device: Device
    reason: str
    sample: str


class Suspicions:
    """Checks the batches of one import as they are stored."""

    def __init__(self) -> None:
        self._amounts: dict[int, Floats] = {}
        self._largest: dict[int, tuple[float, int]] = {}  # flow, first instant
        self._registers: dict[int, tuple[int, int]] = {}  # first, last instant

    def add(self, batch: Batch) -> None:
        for key, first_ms, last_ms in batch.register_bounds():
            low, high = self._registers.get(key, (first_ms, last_ms))
            self._registers[key] = min(low, first_ms), max(high, last_ms)
        columns = batch.columns
        if not len(columns):
            return
        order = np.lexsort((columns.instants, columns.devices)).astype(np.int64)
        ordered = columns.taken(order)
        begins = np.r_[True, ordered.devices[1:] != ordered.devices[:-1], True]
        edges: list[int] = np.flatnonzero(begins).tolist()
        for start, end in pairwise(edges):
            some: Ints = np.arange(start, end)
            self._add_device(ordered.taken(some))

    def _add_device(self, rows: Columns) -> None:
        key = int(rows.devices[0])
        amounts = self._amounts.get(key, np.empty(0))
        if len(amounts) < VALUES_LOOKED_AT:
            more = rows.values[_AMOUNT][: VALUES_LOOKED_AT - len(amounts)]
            self._amounts[key] = np.concatenate([amounts, more])
        flows = rows.values[_RATE]
        largest, first_ms = self._largest.get(key, (0.0, int(rows.instants[0])))
        if not np.isnan(flows).all():
            largest = max(largest, float(np.nanmax(flows)))
        self._largest[key] = (largest, min(first_ms, int(rows.instants[0])))

    def suspects(self, store: Store) -> list[Suspect]:
        """Returns the devices whose rows are suspicious, those with registers first."""
        registers = [key for key, amounts in self._amounts.items() if looks_like_register(amounts)]
        looked_at = dict(islice(self._largest.items(), MOST_DEVICES))
        looked_at |= self._derived(store, looked_at)
        names = {d.key: d for d in store.devices_by_key(sorted({*registers, *looked_at}))}
        rising = [
            Suspect(names[key], REGISTER_LIKE, amount_sample(float(self._amounts[key][-1])))
            for key in registers
        ]
        return rising + [
            Suspect(names[key], TOO_LARGE, f"{flow_sample(flow)}; {why}")
            for key, (flow, first_ms) in looked_at.items()
            if key not in registers and (why := _too_large(store, names[key], flow, first_ms))
        ]

    def _derived(
        self, store: Store, others: Mapping[int, tuple[float, int]]
    ) -> dict[int, tuple[float, int]]:
        """Returns the largest flow of devices with registers, which the store has derived, and the
        first instant. ``others``: of their other rows."""
        spans = dict(islice(self._registers.items(), MOST_DEVICES))
        result: dict[int, tuple[float, int]] = {}
        for device in store.devices_by_key(sorted(spans)):
            low, high = spans[device.key]
            begun = floor_to(low, HOUR_MS)
            hours = store.pieces(device, COARSEST_STORED, Span(begun, high), (begun, high + 1))
            derived = max((piece.values[_MAX_OF_HOURS] or 0.0 for piece in hours), default=0.0)
            flow, first_ms = others.get(device.key, (0.0, low))
            result[device.key] = max(flow, derived), min(first_ms, low)
        return result


def messages_of(suspects: Sequence[Suspect], units: str) -> list[str]:
    """Returns one sentence per reason, naming one device and the number of others. ``units``: a
    name of `catalog.UNIT_SYSTEMS`."""
    registers = [each for each in suspects if each.reason == REGISTER_LIKE]
    huge = [each for each in suspects if each.reason == TOO_LARGE]
    messages: list[str] = []
    if registers:
        first = registers[0].device.serial_number
        messages.append(
            f"flow_amount looks like a register: it only rises for {first}{_more(registers)};"
            " import the file with a mapping whose column is a register"
        )
    if huge:
        first = huge[0].device.serial_number
        flow, why = huge[0].sample.split("; ", 1)
        messages.append(f"flow is suspiciously large: {flow} for {first}; {why}{_more(huge)}")
    return [words_in(each, units) for each in messages]


def report(store: Store, suspects: Sequence[Suspect], now_ms: int) -> None:
    """Lists them with the suspicious live readings."""
    reports = [
        Refusal(
            each.device.organization_id, SUSPICIOUS, each.reason, each.device.serial_number,
            each.sample, now_ms,
        )
        for each in suspects
    ]  # fmt: skip
    if reports:
        store.write([], refusals=reports)


def amount_sample(gallons: float) -> str:
    return f"{gallons:,.1f} gal in one reading"


def flow_sample(gpm: float) -> str:
    return f"{_shown(gpm)} gal/min"


def _shown(gpm: float) -> str:
    return f"{gpm:,.1f}" if gpm >= 1 else f"{gpm:.3f}"


def _more(items: Sequence[object]) -> str:
    return f" (and {len(items) - 1:,} more)" if len(items) > 1 else ""


def largest_possible(store: Store, device: Device, before_ms: int) -> tuple[float, str]:
    """Returns the largest flow that a meter can have, in gal/min, and what it follows from: the
    meter's size or, if that is unknown, the 90 days before. Infinite where nothing is known."""
    of_size = size_rate(device.config)
    if of_size is not None:
        return of_size, f"at most {of_size:,.1f} gal/min for its size"
    before = _largest_before(store, device, before_ms)
    limit = TIMES_LARGEST * before if before else inf
    return limit, f"at most {_shown(before)} gal/min in the 90 days before"


def _too_large(store: Store, device: Device, flow: float, first_ms: int) -> str:
    limit, why = largest_possible(store, device, first_ms)
    return why if flow > limit else ""


def _largest_before(store: Store, device: Device, first_ms: int) -> float:
    """Looks at whole hours, without the one in which these readings begin."""
    end_ms = floor_to(first_ms, HOUR_MS)
    span = Span(end_ms - HISTORY_MS, end_ms - 1)
    rows = store.rows(device, COARSEST_STORED, span, limit=10_000, metrics=(FLOW_RATE,))
    return max((row[_MAX_RATE] or 0.0 for row in rows), default=0.0)
