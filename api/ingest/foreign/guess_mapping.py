"""Guesses a whole mapping from a file's first rows, and says what should be checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np

from api.errors import UserError
from api.ingest.csv_records import Record, Unreadable
from api.ingest.foreign.column_meanings import Column, Meanings, column, guess_meanings, values_of
from api.ingest.foreign.dates import NUMERIC, has_offset, parse_times
from api.ingest.foreign.days import are_times_of_day, time_of_day
from api.ingest.foreign.encoding import guess_encoding
from api.ingest.foreign.mapping import DEVICE_ZONE, ColumnMapping, Is, Mapping
from api.ingest.foreign.numbers import guess_decimal
from api.ingest.foreign.rows import (
    column_names,
    decoded,
    form_of,
    sample,
    sample_rows,
    without_comments,
)
from api.ingest.foreign.table_layout import comment_sign, guess_delimiter, header_row, units_rows
from api.ingest.foreign.text_columns import read_text_columns, rows_of_water
from api.ingest.foreign.units import unit_in

SAMPLE_ROWS: Final = 2_000
REGULAR: Final = 0.6  # of the steps between rows
_ZONE_UNSURE: Final = "its times are read in each device's own zone, UTC for new devices"
_OURS: Final = {"flow_amount": "gal", "flowAmount": "gal", "flow_rate": "gal", "flowRate": "gal"}


@dataclass(slots=True)
class Guess:
    """``unsure``: settings that a reader should check (``zone``, ``column.NAME.unit``), each with
    why. ``rows``: the first of the file, below its header, as they stand there."""

    mapping: Mapping
    unsure: dict[str, str] = field(default_factory=dict[str, str])
    rows: list[Record] = field(default_factory=list[Record])


def guess(path: Path) -> Guess:
    """What the file most likely means. UserError if it can't be read or has no table."""
    head = sample(path)
    form = form_of(head)
    encoding = guess_encoding(head) if form != "xlsx" else "utf-8"
    text = "" if form == "xlsx" else decoded(head, encoding)
    delimiter = guess_delimiter(text) if form == "csv" else ","
    rows = [
        row
        for row in sample_rows(path, form, text, delimiter, SAMPLE_ROWS)
        if not isinstance(row, Unreadable)
    ]
    if not rows:
        raise UserError(f"{path} has no rows")
    comment = comment_sign(rows) if form == "csv" else ""
    rows = list(without_comments(iter(rows), comment))
    header = 1 if form == "ndjson" else header_row(rows)
    units = units_rows(rows[header:]) if header and form != "ndjson" else 0
    body = rows[header + units :]
    if not body:
        raise UserError(f"{path} has no rows below its header")
    width = len(rows[header - 1]) if header else max(map(len, body))
    names = column_names(rows[header - 1]) if header else [f"column {n + 1}" for n in range(width)]
    even = [tuple(row) for row in body if len(row) == width] or [
        (*row, *("",) * width)[:width] for row in body
    ]
    guessed = Guess(
        Mapping(
            form,
            encoding,
            delimiter,
            comment=comment,
            header_row=0 if form == "ndjson" else header,
            units_rows=units,
        ),
        rows=body,
    )
    below = [
        " ".join(texts) for texts in zip(*_even(rows[header : header + units], width), strict=True)
    ]
    _guess_meaning(guessed, names, below, even)
    return guessed


def _even(rows: Sequence[Record], width: int) -> list[Record]:
    return [tuple([*row, *("",) * width][:width]) for row in rows]


def _guess_meaning(
    guessed: Guess, names: Sequence[str], below: Sequence[str], rows: Sequence[Record]
) -> None:
    """``below``: the texts between each name and its values."""
    texts = list(zip(*rows, strict=True))
    decimal, sure = _decimal(guessed.mapping, texts)
    if not sure:
        guessed.unsure["decimal"] = "numbers such as 1.203 may be thousands or fractions"
    day_first = decimal == "," or guessed.mapping.delimiter == ";"
    named = guessed.mapping.header_row > 0 or guessed.mapping.form == "ndjson"
    columns = [
        column(name, each, decimal, day_first=day_first, named=named)
        for name, each in zip(names, texts, strict=True)
    ]
    if are_times_of_day(names):
        _guess_days(guessed, columns, decimal)
        return
    quantity = rows_of_water(columns)
    if quantity:
        place, text = quantity
        guessed.mapping = replace(guessed.mapping, only=f"{names[place]}={text}")
        chosen = [row for row in rows if row[place].strip() == text]
        columns = [
            column(name, each, decimal, day_first=day_first, named=named)
            for name, each in zip(names, zip(*chosen, strict=True), strict=True)
        ]
    for place, text in enumerate(below):
        columns[place].unit = columns[place].unit or unit_in(text)
    beside = read_text_columns(columns, quantity)
    columns = beside.columns
    meanings = guess_meanings(columns, beside.taken)
    guessed.mapping = replace(
        guessed.mapping,
        decimal=decimal,
        time_format=meanings.form or "iso",
        layout="wide" if _is_wide(columns, meanings) else "long",
    )
    if not meanings.form:
        guessed.unsure["time"] = "no column looks like a time"
    elif not meanings.date_sure:
        guessed.unsure["time_format"] = "day and month could be the other way round"
    devices, walls = _order(columns, meanings, guessed.mapping.time_format)
    _guess_clock(guessed, columns, meanings, devices, walls)
    if beside.zone and guessed.mapping.zone == DEVICE_ZONE:
        guessed.mapping = replace(guessed.mapping, zone=beside.zone)
        guessed.unsure.pop("zone", None)
    guessed.mapping = replace(
        guessed.mapping, columns=tuple(_column_mappings(guessed, columns, meanings, devices))
    )
    _drop_doubles(guessed, columns)


