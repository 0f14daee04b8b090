"""Converts a foreign file's rows to batches of readings, by a mapping, for the common pipeline."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Final

import numpy as np

from api.catalog import EARLIEST_READING_MS, FUTURE_TOLERANCE_MS
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
)
from api.ingest.csv_records import NOT_CSV, Record, Unreadable
from api.ingest.decode import TOO_WIDE, UNKNOWN_DEVICE, Devices, Rejection
from api.ingest.files import BATCH_CHUNKS, Damaged, joined
from api.ingest.foreign.convert_water import (
    AMOUNT,
    PLACE,
    RATE,
    Faults,
    Registers,
    check_registers,
    complete_water,
    put_by_row,
    register_rows,
)
from api.ingest.foreign.dates import parse_times
from api.ingest.foreign.days import by_reading, reading_rows
from api.ingest.foreign.mapping import DEVICE_ZONE, METRIC_OF, Mapping, joined_texts
from api.ingest.foreign.numbers import parse_numbers
from api.ingest.foreign.rows import rows_of
from api.ingest.foreign.units import SECONDS, factor, split
from api.ingest.foreign.zones import WallClock
from api.ingest.source import Lines, SourceFile
from api.metering.units import FAHRENHEIT_PER_CELSIUS, FREEZING_FAHRENHEIT
from api.store.refusals import MAX_SAMPLE

CHUNK_VALUES: Final = 10_000  # rows × devices per chunk: texts stay in the processor's cache
NO_TIME: Final = "no valid timestamp"
_EMPTY: Final = ""
REFUSED_ROWS: Final = 1_000  # rows kept whole of each chunk


@dataclass(frozen=True, slots=True)
class Places:
    """An organization's devices by identifier, and the zone of each by key."""

    devices: Devices
    zones: AnyMapping[int, str] = field(default_factory=dict[int, str])


