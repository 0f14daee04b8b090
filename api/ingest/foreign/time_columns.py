"""Finds the columns of times: a date and a clock, parts of a date, or whole times."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from api.ingest.foreign.columns import Column, Meanings, are_within
from api.ingest.foreign.date_words import is_month, plain_date
from api.ingest.foreign.dates import (
    EXCEL,
    ISO,
    DateGuess,
    guess_form,
    has_offset,
    is_date_only,
    number_clock_form,
)
from api.ingest.foreign.heading_words import ENDS, HOURS, set_of

_PARTS: Final[tuple[tuple[str, frozenset[str], range], ...]] = (
    ("%Y", set_of("year yyyy yr jahr ano annee anno jaar"), range(1990, 2100)),
    ("%m", set_of("month mm mo mon monat mes mois mese maand"), range(1, 13)),
    ("%d", set_of("day dd tag dia jour giorno dag"), range(1, 32)),
    ("%H", set_of("hh") | HOURS, range(25)),
    ("%M", set_of("minute minutes min mi minuto"), range(60)),
)
"""Part of a time, headings of a column that holds only this part, valid numbers."""
_LATE: Final = re.compile(r"(?:^|[ T])24[:.h]?00([:.]?00)?$")


def find_times(columns: Sequence[Column], meanings: Meanings, taken: Collection[int]) -> None:
    """Sets the columns of times, their format, and whether they are the ends of intervals."""
    _find_parts(columns, meanings, taken)
    if not meanings.form:
        _find_time(columns, meanings, taken)
    _find_ends(columns, meanings)


def _find_parts(columns: Sequence[Column], meanings: Meanings, taken: Collection[int]) -> None:
    """Finds a time that is split into columns: a year, a month, perhaps day, hour and minute."""
    parts: dict[int, str] = {}
    for sign, words, numbers in _PARTS:
        for place, each in enumerate(columns):
            if place in parts or place in taken or not each.words & words:
                continue
            names = sign == "%m" and is_month(next(filter(None, each.texts), ""))
            if names or are_within(each, numbers):
                parts[place] = "%b" if names else sign
                break
    signs = set(parts.values())
    if "%Y" in signs and signs & {"%m", "%b"}:
        order = sorted(parts, key=lambda place: (parts[place] in ("%H", "%M"), place))
        meanings.is_ = {
            place: "clock" if parts[place] in ("%H", "%M") else "date" for place in order
        }
        meanings.form = " ".join(parts[place] for place in order)


def _find_ends(columns: Sequence[Column], meanings: Meanings) -> None:
    """Decides whether times are the ends of their intervals: a heading says so, or there is a
    24:00 or an hour 24."""
    times = meanings.places("time", "date", "clock")
    named = any(columns[place].words & ENDS for place in times)
    late = any(_LATE.search(text.strip()) for place in times for text in columns[place].texts)
    hours = [p for p in times if columns[p].words & HOURS and columns[p].numbers is not None]
    if named or late or any("24" in map(str.strip, columns[p].texts) for p in hours):
        meanings.time_at = "end"


def _find_time(columns: Sequence[Column], meanings: Meanings, taken: Collection[int]) -> None:
    open_columns = [(p, each) for p, each in enumerate(columns) if p not in taken]
    dated = [p for p, each in open_columns if each.date is not None] or _find_epochs(open_columns)
    if not dated:
        return
    likely = (dated, [p for p in dated if columns[p].date != DateGuess(EXCEL)])
    best = max(
        likely[bool(likely[1])],
        key=lambda p: (
            columns[p].about("time") > 0,
            columns[p].numbers is None,
            "utc" in columns[p].words,
            -p,
        ),
    )
    guess = columns[best].date
    assert guess is not None  # only those with one
    meanings.form, meanings.date_sure = guess
    meanings.is_[best] = "time"
    alone = is_date_only(guess.form) or (guess.form == ISO and _are_dates(columns[best].texts))
    clock = _clock([pair for pair in open_columns if pair[0] != best]) if alone else None
    if clock:
        meanings.is_[best], meanings.is_[clock[0]] = "date", "clock"
        meanings.form = f"{'%Y-%m-%d' if guess.form == ISO else guess.form} {clock[1]}"


def _find_epochs(columns: Sequence[tuple[int, Column]]) -> list[int]:
    """Gives numbers that can be seconds or parts of seconds since 1970, whatever their heading, a
    date. Returns their positions."""
    places: list[int] = []
    for place, each in columns:
        guess = guess_form(each.texts[:400], day_first=True) if each.numbers is not None else None
        if guess and has_offset([], guess.form):
            each.date = guess
            places.append(place)
    return places


def _clock(columns: Sequence[tuple[int, Column]]) -> tuple[int, str] | None:
    """Returns (position, format) of the clock times beside a date: with a colon, else hours, else
    as numbers; None if there are none."""
    clocks = [(p, each.clock) for p, each in columns if each.clock]
    hours = [(p, "%H") for p, each in columns if each.words & HOURS and are_within(each, range(25))]
    numbers = [
        (p, form)
        for p, each in columns
        if each.about("time") and (form := number_clock_form(each.texts[:400]))
    ]
    return next(iter([*clocks, *hours, *numbers]), None)


def _are_dates(texts: Sequence[str]) -> bool:
    return all(len(plain_date(text)) == 10 for text in texts[:400] if text.strip())
