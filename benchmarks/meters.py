"""The meters of the data folder as hours in memory, for benchmarks of findings and forecasts."""

from __future__ import annotations

import csv
import gzip
import json
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

from api.catalog import HOUR_MS
from api.insight.findings import HourRow, Minute, RegisterFall
from api.timez import zone

DATA: Final = Path(__file__).parents[2] / "shared" / "data"
LITRES_PER_GALLON: Final = 3.785411784


class Hours:
    """`api.insight.findings.Readings` of a meter that reports by the hour."""

    def __init__(self, rows: Sequence[HourRow]) -> None:
        self.rows = list(rows)
        self._starts = [row.start_ms for row in rows]

    def hours(self, from_ms: int | None) -> Sequence[HourRow]:
        return self.rows if from_ms is None else self.rows[bisect_left(self._starts, from_ms) :]

    def minutes(self, from_ms: int, to_ms: int) -> Sequence[Minute]:
        low, high = bisect_left(self._starts, from_ms), bisect_left(self._starts, to_ms)
        return [
            Minute(row.start_ms, None if row.gallons is None else row.gallons / 60)
            for row in self.rows[low:high]
        ]

    def register_falls(self, from_ms: int, to_ms: int) -> Sequence[RegisterFall]:
        return ()


@dataclass(frozen=True, slots=True)
class Meter:
    """One meter: its gallons by the start of the hour."""

    serial: str
    zone: ZoneInfo
    gallons: dict[int, float]

    @property
    def mean(self) -> float:
        return sum(self.gallons.values()) / len(self.gallons)

    def readings(self) -> Hours:
        return Hours([_row(*hour) for hour in sorted(self.gallons.items())])


def _row(start_ms: int, gallons: float) -> HourRow:
    rate = gallons / 60
    return HourRow(start_ms, gallons, 1.0, rate, rate)


def meters(name: str) -> list[Meter]:
    """Returns the meters of a file of the folder, such as bwdf_dma01_06."""
    zones = {
        one["serialNumber"]: zone(one["deviceTimeZone"])
        for one in json.loads((DATA / f"{name}.devices.json").read_text())
    }
    by_serial: dict[str, dict[int, float]] = defaultdict(lambda: defaultdict(float))
    with gzip.open(DATA / f"{name}.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            if row["flow_amount"]:
                at = datetime.fromisoformat(row["recorded_at"].replace("Z", "+00:00"))
                start_ms = int(at.timestamp()) * 1000 // HOUR_MS * HOUR_MS
                by_serial[row["device"]][start_ms] += float(row["flow_amount"])
    return [
        Meter(serial, zones[serial], dict(hours)) for serial, hours in sorted(by_serial.items())
    ]


@dataclass(frozen=True, slots=True)
class Leak:
    """An outflow by the hour, as shares of its maximum."""

    name: str
    abrupt: bool
    shares: tuple[float, ...]


def leaks() -> list[Leak]:
    by_leak: dict[tuple[str, str], list[float]] = defaultdict(list)
    with gzip.open(DATA / "battledim_leaks.csv.gz", "rt") as file:
        for row in csv.DictReader(file):
            by_leak[row["leak"], row["kind"]].append(float(row["outflow_m3_h"]))
    return [
        Leak(name, kind == "abrupt", tuple(flow / max(flows) for flow in flows))
        for (name, kind), flows in sorted(by_leak.items())
    ]
