"""Files with a row per day or month and a column per period, converted to one reading per row."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, Literal, NamedTuple

import numpy as np

from api.catalog import DAY_MS
from api.ingest.csv_records import Record, Unreadable
from api.ingest.foreign.dates import DateGuess, guess_form, parse_times
from api.ingest.foreign.mapping import ColumnMapping, Mapping
from api.timez import stamp

FEWEST_TIMES: Final = 4
FEWEST_DAYS: Final = 28
FEWEST_DATES: Final = 2
_DAY_MINUTES: Final = 24 * 60
_TIME_OF_DAY: Final = re.compile(r"\s*([01]?\d|2[0-4])[:.h]([0-5]\d)(?:[:.]\d\d)?(?:\s*[-–].*)?\s*")
_DATED: Final = re.compile(
    r"^\W*\d{1,4}[./-]\d{1,2}[./-]\d{2,4}\b|\d{1,2}\W+[^\W\d]{3,}\W+\d{4}"
    r"|^\W*(?:\d{4}[./-]\d{1,2}|(?:\d{1,2}[./-]|[^\W\d]{3,}\W*)\d{4})\W*$"  # months
)
_NAME: Final = re.compile(r"[^\W\d]")
_NUMBERED: Final = re.compile(
    r"\s*(?:he|hh|h|hr|hour|hora|heure|ora|stunde|std|uur|p|period|interval|int|day|tag|dia|jour|d|v|val|value|wert)?"
    r"[\s_.-]*0?(\d{1,2})\s*(?:h|:)?\s*",
    re.IGNORECASE,
)


class Cells(NamedTuple):
    """``by_place``: column → the time of day at which it begins (``06:30``), the day of the month
    (``07``), or its date or time as it is in the heading."""

    layout: Literal["day", "month", "dates"]
    by_place: dict[int, str]
    length_s: float


def cells(headings: Sequence[str]) -> Cells | None:
    """Returns what the columns mean if each row is a day, a month or a meter: times of day, hours
    or other periods numbered from 0 or 1, the days 1 to 31, or dates. Returns None for other
    columns."""
    if dates := _dates(headings):
        return dates
    minutes = {place: _minutes(match) for place, text in enumerate(headings)
               if (match := _TIME_OF_DAY.fullmatch(text))}  # fmt: skip
    if len(minutes) >= FEWEST_TIMES and len(set(minutes.values())) == len(minutes):
        steps = np.diff(sorted(minutes.values()))
        length = int(np.bincount(steps).argmax())
        late = length if _DAY_MINUTES in minutes.values() else 0  # 24:00 is the end of a period
        return _day({place: at - late for place, at in minutes.items()}, length)
    numbers = {place: int(match[1]) for place, text in enumerate(headings)
               if (match := _NUMBERED.fullmatch(text))}  # fmt: skip
    count, least = len(numbers), min(numbers.values(), default=0)
    if sorted(numbers.values()) != list(range(least, least + count)) or least > 1:
        return None
    if count in (24, 48, 96):
        length = _DAY_MINUTES // count
        return _day({place: (number - least) * length for place, number in numbers.items()}, length)
    if FEWEST_DAYS <= count <= 31 and least == 1:
        days = {place: f"{number:02}" for place, number in numbers.items()}
        return Cells("month", days, DAY_MS / 1000)
    return None


def _dates(headings: Sequence[str]) -> Cells | None:
    by_place = {place: text for place, text in enumerate(headings) if _DATED.search(text)}
    rest = [text for place, text in enumerate(headings) if place not in by_place]
    if len(set(by_place.values())) < FEWEST_DATES or not any(map(_NAME.search, rest)):
        return None
    form, _ = form_of_dates(list(by_place.values()))
    if not form or any(text.strip() and not _NAME.search(text) for text in rest):
        return None
    steps = np.diff(np.sort(parse_times(list(by_place.values()), form)[0]))
    return Cells("dates", by_place, float(steps[0]) / 1000 if len(set(steps.tolist())) == 1 else 0)


def form_of_dates(headings: Sequence[str]) -> DateGuess:
    """Returns the format of dates in headings, "" if they aren't dates of one format."""
    return guess_form(headings, day_first=True, timely=False) or DateGuess("")


def _minutes(match: re.Match[str]) -> int:
    return int(match[1]) * 60 + int(match[2])


def _day(minutes: dict[int, int], length: int) -> Cells:
    return Cells(
        "day",
        {place: f"{at // 60:02}:{at % 60:02}" for place, at in minutes.items()},
        length * 60.0,
    )


def are_cells(headings: Sequence[str]) -> bool:
    return cells(headings) is not None


def by_reading(mapping: Mapping) -> Mapping:
    """Returns the mapping of the rows that `reading_rows` makes."""
    water = mapping.columns[mapping.places("water")[0]]
    devices = [mapping.columns[place] for place in mapping.places("device")]
    if mapping.layout == "dates":
        times = (ColumnMapping("time", "time"),)
        columns = (*devices, *times, replace(water, name="value"))
        return replace(mapping, layout="long", columns=columns)
    names = ColumnMapping("date", "date"), ColumnMapping("cell", "clock")
    columns = (*devices, *names, replace(water, name="value"))
    form = "%Y-%m-%d %H:%M" if mapping.layout == "day" else "%Y-%m %d"
    return replace(mapping, layout="long", columns=columns, time_format=form)


def reading_rows(mapping: Mapping, rows: Iterator[Record]) -> Iterator[Record]:
    """Yields a row for each value that isn't empty."""
    devices, dates, water = (mapping.places(is_) for is_ in ("device", "date", "water"))
    headings = [mapping.columns[place].name for place in water]
    periods = None if mapping.layout == "dates" else cells(headings)
    texts = periods.by_place if periods else dict(enumerate(headings))
    begins = [(place, texts.get(number, "")) for number, place in enumerate(water)]
    written: dict[str, str] = {}
    for row in rows:
        if isinstance(row, Unreadable) or len(row) > len(mapping.columns):
            yield row
            continue
        row = [*row, *("",) * (len(mapping.columns) - len(row))]
        same = [row[place] for place in devices]
        if dates:
            date = " ".join(row[place].strip() for place in dates)
            if date not in written:
                written[date] = _date(date, mapping)
            same.append(written[date])
        for place, cell in begins:
            if row[place].strip():
                yield [*same, cell, row[place]]


def _date(text: str, mapping: Mapping) -> str:
    """Returns ``2025-10-01``, or ``2025-10`` for a month; the text itself if it is no date."""
    ms, ok, _ = parse_times([text], mapping.time_format)
    return stamp(int(ms[0]))[: 10 if mapping.layout == "day" else 7] if ok[0] else text
