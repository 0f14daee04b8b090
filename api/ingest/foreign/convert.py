"""A foreign file's rows to batches of readings, by a mapping, for the pipeline of every feed."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Sequence
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field, replace
from itertools import islice, repeat, starmap
from typing import Final

import numpy as np

from api.catalog import BESIDE_REGISTER, EARLIEST_READING_MS, FUTURE_TOLERANCE_MS, METRICS
from api.errors import UserError
from api.ingest.batch import (
    NO_DEVICE,
    Batch,
    Bools,
    Columns,
    Floats,
    Ints,
    Refusals,
    RefusedRow,
    blank,
    device_column,
    nullable,
)
from api.ingest.csv_records import NOT_CSV, Record, Unreadable
from api.ingest.decode import TOO_WIDE, UNKNOWN_DEVICE, Devices, Rejection
from api.ingest.files import BATCH_CHUNKS, Damaged, joined
from api.ingest.foreign.dates import parse_times
from api.ingest.foreign.days import by_reading, reading_rows
from api.ingest.foreign.mapping import DEVICE_ZONE, METRIC_OF, Mapping
from api.ingest.foreign.numbers import parse_numbers
from api.ingest.foreign.rows import rows_of
from api.ingest.foreign.units import SECONDS, factor
from api.ingest.foreign.zones import WallClock
from api.ingest.source import Lines, SourceFile
from api.store.base import RegisterRow
from api.store.refusals import MAX_SAMPLE

CHUNK_VALUES: Final = 10_000  # rows times devices in a row: texts stay in the processor's cache
NO_TIME: Final = "no valid timestamp"
_PLACE: Final = {metric.name: place for place, metric in enumerate(METRICS)}
_RATE, _DURATION, _AMOUNT = _PLACE["flow_rate"], _PLACE["flow_duration"], _PLACE["flow_amount"]
_EMPTY: Final = ""
REFUSED_ROWS: Final = 1_000  # whole rows kept of each chunk


@dataclass(frozen=True, slots=True)
class Places:
    """An organization's devices by identifier, and the zone of each by key."""

    devices: Devices
    zones: AnyMapping[int, str] = field(default_factory=dict[int, str])


def batches(
    file: SourceFile, mapping: Mapping, places: Places, now_ms: int, skip: int = 0
) -> Generator[Batch]:
    """The file's readings in order, without the batches of its first ``skip`` values: they are read
    again, for what later rows take from them. UserError, Damaged as `files.batches`."""
    lines = Lines(file)
    converter = Converter(mapping, places, now_ms, file.path)
    read = 0
    parts = converter.batches(rows_of(mapping, lines))
    while gathered := list(islice(parts, BATCH_CHUNKS)):
        batch = joined(gathered)
        read += batch.read
        if read > skip or not batch.read:
            yield replace(batch, consumed=lines.consumed)
    if lines.damage:
        raise Damaged(f"{file.path} {lines.damage}")


