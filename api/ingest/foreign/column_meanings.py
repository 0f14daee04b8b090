"""Guesses the meaning of a table's columns from their names and values."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, cast

import numpy as np

from api.ingest.batch import Floats
from api.ingest.foreign.date_words import is_month, plain_date
from api.ingest.foreign.dates import EXCEL, ISO, DateGuess, clock_form, guess_form, is_date_only
from api.ingest.foreign.mapping import SHEET, Is, TimeAt
from api.ingest.foreign.numbers import parse_numbers
from api.ingest.foreign.units import Values, unit_in
from api.metering.register import only_rises


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


_WORDS: Final[dict[str, str]] = {
    "time": "time timestamp date datetime recorded recordedat recorded_at ts when zeit zeitpunkt"
    " zeitstempel datum uhrzeit fecha hora data ora heure horodatage instante ablesezeit received"
    " day utc local dates times",
    "device": "device meter serial zahler zaehler zahlernummer zaehlernummer contador contatore"
    " compteur sensor id deviceid meterid account customer user userid userkey anlage matricola"
    " nummer number name point site location node dma household apparat gerat geraet eui deveui"
    " devicename geratename geratenummer seriennummer identifier messstelle teller endpoint miu sn"
    " mprn sheet logger datalogger loggerid",
    "temperature": "temperature temp temperatur temperatura onboard",
    "signal": "signal strength signalstrength",
    "rssi": "rssi",
    "quality": "quality snr qualitat calidad",
    "duration": "duration dauer duracion durata duree seconds elapsed",
    "water": "water flow volume consumption usage use verbrauch menge durchfluss consumo caudal"
    " portata debit zahlerstand zaehlerstand stand index reading register lectura lettura value"
    " diff difference delta amount avg rate total totalizer totaliser counter cumulative wert"
    " wasser agua acqua eau valor valore inflow outflow volumen messwert litres liters gallons gpm"
    " verbruik meterstand stroom pulse pulses impuls impulse impulsi impulsos relevé releve",
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
    " threshold tariff alarm alarme previous reverse backward ruckwarts rueckwarts retour inverso"
)
_STATUS: Final = _set_of(
    "status state flag flags code type quality estimated estimate event alarm note notes comment"
    " battery batterie remark bemerkung kommentar zustand estado stato etat kwaliteit calidad"
    " qualite qualita unit uom approval grade qualifier"
    " flg valid validity info day weekday wochentag source method typ geratetyp medium"
)
"""Headings of texts that recur without naming a device."""
_ENDS: Final = _set_of("end ends ending to until bis ende fin fine hasta einde stop thru through")
_HOURS: Final = _set_of("hour hr hours stunde hora heure ora uur he std timme")
_PARTS: Final[tuple[tuple[str, frozenset[str], range], ...]] = (
    ("%Y", _set_of("year yyyy yr jahr ano annee anno jaar"), range(1990, 2100)),
    ("%m", _set_of("month mm mo mon monat mes mois mese maand"), range(1, 13)),
    ("%d", _set_of("day dd tag dia jour giorno dag"), range(1, 32)),
    ("%H", _set_of("hh") | _HOURS, range(25)),
    ("%M", _set_of("minute minutes min mi minuto"), range(60)),
)
"""Part of a time, headings of a column that holds only this part, valid numbers."""
METERS: Final = _set_of(
    "meter serial zahler zaehler zahlernummer zaehlernummer contador contatore compteur endpoint"
    " miu sn eui deveui mprn seriennummer geratenummer logger datalogger"
)
"""Headings of a meter's own name, rather than of its customer or place."""
_SHEETS: Final = _set_of("sheet tabelle feuil feuille hoja foglio blad arkusz q quarter week kw t")
_NUMBERED: Final = re.compile(r"column \d+")  # a column without a heading
_IDS: Final = _set_of("id identifier serial number nummer deviceid meterid loggerid eui deveui")
"""Headings of a device's identifier, which is steadier than its name."""
_LATE: Final = re.compile(r"(?:^|[ T])24[:.h]?00([:.]?00)?$")
MOST_FAULTS: Final = 0.05  # of the values of a register that are negative
MOST_LONE: Final = 0.5  # devices a row of a file whose numbers show whether they rise
MOST_DISTINCT: Final = 0.5  # of the rows that a column of devices may have