def batches(
    file: SourceFile, mapping: Mapping, places: Places, now_ms: int, skip: int = 0
) -> Generator[Batch]:
    """Yields the file's readings in order, without the batches of its first ``skip`` values: these
    are read again, since later rows depend on them. Raises UserError and Damaged as `files.batches`
    does."""
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
        self._by_row = mapping.layout in ("long", "wide")
        self._mapping = mapping = mapping if self._by_row else by_reading(mapping)
        self._above: dict[int, str] = {}  # the last text of each column that is filled down
        self._name = mapping.device or file_stem(str(path))
        self._clock = WallClock(mapping.newest_first)
        registers = mapping.of_water("register")
        self._register = registers[0] if registers else None

    def batches(self, rows: Iterator[Record]) -> Iterator[Batch]:
        if not self._by_row:
            rows = reading_rows(self._file, rows)
        wide = self._mapping.layout == "wide"
        width = max(1, len(self._mapping.places("water"))) if wide else 1
        size = max(100, CHUNK_VALUES // width)
        while chunk := list(islice(rows, size)):
            yield self._wide(chunk) if wide else self._long(chunk)

    # --- One reading per row ---

    def _long(self, rows: Sequence[Record]) -> Batch:
        texts, fitting = self._columns(rows)
        size = len(rows)
        names = self._names(texts, size)
        keys = device_column(names, self._places.devices.exactly, size)
        self._find_unusual(keys, names)
        instants, timely = self._instants(texts, keys)
        values, registers, faults = self._values(texts, size)
        checked = _Checked(rows, names, keys, instants, timely, fitting, faults, self._now_ms)
        measured = ~np.isnan(values).all(axis=0) | ~np.isnan(registers.values)
        accepted = checked.accepted & measured
        columns = Columns(keys, instants, values).taken(accepted)
        empty = ~measured & fitting & ~faults.any
        empty &= timely | self._untimed(texts, empty & ~timely)
        refused = ~accepted & ~empty
        size, unmeasured = size - int(empty.sum()), int((empty & timely).sum())
        if self._register is None:
            return replace(self._batch(columns, size, checked, refused), empty=unmeasured)
        counted = ~np.isnan(registers.values[accepted])
        made = register_rows(columns.taken(counted), *registers.taken(accepted, counted))
        batch = self._batch(columns.taken(~counted), size, checked, refused)
        return replace(batch, registers=made, empty=unmeasured)

    def _untimed(self, texts: list[Sequence[str]], which: Bools) -> Bools:
        """Returns which of the rows have no text for their time, as spreadsheets write them."""
        untimed: Bools = np.zeros(len(which), np.bool_)
        times = [texts[place] for place in self._mapping.time_places]
        for index in np.flatnonzero(which).tolist():
            untimed[index] = not any(column[index].strip() for column in times)
        return untimed

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
        """Returns the texts by column, and which rows have the file's format."""
        width = len(self._mapping.columns)
        fitting: Bools = np.ones(len(rows), np.bool_)
        if {len(row) for row in rows} != {width} or any(
            isinstance(row, Unreadable) for row in rows
        ):
            rows = [self._fitted(row, width, index, fitting) for index, row in enumerate(rows)]
        texts: list[Sequence[str]] = list(zip(*rows, strict=True))
        if self._mapping.fill_down and self._by_row:
            for place in self._mapping.filled_places:
                texts[place] = self._filled(place, texts[place])
        return texts, fitting

    def _filled(self, place: int, texts: Sequence[str]) -> list[str]:
        result: list[str] = []
        for text in texts:
            self._above[place] = text if text.strip() else self._above.get(place, "")
            result.append(self._above[place])
        return result

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
        if self._mapping.time_at == "end" and self._by_row and self._register is None:
            ms -= round(self._mapping.interval_s * 1000)
        ok &= (ms >= EARLIEST_READING_MS) & (ms <= self._now_ms + FUTURE_TOLERANCE_MS)
        return ms, ok

    def _time_texts(self, texts: list[Sequence[str]]) -> Sequence[str]:
        first, *others = (texts[place] for place in self._mapping.time_places)
        return joined_texts(first, *others) if others else first

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

    def _values(self, texts: list[Sequence[str]], size: int) -> tuple[Floats, Registers, Faults]:
        registers = Registers(blank(size)[0])
        values, faults = blank(size), Faults(np.zeros(size, np.bool_))
        for place, column in enumerate(self._mapping.columns):
            if column.is_ in METRIC_OF:
                numbers = self._numbers(texts, place, faults, column.is_)
                if column.is_ == "temperature" and column.unit == "°F":
                    numbers = (numbers - FREEZING_FAHRENHEIT) / FAHRENHEIT_PER_CELSIUS
                if column.is_ == "duration":
                    numbers = numbers * SECONDS[column.unit or "s"]
                values[PLACE[METRIC_OF[column.is_]]] = numbers
            elif column.is_ != "water" or column.unit_column:
                continue
            elif column.values == "register":
                numbers = self._numbers(texts, place, faults, "register")
                registers = Registers(numbers, split(column.unit)[1])
            else:
                into = AMOUNT if column.values == "amount" else RATE
                values[into] = self._numbers(texts, place, faults, column.name)
        for place, units in self._mapping.unit_places:
            column = self._mapping.columns[place]
            numbers, ok = parse_numbers(texts[place], self._mapping.decimal)
            faults.add(~ok, f"{column.name} is not a number")
            by_row = put_by_row(numbers, texts[units], column, values, faults)
            registers = by_row if column.values == "register" else registers
        complete_water(values, self._mapping.interval_s)
        return values, registers, faults

    def _numbers(self, texts: list[Sequence[str]], place: int, faults: Faults, name: str) -> Floats:
        column = self._mapping.columns[place]
        numbers, ok = parse_numbers(texts[place], self._mapping.decimal)
        faults.add(~ok, f"{name} is not a number")
        if column.values in ("amount", "rate"):
            numbers *= factor(column.unit, column.values)
        elif column.values == "register":
            if split(column.unit)[0] != 1:  # else as it is
                numbers *= split(column.unit)[0]
            check_registers(numbers, name, faults)
        return numbers

    # --- One column per meter ---

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
        faults = Faults(np.zeros(size, np.bool_))
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
            made = register_rows(columns, numbers[accepted], split(column.unit)[1])
            return replace(self._batch(nothing, size, checked, refused), registers=made)
        values[AMOUNT if column.values == "amount" else RATE] = numbers
        complete_water(values, self._mapping.interval_s)
        columns = Columns(keys, instants, values).taken(accepted)
        return self._batch(columns, size, checked, refused)


@dataclass(slots=True)
class _Checked:
    """The state of some rows: device, instant, and whether each has the file's format."""

    rows: Sequence[Record]
    names: Sequence[str]
    keys: Ints
    instants: Ints
    timely: Bools
    fitting: Bools
    faults: Faults
    now_ms: int

    @property
    def accepted(self) -> Bools:
        return self.fitting & (self.keys != NO_DEVICE) & self.timely & ~self.faults.any

    def reason(self, index: int) -> str:
        """Returns why a row is refused."""
        if not self.fitting[index]:
            return NOT_CSV if isinstance(self.rows[index], Unreadable) else TOO_WIDE
        if self.keys[index] == NO_DEVICE:
            return UNKNOWN_DEVICE if self.names[index] else "no device"
        if not self.timely[index]:
            late = self.instants[index] > self.now_ms + FUTURE_TOLERANCE_MS
            return "more than 24 h in the future" if late else NO_TIME
        return self.faults.reason(index)


def file_stem(path: str) -> str:
    """Returns the file's name without its endings: the device of a file without a column of
    devices."""
    name = path.rsplit("/", 1)[-1]
    for ending in (
        ".gz",
        ".zip",
        ".csv",
        ".tsv",
        ".txt",
        ".dat",
        ".xlsx",
        ".ndjson",
        ".jsonl",
        ".json",
        ".psv",
    ):
        name = name[: -len(ending)] if name.lower().endswith(ending) else name
    return name


def device_names(file: SourceFile, mapping: Mapping) -> list[str]:
    """Returns every device that the file names, in order. Reads the whole file."""
    return list(device_labels(file, mapping))


def device_labels(
    file: SourceFile, mapping: Mapping, on_progress: Callable[[], object] = lambda: None
) -> dict[str, str]:
    """Returns every device that the file names, in order, with its label; "" where a column has
    none. Reads the whole file, calling ``on_progress`` now and then."""
    if mapping.layout == "wide":
        meters = (mapping.columns[place] for place in mapping.places("water"))
        return dict.fromkeys((column.device or column.name for column in meters), "")
    places = mapping.places("device")
    if not places:
        return {mapping.device or file_stem(str(file.path)): ""}
    place, labels = places[0], dict[str, str]()
    (label,) = mapping.places("label") or (None,)
    for number, row in enumerate(rows_of(mapping, Lines(file))):
        if number % CHUNK_VALUES == 0:
            on_progress()
        new = len(row) > place and row[place] not in labels
        if new and is_named(row, place, mapping):
            labels[row[place]] = (
                row[label].strip() if label is not None and label < len(row) else ""
            )
    stripped = dict[str, str]()
    for name, text in labels.items():
        if name.strip():
            stripped.setdefault(name.strip(), text)
    return stripped


def is_named(row: Record, place: int, mapping: Mapping) -> bool:
    """Whether the row names a device: a row of totals has no time."""
    times = mapping.time_places or mapping.places("water")
    return (
        len(row) > place
        and not isinstance(row, Unreadable)
        and (mapping.fill_down or any(row[p].strip() for p in times if p < len(row)))
    )