class Converter:
    """Reads the rows of one file in their order."""

    def __init__(self, mapping: Mapping, places: Places, now_ms: int, path: object) -> None:
        self._file, self._places, self._now_ms = mapping, places, now_ms
        self._mapping = mapping = by_reading(mapping) if mapping.layout == "day" else mapping
        self._name = mapping.device or file_stem(str(path))
        self._clock = WallClock(mapping.newest_first)
        registers = mapping.of_water("register")
        self._register = registers[0] if registers else None

    def batches(self, rows: Iterator[Record]) -> Iterator[Batch]:
        if self._file.layout == "day":
            rows = reading_rows(self._file, rows)
        wide = self._mapping.layout == "wide"
        width = max(1, len(self._mapping.places("water"))) if wide else 1
        size = max(100, CHUNK_VALUES // width)
        while chunk := list(islice(rows, size)):
            yield self._wide(chunk) if wide else self._long(chunk)

    # --- One row a reading ---

    def _long(self, rows: Sequence[Record]) -> Batch:
        texts, fitting = self._columns(rows)
        size = len(rows)
        names = self._names(texts, size)
        keys = device_column(names, self._places.devices.exactly, size)
        self._find_unusual(keys, names)
        instants, timely = self._instants(texts, keys)
        values, faults = self._values(texts, size)
        registers = blank(size)[0]
        if self._register is not None:
            registers = self._numbers(texts, self._register, faults, "register")
        checked = _Checked(rows, names, keys, instants, timely, fitting, faults, self._now_ms)
        measured = ~np.isnan(values).all(axis=0) | ~np.isnan(registers)
        accepted = checked.accepted & measured
        columns = Columns(keys, instants, values).taken(accepted)
        if self._register is None:
            return self._batch(columns, size, checked, ~accepted)
        counted = ~np.isnan(registers[accepted])
        unit = self._mapping.columns[self._register].unit
        made = register_rows(columns.taken(counted), registers[accepted][counted], unit)
        return replace(
            self._batch(columns.taken(~counted), size, checked, ~accepted), registers=made
        )

    def _batch(self, columns: Columns, size: int, checked: _Checked, which: Bools) -> Batch:
        refusals, rows = Refusals(), list[RefusedRow]()
        for index in np.flatnonzero(which).tolist():
            sample = self._mapping.delimiter.join(checked.rows[index])
            rejection = Rejection(checked.reason(index), checked.names[index])
            refusals.add(rejection, sample)
            if len(rows) < REFUSED_ROWS:
                row = RefusedRow(rejection.reason, rejection.device, sample[:MAX_SAMPLE])
                rows.append(row)
        return Batch(columns, size, refusals.all(), refused_rows=tuple(rows))

    def _columns(self, rows: Sequence[Record]) -> tuple[list[Sequence[str]], Bools]:
        """The texts by column, and which rows are of the file's form."""
        width = len(self._mapping.columns)
        fitting: Bools = np.ones(len(rows), np.bool_)
        if {len(row) for row in rows} != {width} or any(
            isinstance(row, Unreadable) for row in rows
        ):
            rows = [self._fitted(row, width, index, fitting) for index, row in enumerate(rows)]
        return list(zip(*rows, strict=True)), fitting

    @staticmethod
    def _fitted(row: Record, width: int, index: int, fitting: Bools) -> Record:
        if isinstance(row, Unreadable) or any(text.strip() for text in row[width:]):
            fitting[index] = False
            return (_EMPTY,) * width
        return (*row[:width], *(_EMPTY,) * (width - len(row)))

    def _names(self, texts: list[Sequence[str]], size: int) -> Sequence[str]:
        places = self._mapping.places("device")
        return [text.strip() for text in texts[places[0]]] if places else [self._name] * size

    def _find_unusual(self, keys: Ints, names: Sequence[str]) -> None:
        for index in np.flatnonzero(keys == NO_DEVICE).tolist():
            key = self._places.devices.find(names[index])
            keys[index] = NO_DEVICE if key is None else key

    def _instants(self, texts: list[Sequence[str]], keys: Ints) -> tuple[Ints, Bools]:
        ms, ok, exact = parse_times(self._time_texts(texts), self._mapping.time_format)
        ok &= keys != NO_DEVICE
        wall = np.flatnonzero(ok & ~exact)
        if len(wall):
            ms[wall] = self._by_zone(ms[wall], keys[wall])
        ok &= (ms >= EARLIEST_READING_MS) & (ms <= self._now_ms + FUTURE_TOLERANCE_MS)
        return ms, ok

    def _time_texts(self, texts: list[Sequence[str]]) -> Sequence[str]:
        if places := self._mapping.places("time"):
            return texts[places[0]]
        dates = texts[self._mapping.places("date")[0]]
        clocks = self._mapping.places("clock")
        if not clocks:
            return dates
        return [f"{d.strip()} {c.strip()}" for d, c in zip(dates, texts[clocks[0]], strict=True)]

    def _by_zone(self, wall: Ints, keys: Ints) -> Ints:
        chosen = self._mapping.zone
        if chosen != DEVICE_ZONE:
            return self._clock.instants(wall, chosen, keys)
        zones = {key: self._places.zones.get(key, "UTC") for key in np.unique(keys).tolist()}
        result = wall.copy()
        for name in set(zones.values()):
            which = np.isin(keys, [key for key, of in zones.items() if of == name])
            result[which] = self._clock.instants(wall[which], name, keys[which])
        return result

    def _values(self, texts: list[Sequence[str]], size: int) -> tuple[Floats, _Faults]:
        values, faults = blank(size), _Faults(np.zeros(size, np.bool_))
        for place, column in enumerate(self._mapping.columns):
            if column.is_ in METRIC_OF:
                numbers = self._numbers(texts, place, faults, column.is_)
                if column.is_ == "temperature" and column.unit == "°F":
                    numbers = (numbers - 32) / 1.8
                if column.is_ == "duration":
                    numbers = numbers * SECONDS[column.unit or "s"]
                values[_PLACE[METRIC_OF[column.is_]]] = numbers
            elif column.is_ == "water" and column.values != "register":
                into = _AMOUNT if column.values == "amount" else _RATE
                values[into] = self._numbers(texts, place, faults, column.name)
        complete_water(values, self._mapping.interval_s)
        return values, faults

    def _numbers(
        self, texts: list[Sequence[str]], place: int, faults: _Faults, name: str
    ) -> Floats:
        column = self._mapping.columns[place]
        numbers, ok = parse_numbers(texts[place], self._mapping.decimal)
        faults.add(~ok, f"{name} is not a number")
        if column.values in ("amount", "rate"):  # a register is taken as it is
            numbers *= factor(column.unit, column.values)
        return numbers

    # --- A column a meter ---

    def _wide(self, rows: Sequence[Record]) -> Batch:
        texts, fitting = self._columns(rows)
        meters = self._mapping.places("water")
        names = [self._mapping.columns[p].device or self._mapping.columns[p].name for p in meters]
        keys = [self._places.devices.find(name) for name in names]
        parts = [
            self._meter(rows, texts, fitting, place, name, NO_DEVICE if key is None else key)
            for place, name, key in zip(meters, names, keys, strict=True)
        ]
        return joined(parts)

    def _meter(
        self, rows: Sequence[Record], texts: list[Sequence[str]], fitting: Bools, place: int,
        name: str, key: int,
    ) -> Batch:  # fmt: skip
        column = self._mapping.columns[place]
        size = len(rows)
        faults = _Faults(np.zeros(size, np.bool_))
        numbers = self._numbers(texts, place, faults, name)
        filled: Bools = faults.any | ~np.isnan(numbers) | ~fitting
        keys = np.full(size, key, np.int64)
        instants, timely = self._instants(texts, keys)
        checked = _Checked(
            rows, [name] * size, keys, instants, timely, fitting, faults, self._now_ms
        )
        accepted = filled & checked.accepted
        values = blank(size)
        size, refused = int(filled.sum()), filled & ~accepted
        if column.values == "register":
            nothing = Columns(keys, instants, values).taken(np.zeros(len(keys), np.bool_))
            columns = Columns(keys, instants, values).taken(accepted)
            made = register_rows(columns, numbers[accepted], column.unit)
            return replace(self._batch(nothing, size, checked, refused), registers=made)
        values[_AMOUNT if column.values == "amount" else _RATE] = numbers
        complete_water(values, self._mapping.interval_s)
        columns = Columns(keys, instants, values).taken(accepted)
        return self._batch(columns, size, checked, refused)


@dataclass(slots=True)
class _Checked:
    """What is known of each of some rows: device, instant, and whether it is of the file's form."""

    rows: Sequence[Record]
    names: Sequence[str]
    keys: Ints
    instants: Ints
    timely: Bools
    fitting: Bools
    faults: _Faults
    now_ms: int

    @property
    def accepted(self) -> Bools:
        return self.fitting & (self.keys != NO_DEVICE) & self.timely & ~self.faults.any

    def reason(self, index: int) -> str:
        """Why a row is refused."""
        if not self.fitting[index]:
            return NOT_CSV if isinstance(self.rows[index], Unreadable) else TOO_WIDE
        if self.keys[index] == NO_DEVICE:
            return UNKNOWN_DEVICE if self.names[index] else "no device"
        if not self.timely[index]:
            late = self.instants[index] > self.now_ms + FUTURE_TOLERANCE_MS
            return "more than 24 h in the future" if late else NO_TIME
        return self.faults.reason(index) or "no measured field"


@dataclass(slots=True)
class _Faults:
    """Which rows have a text that is no number, and the first reason of each."""

    any: Bools
    _reasons: list[tuple[Bools, str]] = field(default_factory=list[tuple[Bools, str]])

    def add(self, wrong: Bools, reason: str) -> None:
        if wrong.any():
            self.any |= wrong
            self._reasons.append((wrong, reason))

    def reason(self, index: int) -> str:
        return next((reason for wrong, reason in self._reasons if wrong[index]), "")


def register_rows(rows: Columns, registers: Floats, unit: str) -> tuple[RegisterRow, ...]:
    """Rows with their registers, which are in ``unit``. What else they have of water follows from
    the registers."""
    beside = (nullable(rows.values[_PLACE[metric.name]]) for metric in BESIDE_REGISTER)
    columns = (rows.devices.tolist(), rows.instants.tolist(), registers.tolist())
    return tuple(starmap(RegisterRow, zip(*columns, repeat(unit), *beside, strict=False)))


def complete_water(values: Floats, interval_s: float) -> None:
    """Complete amount, rate and duration by the other two. ``interval_s``: the duration where no
    column says one, 0 if unknown."""
    amount, rate, duration = values[_AMOUNT], values[_RATE], values[_DURATION]
    watered = ~np.isnan(amount) | ~np.isnan(rate)
    if interval_s:
        duration[watered & np.isnan(duration)] = interval_s
    with np.errstate(divide="ignore", invalid="ignore"):
        rates = np.where(duration > 0, amount * 60 / duration, np.nan)
    amounts = rate * duration / 60
    values[_AMOUNT] = np.where(np.isnan(amount), amounts, amount)
    values[_RATE] = np.where(np.isnan(rate), rates, rate)


def file_stem(path: str) -> str:
    """The file's name without its endings: the device of a file without a column of devices."""
    name = path.rsplit("/", 1)[-1]
    for ending in (".gz", ".csv", ".tsv", ".txt", ".dat", ".xlsx", ".ndjson", ".jsonl", ".json"):
        name = name[: -len(ending)] if name.lower().endswith(ending) else name
    return name


def device_names(file: SourceFile, mapping: Mapping) -> list[str]:
    """Every device that the file names, in order. Reads the file to its end."""
    if mapping.layout == "wide":
        meters = (mapping.columns[place] for place in mapping.places("water"))
        return list(dict.fromkeys(column.device or column.name for column in meters))
    places = mapping.places("device")
    if not places:
        return [mapping.device or file_stem(str(file.path))]
    place, names = places[0], dict[str, None]()
    for row in rows_of(mapping, Lines(file)):
        if len(row) > place and not isinstance(row, Unreadable):
            names[row[place]] = None
    return [name for name in dict.fromkeys(map(str.strip, names)) if name]


def check_file(file: SourceFile, mapping: Mapping) -> None:
    """UserError if the file's header isn't the mapping's, or there is no row."""
    if next(rows_of(mapping, Lines(file)), None) is None:
        raise UserError(f"{file.path} has no rows")