def _guess_days(guessed: Guess, columns: Sequence[Column], decimal: str) -> None:
    """A row a day: a date, perhaps a device, and a column of water for each time of day."""
    times = [place for place, each in enumerate(columns) if time_of_day(each.name)]
    meanings = guess_meanings(columns, times)
    is_: dict[int, Is] = {p: m for p, m in meanings.is_.items() if m in ("time", "date", "device")}
    is_ = {place: "date" if meaning == "time" else meaning for place, meaning in is_.items()}
    if "date" not in is_.values():
        guessed.unsure["time"] = "no column looks like a date"
    elif not meanings.date_sure:
        guessed.unsure["time_format"] = "day and month could be the other way round"
    guessed.unsure["zone"] = _ZONE_UNSURE
    named = [each.unit for each in columns if each.unit]
    fractions = sum(decimal in text for place in times for text in columns[place].texts)
    filled = sum(bool(text.strip()) for place in times for text in columns[place].texts)
    unit = named[0] if named else "m3" if fractions > 0.5 * filled else "l"
    values = "rate" if "/" in unit else "amount"
    for key in () if named else ("unit",):
        guessed.unsure[f"column.{columns[times[0]].name}.{key}"] = "no heading names a unit"
    first, second = (columns[place].name for place in times[:2])
    guessed.mapping = replace(
        guessed.mapping,
        decimal=decimal,
        layout="day",
        time_format=meanings.form or "iso",
        interval_s=float(_minutes(second) - _minutes(first)) * 60,
        columns=tuple(
            ColumnMapping(each.name, "water", unit, values)
            if place in times
            else ColumnMapping(each.name, is_.get(place, "skip"))
            for place, each in enumerate(columns)
        ),
    )


def _minutes(heading: str) -> int:
    hours, minutes = time_of_day(heading).split(":")
    return int(hours) * 60 + int(minutes)


def _decimal(mapping: Mapping, texts: Sequence[Sequence[str]]) -> tuple[str, bool]:
    if mapping.form != "csv":
        return ".", True
    votes: Counter[str] = Counter()
    proven = False
    for each in texts:
        sign, sure = guess_decimal(each[:400])
        if sure and any(mark in text for text in each[:400] for mark in ".,"):
            votes[sign] += sum(text.count(sign) == 1 for text in each[:400])
            proven = True
    if votes:
        return votes.most_common(1)[0][0], proven
    unproven = any(not guess_decimal(each[:400])[1] for each in texts)
    return ("," if mapping.delimiter == ";" and unproven else "."), not unproven


def _is_wide(columns: Sequence[Column], meanings: Meanings) -> bool:
    """A time, no device, and several columns of numbers whose headings name meters."""
    if meanings.place("device") is not None:
        return False
    unknown = [
        place
        for place, each in enumerate(columns)
        if each.numbers is not None and meanings.is_.get(place) in (None, "water")
    ]
    unknown = [p for p in unknown if columns[p].unit] or unknown
    plain = [p for p in unknown if not _names_water(columns[p])]
    return len(unknown) >= 2 and len(plain) >= 0.6 * len(unknown)


def _names_water(each: Column) -> bool:
    """Whether the heading says what flows rather than whose water it is."""
    meter = bool(set("0123456789") & set(each.name)) or each.about("device")
    return bool(each.about("water")) and not meter