@dataclass(slots=True)
class Column:
    """A column of the sample. ``words`` are those of its heading. ``numbers`` is None for a column
    of other texts. ``unit`` of water, from the heading or a text beside it; "" if none is named.
    ``unit_column``: the name of the column with the unit of each row; ``units_differ``: not all
    have the same, and ``numbers`` are converted to ``unit``."""

    name: str
    texts: Sequence[str]
    words: frozenset[str]
    numbers: Floats | None
    date: DateGuess | None
    clock: str | None
    empty: bool
    unit: str = ""
    unit_column: str = ""
    units_differ: bool = False

    def about(self, is_: str) -> int:
        """Returns how many words of the heading have that meaning."""
        return len(self.words & _WHAT[is_])


def column(
    name: str, texts: Sequence[str], decimal: str, *, day_first: bool, named: bool = True
) -> Column:
    """``named``: the file has headings; without them only the numbers can show a time."""
    words = words_of(name) if named and not _NUMBERED.fullmatch(name) else frozenset[str]()
    numbers, ok = parse_numbers(texts, decimal)
    filled = ~np.isnan(numbers)
    empty = not any(text.strip() for text in texts)
    numeric = bool(filled.any()) and ok.mean() > 0.9
    timely = bool(words & (_WHAT["time"] | {"start"})) or not words
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
    """Returns the heading's words in lower case without accents; words written together count
    too."""
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower().translate(_PLAIN_LETTERS)
    plain = unicodedata.normalize("NFKD", spaced).encode("ascii", "ignore").decode()
    words = re.findall(r"[a-z]+", plain)
    return frozenset([*words, "".join(words), "_".join(words)])


@dataclass(slots=True)
class Meanings:
    """Position of a column → its meaning; the format of the times."""

    is_: dict[int, Is]
    form: str = ""
    date_sure: bool = True
    time_at: TimeAt = "start"

    def places(self, *wanted: Is) -> list[int]:
        return [place for place, meaning in sorted(self.is_.items()) if meaning in wanted]

    def place(self, is_: Is) -> int | None:
        return next((place for place, meaning in self.is_.items() if meaning == is_), None)


def guess_meanings(columns: Sequence[Column], taken: Collection[int] = ()) -> Meanings:
    """Guesses the meaning of each column: first the time, then the device, then the quantities.
    ``taken``: positions of columns to leave out."""
    meanings = Meanings({})
    _find_parts(columns, meanings, taken)
    if not meanings.form:
        _find_time(columns, meanings, taken)
    _find_ends(columns, meanings)
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


def _find_parts(columns: Sequence[Column], meanings: Meanings, taken: Collection[int]) -> None:
    """Finds a time that is split into columns: a year, a month, perhaps day, hour and minute."""
    parts: dict[int, str] = {}
    for sign, words, numbers in _PARTS:
        for place, each in enumerate(columns):
            if place in parts or place in taken or not each.words & words:
                continue
            names = sign == "%m" and is_month(next(filter(None, each.texts), ""))
            if names or _are_within(each, numbers):
                parts[place] = "%b" if names else sign
                break
    signs = set(parts.values())
    if "%Y" in signs and signs & {"%m", "%b"}:
        order = sorted(parts, key=lambda place: (parts[place] in ("%H", "%M"), place))
        meanings.is_ = {
            place: "clock" if parts[place] in ("%H", "%M") else "date" for place in order
        }
        meanings.form = " ".join(parts[place] for place in order)


def _are_within(each: Column, numbers: range) -> bool:
    if each.numbers is None or each.unit:
        return False
    filled = each.numbers[~np.isnan(each.numbers)]
    return bool(len(filled)) and all(number in numbers for number in filled.tolist())


