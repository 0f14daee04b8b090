"""Guesses what a table's columns are from their names and values."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, cast

import numpy as np

from api.ingest.batch import Floats
from api.ingest.foreign.dates import DateGuess, clock_form, guess_form, is_date_only
from api.ingest.foreign.mapping import Is
from api.ingest.foreign.numbers import parse_numbers
from api.ingest.foreign.units import Values, unit_in
from api.metering.register import looks_like_register


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


_WORDS: Final[dict[str, str]] = {
    "time": "time timestamp date datetime recorded recordedat recorded_at ts when zeit zeitpunkt"
    " zeitstempel datum uhrzeit fecha hora data ora heure horodatage instante ablesezeit received"
    " day utc local",
    "device": "device meter serial zahler zaehler zahlernummer zaehlernummer contador contatore"
    " compteur sensor id deviceid meterid account customer user userid userkey anlage matricola"
    " nummer number name point site location node dma household apparat gerat geraet eui deveui"
    " devicename identifier messstelle teller endpoint miu sn mprn",
    "temperature": "temperature temp temperatur temperatura onboard",
    "signal": "signal strength signalstrength",
    "rssi": "rssi",
    "quality": "quality snr qualitat calidad",
    "duration": "duration dauer duracion durata duree seconds elapsed",
    "water": "water flow volume consumption usage use verbrauch menge durchfluss consumo caudal"
    " portata debit zahlerstand zaehlerstand stand index reading register lectura lettura value"
    " diff difference delta amount avg rate total totalizer totaliser counter cumulative wert"
    " wasser agua acqua eau valor valore inflow outflow volumen messwert litres liters gallons gpm"
    " verbruik meterstand stroom pulse pulses relevé releve",
}
_VALUES: Final[dict[Values, str]] = {
    "register": "register reading stand index total totalizer totaliser counter cumulative lectura"
    " lettura zahlerstand zaehlerstand meterstand odometer releve",
    "rate": "rate durchfluss caudal portata debit gpm lpm avg inst",
    "amount": "amount diff difference delta consumption usage verbrauch consumo menge verbruik"
    " interval",
}
_WHAT: Final = {is_: _set_of(words) for is_, words in _WORDS.items()}
_HOW: Final = {values: _set_of(words) for values, words in _VALUES.items()}
_PLAIN_LETTERS: Final = str.maketrans({"ß": "ss"})
_SECONDARY: Final = _set_of(
    "lat lon latitude longitude battery batterie price cost target max maximum minimum limit"
    " threshold tariff alarm alarme previous"
)
_METERS: Final = _set_of(
    "meter serial zahler zaehler zahlernummer zaehlernummer contador contatore compteur endpoint"
    " miu sn eui deveui mprn"
)
"""Headings of a meter's own name, rather than of its customer or place."""
MOST_DISTINCT: Final = 0.5  # of the rows that a column of devices may have


@dataclass(slots=True)
class Column:
    """A column of the sample. ``words``: those of its heading. ``numbers`` None if it isn't one of
    numbers. ``unit``: of water, as the heading or a text beside it says, "" if none does."""

    name: str
    texts: Sequence[str]
    words: frozenset[str]
    numbers: Floats | None
    date: DateGuess | None
    clock: str | None
    empty: bool
    unit: str = ""

    def about(self, is_: str) -> int:
        """How many words of the heading tell of that meaning."""
        return len(self.words & _WHAT[is_])


def column(
    name: str, texts: Sequence[str], decimal: str, *, day_first: bool, named: bool = True
) -> Column:
    """``named``: the file has headings; without them numbers alone tell a time."""
    words = words_of(name) if named else frozenset[str]()
    numbers, ok = parse_numbers(texts, decimal)
    filled = ~np.isnan(numbers)
    empty = not any(text.strip() for text in texts)
    numeric = bool(filled.any()) and ok.mean() > 0.9
    timely = bool(words & _WHAT["time"]) or not words
    date = guess_form(texts[:400], day_first=day_first, timely=timely)
    return Column(
        name,
        texts,
        words,
        numbers if numeric else None,
        date,
        clock_form(texts[:400]),
        empty,
        unit_in(name),
    )


