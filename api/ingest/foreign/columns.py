"""A column of a file's first rows, and the meanings of all columns of a table."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from api.ingest.batch import Floats
from api.ingest.foreign.dates import DateGuess, clock_form, guess_form
from api.ingest.foreign.heading_words import WHAT, words_of
from api.ingest.foreign.mapping import Is, TimeAt
from api.ingest.foreign.numbers import parse_numbers
from api.ingest.foreign.units import unit_in

_NUMBERED: Final = re.compile(r"column \d+")  # a column without a heading


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
        return len(self.words & WHAT[is_])


def column(
    name: str, texts: Sequence[str], decimal: str, *, day_first: bool, named: bool = True
) -> Column:
    """``named``: the file has headings; without them only the numbers can show a time."""
    words = words_of(name) if named and not _NUMBERED.fullmatch(name) else frozenset[str]()
    numbers, ok = parse_numbers(texts, decimal)
    filled = ~np.isnan(numbers)
    empty = not any(text.strip() for text in texts)
    numeric = bool(filled.any()) and ok.mean() > 0.9
    timely = bool(words & (WHAT["time"] | {"start"})) or not words
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


def are_within(each: Column, numbers: range) -> bool:
    if each.numbers is None or each.unit:
        return False
    filled = each.numbers[~np.isnan(each.numbers)]
    return bool(len(filled)) and all(number in numbers for number in filled.tolist())


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
