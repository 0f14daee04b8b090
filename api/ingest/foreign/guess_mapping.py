"""Guesses a whole mapping from a file's first rows, and lists what should be checked."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import numpy as np

from api.ingest.csv_records import Record
from api.ingest.foreign.column_meanings import guess_meanings, is_fahrenheit
from api.ingest.foreign.columns import Column, Meanings, column
from api.ingest.foreign.dates import EXCEL, NUMERIC, has_offset, parse_times
from api.ingest.foreign.days import Cells, cells, form_of_dates
from api.ingest.foreign.device_columns import likely_devices
from api.ingest.foreign.first_rows import OBJECTS, Given, Headings, first_rows
from api.ingest.foreign.heading_words import words_of
from api.ingest.foreign.mapping import DEVICE_ZONE, ColumnMapping, Is, Mapping, joined_texts
from api.ingest.foreign.table_layout import (
    Title,
    decimal_sign,
    filled,
    filled_down,
    group_names,
    is_wide,
    meter_name,
    padded_digits,
)
from api.ingest.foreign.text_columns import (
    constant_texts,
    label_column,
    read_text_columns,
    rows_of_water,
    with_unit,
)
from api.ingest.foreign.units import Values, unit_in
from api.ingest.foreign.water_values import is_sum_of_others, likely_volume, row_rises, values_of
from api.ingest.foreign.zones import zone_in

REGULAR: Final = 0.6  # share of the steps between rows
_ZONE_UNSURE: Final = (
    "its times are read in each device's own zone; new devices have the organization's"
)
_OURS: Final = {"flow_amount": "gal", "flowAmount": "gal", "flow_rate": "gal", "flowRate": "gal"}


@dataclass(slots=True)
class Guess:
    """``unsure``: settings that a reader should check (``zone``, ``column.NAME.unit``), each with
    the reason. ``rows``: the first rows of the file below its header, unchanged."""

    mapping: Mapping
    unsure: dict[str, str] = field(default_factory=dict[str, str])
    rows: list[Record] = field(default_factory=list[Record])


def guess(path: Path, given: Given = Given()) -> Guess:  # noqa: B008 - it can't be changed
    """Guesses the file's mapping. Raises UserError if it can't be read or has no table."""
    first = first_rows(path, given)
    guessed = Guess(first.mapping, rows=first.rows)
    _guess_meaning(guessed, first.headings, first.even)
    return guessed


def _guess_meaning(guessed: Guess, headings: Headings, rows: Sequence[Record]) -> None:
    decimal, sure = decimal_sign(guessed.mapping, list(zip(*rows, strict=True)))
    if not sure:
        guessed.unsure["decimal"] = "numbers such as 1.203 may be thousands or fractions"
    columns = _columns_of(guessed.mapping, headings, decimal, rows)
    if periods := cells(headings.names):
        _guess_days(guessed, columns, decimal, periods)
        return
    columns, quantity = _select_water(guessed, headings, decimal, rows, columns)
    for place, text in enumerate(headings.below):
        columns[place].unit = columns[place].unit or unit_in(text)
        columns[place].words |= words_of(text)
    beside = read_text_columns(columns, quantity)
    columns = with_unit(beside.columns, headings.title.unit)
    meanings = guess_meanings(columns, beside.taken)
    used = {*meanings.is_, *beside.taken}
    if (label := label_column(columns, meanings.place("device"), used)) is not None:
        meanings.is_[label] = "label"
    guessed.mapping = replace(
        guessed.mapping,
        decimal=decimal,
        time_format=meanings.form or "iso",
        time_at=meanings.time_at,
        layout="wide" if is_wide(columns, meanings, headings.above) else "long",
    )
    _note_unsure_times(guessed, meanings)
    devices, walls = _order(columns, meanings, guessed.mapping.time_format)
    _guess_clock(guessed, columns, meanings, devices, walls)
    _apply_title(guessed, meanings, headings.title, beside.zone)
    mapped = tuple(_column_mappings(guessed, columns, meanings, headings.above, devices, walls))
    guessed.mapping = replace(guessed.mapping, columns=mapped)
    _drop_doubles(guessed, columns)


def _columns_of(
    mapping: Mapping, headings: Headings, decimal: str, rows: Sequence[Record]
) -> list[Column]:
    day_first = decimal == "," or mapping.delimiter == ";"
    named = mapping.header_row > 0 or mapping.form in OBJECTS
    return [
        column(name, each, decimal, day_first=day_first, named=named)
        for name, each in zip(headings.names, zip(*rows, strict=True), strict=True)
    ]


def _select_water(
    guessed: Guess,
    headings: Headings,
    decimal: str,
    rows: Sequence[Record],
    columns: list[Column],
) -> tuple[list[Column], tuple[int, str] | None]:
    """Fills cells that are empty below a value, and selects the rows of water where a column names
    each row's quantity. Returns the columns, and that column with its text for water."""
    if down := filled_down(columns):
        guessed.mapping = replace(guessed.mapping, fill_down=True)
        rows = filled(rows, down)
        columns = _columns_of(guessed.mapping, headings, decimal, rows)
    quantity = rows_of_water(columns)
    if quantity:
        place, text = quantity
        guessed.mapping = replace(guessed.mapping, only=f"{headings.names[place]}={text}")
        rows = [row for row in rows if row[place].strip() == text]
        columns = _columns_of(guessed.mapping, headings, decimal, rows)
    return columns, quantity


