"""Lines of CSV to records of strings, one record per line.

No column of readings can hold a newline, so an unclosed quote affects its own line only. Fields are
quoted as RFC 4180 says, read as leniently as the csv module does.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import Final

from api.ingest.source import Overlong, lines_of

NOT_CSV: Final = "not readable as CSV"

Record = Sequence[str]


class Unreadable(tuple[str]):
    """A line that isn't a record, as the only value of a row: so it is shorter than any header."""

    __slots__ = ()


def records(pieces: Iterable[str], delimiter: str = ",") -> Iterator[Record]:
    """The records of pieces of whole lines; blank lines are none."""
    read = partial(_records, delimiter=delimiter)
    return filter(None, chain.from_iterable(map(read, pieces)))


def _records(piece: str, delimiter: str) -> Iterable[Record]:
    if isinstance(piece, Overlong):
        return (Unreadable((piece,)),)
    reader = csv.reader(
        chain(lines_of(piece), ("",)), delimiter=delimiter
    )  # an open quote continues here
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
    """One line alone; Unreadable where a quote stays open or a field is beyond csv's limit."""
    reader = csv.reader((line, ""), delimiter=delimiter)
    try:
        rows = next(reader)
    except csv.Error:
        return Unreadable((line.rstrip("\n"),))
    return rows if reader.line_num == 1 else Unreadable((line.rstrip("\n"),))
