"""What is suspicious of an import's readings: amounts that are a register, flows beyond any before.

They are stored all the same; the operator is warned.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

import numpy as np

from api.catalog import COARSEST_STORED, DAY_MS, FLOW_AMOUNT, FLOW_RATE, METRICS
from api.ingest.batch import Batch, Columns, Floats, Ints
from api.metering.meter_size import size_rate
from api.metering.register import looks_like_register
from api.store.base import Device, Span, Store

TIMES_LARGEST: Final = 10.0
HISTORY_MS: Final = 90 * DAY_MS
VALUES_LOOKED_AT: Final = 200  # of each device
MOST_DEVICES: Final = 1_000  # whose history is looked up
_RATE, _AMOUNT = METRICS.index(FLOW_RATE), METRICS.index(FLOW_AMOUNT)
_MAX_RATE: Final = 3  # in an hour's row: start, average, least, largest


class Suspicions:
    """Looks at the batches of one import as they pass."""

    def __init__(self) -> None:
        self._amounts: dict[int, Floats] = {}
        self._largest: dict[int, tuple[float, int]] = {}  # flow, first instant

    def add(self, batch: Batch) -> None:
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

    def messages(self, store: Store) -> list[str]:
        """One sentence a suspicion, of at most one device each and how many more there are."""
        registers = [key for key, amounts in self._amounts.items() if looks_like_register(amounts)]
        looked_at = dict(list(self._largest.items())[:MOST_DEVICES])
        names = {d.key: d for d in store.devices_by_key(sorted({*registers, *looked_at}))}
        huge = [
            (names[key].serial_number, flow, why)
            for key, (flow, first_ms) in looked_at.items()
            if key not in registers and (why := _too_large(store, names[key], flow, first_ms))
        ]
        messages: list[str] = []
        if registers:
            first = names[registers[0]].serial_number
            messages.append(
                f"flow_amount looks like a register: it only rises for {first}{_more(registers)};"
                " import the file with a mapping whose column is a register"
            )
        if huge:
            serial, flow, why = huge[0]
            messages.append(
                f"flow is suspiciously large: {flow:,.1f} gal/min for {serial}, {why}{_more(huge)}"
            )
        return messages


def _more(items: Sequence[object]) -> str:
    return f" (and {len(items) - 1:,} more)" if len(items) > 1 else ""


def _too_large(store: Store, device: Device, flow: float, first_ms: int) -> str:
    """Why the flow can't be the meter's; "" if it can. Where its size is known, that decides."""
    of_size = size_rate(device.config)
    if of_size is not None:
        return f"of whose size {of_size:,.1f} is the largest" if flow > of_size else ""
    before = _largest_before(store, device, first_ms)
    if not before or flow <= TIMES_LARGEST * before:
        return ""
    return f"whose largest of 90 days before is {before:,.1f}"


def _largest_before(store: Store, device: Device, first_ms: int) -> float:
    span = Span(first_ms - HISTORY_MS, first_ms - 1)
    rows = store.rows(device, COARSEST_STORED, span, limit=10_000, metrics=(FLOW_RATE,))
    return max((row[_MAX_RATE] or 0.0 for row in rows), default=0.0)