def _apply_title(guessed: Guess, meanings: Meanings, title: Title, zone: str) -> None:
    """``zone``: the one of a column, "" without one."""
    zone = zone or title.zone
    if zone and guessed.mapping.zone == DEVICE_ZONE:
        guessed.mapping = replace(guessed.mapping, zone=zone)
        guessed.unsure.pop("zone", None)
    if title.device and guessed.mapping.layout == "long" and meanings.place("device") is None:
        guessed.mapping = replace(guessed.mapping, device=title.device)
        guessed.unsure["device"] = "it is named above the header"


def _note_unsure_times(guessed: Guess, meanings: Meanings) -> None:
    if not meanings.form:
        guessed.unsure["time"] = "no column looks like a time"
    elif not meanings.date_sure:
        guessed.unsure["time_format"] = "day and month could be the other way round"
    elif meanings.form == EXCEL:
        guessed.unsure["time_format"] = "the days may count from 1900 or from 1904 (excel_1904)"


def _guess_days(guessed: Guess, columns: Sequence[Column], decimal: str, periods: Cells) -> None:
    """Guesses a file with a row per day or month: a date, perhaps a device, and a column of water
    for each period."""
    times = list(periods.by_place)
    meanings = guess_meanings(columns, times)
    is_: dict[int, Is] = {p: m for p, m in meanings.is_.items() if m in ("time", "date", "device")}
    is_ = {place: "date" if meaning == "time" else meaning for place, meaning in is_.items()}
    dates = periods.layout == "dates"
    if dates:
        is_ = {place: "device" for place in likely_devices(columns, times)[:1]}
        meanings.form, meanings.date_sure = form_of_dates(list(periods.by_place.values()))
    elif "date" not in is_.values():
        guessed.unsure["time"] = "no column looks like a date"
    elif not meanings.date_sure:
        guessed.unsure["time_format"] = "day and month could be the other way round"
    guessed.unsure["zone"] = _ZONE_UNSURE
    unit, values = _unit_of_days(guessed, columns, times, decimal, dates=dates)
    guessed.mapping = replace(
        guessed.mapping,
        decimal=decimal,
        layout=periods.layout,
        time_format=meanings.form or "iso",
        interval_s=periods.length_s,
        columns=tuple(
            ColumnMapping(each.name, "water", unit, values)
            if place in times
            else ColumnMapping(each.name, is_.get(place, "skip"))
            for place, each in enumerate(columns)
        ),
    )


def _unit_of_days(
    guessed: Guess, columns: Sequence[Column], times: Sequence[int], decimal: str, *, dates: bool
) -> tuple[str, Values]:
    """Returns the unit of the columns of days, and what their values are."""
    named = [each.unit for each in columns if each.unit]
    named += [unit_in(text) for text in constant_texts(columns, times) if unit_in(text)]
    fractions = sum(decimal in text for place in times for text in columns[place].texts)
    filled = sum(bool(text.strip()) for place in times for text in columns[place].texts)
    unit = named[0] if named else "m3" if fractions > 0.5 * filled else "l"
    values: Values = "rate" if "/" in unit else "amount"
    first = f"column.{columns[times[0]].name}"
    if dates and row_rises([columns[place] for place in times]):
        values = "register"
    elif dates:
        guessed.unsure[f"{first}.values"] = "no heading names it"
    for key in () if named else ("unit",):
        guessed.unsure[f"{first}.{key}"] = "no heading names a unit"
    return unit, values


def _order(columns: Sequence[Column], meanings: Meanings, form: str) -> tuple[list[str], list[int]]:
    """Returns the sample's device and wall-clock time of each row; a time that can't be read is
    0."""
    size = len(columns[0].texts)
    device = meanings.place("device")
    devices = list(columns[device].texts) if device is not None else [""] * size
    places = meanings.places("time") or [*meanings.places("date"), *meanings.places("clock")]
    if not places:
        return devices, [0] * size
    ms, ok, _ = parse_times(joined_texts(*(columns[place].texts for place in places)), form)
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
    named = zone_in(" ".join(columns[p].name for p in meanings.places("time", "date", "clock")))
    guessed.mapping = replace(
        guessed.mapping,
        newest_first=backwards > 0.5 * max(1, steps.total()),
        interval_s=common / 1000 if regular else 0.0,
        zone="UTC" if exact else named or DEVICE_ZONE,
    )
    if meanings.form and not exact and not named and meanings.form not in (*NUMERIC,):
        guessed.unsure["zone"] = _ZONE_UNSURE