def _order(columns: Sequence[Column], meanings: Meanings, form: str) -> tuple[list[str], list[int]]:
    """The sample's device and wall time of each row; a time that can't be read is 0."""
    size = len(columns[0].texts)
    device, time = meanings.place("device"), meanings.place("time")
    devices = list(columns[device].texts) if device is not None else [""] * size
    if time is not None:
        texts = columns[time].texts
    else:
        date, clock = meanings.place("date"), meanings.place("clock")
        if date is None:
            return devices, [0] * size
        clocks = columns[clock].texts if clock is not None else [""] * size
        dates = columns[date].texts
        texts = [f"{d.strip()} {c.strip()}".strip() for d, c in zip(dates, clocks, strict=True)]
    ms, ok, _ = parse_times(texts, form)
    return devices, np.where(ok, ms, 0).tolist()


def _guess_clock(
    guessed: Guess,
    columns: Sequence[Column],
    meanings: Meanings,
    devices: Sequence[str],
    walls: Sequence[int],
) -> None:
    steps: Counter[int] = Counter()
    last: dict[str, int] = {}
    for device, wall in zip(devices, walls, strict=True):
        if wall and device in last:
            steps[wall - last[device]] += 1
        last[device] = wall
    backwards = sum(n for step, n in steps.items() if step < 0)
    lengths: Counter[int] = Counter()
    for step, count in steps.items():
        lengths[abs(step)] += count
    common, count = lengths.most_common(1)[0] if lengths else (0, 0)
    regular = count >= REGULAR * lengths.total() and common > 0
    time = meanings.place("time")
    exact = time is not None and has_offset(columns[time].texts[:400], meanings.form)
    guessed.mapping = replace(
        guessed.mapping,
        newest_first=backwards > 0.5 * max(1, steps.total()),
        interval_s=common / 1000 if regular else 0.0,
        zone="UTC" if exact else "device",
    )
    if meanings.form and not exact and meanings.form not in (*NUMERIC,):
        guessed.unsure["zone"] = _ZONE_UNSURE


def _column_mappings(
    guessed: Guess, columns: Sequence[Column], meanings: Meanings, devices: Sequence[str]
) -> list[ColumnMapping]:
    wide = guessed.mapping.layout == "wide"
    result: list[ColumnMapping] = []
    for place, each in enumerate(columns):
        is_ = meanings.is_.get(place, "skip")
        if wide and each.numbers is not None and is_ in ("skip", "water"):
            is_ = "water"
        if is_ != "water":
            unit = ("°F" if _fahrenheit(each) else "°C") if is_ == "temperature" else ""
            result.append(ColumnMapping(each.name, is_, unit))
            continue
        values, sure = values_of(each, devices)
        unit = _unit(guessed, each, values)
        if not sure:
            guessed.unsure[f"column.{each.name}.values"] = (
                "its values only ever rise" if values == "register" else "the heading doesn't say"
            )
        device = _meter_name(each.name) if wide else ""
        result.append(ColumnMapping(each.name, "water", unit, values, device))
    return result


def _fahrenheit(each: Column) -> bool:
    assert each.numbers is not None
    return "f" in each.words or "fahrenheit" in each.words or float(np.nanmedian(each.numbers)) > 45


def _meter_name(heading: str) -> str:
    """The heading without a unit in brackets: ``DMA A (L/s)`` is the meter DMA A."""
    bare = heading.split(" (")[0].split(" [")[0].strip()
    return bare or heading


def _unit(guessed: Guess, each: Column, values: str) -> str:
    unit = each.unit
    rate = values == "rate"
    if unit and ("/" in unit) == rate:
        return unit
    local = guessed.mapping.decimal == "," or guessed.mapping.delimiter == ";"
    ours = not local and values != "register" and _OURS.get(each.name)
    if not ours:
        guessed.unsure[f"column.{each.name}.unit"] = "the heading names no unit"
    volume = ours or unit.split("/")[0] or _likely_volume(each, values, guessed.mapping.decimal)
    return f"{volume}/min" if rate else volume


def _likely_volume(each: Column, values: str, decimal: str) -> str:
    """A register of cubic metres is written with decimals, one of litres without."""
    fractions = sum(decimal in text for text in each.texts)
    return "m3" if values == "register" and fractions > 0.5 * len(each.texts) else "l"


def _drop_doubles(guessed: Guess, columns: Sequence[Column]) -> None:
    """Of several columns that say the same water, keep the amounts, else the register."""
    mapping = guessed.mapping
    if mapping.layout == "wide":
        return
    keep = {
        values: min(places, key=lambda p: "inst" in columns[p].words)
        for values in ("register", "amount", "rate")
        if (places := mapping.of_water(values))
    }
    if "register" in keep and "amount" in keep:
        del keep["register"]
    chosen = set(keep.values())
    result = list(mapping.columns)
    for place in mapping.places("water"):
        if place not in chosen:
            result[place] = ColumnMapping(result[place].name)
            for key in ("unit", "values"):
                guessed.unsure.pop(f"column.{result[place].name}.{key}", None)
    guessed.mapping = replace(mapping, columns=tuple(result))
