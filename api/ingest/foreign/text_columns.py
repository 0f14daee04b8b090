"""Reads columns of texts that describe other columns: units, the time zone, and the quantity of a
row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from math import nan
from typing import Final

import numpy as np

from api.ingest.foreign.columns import Column
from api.ingest.foreign.heading_words import words_of
from api.ingest.foreign.units import factor, is_plain_unit, row_unit, unit_in
from api.timez import zone

_ROWS: Final = frozenset({"nr", "no", "n", "row", "index", "record", "rn", "lfd", "pos", "zeile"})
UNITS: Final = frozenset({"unit", "units", "uom", "einheit", "unidad", "unita", "unite"})
ZONES: Final = frozenset({"timezone", "zone", "tz", "zeitzone"})
_QUANTITIES: Final = frozenset(
    {"parameter", "quantity", "measurement", "metric", "field", "variable", "channel", "type"}
)
_VALUES: Final = frozenset(
    {"value", "values", "val", "wert", "messwert", "valor", "valore", "valeur", "state"}
)
_LABELS: Final = frozenset(
    {"name", "label", "site", "standort", "location", "bezeichnung", "description", "designation"}
)
MOST_QUANTITIES: Final = 30
_OTHER_QUANTITIES: Final = ("temperature", "signal", "rssi", "quality", "duration")


@dataclass(slots=True)
class TextColumns:
    """``columns`` with the units and words from texts beside them. ``taken``: the positions of
    these texts. ``zone``: of every time, "" if no column gives it."""

    columns: list[Column]
    taken: set[int] = field(default_factory=set[int])
    zone: str = ""


def rows_of_water(columns: Sequence[Column]) -> tuple[int, str] | None:
    """Returns (position, text) of a column that names the quantity of each row, where one column
    holds values of several quantities."""
    if not any(each.words & _VALUES and each.numbers is not None for each in columns):
        return None
    for place, each in enumerate(columns):
        texts = Counter(text.strip() for text in each.texts if text.strip())
        if each.numbers is not None or each.date or not each.words & _QUANTITIES:
            continue
        water = [text for text in texts if _is_water(text)]
        if water and len(texts) <= MOST_QUANTITIES:
            return place, water[0]
    return None


def _is_water(quantity: str) -> bool:
    about = Column(quantity, (), words_of(quantity), None, None, None, empty=True)
    other = any(about.about(is_) for is_ in _OTHER_QUANTITIES)
    return not other and bool(about.about("water") or unit_in(quantity))


def read_text_columns(columns: Sequence[Column], quantity: tuple[int, str] | None) -> TextColumns:
    """``quantity``: of these rows, from `rows_of_water`."""
    result = TextColumns(list(columns))
    if quantity:
        result.taken.add(quantity[0])
        for place, each in enumerate(columns):
            if each.words & _VALUES and each.numbers is not None:
                words = each.words | words_of(quantity[1])
                unit = each.unit or unit_in(quantity[1])
                result.columns[place] = replace(each, words=words, unit=unit)
    _leave_out_row_numbers(result)
    for place, each in enumerate(columns):
        text = _constant(each)
        if text and each.words & ZONES and is_zone(text):
            result.zone = text
            result.taken.add(place)
        elif place not in result.taken and (units := _units_by_row(each)):
            result.taken.add(place)
            _apply_units(result.columns, place, units)
        elif place in result.taken or not unit_in(text):
            continue
        elif each.words & UNITS or not each.about("water"):
            if each.words & UNITS or not _may_name_device(each, text):
                result.taken.add(place)
            _apply_unit(result.columns, place, unit_in(text))
    return result


def _may_name_device(each: Column, text: str) -> bool:
    """Whether a text that contains a unit, such as ``tank/litres``, may name the device."""
    return bool(each.about("device")) or (not each.words and not is_plain_unit(text))


def _leave_out_row_numbers(result: TextColumns) -> None:
    for place, each in enumerate(result.columns):
        if each.numbers is None or each.unit or not each.words & _ROWS:
            continue
        if bool((np.diff(each.numbers[~np.isnan(each.numbers)]) == 1).all()):
            result.taken.add(place)
            result.columns[place] = replace(each, numbers=None)


def with_unit(columns: list[Column], unit: str) -> list[Column]:
    """Returns the columns of water with that unit, if none has one of its own."""
    if not unit or any(each.unit for each in columns):
        return columns
    return [replace(each, unit=unit) if each.about("water") else each for each in columns]


def _constant(each: Column) -> str:
    """Returns the only text of a column, "" if there are several or none."""
    texts = {text.strip() for text in each.texts}
    return texts.pop() if len(texts) == 1 and each.numbers is None and not each.date else ""


def constant_texts(columns: Sequence[Column], taken: Collection[int]) -> list[str]:
    """Returns the text of each column that has only one, except those in ``taken``."""
    return [_constant(each) for place, each in enumerate(columns) if place not in taken]


def is_zone(text: str) -> bool:
    try:
        zone(text)
    except ValueError:
        return False
    return True


def _units_by_row(each: Column) -> list[str]:
    """Returns the unit of each row, "" where there is none; empty if the column has no units or
    only one."""
    if each.numbers is not None or not each.words & UNITS:
        return []
    by_text = {text: row_unit(text, "") for text in set(each.texts)}
    units = set(filter(None, by_text.values()))
    return [by_text[text] for text in each.texts] if len(units) > 1 else []


def _apply_units(columns: list[Column], unit_place: int, units: Sequence[str]) -> None:
    """Applies units that differ from row to row."""
    most = Counter(filter(None, units)).most_common(1)[0][0]
    kind = "rate" if "/" in most else "amount"
    factors = [
        factor(unit, kind) / factor(most, kind) if unit and ("/" in unit) == ("/" in most) else nan
        for unit in units
    ]
    for place in _apply_unit(columns, unit_place, most):
        numbers = columns[place].numbers
        assert numbers is not None  # only such columns get a unit
        columns[place] = replace(
            columns[place], units_differ=True, numbers=numbers * np.array(factors)
        )


def _apply_unit(columns: list[Column], unit_place: int, unit: str) -> list[int]:
    """Applies a unit to the columns whose heading shares a word with the unit's, else to all
    columns of numbers without a unit. Returns them."""
    shared = columns[unit_place].words - UNITS
    open_places = [
        place
        for place, each in enumerate(columns)
        if each.numbers is not None
        and not each.unit
        and not each.about("device")
        and not any(each.about(is_) for is_ in _OTHER_QUANTITIES)
    ]
    watered = [place for place in open_places if columns[place].about("water")]
    if not watered and not any(each.about("water") and each.unit for each in columns):
        watered = open_places
    name = columns[unit_place].name if columns[unit_place].words & UNITS else ""
    meant = [place for place in watered if columns[place].words & shared] or watered
    for place in meant:
        columns[place] = replace(columns[place], unit=unit, unit_column=name)
    return meant


def label_column(
    columns: Sequence[Column], device: int | None, used: Collection[int]
) -> int | None:
    """Returns the column with another name of each device: one text for each, which no other device
    has. ``used``: columns that mean something else."""
    for place, each in enumerate(columns):
        free = place not in used and each.numbers is None and not each.date and not each.clock
        if device is None or not free or not each.words & _LABELS:
            continue
        pairs = set(zip(columns[device].texts, each.texts, strict=True))
        alone = len({name for name, _ in pairs}) == len({text for _, text in pairs}) == len(pairs)
        if alone and all(text.strip() for _, text in pairs):
            return place
    return None