def _column_mappings(
    guessed: Guess,
    columns: Sequence[Column],
    meanings: Meanings,
    above: Sequence[str],
    devices: Sequence[str],
    walls: Sequence[int],
) -> list[ColumnMapping]:
    wide = guessed.mapping.layout == "wide"
    groups = group_names(columns) if guessed.mapping.units_rows else [c.name for c in columns]
    groups = [over or own for over, own in zip(above, groups, strict=True)]
    result: list[ColumnMapping] = []
    for place, each in enumerate(columns):
        is_ = meanings.is_.get(place, "skip")
        if wide and each.numbers is not None and is_ in ("skip", "water"):
            is_ = "skip" if is_sum_of_others(columns, place, meanings, walls) else "water"
        if is_ != "water":
            unit = ("°F" if is_fahrenheit(each) else "°C") if is_ == "temperature" else ""
            result.append(ColumnMapping(each.name, is_, unit))
            continue
        values, sure = values_of(each, devices, walls)
        unit = _unit(guessed, each, values)
        if not sure:
            guessed.unsure[f"column.{each.name}.values"] = (
                "its values only ever rise" if values == "register" else "the heading doesn't say"
            )
        if values == "register" and (digits := padded_digits(each.texts)):
            guessed.mapping = replace(guessed.mapping, digits=digits)
            guessed.unsure["digits"] = "its numbers are written with leading zeros"
        device = meter_name(groups[place]) if wide else ""
        by_row = each.unit_column if unit == each.unit and not wide else ""
        if each.units_differ:
            why = f"it is in the column {by_row}" if by_row else "the rows have different units"
            guessed.unsure[f"column.{each.name}.unit"] = why
        if values == "rate" and not guessed.mapping.interval_s and not meanings.places("duration"):
            guessed.unsure["interval_s"] = "rates give no volume without their interval"
        result.append(ColumnMapping(each.name, "water", unit, values, device, by_row))
    return result


def _unit(guessed: Guess, each: Column, values: str) -> str:
    unit = each.unit
    rate = values == "rate"
    if unit and ("/" in unit) == rate:
        return unit
    local = guessed.mapping.decimal == "," or guessed.mapping.delimiter == ";"
    ours = not local and values != "register" and _OURS.get(each.name)
    if not ours:
        guessed.unsure[f"column.{each.name}.unit"] = "the heading names no unit"
    volume = ours or unit.split("/")[0] or likely_volume(each, values, guessed.mapping.decimal)
    return f"{volume}/min" if rate else volume


def _drop_doubles(guessed: Guess, columns: Sequence[Column]) -> None:
    """Of several columns for the same water, keeps the amounts, or else the register."""
    mapping = guessed.mapping
    if mapping.layout == "wide":
        _keep_one_a_meter(guessed)
        return
    keep = {
        values: min(places, key=lambda p: ("inst" in columns[p].words, not columns[p].unit))
        for values in ("register", "amount", "rate")
        if (places := mapping.of_water(values))
    }
    if "register" in keep and "amount" in keep:
        vague = not columns[keep["amount"]].unit and columns[keep["register"]].unit
        del keep["amount" if vague else "register"]
    _leave_out(guessed, set(mapping.places("water")) - set(keep.values()))


def _keep_one_a_meter(guessed: Guess) -> None:
    """Keeps one column per meter of a wide file: its register, else its amounts, else its rates."""
    columns = guessed.mapping.columns
    places = guessed.mapping.places("water")
    devices = {columns[place].device for place in places}
    if len(devices) == len(places):
        return
    for values in ("register", "amount", "rate"):
        alike = guessed.mapping.of_water(values)
        if {columns[place].device for place in alike} == devices:
            chosen = {columns[place].device: place for place in reversed(alike)}
            _leave_out(guessed, set(places) - set(chosen.values()))
            return


def _leave_out(guessed: Guess, places: set[int]) -> None:
    result = list(guessed.mapping.columns)
    for place in places:
        result[place] = ColumnMapping(result[place].name)
        for key in ("unit", "values"):
            guessed.unsure.pop(f"column.{result[place].name}.{key}", None)
    guessed.mapping = replace(guessed.mapping, columns=tuple(result))
