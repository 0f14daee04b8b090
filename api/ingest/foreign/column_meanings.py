"""Guesses the meaning of a table's columns from their names and values."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import cast

import numpy as np

from api.ingest.foreign.columns import Column, Meanings
from api.ingest.foreign.device_columns import device_column
from api.ingest.foreign.heading_words import NAMED, SECONDARY
from api.ingest.foreign.mapping import Is
from api.ingest.foreign.time_columns import find_times


def guess_meanings(columns: Sequence[Column], taken: Collection[int] = ()) -> Meanings:
    """Guesses the meaning of each column: first the time, then the device, then the quantities.
    ``taken``: positions of columns to leave out."""
    meanings = Meanings({})
    find_times(columns, meanings, taken)
    free = [p for p in range(len(columns)) if p not in meanings.is_ and p not in taken]
    device = device_column(columns, free)
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


def _measured(each: Column) -> Is | None:
    if each.words & (SECONDARY | NAMED):
        return None
    for is_ in ("rssi", "temperature", "quality", "duration", "signal"):
        if each.about(is_) and not each.unit:
            assert each.numbers is not None  # only columns of numbers measure
            percent = is_ != "quality" or np.nanmax(each.numbers) <= 100  # OPC's Good is 192
            return cast("Is", is_) if percent else None
    return "water" if each.about("water") or each.unit else None


def is_fahrenheit(each: Column) -> bool:
    """Whether temperatures are too high for °C, or their heading says so."""
    assert each.numbers is not None
    return "f" in each.words or "fahrenheit" in each.words or float(np.nanmedian(each.numbers)) > 45