def _find_ends(columns: Sequence[Column], meanings: Meanings) -> None:
    """Decides whether times are the ends of their intervals: a heading says so, or there is a
    24:00 or an hour 24."""
    times = meanings.places("time", "date", "clock")
    named = any(columns[place].words & _ENDS for place in times)
    late = any(_LATE.search(text.strip()) for place in times for text in columns[place].texts)
    hours = [p for p in times if columns[p].words & _HOURS and columns[p].numbers is not None]
    if named or late or any("24" in map(str.strip, columns[p].texts) for p in hours):
        meanings.time_at = "end"


def _find_time(columns: Sequence[Column], meanings: Meanings, taken: Collection[int]) -> None:
    open_columns = [(p, each) for p, each in enumerate(columns) if p not in taken]
    dated = [p for p, each in open_columns if each.date is not None]
    if not dated:
        return
    likely = (dated, [p for p in dated if columns[p].date != DateGuess(EXCEL)])
    best = max(
        likely[bool(likely[1])],
        key=lambda p: (columns[p].about("time") > 0, columns[p].numbers is None, -p),
    )
    guess = columns[best].date
    assert guess is not None  # only those with one
    clocks = [p for p, each in open_columns if each.clock and p != best]
    meanings.form, meanings.date_sure = guess
    hours = [
        p
        for p, each in open_columns
        if p != best and each.words & _HOURS and _are_within(each, range(25))
    ]
    alone = is_date_only(guess.form) or (guess.form == ISO and _are_dates(columns[best].texts))
    if alone and (clocks or hours):
        clock = columns[clocks[0]].clock if clocks else "%H"
        clocks = clocks or hours
        guess = DateGuess("%Y-%m-%d" if guess.form == ISO else guess.form, guess.sure)
        meanings.is_[best], meanings.is_[clocks[0]] = "date", "clock"
        meanings.form = f"{guess.form} {clock}"
    else:
        meanings.is_[best] = "time"


def _are_dates(texts: Sequence[str]) -> bool:
    return all(len(plain_date(text)) == 10 for text in texts[:400] if text.strip())


def _device(columns: Sequence[Column], free: Sequence[int]) -> int | None:
    """Returns the column that names devices: by its heading, or by texts that recur."""
    fitting: list[tuple[float, int]] = []
    for place in free:
        each = columns[place]
        filled = [text for text in each.texts if text.strip()]
        if len(filled) < 0.9 * len(each.texts) or each.date is not None or each.clock:
            continue
        if each.name == SHEET and all(map(_is_period, set(filled))):
            continue
        distinct = len(set(filled)) / max(1, len(filled))
        fractions = each.numbers is not None and any("." in t or "," in t for t in filled)
        named = each.about("device") - (each.about("water") if each.numbers is not None else 0)
        many = distinct > MOST_DISTINCT
        if fractions or (many and (named <= 0 or each.numbers is not None)):
            continue
        if named <= 0 and (each.numbers is not None or each.words & _STATUS):
            continue
        if each.unit and each.numbers is not None:
            continue
        named += bool(each.words & METERS) + 2 * (each.words == frozenset({"id"}))
        alike = 0.5 * (named <= 0 and len(set(filled)) == 1)  # a kind rather than a device
        steady = 0.2 * bool(each.words & _IDS)  # of two that are equally likely
        score = named * 2 + (each.numbers is None) - distinct - alike + steady
        fitting.append((score, place))
    return max(fitting, key=lambda pair: (pair[0], -pair[1]))[1] if fitting else None


def _is_period(sheet: str) -> bool:
    """Whether the name of a sheet is a month, a year, a quarter or a number rather than a meter."""
    words = re.findall(r"[^\W\d_]+", sheet)
    if not words:
        numbers = [int(number) for number in re.findall(r"\d+", sheet)]
        return any(number <= 12 or 1990 <= number <= 2100 for number in numbers)
    return all(is_month(word) or word.lower() in _SHEETS for word in words)


def likely_devices(columns: Sequence[Column], taken: Collection[int]) -> list[int]:
    """Returns the columns that may name the meter of each row, where each meter has only one; the
    likeliest first."""
    places = [place for place in range(len(columns)) if place not in taken]
    by_name = {place: len(columns[place].words & METERS) for place in places}
    return sorted(places, key=lambda p: (-by_name[p], -columns[p].about("device"), p))


