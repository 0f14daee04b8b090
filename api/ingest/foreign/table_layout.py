"""Guesses how a text is laid out as a table: what stands between values, where the names are."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Sequence
from typing import Final

from api.ingest.csv_records import Record
from api.ingest.foreign.dates import clock_form, guess_form
from api.ingest.foreign.days import are_times_of_day
from api.ingest.foreign.numbers import NO_VALUE, parse_numbers

DELIMITERS: Final = ("\t", ";", "|", ",")
COMMENT: Final = "#"
_LINES: Final = 200
_MOST_UNITS_ROWS: Final = 2
_TITLE_LINES: Final = 30


def guess_delimiter(text: str) -> str:
    """The character that cuts most lines into the same number of values."""
    lines = [line for line in text.split("\n")[:_LINES] if line.strip() and line[0] != COMMENT]
    return max(DELIMITERS, key=lambda sign: _evenness(lines, sign))


def _evenness(lines: Sequence[str], delimiter: str) -> tuple[float, int]:
    """(share of the lines of the commonest width, 0 if that is 1; of equals the first sign wins)"""
    try:
        widths = Counter(len(row) for row in csv.reader(lines, delimiter=delimiter))
    except csv.Error:
        return 0.0, 0
    width, count = widths.most_common(1)[0]
    return (round(count / widths.total(), 1) if width > 1 else 0.0), -DELIMITERS.index(delimiter)


def comment_sign(rows: Sequence[Record]) -> str:
    """ "#" where lines that begin with it aren't rows; "" where the last one names the columns."""
    kinds = [bool(row) and row[0].startswith(COMMENT) for row in rows]
    if True not in kinds or False not in kinds:
        return ""
    first = rows[kinds.index(False)]
    return "" if any(map(is_value, first)) and not are_times_of_day(first) else COMMENT


def units_rows(body: Sequence[Record]) -> int:
    """How many rows below the header hold no value: they name units or kinds."""
    for count, row in enumerate(body[: _MOST_UNITS_ROWS + 1]):
        if any(map(is_value, row)):
            return count
    return 0


def header_row(rows: Sequence[Record]) -> int:
    """The place of the names, from 1; 0 if the first row of the table holds values already."""
    width = Counter(len(row) for row in rows).most_common(1)[0][0]
    for place, row in enumerate(rows[:_TITLE_LINES]):
        if sum(bool(text.strip()) for text in row) >= max(1, 0.6 * width) and len(row) == width:
            return (
                0 if any(map(is_value, row)) and not _names_over_values(rows, place) else place + 1
            )
    return 1


def _names_over_values(rows: Sequence[Record], place: int) -> bool:
    """Whether a row that holds a number is of names all the same, such as the meters 101, 102: its
    first text is none, and the ones below are."""
    if are_times_of_day(rows[place]):
        return True
    if place + 1 >= len(rows) or is_value(rows[place][0]):
        return False
    return is_value(rows[place + 1][0])


def is_value(text: str) -> bool:
    """Whether this is a number or a time rather than a name."""
    text = text.strip()
    if not text or text.lower() in NO_VALUE:
        return False
    if any(parse_numbers([text], decimal)[1][0] for decimal in ".,"):
        return True
    return bool(guess_form([text], day_first=True, timely=False) or clock_form([text]))
