"""Guesses how a text is laid out as a table: the delimiter, and the row of names."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from typing import Final, NamedTuple

from api.ingest.csv_records import Record
from api.ingest.foreign.columns import Column, Meanings
from api.ingest.foreign.dates import clock_form, guess_form
from api.ingest.foreign.days import are_cells
from api.ingest.foreign.heading_words import METERS, words_of
from api.ingest.foreign.mapping import Mapping
from api.ingest.foreign.numbers import NO_VALUE, guess_decimal, parse_numbers
from api.ingest.foreign.text_columns import UNITS, ZONES, is_zone
from api.ingest.foreign.units import unit_in
from api.ingest.foreign.zones import zone_in

DELIMITERS: Final = ("\t", ";", "|", ",", " ")
COMMENT: Final = "#"
_LINES: Final = 200
_MOST_UNITS_ROWS: Final = 2
_TITLE_LINES: Final = 30
_GERMAN_DAY: Final = re.compile(r"\s*\d{1,2}\.\d{1,2}\.\d{2,4}")
_PULSES: Final = frozenset({"pulse", "impuls", "impulswertigkeit", "impulswert", "pulseweight"})
_LOGGERS: Final = frozenset({"logger", "device", "gerat", "geraet", "datenlogger"})
_MOST_WORDS: Final = 5  # of the name of a fact above the header, with their joined forms
_WHOLE: Final = re.compile(r"\d+")
FEWEST_DIGITS: Final = 4
MERGED: Final = 0.3  # of the cells of a column that are empty below the first
_WIDTH: Final = re.compile(r"\d+[sdn]")  # a column's width and kind, as in USGS' files


def guess_delimiter(text: str) -> str:
    """Returns the character that cuts most lines into the same number of values."""
    lines = [line for line in text.split("\n")[:_LINES] if line.strip() and line[0] != COMMENT]
    return max(DELIMITERS, key=lambda sign: _evenness(lines, sign))


def _evenness(lines: Sequence[str], delimiter: str) -> tuple[float, int]:
    """Returns (share of the lines with the most common width, rank of the delimiter); the share is
    0 if the width is 1. Spaces count half, since texts have them too."""
    spaces = delimiter == " "
    try:
        rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=spaces)
        widths = Counter(map(len, rows))
    except csv.Error:
        return 0.0, 0
    width, count = widths.most_common(1)[0]
    share = round(count / widths.total(), 1) * (0.5 if spaces else 1.0)
    return (share if width > 1 else 0.0), -DELIMITERS.index(delimiter)


def decimal_sign(mapping: Mapping, texts: Sequence[Sequence[str]]) -> tuple[str, bool]:
    """Returns (the decimal sign of the columns' texts, whether they prove it)."""
    votes: Counter[str] = Counter()
    texts = [each for each in texts if not clock_form(each[:400])]  # 06.30 is no fraction
    for each in texts:
        sign, sure = guess_decimal(each[:400])
        if sure:
            other = "." if sign == "," else ","
            votes[sign] += sum(t.count(sign) == 1 or t.count(other) > 1 for t in each[:400])
    if votes.total():
        return votes.most_common(1)[0][0], True
    unproven = [each for each in texts if not guess_decimal(each[:400])[1]]
    if mapping.form != "csv":  # numbers that aren't texts have a point
        unproven = [each for each in unproven if any("," in text for text in each[:400])]
    local = mapping.delimiter == ";" or any(_GERMAN_DAY.match(row[0]) for row in texts if row)
    return ("," if local and unproven else "."), not unproven


def comment_sign(rows: Sequence[Record]) -> str:
    """Returns "#" where lines that begin with it aren't rows; "" where the last one names the
    columns, or where "#" is the name of a column of numbers."""
    kinds = [
        bool(row) and row[0].startswith(COMMENT) and (row[0] != COMMENT or len(row) < 3)
        for row in rows
    ]
    if True not in kinds or False not in kinds:
        return ""
    first = rows[kinds.index(False)]
    return "" if any(map(is_value, first)) and not are_cells(first) else COMMENT


def units_rows(body: Sequence[Record]) -> int:
    """Returns how many rows below the header hold no value: they name units, kinds or widths."""
    for count, row in enumerate(body[: _MOST_UNITS_ROWS + 1]):
        if any(map(is_value, row)) and not all(map(_WIDTH.fullmatch, row)):
            return count
    return 0


def header_row(rows: Sequence[Record]) -> int:
    """Returns the row of the names, from 1; 0 if the first row of the table already holds
    values."""
    width = Counter(len(row) for row in rows).most_common(1)[0][0]
    for place, row in enumerate(rows[:_TITLE_LINES]):
        shaped = len(row) == width or (len(row) == width - 1 and not rows[-1][-1].strip())
        if _filled(row) < max(1, 0.6 * width) or not shaped or row[0].rstrip().endswith(":"):
            continue
        if _filled(row) < len(row) and (full := _full_header(rows, place, width)):
            return full
        named = not any(map(is_value, row)) or _names_over_values(rows, place)
        return place + 1 if named else 0
    return 1


def _filled(row: Record) -> int:
    return sum(bool(text.strip()) for text in row)


def _full_header(rows: Sequence[Record], place: int, width: int) -> int:
    """Returns the first row below, from 1, that has a name in each column and values below it: the
    rows up to there are a title. Returns 0 if there is none."""
    for below, row in enumerate(rows[place + 1 : _TITLE_LINES], place + 1):
        if _filled(row) == width and not any(map(is_value, row)) and below + 1 < len(rows):
            return below + 1 if any(map(is_value, rows[below + 1])) else 0
    return 0


class Title(NamedTuple):
    """What the lines above the header say of all rows; "" for what they don't."""

    device: str = ""
    zone: str = ""
    unit: str = ""


def title_above(lines: Sequence[Record]) -> Title:
    """Reads lines such as ``Meter: 4711``, ``# Time zone;Europe/Madrid`` or ``Unit;m3``."""
    title = Title()
    for line in lines:
        name, _, rest = (line[0] if line else "").lstrip("# ").partition(":")
        value = next((text.strip() for text in (rest, *line[1:]) if text.strip()), "")
        words = words_of(name)
        if not value or len(words) > _MOST_WORDS:
            continue
        if words & (UNITS | _PULSES) and unit_in(value):
            title = title._replace(unit=unit_in(value))
        elif words & ZONES and (zone_in(value) or is_zone(value)):
            title = title._replace(zone=zone_in(value) or value)
        elif words & (METERS | _LOGGERS) and not title.device:
            title = title._replace(device=value)
    return title


def texts_above(row: Record, width: int) -> list[str]:
    """Returns the text above each name, such as the building of each column; a merged cell holds
    for those to its right. Empty texts unless there are several, beside the times."""
    texts = [text.strip() for text in [*row, *("",) * width][:width]]
    if texts[0] or len(set(filter(None, texts))) < 2 or any(map(is_value, texts)):
        return [""] * width
    for place in range(1, width):
        texts[place] = texts[place] or texts[place - 1]
    return texts


def _names_over_values(rows: Sequence[Record], place: int) -> bool:
    """Whether a row that holds a number is of names all the same, such as the meters 101, 102: its
    first text is none, and the ones below are."""
    if are_cells(rows[place]):
        return True
    if place + 1 >= len(rows) or is_value(rows[place][0]):
        return False
    return is_value(rows[place + 1][0])


def padded_digits(texts: Sequence[str]) -> int:
    """Returns how many digits a register has before its decimal sign, where all numbers are
    written with as many and some begin with 0; 0 for other texts."""
    wholes = [match[0] for text in texts if (match := _WHOLE.match(text.strip()))]
    lengths = set(map(len, wholes))
    padded = len(lengths) == 1 and any(whole.startswith("0") for whole in wholes)
    return lengths.pop() if padded and len(wholes[0]) >= FEWEST_DIGITS else 0


def is_value(text: str) -> bool:
    """Whether the text is a number or a time rather than a name."""
    text = text.strip()
    if not text or text.lower() in NO_VALUE:
        return False
    if any(parse_numbers([text], decimal)[1][0] for decimal in ".,"):
        return True
    return bool(guess_form([text], day_first=True, timely=False) or clock_form([text]))


def filled_down(columns: Sequence[Column]) -> set[int]:
    """Returns the columns of devices or times with merged cells: only the first cell is filled."""
    return {
        place
        for place, each in enumerate(columns)
        if each.texts[0].strip()
        and (each.about("device") or (each.about("time") and not each.clock))
        and sum(not text.strip() for text in each.texts) > MERGED * len(each.texts)
    }


def filled(rows: Sequence[Record], down: set[int]) -> list[Record]:
    result: list[Record] = []
    above: Record = ()
    for row in rows:
        above = [
            above[place] if above and place in down and not text.strip() else text
            for place, text in enumerate(row)
        ]
        result.append(above)
    return result


def group_names(columns: Sequence[Column]) -> list[str]:
    """Returns the headings; a column without one takes it from the left, as with merged cells."""
    names: list[str] = []
    for place, each in enumerate(columns):
        nameless = each.name == str(place + 1)
        names.append(names[-1] if nameless and names else each.name)
    return names


def meter_name(heading: str) -> str:
    """The heading without a unit in brackets: ``DMA A (L/s)`` is the meter DMA A."""
    bare = heading.split(" (")[0].split(" [")[0].strip()
    return bare or heading


def is_wide(columns: Sequence[Column], meanings: Meanings, above: Sequence[str]) -> bool:
    """Whether there are a time, no device, and several columns of numbers whose headings name
    meters."""
    if meanings.place("device") is not None:
        return False
    unknown = [
        place
        for place, each in enumerate(columns)
        if each.numbers is not None and meanings.is_.get(place) in (None, "water")
    ]
    unknown = [p for p in unknown if columns[p].unit] or unknown
    plain = [p for p in unknown if above[p] or not _names_water(columns[p])]
    return len(unknown) >= 2 and len(plain) >= 0.6 * len(unknown)


def _names_water(each: Column) -> bool:
    """Whether the heading names a quantity rather than a meter."""
    meter = bool(set("0123456789") & set(each.name)) or each.about("device")
    return bool(each.about("water")) and not meter
