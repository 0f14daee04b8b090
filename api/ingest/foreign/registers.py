"""Registers of a file, part by part, to volumes: each register meets the one before it in time,
though that may stand in an earlier part, or a later one where a file runs backwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from api.ingest.batch import Bools, Floats, Ints
from api.metering.register import volumes


class Registered(NamedTuple):
    """n rows with a register: device keys, epoch ms, registers in the file's unit, and the other
    values of each row, one column a row."""

    devices: Ints
    instants: Ints
    registers: Floats
    values: Floats

    def taken(self, which: Bools | Ints) -> Registered:
        return Registered(
            self.devices[which], self.instants[which], self.registers[which], self.values[:, which]
        )

    def with_rows(self, other: Registered) -> Registered:
        return Registered(
            np.concatenate([self.devices, other.devices]),
            np.concatenate([self.instants, other.instants]),
            np.concatenate([self.registers, other.registers]),
            np.concatenate([self.values, other.values], axis=1),
        )


class Derived(NamedTuple):
    """The rows that are complete now, in order, with what flowed before each (gallons and seconds,
    NaN where unknown)."""

    rows: Registered
    amounts: Floats
    seconds: Floats


@dataclass(slots=True)
class RegisterChain:
    """``newest_first``: each part is older than the one before. ``gallons``: in a unit of the
    register. ``full_scale``: where the register starts again at 0, in its unit; 0 if it never does.
    """

    newest_first: bool
    gallons: float = 1.0
    full_scale: float = 0.0
    _edge: Registered | None = field(default=None)

    def out_of_order(self, devices: Ints, instants: Ints) -> Bools:
        """Which rows lie on the wrong side of their device's rows in earlier parts."""
        wrong: Bools = np.zeros(len(devices), np.bool_)
        if self._edge is None:
            return wrong
        edges = dict(zip(self._edge.devices.tolist(), self._edge.instants.tolist(), strict=True))
        own_edges = [edges.get(device) for device in devices.tolist()]
        has_edge: Bools = np.array([edge is not None for edge in own_edges], np.bool_)
        limits = np.array([edge or 0 for edge in own_edges], np.int64)
        passed = instants > limits if self.newest_first else instants < limits
        return has_edge & passed

    def take(self, rows: Registered) -> Derived:
        """The next part of the file. Backwards, a device's oldest row waits for the next part."""
        new: Bools = np.ones(len(rows.devices), np.bool_)
        if self._edge is not None:
            new = np.concatenate([np.full(len(self._edge.devices), self.newest_first), new])
            rows = self._edge.with_rows(rows)
        order = np.lexsort((rows.registers, rows.instants, rows.devices))
        rows, new = rows.taken(order), new[order]
        repeated = _repeated(rows)
        rows, new = rows.taken(~repeated), new[~repeated]
        amounts, seconds = self._steps(rows)
        last = np.r_[rows.devices[1:] != rows.devices[:-1], True][: len(rows.devices)]
        first = np.r_[True, rows.devices[1:] != rows.devices[:-1]][: len(rows.devices)]
        self._edge = rows.taken(first if self.newest_first else last)
        out = ~first if self.newest_first else new
        return Derived(rows.taken(out), amounts[out], seconds[out])

    def rest(self) -> Derived | None:
        """What still waits at the end of the file: each device's oldest row, before which nothing
        is known."""
        if self._edge is None or not self.newest_first:
            return None
        unknown = np.full(len(self._edge.devices), np.nan)
        return Derived(self._edge, unknown, unknown)

    def _steps(self, rows: Registered) -> tuple[Floats, Floats]:
        amounts = np.full(len(rows.devices), np.nan)
        seconds = amounts.copy()
        starts = np.flatnonzero(np.r_[True, rows.devices[1:] != rows.devices[:-1]])
        for start, end in zip(starts, [*starts[1:], len(rows.devices)], strict=True):
            amounts[start:end] = volumes(rows.registers[start:end], self.full_scale)
            seconds[start + 1 : end] = np.diff(rows.instants[start:end]) / 1000
        return amounts * self.gallons, seconds  # last: differences of whole numbers are exact


def _repeated(rows: Registered) -> Bools:
    """Which sorted rows say again what the row before says."""
    repeated: Bools = np.zeros(len(rows.devices), np.bool_)
    repeated[1:] = (
        (rows.devices[1:] == rows.devices[:-1])
        & (rows.instants[1:] == rows.instants[:-1])
        & (rows.registers[1:] == rows.registers[:-1])
    )
    return repeated
