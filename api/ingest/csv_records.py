"""Splits lines of CSV into records of strings, one record per line.

No column of readings can hold a newline, so an unclosed quote affects its own line only. Fields are
quoted as in RFC 4180, and read as leniently as by the csv module.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Final

from api.ingest.source import Overlong, lines_of

NOT_CSV: Final = "not readable as CSV"
_GUARDED: Final = re.compile(r'(^|[,;\t|])="', re.MULTILINE)  # ="0012" keeps zeros in spreadsheets

Record = Sequence[str]


class Unreadable(tuple[str]):
    """The only value of a row for a line that isn't a record. Such a row is shorter than any
    header."""

    __slots__ = ()


def records(pieces: Iterable[str], delimiter: str = ",") -> Iterator[Record]:
    """Yields the records of pieces of whole lines; skips blank lines. Several spaces count as one
    delimiter."""
    read = partial(_records, delimiter=delimiter)
    return filter(None, chain.from_iterable(map(read, pieces)))


def _records(piece: str, delimiter: str) -> Iterable[Record]:
    if isinstance(piece, Overlong):
        return (Unreadable((piece,)),)
    if '="' in piece:
        piece = _GUARDED.sub(r'\1"', piece)
    lines = chain(lines_of(piece), ("",))  # an open quote continues here
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=delimiter == " ")
    try:
        rows = list(reader)
    except csv.Error:
        rows = []
    return (
        rows
        if len(rows) == reader.line_num
        else (record(line, delimiter) for line in lines_of(piece))
    )


def record(line: str, delimiter: str = ",") -> Record:
    """Returns one line's record; Unreadable where a quote stays open or a field exceeds csv's
    limit."""
    reader = csv.reader((line, ""), delimiter=delimiter, skipinitialspace=delimiter == " ")
    try:
        rows = next(reader)
    except csv.Error:
        return Unreadable((line.rstrip("\n"),))
    return rows if reader.line_num == 1 else Unreadable((line.rstrip("\n"),))
