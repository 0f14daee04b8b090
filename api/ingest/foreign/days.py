"""Files of a row a day with a column a time of day, as rows of one reading each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from api.ingest.csv_records import Record, Unreadable
from api.ingest.foreign.mapping import ColumnMapping, Mapping

FEWEST_TIMES: Final = 4
_TIME_OF_DAY: Final = re.compile(r"\s*([01]?\d|2[0-3])[:.h]([0-5]\d)(?:[:.]\d\d)?(?:\s*[-–].*)?\s*")


def time_of_day(heading: str) -> str:
    """``06:30`` for headings such as "6:30", "06.30", "06:30 - 07:00"; "" for others."""
    match = _TIME_OF_DAY.fullmatch(heading)
    return f"{int(match[1]):02}:{match[2]}" if match else ""


def are_times_of_day(headings: Sequence[str]) -> bool:
    """Whether so many headings are times of day that each row must be a day."""
    times = [text for heading in headings if (text := time_of_day(heading))]
    return len(times) >= FEWEST_TIMES and len(set(times)) == len(times)


def by_reading(mapping: Mapping) -> Mapping:
    """The mapping of the rows that `reading_rows` makes of a file of days."""
    water = mapping.columns[mapping.places("water")[0]]
    unchanged = [mapping.columns[place] for place in _unchanged(mapping)]
    columns = (*unchanged, ColumnMapping("time of day", "clock"), replace(water, name="value"))
    form = mapping.time_format if "%" in mapping.time_format else "%Y-%m-%d"
    return replace(mapping, layout="long", columns=columns, time_format=f"{form} %H:%M")


def reading_rows(mapping: Mapping, rows: Iterator[Record]) -> Iterator[Record]:
    """A row for each value that isn't empty."""
    unchanged = _unchanged(mapping)
    times = [(place, time_of_day(mapping.columns[place].name)) for place in mapping.places("water")]
    for row in rows:
        if isinstance(row, Unreadable) or len(row) > len(mapping.columns):
            yield row
            continue
        same = [row[place] if place < len(row) else "" for place in unchanged]
        for place, clock in times:
            if place < len(row) and row[place].strip():
                yield [*same, clock, row[place]]


def _unchanged(mapping: Mapping) -> list[int]:
    return sorted(mapping.places("date") + mapping.places("device"))