def row_rises(columns: Sequence[Column]) -> bool:
    """Whether the numbers of each row only rise, from column to column."""
    numbers = np.array([each.numbers for each in columns if each.numbers is not None])
    steps = [np.diff(row[~np.isnan(row)]) for row in numbers.T]
    return bool(steps) and only_rises(np.concatenate(steps))


def _measured(each: Column) -> Is | None:
    if each.words & _SECONDARY:
        return None
    for is_ in ("rssi", "temperature", "quality", "duration", "signal"):
        if each.about(is_) and not each.unit:
            assert each.numbers is not None  # only columns of numbers measure
            percent = is_ != "quality" or np.nanmax(each.numbers) <= 100  # OPC's Good is 192
            return cast("Is", is_) if percent else None
    return "water" if each.about("water") or each.unit else None


def values_of(each: Column, devices: Sequence[str], walls: Sequence[int]) -> tuple[Values, bool]:
    """Returns (what the column's numbers are, whether that is sure). Numbers that only ever rise
    are a register, whatever the heading. Rows without a time, such as totals, don't count."""
    assert each.numbers is not None  # only columns of numbers measure
    named = {values for values, words in _HOW.items() if each.words & words}
    falls_allowed = int("register" in named and "amount" not in named)
    rising = _rises(each.numbers, devices, walls, falls_allowed)
    unit = each.unit
    if "/" in unit:
        return "rate", not rising
    if rising:
        return "register", "register" in named and "amount" not in named
    if "amount" in named or "register" in named or (each.units_differ and "/" not in unit):
        return "amount", "register" not in named
    if "rate" in named or ("flow" in each.words and not unit):
        return "rate", True
    return "amount", bool(unit)


def _rises(
    numbers: Floats, devices: Sequence[str], walls: Sequence[int], falls_allowed: int
) -> bool:
    """Whether the numbers of all devices together only rise, in the order of the rows, in the
    opposite order, or in that of their times."""
    by_device: dict[str, list[tuple[int, float]]] = {}
    for device, number, wall in zip(devices, numbers.tolist(), walls, strict=True):
        if wall and number == number:
            by_device.setdefault(device, []).append((wall, number))
    if not by_device or len(by_device) > MOST_LONE * sum(map(len, by_device.values())):
        return False
    in_order = [_steps(rows) for rows in by_device.values()]
    in_time = [_steps(sorted(rows)) for rows in by_device.values()]
    steps, by_time = np.concatenate(in_order), np.concatenate(in_time)
    return any(only_rises(each, falls_allowed) for each in (steps, -steps, by_time))


def _steps(rows: Sequence[tuple[int, float]]) -> Floats:
    return np.diff(_without_faults(np.array([number for _, number in rows])))


def _without_faults(numbers: Floats) -> Floats:
    """Leaves out the few negative numbers, such as -1, with which some registers mark faults."""
    negative = numbers < 0
    return numbers[~negative] if negative.sum() <= MOST_FAULTS * len(numbers) else numbers


def is_sum_of_others(
    columns: Sequence[Column], place: int, meanings: Meanings, walls: Sequence[int]
) -> bool:
    """Whether a column of a wide table is the sum of its other columns of water."""
    rest = (None, "water")
    numbers = {
        p: np.nan_to_num(each.numbers[np.array(walls) != 0])
        for p, each in enumerate(columns)
        if each.numbers is not None and meanings.is_.get(p) in rest
    }
    total = numbers.pop(place, None)
    others = [each for each in numbers.values() if each.any()]
    if total is None or len(others) < 2:
        return False
    return bool(np.allclose(total, sum(others), rtol=1e-3, atol=1e-9) and total.any())


def is_fahrenheit(each: Column) -> bool:
    """Whether temperatures are too high for °C, or their heading says so."""
    assert each.numbers is not None
    return "f" in each.words or "fahrenheit" in each.words or float(np.nanmedian(each.numbers)) > 45


def likely_volume(each: Column, values: str, decimal: str) -> str:
    """A register of cubic metres is written with decimals, one of litres without."""
    fractions = sum(decimal in text for text in each.texts)
    return "m3" if values == "register" and fractions > 0.5 * len(each.texts) else "l"
