"""What a file holds: columns with their meaning, and rows that come in parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from zoneinfo import ZoneInfo


class Kind(StrEnum):
    """What a column's values are; None is an empty cell in each."""

    TEXT = "text"
    NUMBER = "number"
    INSTANT = "instant"  # epoch milliseconds
    DAY = "day"  # a date's ordinal


@dataclass(frozen=True, slots=True)
class Column:
    """Times ``factor``, plus ``offset`` turns a number into the unit that the header names. An
    instant is told as ``tz`` has it, None for UTC, with its milliseconds where ``fraction``.
    ``width`` is in characters."""

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
