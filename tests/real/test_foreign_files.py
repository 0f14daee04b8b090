"""Real meters' readings, in the layouts of their sources, give the known totals."""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from api.ingest.decode import Devices
from api.ingest.foreign.convert import Places, batches, device_names
from api.ingest.foreign.guess_mapping import guess
from api.ingest.foreign.mapping import Mapping
from api.ingest.foreign.rows import opened
from api.timez import now_ms, parse_instant, to_datetime
from tests.real.truths import Raw, Source

LITRES = 3.785411784
AMOUNT = 2  # among the metrics
METERS = 3  # of the 60


def totals(path: Path, mapping: Mapping) -> dict[str, float]:
    file = opened(path, mapping.form, mapping.encoding)
    names = device_names(file, mapping)
    places = Places(Devices({name: key for key, name in enumerate(names)}))
    result: defaultdict[str, float] = defaultdict(float)
    for batch in batches(file, mapping.check(), places, now_ms()):
        assert batch.refused == ()
        for key in np.unique(batch.columns.devices).tolist():
            rows = batch.columns.values[AMOUNT][batch.columns.devices == key]
            result[names[key]] += float(np.nansum(rows))
    return dict(result)


def corrected(path: Path, *changes: tuple[str, str]) -> Mapping:
    mapping = guess(path).mapping
    for name, value in changes:
        mapping = mapping.changed(name, value)
    return mapping


def wall(row: Raw, zone: str, form: str) -> str:
    return to_datetime(row.at_s * 1000).astimezone(ZoneInfo(zone)).strftime(form)


def first_meters(source: Source) -> dict[str, list[Raw]]:
    """The rows of the first meters; the file has one meter after the other."""
    results: dict[str, list[Raw]] = {}
    with gzip.open(source.readings, "rt") as file:
        for row in csv.DictReader(file):
            if row["device"] not in results and len(results) == METERS:
                return results
            at_s = parse_instant(row["recorded_at"]) // 1000
            amount = float(row["flow_amount"] or 0)
            results.setdefault(row["device"], []).append(Raw(at_s, None, None, amount))
    return results


def litres(rows: Sequence[Raw]) -> list[float]:
    return [(row.amount or 0.0) * LITRES for row in rows]


def test_households_with_registers_and_differences(shared_data: Path, tmp_path: Path) -> None:
    source = Source("daiad_swm_60meters", shared_data)
    meters = first_meters(source)
    lines = ["USER KEY;SWM ID;TIMESTAMP;VOLUME;DIFFERENCE"]
    for device, rows in meters.items():
        register = 0.0
        for row, amount in zip(rows, litres(rows), strict=True):
            register += amount
            stamp = wall(row, "Europe/Madrid", "%d/%m/%Y %H:%M:%S")
            lines.append(f"{device};I{device[-4:]};{stamp};{register:.0f};{amount:.0f}")
    path = tmp_path / "swm.csv.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode(), 1))
    result = totals(path, corrected(path, ("zone", "Europe/Madrid")))
    truth = {device: source.given[device]["total_flow_amount"] for device in meters}
    assert result == {device: pytest.approx(total, rel=1e-6) for device, total in truth.items()}


def test_districts_in_columns(shared_data: Path, tmp_path: Path) -> None:
    source = Source("bwdf_dma01_06", shared_data)
    cells: defaultdict[int, dict[str, float]] = defaultdict(dict)
    for device, rows in source.rows.items():
        for row in rows:
            cells[row.at_s][device] = (row.amount or 0.0) * LITRES / 3600
    lines = ["Date-time CET-CEST;" + ";".join(f"{device} (L/s)" for device in source.rows)]
    for at_s in sorted(cells):
        stamp = wall(Raw(at_s, None, None, None), "Europe/Rome", "%d/%m/%Y %H:%M")
        values = (cells[at_s].get(device) for device in source.rows)
        texts = ["" if v is None else f"{v:.9f}".replace(".", ",") for v in values]
        lines.append(";".join([stamp, *texts]))
    path = tmp_path / "inflow.csv"
    path.write_text("\n".join(lines), "cp1252")
    result = totals(path, corrected(path, ("zone", "Europe/Rome")))
    truth = {device: each["total_flow_amount"] for device, each in source.given.items()}
    assert result == {device: pytest.approx(total, rel=1e-6) for device, total in truth.items()}