def words_of(name: str) -> frozenset[str]:
    """The heading's words in small plain letters; those written together count too."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower().translate(_PLAIN_LETTERS)
    plain = unicodedata.normalize("NFKD", spaced).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z]+", plain)
    return frozenset([*words, "".join(words), "_".join(words)])


@dataclass(slots=True)
class Meanings:
    """Place of a column → what it is; the form of the times."""

    is_: dict[int, Is]
    form: str = ""
    date_sure: bool = True

    def place(self, is_: Is) -> int | None:
        return next((place for place, meaning in self.is_.items() if meaning == is_), None)


def guess_meanings(columns: Sequence[Column], taken: Collection[int] = ()) -> Meanings:
    """What each column is. The time first, then whose row it is, then what was measured. ``taken``:
    places of columns that are none of these."""
    meanings = Meanings({})
    _find_time(columns, meanings)
    free = [p for p in range(len(columns)) if p not in meanings.is_ and p not in taken]
    device = _device(columns, free)
    if device is not None:
        meanings.is_[device] = "device"
        free.remove(device)
    for place in free:
        if columns[place].empty or columns[place].numbers is None:
            continue
        meaning = _measured(columns[place])
        if meaning == "water" or (meaning and meanings.place(meaning) is None):
            meanings.is_[place] = meaning
    nameless = [p for p in free if p not in meanings.is_ and columns[p].numbers is not None]
    if (
        "water" not in meanings.is_.values()
        and len(nameless) == 1
        and not columns[nameless[0]].empty
    ):
        meanings.is_[nameless[0]] = "water"
    return meanings


def _find_time(columns: Sequence[Column], meanings: Meanings) -> None:
    dated = [p for p, each in enumerate(columns) if each.date is not None]
    if not dated:
        return
    best = max(dated, key=lambda p: (columns[p].about("time") > 0, columns[p].numbers is None, -p))
    guess = columns[best].date
    assert guess is not None  # only those with one
    clocks = [p for p, each in enumerate(columns) if each.clock and p != best]
    meanings.form, meanings.date_sure = guess
    if is_date_only(guess.form) and clocks:
        clock = columns[clocks[0]].clock
        meanings.is_[best], meanings.is_[clocks[0]] = "date", "clock"
        meanings.form = f"{guess.form} {clock}"
    else:
        meanings.is_[best] = "time"


def _device(columns: Sequence[Column], free: Sequence[int]) -> int | None:
    """The column that names devices: by its heading, or texts that come again and again."""
    fitting: list[tuple[float, int]] = []
    for place in free:
        each = columns[place]
        filled = [text for text in each.texts if text.strip()]
        if len(filled) < 0.9 * len(each.texts) or each.date is not None or each.clock:
            continue
        distinct = len(set(filled)) / max(1, len(filled))
        fractions = each.numbers is not None and any("." in t or "," in t for t in filled)
        named = each.about("device") - (each.about("water") if each.numbers is not None else 0)
        many = distinct > MOST_DISTINCT
        if fractions or (many and (named <= 0 or each.numbers is not None)):
            continue
        if named <= 0 and each.numbers is not None:
            continue
        if each.unit and each.numbers is not None:
            continue
        named += bool(each.words & _METERS) + 2 * (each.words == frozenset({"id"}))
        fitting.append((named * 2 + (each.numbers is None) - distinct, place))
    return max(fitting, key=lambda pair: (pair[0], -pair[1]))[1] if fitting else None


def _measured(each: Column) -> Is | None:
    if each.words & _SECONDARY:
        return None
    for is_ in ("rssi", "temperature", "quality", "duration", "signal"):
        if each.about(is_) and not each.unit:
            return cast("Is", is_)
    return "water" if each.about("water") or each.unit else None


def values_of(each: Column, devices: Sequence[str]) -> tuple[Values, bool]:
    """(what its numbers are, whether that is sure). Numbers that only ever rise are a register,
    whatever the heading says."""
    assert each.numbers is not None  # only columns of numbers measure
    by_device: dict[str, list[float]] = {}
    for device, number in zip(devices, each.numbers.tolist(), strict=True):
        by_device.setdefault(device, []).append(number)
    longest = max(by_device.values(), key=len)
    rising = looks_like_register(np.array(longest)) or looks_like_register(np.array(longest[::-1]))
    named = {values for values, words in _HOW.items() if each.words & words}
    unit = each.unit
    if "/" in unit:
        return "rate", not rising
    if rising:
        return "register", "register" in named and "amount" not in named
    if "amount" in named or "register" in named:
        return "amount", "register" not in named
    if "rate" in named or ("flow" in each.words and not unit):
        return "rate", True
    return "amount", bool(unit)
