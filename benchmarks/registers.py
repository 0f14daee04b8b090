"""Registers compared with plain readings: ``python -m benchmarks.registers [ROWS]``.

Twenty meters send the same water every quarter of an hour, once as volumes and once as registers,
into one SQLite store, in turns of one commit each. Reports how much more processor time a register
takes, and a late one, which corrects its neighbours. The totals are checked.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final

from api.catalog import COARSEST_STORED
from api.store.base import Device, NewDevice, ReadingRow, RegisterRow, Span, Store
from api.store.open import open_store
from benchmarks.telling import may_leave_files, of_a_site, tell

METERS: Final = 20
STEP_MS: Final = 900_000
START_MS: Final = 1_772_971_200_000
GALLONS: Final = 15.0
_SIZES: Final = {"live": METERS, "bulk": 5_000}  # rows per commit


def meters(store: Store, organization_id: str, name: str) -> list[Device]:
    serials = [f"{name}-{number}" for number in range(METERS)]
    store.import_devices(organization_id, [NewDevice(serial) for serial in serials])
    keys = store.ingest_keys(organization_id)
    return store.devices_by_key([keys[serial] for serial in serials])


def plain(device: Device, step: int) -> ReadingRow:
    at_ms = START_MS + step * STEP_MS
    return (device.key, at_ms, GALLONS / 15, 900.0, GALLONS, None, None, None, None)


def register(device: Device, step: int) -> RegisterRow:
    return RegisterRow(device.key, START_MS + step * STEP_MS, GALLONS * step)


def cpu_of(store: Store, rows: Sequence[ReadingRow], registers: Sequence[RegisterRow]) -> float:
    begun = time.process_time()
    store.write(rows, registers=registers)
    return (time.process_time() - begun) / (len(rows) + len(registers))


def measure(store: Store, organization_id: str, name: str, size: int, rows: int) -> list[float]:
    """Returns seconds of processor per row: plain, register, late register (medians of commits)."""
    without = meters(store, organization_id, f"{name}-plain")
    counting = meters(store, organization_id, f"{name}-register")
    steps = size // METERS
    times: list[list[float]] = [[], [], []]
    for first in range(0, rows // METERS, steps):
        span = range(first, first + steps)
        late = span[len(span) // 2]
        times[0].append(cpu_of(store, [plain(d, s) for s in span for d in without], ()))
        early = [register(d, s) for s in span for d in counting if s != late or steps == 1]
        times[1].append(cpu_of(store, [], early))
        if steps > 1:
            times[2].append(cpu_of(store, [], [register(d, late) for d in counting]))
    check(store, without, counting)
    return [median(each) for each in times if each]


def check(store: Store, without: Sequence[Device], counting: Sequence[Device]) -> None:
    """Raises RuntimeError if the registers don't give the same water."""
    for one, other in zip(without, counting, strict=True):
        totals = [
            sum(row[-1] for row in store.rows(each, COARSEST_STORED, Span(), limit=100_000))
            for each in (one, other)
        ]
        if totals[0] != totals[1] + GALLONS:  # the first register has no volume
            raise RuntimeError(f"{other.serial_number}: {totals[1]} gallons of {totals[0]}")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("rows", nargs="?", type=int, default=100_000)
    may_leave_files(parser)
    options = parser.parse_args(arguments)
    load = os.getloadavg()[0]
    lines: list[str] = []
    figures: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory(prefix="weir-bench-") as scratch:
        store = open_store(f"sqlite:///{Path(scratch) / 'weir.sqlite'}")
        store.upgrade()
        organization = store.create_organization("Registers").id
        for name, size in _SIZES.items():
            figures[name] = measure(store, organization, name, size, options.rows)
            own, counted, *late = figures[name]
            lines.append(
                f"- {size:,} rows a commit: {own * 1e6:.0f} µs of processor a reading,"
                f" {counted * 1e6:.0f} µs a register ({counted / own:.2f}×)"
                + "".join(f"; {each * 1e6:.0f} µs a late one, {METERS} a commit" for each in late)
            )
        store.close()
    conditions = of_a_site("benchmarks.registers", arguments, load, {})
    lines += [f"- {name}: {value}" for name, value in conditions.items()]
    tell(options, "\n".join(lines), {"seconds": figures, "conditions": conditions})
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
