"""Previews what a mapping makes of a file's first rows, without storing anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass
from itertools import groupby, islice
from pathlib import Path
from typing import Final

import numpy as np

from api.catalog import BESIDE_REGISTER, METRICS, WATER_METRICS
from api.ingest.batch import Batch, Columns, Refused
from api.ingest.csv_records import Record
from api.ingest.decode import Devices
from api.ingest.foreign.convert import Converter, Places, file_stem, is_named
from api.ingest.foreign.mapping import Mapping
from api.ingest.foreign.rows import opened, rows_of
from api.ingest.source import Lines
from api.metering.register import Register, RegisterSettings, booked, steps
from api.store.base import Device, RegisterRow

PREVIEW_ROWS: Final = 5_000
_WATER: Final = [metric.name for metric in WATER_METRICS]


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """A reading as it will be stored. ``values`` by metric name, without missing ones."""

    recorded_ms: int
    device: str
    values: dict[str, float]


@dataclass(frozen=True, slots=True)
class Preview:
    """``devices`` of the rows read, in order. ``raw``: the first rows as in the file."""

    readings: list[PreviewRow]
    devices: list[str]
    refused: list[Refused]
    raw: list[Record]
    read: int


def zones_by_name(devices: Iterable[Device]) -> dict[str, str]:
    """Returns devices' zones by each of their identifiers."""
    return {
        name: device.time_zone
        for device in devices
        for name in (device.network_unique_identifier, device.serial_number, device.id)
    }


def preview(
    path: Path,
    mapping: Mapping,
    zones: AnyMapping[str, str],
    now_ms: int,
    new_zone: str = "UTC",
) -> Preview:
    """``zones``: known devices' zones by identifier; ``new_zone``: that of the others. Raises
    UserError if the file isn't the mapping's, ValueError if the mapping contradicts itself."""
    mapping.check()
    rows = first_rows(path, mapping, PREVIEW_ROWS)
    names = _names(mapping, rows, path)
    keys = {name: key for key, name in enumerate(names)}
    places = Places(Devices(keys), {key: zones.get(name, new_zone) for name, key in keys.items()})
    batches = list(Converter(mapping, places, now_ms, path).batches(iter(rows)))
    readings = [
        row
        for batch in batches
        for row in (*_readings(batch.columns, names), *_derived(batch.registers, mapping, names))
    ]
    return Preview(
        readings, names, _refused(batches), rows[:20], sum(batch.read for batch in batches)
    )


def first_rows(path: Path, mapping: Mapping, most: int) -> list[Record]:
    """Returns rows as in the file, also of a mapping without meaning. Raises UserError if the file
    isn't the mapping's."""
    file = opened(path, mapping.form, mapping.encoding)
    return list(islice(rows_of(mapping, Lines(file)), most))


def _names(mapping: Mapping, rows: list[Record], path: Path) -> list[str]:
    if mapping.layout == "wide":
        meters = [mapping.columns[place] for place in mapping.places("water")]
        return list(dict.fromkeys(column.device or column.name for column in meters))
    places = mapping.places("device")
    if not places:
        return [mapping.device or file_stem(str(path))]
    named = (row for row in rows if is_named(row, places[0], mapping))
    return [name for name in dict.fromkeys(row[places[0]].strip() for row in named) if name]


def _readings(columns: Columns, names: list[str]) -> list[PreviewRow]:
    metrics = [metric.name for metric in METRICS]
    keys: list[int] = columns.devices.tolist()
    values: list[list[float]] = columns.values.T.tolist()
    return [
        PreviewRow(
            instant,
            names[key],
            {m: v for m, v in zip(metrics, row, strict=True) if not np.isnan(v)},
        )
        for key, instant, row in zip(keys, columns.instants.tolist(), values, strict=True)
    ]


def _derived(
    rows: Sequence[RegisterRow], mapping: Mapping, names: list[str]
) -> Iterator[PreviewRow]:
    """Yields readings derived from the registers of these rows only."""
    settings = RegisterSettings(digits=mapping.digits or None, spread=False)
    beside = [metric.name for metric in BESIDE_REGISTER]
    ordered = sorted(rows, key=lambda row: row[:2])
    for key, of_device in groupby(ordered, key=lambda row: row.device):
        by_instant = {row.ts: row for row in of_device}
        registers = [Register(row.ts, row.value, row.unit) for row in by_instant.values()]
        for row, step in zip(by_instant.values(), steps(registers, settings), strict=True):
            (water,) = booked(step)
            values = (*zip(_WATER, water[1:], strict=True), *zip(beside, row[4:], strict=True))
            yield PreviewRow(row.ts, names[key], {m: v for m, v in values if v is not None})


def _refused(batches: list[Batch]) -> list[Refused]:
    return [refused for batch in batches for refused in batch.refused]
