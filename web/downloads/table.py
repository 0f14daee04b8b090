"""A table for a file: columns with their kinds, and rows in parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Any, Final
from zoneinfo import ZoneInfo

from api.timez import DAY_MS, offsets, stamps
from components.formatting import Clock


class Kind(StrEnum):
    """What a column's values are; None is an empty cell in each."""

    TEXT = "text"
    NUMBER = "number"
    INSTANT = "instant"  # epoch milliseconds
    DAY = "day"  # a date's ordinal


@dataclass(frozen=True, slots=True)
class Column:
    """``factor`` and ``offset`` convert a number to the header's unit. ``tz``: zone of an instant,
    None for UTC; ``fraction``: with milliseconds. ``width``: in characters."""

    header: str
    kind: Kind = Kind.NUMBER
    factor: float = 1.0
    offset: float = 0.0
    tz: ZoneInfo | None = None
    fraction: bool = False
    width: int = 14


Part = Sequence[Sequence[Any]]
"""Some rows, column by column in the table's order, each as long as the others."""


@dataclass(frozen=True, slots=True)
class Table:
    """``name`` is the file's without its ending, ``title`` its sheet's."""

    name: str
    title: str
    columns: Sequence[Column]
    parts: Iterator[Part]


def in_parts(rows: Iterable[Sequence[Any]], length: int = 1_000) -> Iterator[Part]:
    """Rows, in order, as parts of that many."""
    waiting: list[Sequence[Any]] = []
    for row in rows:
        waiting.append(row)
        if len(waiting) == length:
            yield list(zip(*waiting, strict=True))
            waiting = []
    if waiting:
        yield list(zip(*waiting, strict=True))


# --- Cells as texts ------------------------------------------------------------------------------

# Days are counted from here, as spreadsheets do (their 1900 is a leap year, so it isn't the 31st).
_EPOCH_ORDINAL: Final = date(1899, 12, 30).toordinal()
_UNIX_DAY: Final = date(1970, 1, 1).toordinal() - _EPOCH_ORDINAL


def numbers(column: Column, values: Sequence[float | None]) -> list[str]:
    """The shortest texts that read back as the same number; twelve digits after a conversion of
    units, since more are noise."""
    factor = column.factor
    if factor == 1 and not column.offset:
        return ["" if v is None else repr(v) for v in values]
    return ["" if v is None else f"{v * factor + column.offset:.12g}" for v in values]


def instants(column: Column, values: Sequence[int | None]) -> list[str]:
    """ISO 8601, in UTC with Z or in a zone with its offset: ``2026-11-20T06:00:00.000+05:30``."""
    present = [v for v in values if v is not None]
    if len(present) == len(values) and _ascend(present):
        return stamps(present, column.tz, fraction=column.fraction)
    return [
        "" if v is None else stamps([v], column.tz, fraction=column.fraction)[0] for v in values
    ]


def _ascend(values: Sequence[int]) -> bool:
    """Whether values ascend, as `stamps` requires."""
    return all(values[i] <= values[i + 1] for i in range(len(values) - 1))


def days(values: Sequence[int | None]) -> list[str]:
    """``2026-11-20``."""
    return ["" if v is None else date.fromordinal(v).isoformat() for v in values]


def day_numbers(values: Sequence[int | None]) -> list[str]:
    """Days as a spreadsheet counts them."""
    return ["" if v is None else str(v - _EPOCH_ORDINAL) for v in values]


def wall_numbers(column: Column, values: Sequence[int | None]) -> list[str]:
    """Days and fractions of a day as a spreadsheet counts them, by the column's wall clock."""
    local = _local(column, values)
    return ["" if v is None else f"{v / DAY_MS + _UNIX_DAY:.9f}" for v in local]


def _local(column: Column, values: Sequence[int | None]) -> Sequence[Any]:
    present = [v for v in values if v is not None]
    if column.tz is None or not present:
        return values
    first, last = min(present), max(present)
    pieces = offsets(column.tz, first, last)
    if len(pieces) == 1:
        return [None if v is None else v + pieces[0][1] for v in values]
    clock = Clock(column.tz, first, last)
    return [None if v is None else clock.local(v) for v in values]
