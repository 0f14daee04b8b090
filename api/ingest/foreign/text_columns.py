"""What columns of texts say of the others: units, the time zone, and which quantity a row holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from api.ingest.foreign.column_meanings import Column, words_of
from api.ingest.foreign.units import unit_in
from api.timez import zone

_UNITS: Final = frozenset({"unit", "units", "uom", "einheit", "unidad", "unita", "unite"})
_ZONES: Final = frozenset({"timezone", "zone", "tz", "zeitzone"})
_QUANTITIES: Final = frozenset(
    {"parameter", "quantity", "measurement", "metric", "field", "variable", "channel", "type"}
)
_VALUES: Final = frozenset({"value", "wert", "messwert", "valor", "valore", "valeur", "state"})
MOST_QUANTITIES: Final = 30
_OTHER_QUANTITIES: Final = ("temperature", "signal", "rssi", "quality", "duration")


@dataclass(slots=True)
class TextColumns:
    """``columns`` with the units and words that texts beside them say. ``taken``: the places of
    these texts. ``zone``: of every time, "" if no column says it."""

    columns: list[Column]
    taken: set[int] = field(default_factory=set[int])
    zone: str = ""


def rows_of_water(columns: Sequence[Column]) -> tuple[int, str] | None:
    """(place, text) of a column that names the quantity of each row, where values of several stand
    in one column."""
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
    """``quantity``: of these rows, as `rows_of_water` has it."""
    result = TextColumns(list(columns))
    if quantity:
        result.taken.add(quantity[0])
        for place, each in enumerate(columns):
            if each.words & _VALUES and each.numbers is not None:
                words = each.words | words_of(quantity[1])
                unit = each.unit or unit_in(quantity[1])
                result.columns[place] = replace(each, words=words, unit=unit)
    for place, each in enumerate(columns):
        text = _constant(each)
        if text and each.words & _ZONES and _is_zone(text):
            result.zone = text
            result.taken.add(place)
        elif place in result.taken or not unit_in(text):
            continue
        elif each.words & _UNITS or not each.about("water"):
            result.taken.add(place)
            _apply_unit(result.columns, place, unit_in(text))
    return result


def _constant(each: Column) -> str:
    """The only text of a column, "" if there are several or none."""
    texts = {text.strip() for text in each.texts}
    return texts.pop() if len(texts) == 1 and each.numbers is None and not each.date else ""


def _is_zone(text: str) -> bool:
    try:
        zone(text)
    except ValueError:
        return False
    return True


def _apply_unit(columns: list[Column], unit_place: int, unit: str) -> None:
    """To the columns whose heading shares a word with that of the unit's, else to all of numbers
    without a unit."""
    shared = columns[unit_place].words - _UNITS
    open_places = [
        place
        for place, each in enumerate(columns)
        if each.numbers is not None and not each.unit and not each.about("device")
    ]
    watered = [place for place in open_places if columns[place].about("water")] or open_places
    for place in [place for place in watered if columns[place].words & shared] or watered:
        columns[place] = replace(columns[place], unit=unit)
