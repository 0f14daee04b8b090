"""Finds the column that names the device of each row."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Final

from api.ingest.foreign.columns import Column
from api.ingest.foreign.date_words import is_month
from api.ingest.foreign.heading_words import IDS, METERS, SHEETS, STATUS
from api.ingest.foreign.mapping import SHEET
from api.ingest.foreign.units import is_plain_unit

MOST_DISTINCT: Final = 0.5  # of the rows that a column of devices may have


def device_column(columns: Sequence[Column], free: Sequence[int]) -> int | None:
    """Returns the column that names devices: by its heading, or by texts that recur."""
    fitting: list[tuple[float, int]] = []
    for place in free:
        each = columns[place]
        filled = [text for text in each.texts if text.strip()]
        if len(filled) < 0.9 * len(each.texts) or each.date is not None or each.clock:
            continue
        if each.name == SHEET and all(map(_is_period, set(filled))):
            continue
        if all(map(is_plain_unit, set(filled))):
            continue
        distinct = len(set(filled)) / max(1, len(filled))
        fractions = each.numbers is not None and any("." in t or "," in t for t in filled)
        named = each.about("device") - (each.about("water") if each.numbers is not None else 0)
        many = distinct > MOST_DISTINCT
        if fractions or (many and (named <= 0 or each.numbers is not None)):
            continue
        if named <= 0 and (each.numbers is not None or each.words & STATUS):
            continue
        if each.unit and each.numbers is not None:
            continue
        named += bool(each.words & METERS) + 2 * (each.words == frozenset({"id"}))
        alike = 0.5 * (len(set(filled)) == 1)  # a kind rather than a device
        steady = 0.2 * bool(each.words & IDS)  # of two that are equally likely
        score = named * 2 + (each.numbers is None) - distinct - alike + steady
        fitting.append((score, place))
    return max(fitting, key=lambda pair: (pair[0], -pair[1]))[1] if fitting else None


def _is_period(sheet: str) -> bool:
    """Whether the name of a sheet is a month, a year, a quarter or a number rather than a meter."""
    words = re.findall(r"[^\W\d_]+", sheet)
    if not words:
        numbers = [int(number) for number in re.findall(r"\d+", sheet)]
        return any(number <= 12 or 1990 <= number <= 2100 for number in numbers)
    return all(is_month(word) or word.lower() in SHEETS for word in words)


def likely_devices(columns: Sequence[Column], taken: Collection[int]) -> list[int]:
    """Returns the columns that may name the meter of each row, where each meter has only one; the
    likeliest first."""
    places = [place for place in range(len(columns)) if place not in taken]
    by_name = {place: len(columns[place].words & METERS) for place in places}
    return sorted(places, key=lambda p: (-by_name[p], -columns[p].about("device"), p))
